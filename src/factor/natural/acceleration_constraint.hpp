#pragma once

#include <memory>

#include "kinegraph/graph/factor.hpp"
#include "kinegraph/mechanics/natural/system.hpp"

namespace kinegraph::natural {

/// Its accelerations do too, up to a compliance that makes the multipliers of redundant constraints unique.
///
///     e = Φ̈ − C λ,   Φ̈ = Φ_q q̈ + Φ̇_q q̇ + Φ̇_t,   C = diag(c)      (000, eq. 32 upper rows; C as in 002)
///
/// Slots: q q̇ q̈ λ t. Where c is zero the Jacobian has no entry for λ.
class AccelerationConstraint final : public Factor {
 public:
  /// `compliance`: one number per constraint, or none at all for a rigid mechanism.
  explicit AccelerationConstraint(std::shared_ptr<const System> system, std::vector<double> compliance = {})
      : Factor("acceleration constraint", system->constraints(),
               {system->coordinates(), system->coordinates(), system->coordinates(), system->constraints(), 1},
               pattern_of(*system, compliance)),
        system_(std::move(system)) {
    for (int i = 0; i < static_cast<int>(compliance.size()); ++i)
      if (compliance[i] != 0) compliant_.push_back({i, compliance[i]});
  }

  void evaluate(Slots x, double* residual, double* jacobian) const override {
    const std::size_t block = system_->jacobian_pattern().size();
    double* const by_v = jacobian ? jacobian + block : nullptr;
    double* const by_a = jacobian ? jacobian + 2 * block : nullptr;
    system_->acceleration(x[0], x[1], x[2], *x[4], residual, jacobian, by_v, by_a);
    for (const Compliant& c : compliant_) residual[c.row] -= c.value * x[3][c.row];
    if (!jacobian) return;
    for (std::size_t k = 0; k < compliant_.size(); ++k) jacobian[3 * block + k] = -compliant_[k].value;
  }
  bool may_lose_rank() const override { return true; }
  std::string row_name(int row) const override { return "acceleration of " + system_->constraint_name(row); }

 private:
  struct Compliant {
    int row;
    double value;
  };

  static std::vector<JacobianEntry> pattern_of(const System& system, const std::vector<double>& compliance) {
    std::vector<JacobianEntry> pattern;
    for (int slot = 0; slot < 3; ++slot)
      for (const Entry& e : system.jacobian_pattern()) pattern.push_back({e.row, slot, e.column});
    for (int i = 0; i < static_cast<int>(compliance.size()); ++i)
      if (compliance[i] != 0) pattern.push_back({i, 3, i});
    return pattern;
  }

  std::shared_ptr<const System> system_;
  std::vector<Compliant> compliant_;
};

}  // namespace kinegraph::natural
