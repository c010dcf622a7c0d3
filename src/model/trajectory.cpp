#include "kinegraph/model/trajectory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace kinegraph {

void Trajectory::reserve(int samples) {
  times_.reserve(samples);
  data_.reserve(static_cast<std::size_t>(samples) * names_.size());
}

double* Trajectory::append(double t) {
  const std::size_t row = data_.size();
  times_.push_back(t);
  data_.resize(row + names_.size());
  return data_.data() + row;
}

int Trajectory::find(const std::string& name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  return found == names_.end() ? -1 : static_cast<int>(found - names_.begin());
}

std::vector<double> Trajectory::column(int series) const {
  std::vector<double> values(samples());
  for (int i = 0; i < samples(); ++i) values[i] = at(i, series);
  return values;
}

Result<double> Trajectory::even_step() const {
  const int n = samples();
  const int first_line = lines.empty() ? 0 : lines.front();
  if (n < 2) {
    const Location where{file, n == 0 ? header_line : first_line, file.empty() ? 0 : 1};
    return Failure::bad_input(
        where, fmt::format("equal steps need at least 2 samples, there {}", n == 1 ? "is 1" : "are none"));
  }

  // The median is the step that the grid was meant to have: one missing sample does not shift it, as it would the mean.
  std::vector<double> differences(n - 1);
  for (int i = 1; i < n; ++i) differences[i - 1] = times_[i] - times_[i - 1];
  const auto middle = differences.begin() + differences.size() / 2;
  std::nth_element(differences.begin(), middle, differences.end());
  const double step = *middle;

  // Few digits ("0.1, 0.3") do not excuse a step that is missing, only its rounding.
  const double printed = std::min(2 * time_resolution, 0.01 * step);
  for (int i = 1; i < n; ++i) {
    const double rounding = 4 * std::numeric_limits<double>::epsilon() * std::abs(times_[i]);
    const double found = times_[i] - times_[i - 1];
    if (std::abs(found - step) <= 1e-6 * step + printed + rounding) continue;
    const Location where{file, lines.empty() ? 0 : lines[i], file.empty() ? 0 : 1};
    return Failure::bad_input(
        where, fmt::format("unequal steps: t goes from {} to {}, a step of {:.9g}; the others are {:.9g}",
                           times_[i - 1], times_[i], found, step));
  }
  return (times_.back() - times_.front()) / (n - 1);
}

}  // namespace kinegraph
