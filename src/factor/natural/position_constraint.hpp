#pragma once

#include <memory>

#include "kinegraph/graph/factor.hpp"
#include "kinegraph/mechanics/natural/system.hpp"

namespace kinegraph::natural {

/// The mechanism holds together.     e = Φ(q, t)      (000, eq. 24)      Slots: q t. The time is known, never solved
/// for.
class PositionConstraint final : public Factor {
 public:
  explicit PositionConstraint(std::shared_ptr<const System> system)
      : Factor("position constraint", system->constraints(), {system->coordinates(), 1}, pattern_of(*system)),
        system_(std::move(system)) {}

  void evaluate(Slots x, double* residual, double* jacobian) const override {
    system_->position(x[0], *x[1], residual, jacobian);
  }
  bool may_lose_rank() const override { return true; }
  std::string row_name(int row) const override { return system_->constraint_name(row); }

 private:
  static std::vector<JacobianEntry> pattern_of(const System& system) {
    std::vector<JacobianEntry> pattern;
    for (const Entry& e : system.jacobian_pattern()) pattern.push_back({e.row, 0, e.column});
    return pattern;
  }

  std::shared_ptr<const System> system_;
};

}  // namespace kinegraph::natural
