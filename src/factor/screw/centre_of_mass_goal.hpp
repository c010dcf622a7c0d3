#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kinegraph/factor/common/pool.hpp"
#include "kinegraph/factor/screw/state_slots.hpp"
#include "kinegraph/mechanics/screw/centre_of_mass.hpp"

namespace kinegraph::screw {

/// The centre of mass of the robot is at a place, of which some of x, y, z may be left open.     e = c(q) − c*
/// Slots: q.
class CentreOfMassGoal final : public Factor {
 public:
  CentreOfMassGoal(const std::string& name, const std::shared_ptr<const Tree>& tree, std::vector<int> axes,
                   const Eigen::Vector3d& goal)
      : Factor(name, static_cast<int>(axes.size()), StateSizes(StateSlots(*tree), 1).stored,
               dense(static_cast<int>(axes.size()), StateSizes(StateSlots(*tree), 1).tangent)),
        state_(*tree),
        axes_(std::move(axes)),
        goal_(goal),
        pool_([tree] { return std::make_unique<Work>(tree); }) {}

  void evaluate(Slots x, double* residual, double* jacobian) const override {
    const auto work = pool_.borrow();
    state_.position(x, 0, work->q.data());
    const Eigen::Vector3d c = work->centre.at(work->q.data(), jacobian ? work->by_q.data() : nullptr);
    for (int r = 0; r < rows(); ++r) residual[r] = c[axes_[r]] - goal_[axes_[r]];
    if (!jacobian) return;
    for (int i = 0; i < state_.freedoms(); ++i)
      for (int r = 0; r < rows(); ++r) *jacobian++ = work->by_q[3 * i + axes_[r]];
  }
  bool add_curvature(Slots x, const double* weight, double* hessian) const override {
    const auto work = pool_.borrow();
    state_.position(x, 0, work->q.data());
    Eigen::Vector3d w = Eigen::Vector3d::Zero();
    for (int r = 0; r < rows(); ++r) w[axes_[r]] = weight[r];
    StateHessian to(hessian, state_.freedoms(), state_.freedoms());
    work->centre.add_curvature(work->q.data(), w, to);
    return true;
  }
  std::string row_name(int row) const override {
    static const char* const names[] = {"x", "y", "z"};
    return name() + ": " + names[axes_[row]];
  }

 private:
  struct Work {
    explicit Work(const std::shared_ptr<const Tree>& tree)
        : centre(tree), q(tree->stored()), by_q(3 * tree->freedoms()) {}
    CentreOfMass centre;
    std::vector<double> q, by_q;
  };
  StateSlots state_;
  std::vector<int> axes_;
  Eigen::Vector3d goal_;
  Pool<Work> pool_;
};

}  // namespace kinegraph::screw
