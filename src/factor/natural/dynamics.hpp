#pragma once

#include <algorithm>
#include <memory>

#include "kinegraph/graph/factor.hpp"
#include "kinegraph/mechanics/natural/system.hpp"

namespace kinegraph::natural {

/// The equation of motion, with the multipliers as variables.
///
///     e = M q̈ + Φ_qᵀ λ − Q(q, q̇, t) − B u      (000, eq. 4; eliminating λ gives eq. 6 and the factors 26 to 29)
///
/// Forward and inverse dynamics differ only in what is known: u or the motion. Slots: q q̇ q̈ λ u t.
class Dynamics final : public Factor {
 public:
  explicit Dynamics(std::shared_ptr<const System> system)
      : Factor("dynamics", system->coordinates(), sizes_of(*system), pattern_of(*system)), system_(std::move(system)) {}

  void evaluate(Slots x, double* residual, double* jacobian) const override {
    if (!jacobian) {
      system_->motion(x[0], x[1], x[2], x[3], x[4], *x[5], residual, nullptr, nullptr, nullptr);
      return;
    }
    double* const by_v = jacobian + system_->stiffness_pattern().size();
    double* const by_a = by_v + system_->force_pattern().size();
    double* const by_lambda = by_a + system_->mass_pattern().size();
    double* const by_u = by_lambda + system_->jacobian_pattern().size();
    system_->motion(x[0], x[1], x[2], x[3], x[4], *x[5], residual, jacobian, by_v, by_lambda);
    std::copy(system_->mass_values().begin(), system_->mass_values().end(), by_a);
    std::fill_n(by_u, system_->motors(), -1.0);
  }
  std::string row_name(int row) const override { return "motion of " + system_->coordinate_name(row); }

 private:
  static std::vector<int> sizes_of(const System& s) {
    return {s.coordinates(), s.coordinates(), s.coordinates(), s.constraints(), s.motors(), 1};
  }
  static std::vector<JacobianEntry> pattern_of(const System& system) {
    std::vector<JacobianEntry> pattern;
    for (const Entry& e : system.stiffness_pattern()) pattern.push_back({e.row, 0, e.column});
    for (const Entry& e : system.force_pattern()) pattern.push_back({e.row, 1, e.column});
    for (const Entry& e : system.mass_pattern()) pattern.push_back({e.row, 2, e.column});
    for (const Entry& e : system.jacobian_pattern()) pattern.push_back({e.column, 3, e.row});
    for (int j = 0; j < system.motors(); ++j) pattern.push_back({system.motor_coordinate()[j], 4, j});
    return pattern;
  }

  std::shared_ptr<const System> system_;
};

}  // namespace kinegraph::natural
