#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kinegraph/factor/screw/frame_goal.hpp"
#include "kinegraph/mechanics/screw/inverse_dynamics.hpp"

namespace kinegraph::screw {

/// A base of the factors on a point of a body, some derivatives of the state deep. Columns are those of the chain of
/// joints that moves it, level by level.
class PointFactor : public Factor {
 protected:
  PointFactor(std::string name, int rows, const std::shared_ptr<const Tree>& tree, const BodyPoint& point, int levels)
      : Factor(std::move(name), rows, StateSizes(StateSlots(*tree), levels).stored,
               pattern_of(*tree, point.body, rows, levels)),
        state_(*tree),
        at_(point.at),
        place_(tree->freedoms(), -1),
        pool_([tree, body = point.body] { return std::make_unique<ChainWork>(tree, body); }) {
    for (const int freedom : freedoms_of(*tree, point.body)) place_[freedom] = chain_++;
  }

  /// Where a freedom's entries are among those of a level of the state.
  int entries(int level, int freedom) const { return rows() * (level * chain_ + place_[freedom]); }

  void add_bends(Slots x, int levels, const PointWeight& weight, double* hessian) const {
    const auto work = pool_.borrow();
    work->set(state_, x, levels);
    StateHessian to(hessian, levels * state_.freedoms(), state_.freedoms());
    add_point_curvature(work->chain, point_state(work->chain, at_), weight, levels, to);
  }

 private:
  static std::vector<int> freedoms_of(const Tree& tree, int body) {
    std::vector<int> all;
    for (int i = body; i >= 0; i = tree.bodies()[i].parent) {
      const ScrewJoint& joint = tree.bodies()[i].joint;
      for (int k = 0; k < joint.freedoms; ++k) all.push_back(joint.v + k);
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }
  static std::vector<JacobianEntry> pattern_of(const Tree& tree, int body, int rows, int levels) {
    const StateSlots state(tree);
    const int base = state.floating ? 6 : 0;
    std::vector<JacobianEntry> pattern;
    for (int level = 0; level < levels; ++level) {
      for (const int freedom : freedoms_of(tree, body)) {
        const bool of_base = freedom < base;
        const int slot = (level + 1) * state.slots() - (of_base && state.joints > 0 ? 2 : 1);
        for (int r = 0; r < rows; ++r) pattern.push_back({r, slot, of_base ? freedom : freedom - base});
      }
    }
    return pattern;
  }

 protected:
  StateSlots state_;
  Eigen::Vector3d at_;
  std::vector<int> place_;
  int chain_ = 0;  // freedoms of the chain
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
    std::fill_n(jacobian, pattern().size(), 0.0);
    for (const auto& column : work->chain.columns()) {
      jacobian[entries(0, column.freedom)] += column.J[5] + column.J[0] * s.p[1] - column.J[1] * s.p[0];
    }
  }
  bool add_curvature(Slots x, const double* weight, double* hessian) const override {
    add_bends(x, 1, {.p = {0, 0, weight[0]}}, hessian);
    return true;
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
    std::fill_n(jacobian, pattern().size(), 0.0);
    for (const auto& column : work->chain.columns()) {
      const PointChange c = point_change(work->chain, s, column);
      Eigen::Map<Eigen::Vector3d>(jacobian + entries(0, column.freedom)) += c.velocity_q;
      Eigen::Map<Eigen::Vector3d>(jacobian + entries(1, column.freedom)) += c.p_q;
    }
  }
  bool add_curvature(Slots x, const double* weight, double* hessian) const override {
    add_bends(x, 2, {.velocity = {weight[0], weight[1], weight[2]}}, hessian);
    return true;
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
    std::fill_n(jacobian, pattern().size(), 0.0);
    for (const auto& column : work->chain.columns()) {
      const PointChange c = point_change(work->chain, s, column);
      Eigen::Vector3d by_q = c.acceleration_q + 2 * kappa_ * c.velocity_q;
      by_q[2] += kappa_ * kappa_ * c.p_q[2];
      Eigen::Map<Eigen::Vector3d>(jacobian + entries(0, column.freedom)) += by_q;
      Eigen::Map<Eigen::Vector3d>(jacobian + entries(1, column.freedom)) += c.acceleration_v + 2 * kappa_ * c.p_q;
      Eigen::Map<Eigen::Vector3d>(jacobian + entries(2, column.freedom)) += c.p_q;
    }
  }
  bool add_curvature(Slots x, const double* weight, double* hessian) const override {
    const Eigen::Vector3d w(weight[0], weight[1], weight[2]);
    add_bends(x, 3, {.p = {0, 0, kappa_ * kappa_ * w[2]}, .velocity = 2 * kappa_ * w, .acceleration = w}, hessian);
    return true;
  }

 private:
  double kappa_, height_;
};

}  // namespace kinegraph::screw
