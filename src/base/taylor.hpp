#pragma once

#include <cmath>

namespace kinegraph {

/// A quantity and its first two time derivatives: x(t) to second order. A function of coordinates evaluated with
/// Taylor2(q, q̇, q̈) gives its value, rate and acceleration at once; for a gradient Φ_q that is
/// Φ_q, Φ̇_q = ∂Φ̇/∂q and Φ̈_q = ∂Φ̈/∂q, which is all that the velocity and acceleration factors need.
struct Taylor2 {
  double x = 0, d = 0, dd = 0;

  constexpr Taylor2() = default;
  constexpr Taylor2(double value) : x(value) {}
  constexpr Taylor2(double value, double rate, double acceleration) : x(value), d(rate), dd(acceleration) {}

  Taylor2& operator+=(const Taylor2& o) { return *this = {x + o.x, d + o.d, dd + o.dd}; }
  Taylor2& operator-=(const Taylor2& o) { return *this = {x - o.x, d - o.d, dd - o.dd}; }
  Taylor2& operator*=(const Taylor2& o) {
    return *this = {x * o.x, d * o.x + x * o.d, dd * o.x + 2 * d * o.d + x * o.dd};
  }
  Taylor2& operator/=(const Taylor2& o) {
    const double v = x / o.x, r = (d - v * o.d) / o.x;
    return *this = {v, r, (dd - 2 * r * o.d - v * o.dd) / o.x};
  }
  friend Taylor2 operator+(Taylor2 a, const Taylor2& b) { return a += b; }
  friend Taylor2 operator-(Taylor2 a, const Taylor2& b) { return a -= b; }
  friend Taylor2 operator*(Taylor2 a, const Taylor2& b) { return a *= b; }
  friend Taylor2 operator*(double s, const Taylor2& b) { return {s * b.x, s * b.d, s * b.dd}; }
  friend Taylor2 operator/(Taylor2 a, const Taylor2& b) { return a /= b; }
  friend Taylor2 operator-(const Taylor2& a) { return {-a.x, -a.d, -a.dd}; }
};

/// A quantity and its first time derivative: the cheaper half of Taylor2, for the velocity level.
struct Taylor1 {
  double x = 0, d = 0;

  constexpr Taylor1() = default;
  constexpr Taylor1(double value) : x(value) {}
  constexpr Taylor1(double value, double rate) : x(value), d(rate) {}

