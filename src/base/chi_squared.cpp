#include "kinegraph/base/chi_squared.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kinegraph {

namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// x^a e^{−x} / Γ(a + 1). For large a the parts are huge and cancel, so they are put together first:
//
//     a ln x − x − ln Γ(a + 1) = −a φ(μ) − ½ ln 2πa − (1/12a − 1/360a³ + 1/1260a⁵ − …)
//     μ = (x − a) / a,   φ(μ) = μ − ln(1 + μ)          (Stirling)
double leading_term(double a, double x) {
  if (a < 30) return std::exp(a * std::log(x) - x - std::lgamma(a + 1));
  const double mu = (x - a) / a, b = 1 / (a * a);
  const double stirling = (1.0 / 12 - b * (1.0 / 360 - b * (1.0 / 1260 - b / 1680))) / a;
  return std::exp(-a * (mu - std::log1p(mu)) - stirling) / std::sqrt(2 * M_PI * a);
}

// P(a, x) = x^a e^{−x} / Γ(a + 1) · Σ xᵏ / ((a + 1) … (a + k)), for x < a + 1.
double series(double a, double x) {
  double term = 1, sum = 1;
  for (double k = a + 1; term > kEpsilon * sum; k += 1) {
    term *= x / k;
    sum += term;
  }
  return leading_term(a, x) * sum;
}

// Q(a, x) by its continued fraction, from the front by the modified method of Lentz, for x ≥ a + 1.
double fraction(double a, double x) {
  constexpr double tiny = 1e-300;
  double b = x + 1 - a, c = 1 / tiny, d = 1 / b, value = d;
  for (double i = 1; i < 1e7; i += 1) {
    const double numerator = -i * (i - a);
    b += 2;
    d = numerator * d + b;
    if (std::abs(d) < tiny) d = tiny;
    c = b + numerator / c;
    if (std::abs(c) < tiny) c = tiny;
    d = 1 / d;
    const double factor = d * c;
    value *= factor;
    if (std::abs(factor - 1) < kEpsilon) break;
  }
  return leading_term(a, x) * a * value;
}

}  // namespace

double gamma_below(double a, double x) {
  if (!(x > 0)) return 0;
  if (std::isinf(x)) return 1;
  return x < a + 1 ? std::min(series(a, x), 1.0) : 1 - fraction(a, x);
}

double gamma_above(double a, double x) {
  if (!(x > 0)) return 1;
  if (std::isinf(x)) return 0;
  return x < a + 1 ? 1 - std::min(series(a, x), 1.0) : fraction(a, x);
}

// Newton on the smaller tail, kept inside a bracket. The start is Wilson and Hilferty's: (χ²/n)^{1/3} is nearly normal;
// a crude normal quantile is enough, for the bracket catches what goes astray.
double chi_squared_quantile(double p, double n) {
  if (!(p > 0)) return 0;
  if (!(p < 1)) return std::numeric_limits<double>::infinity();
  const double tail = std::sqrt(-2 * std::log(std::min(p, 1 - p)));
  const double normal =
      (p < 0.5 ? -1 : 1) * (tail - (2.30753 + 0.27061 * tail) / (1 + tail * (0.99229 + 0.04481 * tail)));
  const double cube = 1 - 2 / (9 * n) + normal * std::sqrt(2 / (9 * n));
  double x = std::max(n * cube * cube * cube, 1e-3 * n);
  double low = 0, high = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 200; ++i) {
    const double off = p < 0.5 ? chi_squared_below(x, n) - p : (1 - p) - chi_squared_above(x, n);
    (off > 0 ? high : low) = x;
    const double density = leading_term(0.5 * n, 0.5 * x) * 0.5 * n / x;
    double next = x - off / density;
    if (!(next > low && next < high)) next = std::isinf(high) ? 2 * x : 0.5 * (low + high);
    if (std::abs(next - x) <= 4 * kEpsilon * x) return next;
    x = next;
  }
  return x;
}

}  // namespace kinegraph
