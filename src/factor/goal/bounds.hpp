#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "kinegraph/factor/common/linear_combination.hpp"

namespace kinegraph {

/// Elements of a vector stay between bounds, as an inequality: limits of joints, of their speeds and torques.
///
///     g = (x − lower, upper − x) ≥ 0      (003, section V: joint limits; as a hinge loss where inequalities are costs)
///
/// Infinite bounds have no row. Slot: x.
class Bounds final : public Factor {
 public:
  /// Labels name the elements of x.
  Bounds(std::string name, const std::vector<double>& lower, const std::vector<double>& upper, Labels labels = {})
      : Bounds(std::move(name), static_cast<int>(lower.size()), rows_of(lower, upper), std::move(labels)) {}

  void evaluate(Slots x, double* residual, double* jacobian) const override {
    for (std::size_t i = 0; i < sides_.size(); ++i) {
      const Side& side = sides_[i];
      residual[i] = side.sign * (x[0][side.element] - side.bound);
      if (jacobian) jacobian[i] = side.sign;
    }
  }
  bool constant_jacobian() const override { return true; }
  std::string row_name(int row) const override {
    const Side& side = sides_[row];
    const std::string element = labels_.empty() ? std::to_string(side.element) : labels_[side.element];
    return name() + ": " + element + (side.sign > 0 ? " above its lower limit" : " below its upper limit");
  }
  /// Whether anything is bounded at all; a factor without rows is not worth adding.
  bool any() const { return !sides_.empty(); }

 private:
  struct Side {
    int element;
    double sign, bound;
  };
  Bounds(std::string name, int size, std::vector<Side> sides, Labels labels)
      : Factor(std::move(name), static_cast<int>(sides.size()), {size}, pattern_of(sides)),
        sides_(std::move(sides)),
        labels_(std::move(labels)) {}

  static std::vector<Side> rows_of(const std::vector<double>& lower, const std::vector<double>& upper) {
    std::vector<Side> sides;
    for (std::size_t i = 0; i < lower.size(); ++i) {
      if (std::isfinite(lower[i])) sides.push_back({static_cast<int>(i), 1, lower[i]});
      if (std::isfinite(upper[i])) sides.push_back({static_cast<int>(i), -1, upper[i]});
    }
    return sides;
  }
  static std::vector<JacobianEntry> pattern_of(const std::vector<Side>& sides) {
    std::vector<JacobianEntry> pattern;
    for (std::size_t i = 0; i < sides.size(); ++i) pattern.push_back({static_cast<int>(i), 0, sides[i].element});
    return pattern;
  }

  std::vector<Side> sides_;
  Labels labels_;
};

}  // namespace kinegraph
