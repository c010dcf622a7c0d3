#include "kinegraph/expr/expression.hpp"

#include <cmath>
#include <vector>

#include "fuzz/targets.hpp"
#include "kinegraph/base/taylor.hpp"

namespace kinegraph::fuzz {

/// Parsed, evaluated as a number and as a Taylor series: the value is the same.
void read_expression(const std::string& text) {
  const Result<Expression> parsed = Expression::parse(text, {"formula", 3, 5});
  if (!parsed) return check_refusal(parsed.failure());
  std::vector<double> values;
  std::vector<Taylor2> series;
  for (std::size_t i = 0; i < parsed->variables().size(); ++i) {
    values.push_back(0.75 + static_cast<double>(i));
    series.push_back(Taylor2(values.back()));
    const Location where = parsed->where_of(static_cast<int>(i));
    check(where.line == 3 && where.column >= 5, "a variable has its place");
  }
  const double value = parsed->evaluate(values);
  const double of_series = parsed->evaluate<Taylor2>(series).x;
  const bool same = value == of_series || std::abs(value - of_series) <= 1e-9 * std::abs(value) ||
                    (std::isnan(value) && std::isnan(of_series));
  check(same, "number and Taylor series have the same value");
  const Expression bound = parsed->bind([](const std::string&) { return std::optional<double>(0.75); });
  check(bound.variables().empty(), "a bound formula has no variables left");
  bound.evaluate(std::vector<double>{});
  const Result<double> number = parse_number(text);
  if (!number) return check_refusal(number.failure());
  check(std::isfinite(*number), "a number is finite");
}

}  // namespace kinegraph::fuzz
