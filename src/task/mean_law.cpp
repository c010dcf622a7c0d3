#include "kinegraph/task/mean_law.hpp"

#include <algorithm>
#include <cmath>

namespace kinegraph::task {

MeanLaw::MeanLaw(const Trajectory& table, int series, double factor)
    : times_(table.times()), values_(table.column(series)), integral_(times_.size(), 0) {
  for (double& value : values_) value *= factor;
  for (std::size_t i = 1; i < times_.size(); ++i) {
    integral_[i] = integral_[i - 1] + 0.5 * (times_[i] - times_[i - 1]) * (values_[i] + values_[i - 1]);
  }
}

double MeanLaw::operator()(double t) const {
  if (times_.empty()) return law_(t);
  const auto after = std::upper_bound(times_.begin(), times_.end(), t);
  if (after == times_.begin()) return values_.front();
  if (after == times_.end()) return values_.back();
  const std::size_t i = after - times_.begin();
  const double share = (t - times_[i - 1]) / (times_[i] - times_[i - 1]);
  return values_[i - 1] + share * (values_[i] - values_[i - 1]);
}

double MeanLaw::integral(double t) const {
  if (t <= times_.front()) return (t - times_.front()) * values_.front();
  if (t >= times_.back()) return integral_.back() + (t - times_.back()) * values_.back();
  const std::size_t i = std::upper_bound(times_.begin(), times_.end(), t) - times_.begin() - 1;
  return integral_[i] + 0.5 * (t - times_[i]) * (values_[i] + (*this)(t));
}

double MeanLaw::mean(double from, double to) const {
  if (!times_.empty()) return (integral(to) - integral(from)) / (to - from);
  if (law_.is_constant()) return law_(from);
  const double middle = 0.5 * (from + to), aside = 0.5 * (to - from) * std::sqrt(0.6);
  return (5 * law_(middle - aside) + 8 * law_(middle) + 5 * law_(middle + aside)) / 18;
}

}  // namespace kinegraph::task
