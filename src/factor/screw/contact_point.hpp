#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kinegraph/factor/screw/frame_goal.hpp"
#include "kinegraph/mechanics/screw/inverse_dynamics.hpp"

namespace kinegraph::screw {

/// A base of the factors on a point of a body, some derivatives of the state deep.
class PointFactor : public Factor {
 protected:
  PointFactor(std::string name, int rows, const std::shared_ptr<const Tree>& tree, const BodyPoint& point, int levels)
      : Factor(std::move(name), rows, StateSizes(StateSlots(*tree), levels).stored,
               dense(rows, StateSizes(StateSlots(*tree), levels).tangent)),
        state_(*tree),
        at_(point.at),
        pool_([tree, body = point.body] { return std::make_unique<ChainWork>(tree, body); }) {}

  StateSlots state_;
  Eigen::Vector3d at_;
  Pool<ChainWork> pool_;
};

/// How high a point is above a height: zero while it stands (an equality), not negative while it swings (an
/// inequality).     e = p_z − height      (003, section V-C: contact height)      Slots: q.
class PointHeight final : public PointFactor {
 public:
  PointHeight(const std::string& name, const std::shared_ptr<const Tree>& tree, const BodyPoint& point, double height)
      : PointFactor("height of " + name, 1, tree, point, 1), height_(height) {}

  void evaluate(Slots x, double* residual, double* jacobian) const override {
    const auto work = pool_.borrow();
    work->set(state_, x, 1);
    const PointState s = point_state(work->chain, at_);
    residual[0] = s.p[2] - height_;
    if (!jacobian) return;
    std::fill_n(jacobian, state_.freedoms(), 0.0);
    for (const auto& column : work->chain.columns()) {
      jacobian[column.freedom] += column.J[5] + column.J[0] * s.p[1] - column.J[1] * s.p[0];
    }
  }
  std::string row_name(int) const override { return name(); }

 private:
  double height_;
};

/// A point does not move.     e = ṗ      (003, section V-C: zero velocity at contact)      Slots: q v.
class PointVelocity final : public PointFactor {
 public:
  PointVelocity(const std::string& name, const std::shared_ptr<const Tree>& tree, const BodyPoint& point)
      : PointFactor("velocity of " + name, 3, tree, point, 2) {}

  void evaluate(Slots x, double* residual, double* jacobian) const override {
    const auto work = pool_.borrow();
    work->set(state_, x, 2);
    const PointState s = point_state(work->chain, at_);
    Eigen::Map<Eigen::Vector3d>(residual + 0) = s.velocity;
    if (!jacobian) return;
    const int n = state_.freedoms();
    std::fill_n(jacobian, 6 * n, 0.0);
    for (const auto& column : work->chain.columns()) {
      const PointChange c = point_change(work->chain, s, column);
      Eigen::Map<Eigen::Vector3d>(jacobian + 3 * column.freedom) += c.velocity_q;
      Eigen::Map<Eigen::Vector3d>(jacobian + 3 * (n + column.freedom)) += c.p_q;
    }
  }
};

/// A point that stands stays: what it has drifted is taken back, with time constant 1/κ.
///
///     e = p̈ + 2 κ ṗ + κ² (0, 0, p_z − height)      (003, section V-C, stabilised after Baumgarte 1972)
///
/// Slots: q v a.
class PointAcceleration final : public PointFactor {
 public:
  PointAcceleration(const std::string& name, const std::shared_ptr<const Tree>& tree, const BodyPoint& point,
                    double kappa, double height)
      : PointFactor("acceleration of " + name, 3, tree, point, 3), kappa_(kappa), height_(height) {}

  void evaluate(Slots x, double* residual, double* jacobian) const override {
    const auto work = pool_.borrow();
    work->set(state_, x, 3);
    const PointState s = point_state(work->chain, at_);
    Eigen::Map<Eigen::Vector3d> e(residual);
    e = s.acceleration + 2 * kappa_ * s.velocity;
    e[2] += kappa_ * kappa_ * (s.p[2] - height_);
    if (!jacobian) return;
    const int n = state_.freedoms();
    std::fill_n(jacobian, 9 * n, 0.0);
    for (const auto& column : work->chain.columns()) {
      const PointChange c = point_change(work->chain, s, column);
      Eigen::Vector3d by_q = c.acceleration_q + 2 * kappa_ * c.velocity_q;
      by_q[2] += kappa_ * kappa_ * c.p_q[2];
      Eigen::Map<Eigen::Vector3d>(jacobian + 3 * column.freedom) += by_q;
      Eigen::Map<Eigen::Vector3d>(jacobian + 3 * (n + column.freedom)) += c.acceleration_v + 2 * kappa_ * c.p_q;
      Eigen::Map<Eigen::Vector3d>(jacobian + 3 * (2 * n + column.freedom)) += c.p_q;
    }
  }

 private:
  double kappa_, height_;
};

}  // namespace kinegraph::screw
