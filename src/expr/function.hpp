#pragma once

#include <cmath>
#include <numbers>
#include <span>
#include <string_view>

#include "kinegraph/base/taylor.hpp"

namespace kinegraph {

/// What one instruction of an Expression does to the stack.
enum class Op : unsigned char {
  constant,  ///< push a number
  variable,  ///< push the value of a variable
  // of two
  add,
  subtract,
  multiply,
  divide,
  power,
  atan2,
  min,
  max,
  hypot,
  mod,
  // of one
  negate,
  power_constant,  ///< with a number for exponent, so that 0² has derivatives
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  tanh,
  sqrt,
  cbrt,
  exp,
  log,
  log10,
  abs,
  sign,
  floor,
  ceil,
  deg2rad,
  rad2deg,
  step,
  smoothstep,
};

inline bool takes_two(Op op) { return op >= Op::add && op <= Op::mod; }

/// A function that formulas may call. min and max take two or more arguments.
struct Function {
  std::string_view name;
  Op op;
  int arguments;
  bool more;  ///< any number from `arguments` on
  std::string_view meaning;
};

/// All of them; docs/formats.md lists the same.
std::span<const Function> functions();
const Function* find_function(std::string_view name);

/// A name that formulas read as a number.
struct NamedConstant {
  std::string_view name;
  double value;
};
std::span<const NamedConstant> constants();

/// The number in a scalar that carries derivatives.
inline double value_of(double x) { return x; }
inline double value_of(const Taylor2& x) { return x.x; }
template <class T>
requires requires(const T& x) { x.a; }
double value_of(const T& x) {
  return x.a;  // ceres::Jet
}

template <class T>
T apply_two(Op op, const T& a, const T& b) {
  using std::atan2, std::hypot, std::pow;
  switch (op) {
    case Op::add:
      return a + b;
    case Op::subtract:
      return a - b;
    case Op::multiply:
      return a * b;
    case Op::divide:
      return a / b;
    case Op::power:
      return pow(a, b);
    case Op::atan2:
      return atan2(a, b);
    case Op::min:
      return value_of(b) < value_of(a) ? b : a;
    case Op::max:
      return value_of(a) < value_of(b) ? b : a;
    case Op::hypot:
      return hypot(a, b);
    default:  // mod
      return a - b * T(std::floor(value_of(a) / value_of(b)));
  }
}

/// 0 before 0, 1 after 1, between them 6x⁵ − 15x⁴ + 10x³: at rest and without acceleration at both ends.
template <class T>
T smoothstep(const T& x) {
  if (value_of(x) <= 0) return T(0.0);
  if (value_of(x) >= 1) return T(1.0);
  return x * x * x * (T(10.0) + x * (T(6.0) * x - T(15.0)));
}

/// `number` is the exponent of power_constant.
template <class T>
T apply_one(Op op, const T& a, double number) {
  using std::sin, std::cos, std::tan, std::asin, std::acos, std::atan, std::sinh, std::cosh, std::tanh, std::sqrt,
      std::cbrt, std::exp, std::log, std::log10, std::pow;
  const double x = value_of(a);
  switch (op) {
    case Op::negate:
      return -a;
    case Op::power_constant:
      return pow(a, number);
    case Op::sin:
      return sin(a);
    case Op::cos:
      return cos(a);
    case Op::tan:
      return tan(a);
    case Op::asin:
      return asin(a);
    case Op::acos:
      return acos(a);
    case Op::atan:
      return atan(a);
    case Op::sinh:
      return sinh(a);
    case Op::cosh:
      return cosh(a);
    case Op::tanh:
      return tanh(a);
    case Op::sqrt:
      return sqrt(a);
    case Op::cbrt:
      return cbrt(a);
    case Op::exp:
      return exp(a);
    case Op::log:
      return log(a);
    case Op::log10:
      return log10(a);
    case Op::abs:
      return x < 0 ? -a : a;
    case Op::sign:
      return T(x < 0 ? -1.0 : x > 0 ? 1.0 : x);
    case Op::floor:
      return T(std::floor(x));
    case Op::ceil:
      return T(std::ceil(x));
    case Op::deg2rad:
      return a * T(std::numbers::pi / 180);
    case Op::rad2deg:
      return a * T(180 / std::numbers::pi);
    case Op::step:
      return T(x < 0 ? 0.0 : x >= 0 ? 1.0 : x);
    default:  // smoothstep
      return smoothstep(a);
  }
}

}  // namespace kinegraph
