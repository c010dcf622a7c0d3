#pragma once

namespace kinegraph {

/// P(a, x) = γ(a, x) / Γ(a) and Q = 1 − P, a > 0, x ≥ 0: each to a relative 1e-12 or so, far out in its tail too.
double gamma_below(double a, double x);
double gamma_above(double a, double x);

/// The probability that a sum of n squares of N(0, 1) is below (above) x; n > 0 may be any real number.
inline double chi_squared_below(double x, double n) { return gamma_below(0.5 * n, 0.5 * x); }
inline double chi_squared_above(double x, double n) { return gamma_above(0.5 * n, 0.5 * x); }
/// The x below which it lies with probability p; 0 for p ≤ 0, infinity for p ≥ 1.
double chi_squared_quantile(double p, double n);

}  // namespace kinegraph
