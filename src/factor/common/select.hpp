#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kinegraph/factor/common/linear_combination.hpp"

namespace kinegraph {

/// Some elements of a vector are a vector of their own.     e = x[idx] − y      (000, eq. 30 to 32, lower rows)
/// The independent coordinates z = q[idx], their rates and accelerations; or a prescribed coordinate (y known).
/// Slots: x y.
class Select final : public Factor {
 public:
  Select(int size, std::vector<int> indices, std::string name = "select", Labels labels = {})
      : Factor(std::move(name), static_cast<int>(indices.size()), {size, static_cast<int>(indices.size())},
               pattern_of(indices)),
        indices_(std::move(indices)),
        labels_(std::move(labels)) {}

  void evaluate(Slots x, double* residual, double* jacobian) const override {
    for (int i = 0; i < rows(); ++i) residual[i] = x[0][indices_[i]] - x[1][i];
    if (!jacobian) return;
    std::fill_n(jacobian, rows(), 1.0);
    std::fill_n(jacobian + rows(), rows(), -1.0);
  }
  bool constant_jacobian() const override { return true; }

  /// Selects others, as many. Whoever analysed the pattern must look at it again.
  void select(const std::vector<int>& indices) {
    for (int i = 0; i < rows(); ++i) mutable_pattern()[i].column = indices_[i] = indices[i];
  }
  const std::vector<int>& indices() const { return indices_; }
  /// Labels name the elements of x.
  std::string row_name(int row) const override {
    return labels_.empty() ? Factor::row_name(row) : name() + " " + labels_[indices_[row]];
  }

 private:
  static std::vector<JacobianEntry> pattern_of(const std::vector<int>& indices) {
    std::vector<JacobianEntry> pattern;
    for (int i = 0; i < static_cast<int>(indices.size()); ++i) pattern.push_back({i, 0, indices[i]});
    for (int i = 0; i < static_cast<int>(indices.size()); ++i) pattern.push_back({i, 1, i});
    return pattern;
  }

  std::vector<int> indices_;
  Labels labels_;
};

}  // namespace kinegraph
