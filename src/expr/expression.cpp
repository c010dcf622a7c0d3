#include "kinegraph/expr/expression.hpp"

#include <algorithm>
#include <cmath>

#include "kinegraph/base/names.hpp"

namespace kinegraph {

void Expression::append(Instruction next) {
  const auto constant = [this](int from_end) {
    const int at = static_cast<int>(code_.size()) - from_end;
    return at >= 0 && code_[at].op == Op::constant;
  };
  if (next.op == Op::constant || next.op == Op::variable || !constant(1)) {
    code_.push_back(next);
    return;
  }
  // The last operand is a number; in postfix order the one before it is too if the instruction before it is.
  double& last = code_.back().number;
  if (!takes_two(next.op)) {
    last = apply_one(next.op, last, next.number);
  } else if (constant(2)) {
    const double b = last;
    code_.pop_back();
    double& a = code_.back().number;
    a = apply_two(next.op, a, b);
  } else if (next.op == Op::power) {
    code_.back() = {Op::power_constant, 0, last};
  } else {
    code_.push_back(next);
  }
}

void Expression::measure_stack() {
  int depth = 0;
  stack_ = 0;
  for (const Instruction& next : code_) {
    if (next.op == Op::constant || next.op == Op::variable) stack_ = std::max(stack_, ++depth);
    if (takes_two(next.op)) --depth;
  }
}

Location Expression::location_at(std::size_t offset) const {
  Location place = where_;
  if (place.column > 0) place.column += characters(std::string_view(text_).substr(0, offset));
  return place;
}

Expression Expression::bind(const std::function<std::optional<double>(const std::string&)>& value) const {
  Expression bound;
  bound.text_ = text_;
  bound.where_ = where_;
  bound.divisor_units_ = divisor_units_;
  std::vector<std::optional<double>> known;
  std::vector<int> renumbered;
  for (std::size_t i = 0; i < variables_.size(); ++i) {
    known.push_back(value(variables_[i]));
    renumbered.push_back(static_cast<int>(bound.variables_.size()));
    if (known.back()) continue;
    bound.variables_.push_back(variables_[i]);
    bound.first_use_.push_back(first_use_[i]);
  }
  for (Instruction next : code_) {
    if (next.op == Op::variable && known[next.variable]) {
      next = {Op::constant, 0, *known[next.variable]};
    } else if (next.op == Op::variable) {
      next.variable = renumbered[next.variable];
    }
    bound.append(next);
  }
  bound.measure_stack();
  return bound;
}

Result<double> parse_number(const std::string& text, const Location& where) {
  Result<Expression> expression = Expression::parse(text, where);
  if (!expression) return std::move(expression).failure();
  if (!expression->variables().empty()) {
    return Failure::bad_input(expression->where_of(0),
                              "expected a number, found the name " + quote(expression->variables().front()));
  }
  const double value = expression->evaluate({});
  if (!std::isfinite(value)) {
    return Failure::bad_input(where, quote(text) + (std::isnan(value) ? " is not a number" : " is infinite"));
  }
  return value;
}

}  // namespace kinegraph
