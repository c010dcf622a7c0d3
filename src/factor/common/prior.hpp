#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kinegraph/factor/common/linear_combination.hpp"

namespace kinegraph {

/// A variable is what is known beforehand.     e = x − x₀      (000, eq. 21)      Slot: x.
class Prior final : public Factor {
 public:
  explicit Prior(std::vector<double> x0, Labels labels = {})
      : Factor("prior", static_cast<int>(x0.size()), {static_cast<int>(x0.size())}, diagonal(x0.size())),
        x0_(std::move(x0)),
        labels_(std::move(labels)) {}

  void evaluate(Slots x, double* residual, double* jacobian) const override {
    for (int i = 0; i < rows(); ++i) residual[i] = x[0][i] - x0_[i];
    if (jacobian) std::fill_n(jacobian, rows(), 1.0);
  }
  bool constant_jacobian() const override { return true; }
  std::string row_name(int row) const override {
    return labels_.empty() ? Factor::row_name(row) : name() + " " + labels_[row];
  }

 private:
  static std::vector<JacobianEntry> diagonal(std::size_t size) {
    std::vector<JacobianEntry> pattern;
    for (int i = 0; i < static_cast<int>(size); ++i) pattern.push_back({i, 0, i});
    return pattern;
  }

  std::vector<double> x0_;
  Labels labels_;
};

/// A variable is near a target that is a variable itself, most often a known one.     e = x − x₀      Slots: x x₀.
class PriorTarget final : public LinearCombination {
 public:
  explicit PriorTarget(int size, Labels labels = {}) : LinearCombination("prior", size, {1, -1}, std::move(labels)) {}
};

}  // namespace kinegraph
