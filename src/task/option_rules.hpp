#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "kinegraph/base/result.hpp"

namespace kinegraph::task {

/// One of a list of names, or a fault that lists them.
inline void check_choice(const std::string& field, const std::string& value, const std::vector<std::string>& valid,
                         Failure& faults) {
  if (std::find(valid.begin(), valid.end(), value) != valid.end()) return;
  faults.diagnostics.push_back({Severity::error,
                                {},
                                fmt::format("{}: must be one of {}, is '{}'{}", field, fmt::join(valid, ", "), value,
                                            did_you_mean(value, valid))});
}

/// "step: must be > 0, is -0.001"
template <class T>
void check_rule(bool holds, const std::string& field, const std::string& rule, const T& value, Failure& faults) {
  if (!holds) faults.diagnostics.push_back({Severity::error, {}, fmt::format("{}: {}, is {}", field, rule, value)});
}

inline std::string steps_text(double steps) {
  return std::isfinite(steps) ? fmt::format("{:g} steps", steps) : "more than can be counted";
}

/// A time in equal steps, not more than can be counted.
inline void check_time_and_step(double time, double step, Failure& faults) {
  constexpr double kMostSteps = 2e9;
  const bool step_fine = std::isfinite(step) && step > 0, time_fine = std::isfinite(time) && time > 0;
  check_rule(step_fine, "step", "must be > 0", step, faults);
  check_rule(time_fine, "time", "must be > 0", time, faults);
  if (!step_fine || !time_fine) return;
  check_rule(time / step <= kMostSteps, "time", fmt::format("must be at most {:g} steps", kMostSteps),
             steps_text(time / step), faults);
}

}  // namespace kinegraph::task
