#pragma once

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kinegraph/base/result.hpp"
#include "kinegraph/expr/function.hpp"

namespace kinegraph {

/// A formula of a model file or of the command line: "(1/3)*mass*length^2", "30deg", "0.2*sin(2*pi*t)".
///
///     sum     = product { (+|-) product }        power  = atom [ ^ signed ]          right associative, above the
///     sign: product = signed { (*|/) signed }          atom   = number [unit] | name       -2^2 = -4, 2^-1 = 0.5
///     signed  = [+|-] signed | power                    | function ( sum {, sum} ) | ( sum )
///
/// Parsed once into instructions for a stack, evaluated with any scalar: double, Taylor2, ceres::Jet. Evaluation does
/// not allocate.
class Expression {
 public:
  static constexpr int kLongest = 10'000;  ///< characters
  static constexpr int kDeepest = 200;     ///< brackets, calls, signs and powers within each other

  /// `where` is the place of the first character of the text: errors point at the offending character.
  static Result<Expression> parse(std::string text, Location where);

  const std::string& text() const { return text_; }
  const Location& where() const { return where_; }

  const std::vector<std::string>& variables() const { return variables_; }
  Location where_of(int variable) const { return location_at(first_use_[variable]); }
  /// Names that stand below the line of a unit ("s" in "30deg/s"): confusing where a parameter has that name.
  const std::vector<std::string>& divisor_units() const { return divisor_units_; }

  /// The value, given those of variables() in their order. May be infinite or not a number.
  template <class T>
  T evaluate(std::span<const T> values) const {
    return stack_ <= kUsualStack ? run<T, kUsualStack>(values) : run<T, kLargestStack>(values);
  }
  double evaluate(std::span<const double> values) const { return evaluate<double>(values); }

  /// The same formula with numbers for some of its variables.
  Expression bind(const std::function<std::optional<double>(const std::string&)>& value) const;

 private:
  friend class ExpressionParser;

  struct Instruction {
    Op op;
    int variable;
    double number;
  };
  static constexpr int kUsualStack = 16;
  static constexpr int kLargestStack = 1024;  // more than kDeepest can need: five values per level

  void append(Instruction next);  ///< computes at once what has constant operands
  void measure_stack();
  Location location_at(std::size_t offset) const;

  template <class T, int size>
  T run(std::span<const T> values) const {
    std::array<T, size> stack;
    int top = -1;
    for (const Instruction& next : code_) {
      if (next.op == Op::constant) {
        stack[++top] = T(next.number);
      } else if (next.op == Op::variable) {
        stack[++top] = values[next.variable];
      } else if (takes_two(next.op)) {
        --top;
        stack[top] = apply_two(next.op, stack[top], stack[top + 1]);
      } else {
        stack[top] = apply_one(next.op, stack[top], next.number);
      }
    }
    return stack[0];
  }

  std::string text_;
  Location where_;
  std::vector<Instruction> code_;
  int stack_ = 0;
  std::vector<std::string> variables_;
  std::vector<std::size_t> first_use_;  // offsets in text_, per variable
  std::vector<std::string> divisor_units_;
};

/// The value of a formula without variables, such as "30deg"; must be finite.
Result<double> parse_number(const std::string& text, const Location& where = {});

}  // namespace kinegraph
