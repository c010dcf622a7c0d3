#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kinegraph/graph/factor.hpp"
#include "kinegraph/model/robot.hpp"

namespace kinegraph::screw {

/// A joint stays within its limits: a force pulls it back from beyond them, and `s` is what of that force is known
/// already (the multiplier of the limit over the weight of this factor; zero at first).
///
///     e = max(0, q + s − upper) − max(0, lower − q − s)      (the method of multipliers for lower ≤ q ≤ upper)
///
/// Slots: q, s (known).
class JointLimit final : public Factor {
 public:
  JointLimit(const std::string& joint, std::vector<JointLimits> limits)
      : Factor("limit " + joint, static_cast<int>(limits.size()),
               {static_cast<int>(limits.size()), static_cast<int>(limits.size())}, diagonal(limits.size())),
        limits_(std::move(limits)) {}

  void evaluate(Slots x, double* residual, double* jacobian) const override {
    for (int i = 0; i < rows(); ++i) {
      const double q = x[0][i] + x[1][i];
      residual[i] = std::max(0.0, q - limits_[i].upper) - std::max(0.0, limits_[i].lower - q);
      if (jacobian) jacobian[i] = residual[i] != 0 ? 1 : 0;
    }
  }

 private:
  static std::vector<JacobianEntry> diagonal(std::size_t size) {
    std::vector<JacobianEntry> pattern;
    for (int i = 0; i < static_cast<int>(size); ++i) pattern.push_back({i, 0, i});
    return pattern;
  }

  std::vector<JointLimits> limits_;
};

}  // namespace kinegraph::screw
