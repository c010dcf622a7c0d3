#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kinegraph/factor/common/linear_combination.hpp"

namespace kinegraph {

/// Some elements of a vector shall have given values: a joint's goal, rest (zero rates), the least torque (as a cost).
///
///     e = x[idx] − x*      (003, section V: goals and the minimum-torque factor)      Slot: x.
class Target final : public Factor {
 public:
  /// Labels name the elements of x.
  Target(std::string name, int size, std::vector<int> indices, std::vector<double> values, Labels labels = {})
      : Factor(std::move(name), static_cast<int>(indices.size()), {size}, pattern_of(indices)),
        indices_(std::move(indices)),
        values_(std::move(values)),
        labels_(std::move(labels)) {}

  void evaluate(Slots x, double* residual, double* jacobian) const override {
    for (int i = 0; i < rows(); ++i) residual[i] = x[0][indices_[i]] - values_[i];
    if (jacobian) std::fill_n(jacobian, rows(), 1.0);
  }
  bool constant_jacobian() const override { return true; }
  std::string row_name(int row) const override {
    return labels_.empty() ? Factor::row_name(row) : name() + ": " + labels_[indices_[row]];
  }

 private:
  static std::vector<JacobianEntry> pattern_of(const std::vector<int>& indices) {
    std::vector<JacobianEntry> pattern;
    for (int i = 0; i < static_cast<int>(indices.size()); ++i) pattern.push_back({i, 0, indices[i]});
    return pattern;
  }

  std::vector<int> indices_;
  std::vector<double> values_;
  Labels labels_;
};

}  // namespace kinegraph
