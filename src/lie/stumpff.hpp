#pragma once

#include <array>
#include <cmath>

namespace kinegraph {

/// The Stumpff functions of s = θ²:
///
///     cₙ(s) = Σₖ (−s)ᵏ / (2k + n)!        c₀ = cos θ,  c₁ = sin θ / θ,  c₂ = (1 − cos θ) / θ²,  c₃ = (θ − sin θ) / θ³,
///     …
///
/// Every coefficient in exp, log and their Jacobians is one of them or a quotient of them, so that this is the only
/// place where small angles need care. They are entire functions of s: nothing here divides by θ near zero, and dual
/// numbers pass through.
template <class T>
struct Stumpff {
  T c0, c1, c2, c3, c4, c5;

  explicit Stumpff(const T& s) {
    using std::cos, std::sin, std::sqrt;
    // Above, the closed forms lose at most two digits (in c₅); below, eleven terms reach the last bit.
    if (s > T(1.0)) {
      const T theta = sqrt(s);
      c0 = cos(theta);
      c1 = sin(theta) / theta;
      c2 = (T(1.0) - c0) / s;
      c3 = (T(1.0) - c1) / s;
      c4 = (T(0.5) - c2) / s;
      c5 = (T(1.0 / 6.0) - c3) / s;
      return;
    }
    c4 = series<4>(s);
    c5 = series<5>(s);
    // cₙ = 1/n! − s cₙ₊₂
    c3 = T(1.0 / 6.0) - s * c5;
    c2 = T(0.5) - s * c4;
    c1 = T(1.0) - s * c3;
    c0 = T(1.0) - s * c2;
  }

  /// (1 − (θ/2) cot(θ/2)) / θ², the coefficient of φ^² in the inverse Jacobians. Infinite at θ = 2π only.
  T inverse_jacobian() const { return (c3 - T(2.0) * c4) / (T(2.0) * c2); }

 private:
  template <int n>
  static T series(const T& s) {
    constexpr int kTerms = 11;
    // Horner, from the last term: Σ (−s)ᵏ/(2k+n)! = (1/n!) (1 − s/((n+1)(n+2)) (1 − s/((n+3)(n+4)) (…)))
    T sum = T(1.0);
    for (int k = kTerms; k > 0; --k) sum = T(1.0) - s * sum / T(double((n + 2 * k - 1) * (n + 2 * k)));
    double factorial = 1;
    for (int i = 2; i <= n; ++i) factorial *= i;
    return sum / T(factorial);
  }
};

}  // namespace kinegraph
