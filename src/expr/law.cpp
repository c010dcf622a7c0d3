#include "kinegraph/expr/law.hpp"

#include <algorithm>
#include <span>

#include "kinegraph/expr/expression.hpp"

namespace kinegraph {

Taylor2 Recording::taylor(double t) const {
  const auto after = std::upper_bound(times.begin(), times.end(), t);
  if (after == times.begin()) return values.front();
  const std::size_t i = after - times.begin();
  if (i == times.size()) return values.back();
  const double slope = (values[i] - values[i - 1]) / (times[i] - times[i - 1]);
  return {values[i - 1] + slope * (t - times[i - 1]), slope, 0};
}

Law::Law(std::shared_ptr<const Expression> of_t) : expression_(std::move(of_t)) {
  if (expression_ && expression_->variables().empty()) {
    constant_ = expression_->evaluate({});
    expression_.reset();
  }
}

double Law::operator()(double t) const {
  if (recording_) return recording_->taylor(t).x;
  return expression_ ? expression_->evaluate(std::span<const double>(&t, 1)) : constant_;
}

Taylor2 Law::taylor(double t) const {
  if (recording_) return recording_->taylor(t);
  if (!expression_) return constant_;
  const Taylor2 time(t, 1, 0);
  return expression_->evaluate(std::span<const Taylor2>(&time, 1));
}

}  // namespace kinegraph
