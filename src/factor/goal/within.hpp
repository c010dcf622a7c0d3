#pragma once

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kinegraph/graph/factor.hpp"

namespace kinegraph {

/// Another factor's residuals are small, as an inequality: a goal with a tolerance.     g = (t − e, t + e) ≥ 0
/// Slots: the other's.
class Within final : public Factor {
 public:
  Within(std::shared_ptr<const Factor> factor, double tolerance)
      : Factor(factor->name(), 2 * factor->rows(), {factor->slot_sizes().begin(), factor->slot_sizes().end()},
               doubled(*factor)),
        factor_(std::move(factor)),
        tolerance_(tolerance) {}

  void evaluate(Slots x, double* residual, double* jacobian) const override {
    const int m = factor_->rows(), entries = static_cast<int>(factor_->pattern().size());
    factor_->evaluate(x, residual, jacobian);
    for (int r = 0; r < m; ++r) residual[m + r] = tolerance_ + residual[r], residual[r] = tolerance_ - residual[r];
    for (int i = 0; jacobian && i < entries; ++i) jacobian[entries + i] = jacobian[i], jacobian[i] = -jacobian[i];
  }
  bool add_curvature(Slots x, const double* weight, double* hessian) const override {
    constexpr int most = 12;
    std::array<double, most> both;
    const int m = factor_->rows();
    if (m > most) return false;
    for (int r = 0; r < m; ++r) both[r] = weight[m + r] - weight[r];
    return factor_->add_curvature(x, both.data(), hessian);
  }
  bool constant_jacobian() const override { return factor_->constant_jacobian(); }
  std::string row_name(int row) const override { return factor_->row_name(row % factor_->rows()); }

 private:
  static std::vector<JacobianEntry> doubled(const Factor& factor) {
    std::vector<JacobianEntry> pattern(factor.pattern().begin(), factor.pattern().end());
    for (const JacobianEntry& entry : factor.pattern()) {
      pattern.push_back({entry.row + factor.rows(), entry.slot, entry.column});
    }
    return pattern;
  }

  std::shared_ptr<const Factor> factor_;
  double tolerance_;
};

}  // namespace kinegraph
