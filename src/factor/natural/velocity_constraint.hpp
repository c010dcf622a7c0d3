#pragma once

#include <memory>

#include "kinegraph/graph/factor.hpp"
#include "kinegraph/mechanics/natural/system.hpp"

namespace kinegraph::natural {

/// Its velocities do too.     e = Φ̇ = Φ_q q̇ + Φ_t      (000, eq. 25, with Φ_t)      Slots: q q̇ t.
class VelocityConstraint final : public Factor {
 public:
  explicit VelocityConstraint(std::shared_ptr<const System> system)
      : Factor("velocity constraint", system->constraints(), {system->coordinates(), system->coordinates(), 1},
               pattern_of(*system)),
        system_(std::move(system)) {}

  void evaluate(Slots x, double* residual, double* jacobian) const override {
    const std::size_t block = system_->jacobian_pattern().size();
    system_->velocity(x[0], x[1], *x[2], residual, jacobian, jacobian ? jacobian + block : nullptr);
  }
  bool may_lose_rank() const override { return true; }
  std::string row_name(int row) const override { return "rate of " + system_->constraint_name(row); }

 private:
  static std::vector<JacobianEntry> pattern_of(const System& system) {
    std::vector<JacobianEntry> pattern;
    for (int slot = 0; slot < 2; ++slot)
      for (const Entry& e : system.jacobian_pattern()) pattern.push_back({e.row, slot, e.column});
    return pattern;
  }

  std::shared_ptr<const System> system_;
};

}  // namespace kinegraph::natural
