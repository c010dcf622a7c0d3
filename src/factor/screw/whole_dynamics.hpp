#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kinegraph/factor/common/pool.hpp"
#include "kinegraph/factor/screw/state_slots.hpp"
#include "kinegraph/mechanics/screw/inverse_dynamics.hpp"

namespace kinegraph::screw {

/// The equations of motion of a whole robot at an instant.
///
///     e = M(q) a + h(q, v) − Σ J_cᵀ f_c − joint forces − B u      (003, section III; 001, eqs. 5 to 7, eliminated)
///
/// u: torques of the motors; rows without a motor (a base that floats, passive joints) have none. f_c: forces of
/// contacts, in the world's axes. Slots: q v a (StateSlots) u f₁ f₂ …; without motors there is no slot u.
class WholeDynamics final : public Factor {
 public:
  /// `motors`: the freedoms that have one. `points`: where forces act. `friction_speed`: of dry friction.
  WholeDynamics(const std::shared_ptr<const Tree>& tree, const std::vector<int>& motors,
                const std::vector<BodyPoint>& points, double friction_speed = kFrictionSpeed)
      : WholeDynamics(tree, motors, points, friction_speed, Entries(*tree, motors, points)) {}

  void evaluate(Slots x, double* residual, double* jacobian) const override {
    const auto work = pool_.borrow();
    const int n = rows(), s = state_.slots(), u = 3 * s, f = u + (motors_.empty() ? 0 : 1);
    state_.position(x, 0, work->q.data());
    state_.rate(x, s, work->v.data());
    state_.rate(x, 2 * s, work->a.data());
    InverseDynamics::Output out{.tau = residual};
    if (jacobian) {
      out.by_q = work->dense.data();
      out.by_v = out.by_q + n * n;
      out.by_a = out.by_v + n * n;
      out.by_force = points_ > 0 ? out.by_a + n * n : nullptr;
    }
    work->dynamics.evaluate(work->q.data(), work->v.data(), work->a.data(), x.data() + f, out);
    for (std::size_t i = 0; i < motors_.size(); ++i) residual[motors_[i]] -= x[u][i];
    if (!jacobian) return;
    for (std::size_t e = 0; e < from_.size(); ++e) jacobian[e] = from_[e] < 0 ? -1 : work->dense[from_[e]];
  }
  bool add_curvature(Slots x, const double* weight, double* hessian) const override {
    const auto work = pool_.borrow();
    const int n = rows(), s = state_.slots(), u = 3 * s, f = u + (motors_.empty() ? 0 : 1);
    state_.position(x, 0, work->q.data());
    state_.rate(x, s, work->v.data());
    state_.rate(x, 2 * s, work->a.data());
    const int first_force = 3 * n + static_cast<int>(motors_.size());
    work->dynamics.add_curvature(work->q.data(), work->v.data(), work->a.data(), x.data() + f, weight, hessian,
                                 first_force + 3 * points_, first_force);
    return true;
  }
  std::string row_name(int row) const override { return "motion of " + tree_->velocity_names()[row]; }

 private:
  struct Work {
    Work(const std::shared_ptr<const Tree>& tree, const std::vector<BodyPoint>& points, double friction_speed)
        : dynamics(tree, points, friction_speed),
          q(tree->stored()),
          v(tree->freedoms()),
          a(tree->freedoms()),
          dense(static_cast<std::size_t>(tree->freedoms()) * (3 * tree->freedoms() + 3 * points.size())) {}
    InverseDynamics dynamics;
    std::vector<double> q, v, a, dense;
  };

  static std::vector<int> sizes_of(const Tree& tree, const std::vector<int>& motors,
                                   const std::vector<BodyPoint>& points) {
    StateSizes sizes{StateSlots(tree), 3};
    if (!motors.empty()) sizes.stored.push_back(static_cast<int>(motors.size()));
    sizes.stored.insert(sizes.stored.end(), points.size(), 3);
    return sizes.stored;
  }
  /// What can be non-zero: a joint sees those before and beyond it, not those of other branches.
  struct Entries {
    Entries(const Tree& tree, const std::vector<int>& motors, const std::vector<BodyPoint>& points) {
      const int n = tree.freedoms();
      std::vector<char> meet(static_cast<std::size_t>(n) * n, 0), on(static_cast<std::size_t>(n) * points.size(), 0);
      const auto chain = [&](int body, auto&& action) {
        for (int i = body; i >= 0; i = tree.bodies()[i].parent) {
          const ScrewJoint& joint = tree.bodies()[i].joint;
          for (int k = 0; k < joint.freedoms; ++k) action(joint.v + k);
        }
      };
      for (int b = 0; b < static_cast<int>(tree.bodies().size()); ++b) {
        const ScrewJoint& joint = tree.bodies()[b].joint;
        for (int k = 0; k < joint.freedoms; ++k) {
          chain(b, [&](int other) { meet[(joint.v + k) * n + other] = meet[other * n + joint.v + k] = 1; });
        }
      }
      for (std::size_t c = 0; c < points.size(); ++c) chain(points[c].body, [&](int i) { on[c * n + i] = 1; });
      const StateSizes sizes{StateSlots(tree), 3};
      int slot = 0, column = 0;
      const auto add = [&](int row, int of_slot, int of_column, int place) {
        pattern.push_back({row, of_slot, of_column});
        from.push_back(place);
      };
      for (const int width : sizes.tangent) {
        for (int c = 0; c < width; ++c, ++column) {
          for (int r = 0; r < n; ++r) {
            if (meet[(column % n) * n + r]) add(r, slot, c, column * n + r);
          }
        }
        ++slot;
      }
      for (std::size_t i = 0; i < motors.size(); ++i) add(motors[i], slot, static_cast<int>(i), -1);
      if (!motors.empty()) ++slot;
      for (std::size_t c = 0; c < points.size(); ++c, ++slot) {
        for (int d = 0; d < 3; ++d, ++column) {
          for (int r = 0; r < n; ++r) {
            if (on[c * n + r]) add(r, slot, d, column * n + r);
          }
        }
      }
    }
    std::vector<JacobianEntry> pattern;
    std::vector<int> from;  // of the dense results; −1: a motor's
  };

  WholeDynamics(const std::shared_ptr<const Tree>& tree, const std::vector<int>& motors,
                const std::vector<BodyPoint>& points, double friction_speed, const Entries& entries)
      : Factor("dynamics", tree->freedoms(), sizes_of(*tree, motors, points), entries.pattern),
        state_(*tree),
        tree_(tree),
        motors_(motors),
        points_(static_cast<int>(points.size())),
        from_(entries.from),
        pool_([tree, points, friction_speed] { return std::make_unique<Work>(tree, points, friction_speed); }) {}

  StateSlots state_;
  std::shared_ptr<const Tree> tree_;
  std::vector<int> motors_;
  int points_;
  std::vector<int> from_;
  Pool<Work> pool_;
};

}  // namespace kinegraph::screw
