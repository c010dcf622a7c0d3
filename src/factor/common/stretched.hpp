#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kinegraph/factor/common/pool.hpp"
#include "kinegraph/graph/factor.hpp"

namespace kinegraph {

/// A factor over a step of time, such as a rule of integration, in a phase whose duration is unknown. Where the phase
/// lasts σ times as long as the factor was made for, rates by its own time are σ times, and second derivatives σ² times
/// those by real time:
///
///     e(x₀, σ v₀, σ² a₀, …),     σ = T / T₀      T: the duration, T₀: that for which the step of the factor is meant
///
/// Slots: the factor's, then T. Slots with a power above 0 must be vectors.
class Stretched final : public Factor {
 public:
  /// `powers`: of σ, per slot of the factor.
  Stretched(const std::shared_ptr<const Factor>& factor, std::vector<int> powers, double nominal)
      : Factor(factor->name(), factor->rows(), with_duration(*factor), with_column(*factor)),
        factor_(factor),
        powers_(std::move(powers)),
        nominal_(nominal),
        pool_([factor] { return std::make_unique<Work>(*factor); }) {}

  void evaluate(Slots x, double* residual, double* jacobian) const override {
    const auto work = pool_.borrow();
    const double sigma = x[powers_.size()][0] / nominal_, by[] = {1, sigma, sigma * sigma};
    for (std::size_t s = 0; s < powers_.size(); ++s) {
      work->slots[s] = x[s];
      if (powers_[s] == 0) continue;
      const int size = factor_->slot_sizes()[s];
      for (int i = 0; i < size; ++i) work->values[s][i] = by[powers_[s]] * x[s][i];
      work->slots[s] = work->values[s].data();
    }
    factor_->evaluate(work->slots, residual, jacobian);
    if (!jacobian) return;
    const auto entries = factor_->pattern();
    double* const column = jacobian + entries.size();
    std::fill_n(column, rows(), 0.0);
    const double rate[] = {0, 1 / nominal_, 2 * sigma / nominal_};  // ∂σᵖ/∂T
    for (std::size_t e = 0; e < entries.size(); ++e) {
      const int p = powers_[entries[e].slot];
      if (p == 0) continue;
      column[entries[e].row] += jacobian[e] * rate[p] * x[entries[e].slot][entries[e].column];
      jacobian[e] *= by[p];
    }
  }
  std::string row_name(int row) const override { return factor_->row_name(row); }

 private:
  struct Work {
    explicit Work(const Factor& factor) : slots(factor.slot_sizes().size()) {
      for (const int size : factor.slot_sizes()) values.emplace_back(size, 0.0);
    }
    std::vector<std::vector<double>> values;
    std::vector<const double*> slots;
  };
  static std::vector<int> with_duration(const Factor& factor) {
    std::vector<int> sizes(factor.slot_sizes().begin(), factor.slot_sizes().end());
    sizes.push_back(1);
    return sizes;
  }
  static std::vector<JacobianEntry> with_column(const Factor& factor) {
    std::vector<JacobianEntry> pattern(factor.pattern().begin(), factor.pattern().end());
    const int slot = static_cast<int>(factor.slot_sizes().size());
    for (int r = 0; r < factor.rows(); ++r) pattern.push_back({r, slot, 0});
    return pattern;
  }

  std::shared_ptr<const Factor> factor_;
  std::vector<int> powers_;
  double nominal_;
  Pool<Work> pool_;
};

}  // namespace kinegraph