  Taylor1& operator+=(const Taylor1& o) { return *this = {x + o.x, d + o.d}; }
  Taylor1& operator-=(const Taylor1& o) { return *this = {x - o.x, d - o.d}; }
  Taylor1& operator*=(const Taylor1& o) { return *this = {x * o.x, d * o.x + x * o.d}; }
  Taylor1& operator/=(const Taylor1& o) {
    const double v = x / o.x;
    return *this = {v, (d - v * o.d) / o.x};
  }
  friend Taylor1 operator+(Taylor1 a, const Taylor1& b) { return a += b; }
  friend Taylor1 operator-(Taylor1 a, const Taylor1& b) { return a -= b; }
  friend Taylor1 operator*(Taylor1 a, const Taylor1& b) { return a *= b; }
  friend Taylor1 operator*(double s, const Taylor1& b) { return {s * b.x, s * b.d}; }
  friend Taylor1 operator/(Taylor1 a, const Taylor1& b) { return a /= b; }
  friend Taylor1 operator-(const Taylor1& a) { return {-a.x, -a.d}; }
};

/// f(x(t)) from f, f', f'' at x:   ḟ = f' ẋ,   f̈ = f'' ẋ² + f' ẍ. What stands still has no rate, however steep f is.
inline Taylor2 chain(const Taylor2& x, double f, double f1, double f2) {
  if (x.d == 0 && x.dd == 0) return {f};
  return {f, f1 * x.d, f2 * x.d * x.d + f1 * x.dd};
}

inline Taylor2 sin(const Taylor2& a) {
  const double s = std::sin(a.x), c = std::cos(a.x);
  return chain(a, s, c, -s);
}
inline Taylor2 cos(const Taylor2& a) {
  const double s = std::sin(a.x), c = std::cos(a.x);
  return chain(a, c, -s, -c);
}
inline Taylor2 sqrt(const Taylor2& a) {
  const double r = std::sqrt(a.x);
  return chain(a, r, 0.5 / r, -0.25 / (r * a.x));
}
inline Taylor2 cbrt(const Taylor2& a) {
  const double r = std::cbrt(a.x), f1 = 1 / (3 * r * r);
  return chain(a, r, f1, -2 * f1 / (3 * a.x));
}
inline Taylor2 exp(const Taylor2& a) {
  const double f = std::exp(a.x);
  return chain(a, f, f, f);
}
inline Taylor2 log(const Taylor2& a) { return chain(a, std::log(a.x), 1 / a.x, -1 / (a.x * a.x)); }
inline Taylor2 log10(const Taylor2& a) {
  constexpr double k = 0.43429448190325182765;  // 1 / ln 10
  return chain(a, std::log10(a.x), k / a.x, -k / (a.x * a.x));
}
inline Taylor2 tan(const Taylor2& a) {
  const double f = std::tan(a.x), f1 = 1 + f * f;
  return chain(a, f, f1, 2 * f * f1);
}
inline Taylor2 asin(const Taylor2& a) {
  const double f1 = 1 / std::sqrt(1 - a.x * a.x);
  return chain(a, std::asin(a.x), f1, a.x * f1 * f1 * f1);
}
inline Taylor2 acos(const Taylor2& a) {
  const double f1 = -1 / std::sqrt(1 - a.x * a.x);
  return chain(a, std::acos(a.x), f1, a.x * f1 * f1 * f1);
}
inline Taylor2 atan(const Taylor2& a) {
  const double f1 = 1 / (1 + a.x * a.x);
  return chain(a, std::atan(a.x), f1, -2 * a.x * f1 * f1);
}
inline Taylor2 sinh(const Taylor2& a) {
  const double s = std::sinh(a.x), c = std::cosh(a.x);
  return chain(a, s, c, s);
}
inline Taylor2 cosh(const Taylor2& a) {
  const double s = std::sinh(a.x), c = std::cosh(a.x);
  return chain(a, c, s, c);
}
inline Taylor2 tanh(const Taylor2& a) {
  const double f = std::tanh(a.x), f1 = 1 - f * f;
  return chain(a, f, f1, -2 * f * f1);
}

/// φ = atan2(y, x):   r² φ̇ = x ẏ − y ẋ =: w,   r² φ̈ = ẇ − φ̇ d(r²)/dt,   ẇ = x ÿ − y ẍ
inline Taylor2 atan2(const Taylor2& y, const Taylor2& x) {
  const double r2 = x.x * x.x + y.x * y.x;
  const double rate = (x.x * y.d - y.x * x.d) / r2;
  return {std::atan2(y.x, x.x), rate, (x.x * y.dd - y.x * x.dd - 2 * rate * (x.x * x.d + y.x * y.d)) / r2};
}

/// r = √(a² + b²):   ṙ = (a ȧ + b ḃ) / r,   r̈ = (ȧ² + ḃ² − ṙ² + a ä + b b̈) / r. The squares may overflow where r does
/// not.
inline Taylor2 hypot(const Taylor2& a, const Taylor2& b) {
  const double r = std::hypot(a.x, b.x), u = a.x / r, v = b.x / r, rate = u * a.d + v * b.d;
  if (a.d == 0 && a.dd == 0 && b.d == 0 && b.dd == 0) return {r};
  return {r, rate, (a.d * a.d + b.d * b.d - rate * rate) / r + u * a.dd + v * b.dd};
}

/// xⁿ with a constant exponent. n = 0 and 1 apart: there 0 · x^(n−2) is 0 at x = 0 too.
inline Taylor2 pow(const Taylor2& a, double n) {
  const double f1 = n == 0 ? 0 : n * std::pow(a.x, n - 1);
  const double f2 = n == 0 || n == 1 ? 0 : n * (n - 1) * std::pow(a.x, n - 2);
  return chain(a, std::pow(a.x, n), f1, f2);
}
/// f = aᵇ, l = ln f = b ln a:   ḟ = f l̇,   f̈ = f (l̇² + l̈). The value never depends on the rates, which may overflow.
inline Taylor2 pow(const Taylor2& a, const Taylor2& b) {
  if (b.d == 0 && b.dd == 0) return pow(a, b.x);
  const Taylor2 l = b * log(a);
  const double f = std::pow(a.x, b.x);
  return {f, f * l.d, f * (l.d * l.d + l.dd)};
}

inline Taylor1 sin(const Taylor1& a) { return {std::sin(a.x), std::cos(a.x) * a.d}; }
inline Taylor1 cos(const Taylor1& a) { return {std::cos(a.x), -std::sin(a.x) * a.d}; }
inline Taylor1 sqrt(const Taylor1& a) {
  const double r = std::sqrt(a.x);
  return {r, 0.5 / r * a.d};
}

}  // namespace kinegraph
