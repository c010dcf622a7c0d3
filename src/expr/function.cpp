#include "kinegraph/expr/function.hpp"

#include <array>

namespace kinegraph {
namespace {

constexpr std::array kFunctions = {
    Function{"sin", Op::sin, 1, false, "sine of an angle in rad"},
    Function{"cos", Op::cos, 1, false, "cosine of an angle in rad"},
    Function{"tan", Op::tan, 1, false, "tangent of an angle in rad"},
    Function{"asin", Op::asin, 1, false, "arc sine, in rad"},
    Function{"acos", Op::acos, 1, false, "arc cosine, in rad"},
    Function{"atan", Op::atan, 1, false, "arc tangent, in rad"},
    Function{"atan2", Op::atan2, 2, false, "angle of the vector (x, y) as atan2(y, x), in rad"},
    Function{"sinh", Op::sinh, 1, false, "hyperbolic sine"},
    Function{"cosh", Op::cosh, 1, false, "hyperbolic cosine"},
    Function{"tanh", Op::tanh, 1, false, "hyperbolic tangent"},
    Function{"sqrt", Op::sqrt, 1, false, "square root"},
    Function{"cbrt", Op::cbrt, 1, false, "cube root"},
    Function{"hypot", Op::hypot, 2, false, "sqrt(a^2 + b^2)"},
    Function{"exp", Op::exp, 1, false, "e to the power"},
    Function{"log", Op::log, 1, false, "natural logarithm"},
    Function{"log10", Op::log10, 1, false, "decimal logarithm"},
    Function{"pow", Op::power, 2, false, "pow(a, b) = a^b"},
    Function{"abs", Op::abs, 1, false, "absolute value"},
    Function{"sign", Op::sign, 1, false, "-1, 0 or 1"},
    Function{"min", Op::min, 2, true, "the least of two or more"},
    Function{"max", Op::max, 2, true, "the greatest of two or more"},
    Function{"floor", Op::floor, 1, false, "the integer below"},
    Function{"ceil", Op::ceil, 1, false, "the integer above"},
    Function{"mod", Op::mod, 2, false, "a - b*floor(a/b)"},
    Function{"deg2rad", Op::deg2rad, 1, false, "degrees to radians"},
    Function{"rad2deg", Op::rad2deg, 1, false, "radians to degrees"},
    Function{"step", Op::step, 1, false, "0 below 0, else 1"},
    Function{"smoothstep", Op::smoothstep, 1, false, "0 below 0, 1 above 1, 6x^5 - 15x^4 + 10x^3 between"},
};

constexpr std::array kConstants = {NamedConstant{"pi", std::numbers::pi}, NamedConstant{"e", std::numbers::e}};

}  // namespace

std::span<const Function> functions() { return kFunctions; }

const Function* find_function(std::string_view name) {
  for (const Function& function : kFunctions) {
    if (function.name == name) return &function;
  }
  return nullptr;
}

std::span<const NamedConstant> constants() { return kConstants; }

}  // namespace kinegraph
