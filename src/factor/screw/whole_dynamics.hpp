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
  /// `motors`: the freedoms that have one. `points`: where forces act.
  WholeDynamics(std::shared_ptr<const Tree> tree, const std::vector<int>& motors, const std::vector<BodyPoint>& points)
      : Factor("dynamics", tree->freedoms(), sizes_of(*tree, motors, points), pattern_of(*tree, motors, points)),
        state_(*tree),
        tree_(tree),
        motors_(motors),
        points_(static_cast<int>(points.size())),
        pool_([tree, points] { return std::make_unique<Work>(tree, points); }) {}

  void evaluate(Slots x, double* residual, double* jacobian) const override {
    const auto work = pool_.borrow();
    const int n = rows(), s = state_.slots(), u = 3 * s, f = u + (motors_.empty() ? 0 : 1);
    state_.position(x, 0, work->q.data());
    state_.rate(x, s, work->v.data());
    state_.rate(x, 2 * s, work->a.data());
    InverseDynamics::Output out{.tau = residual};
    if (jacobian) {
      out.by_q = jacobian;
      out.by_v = out.by_q + n * n;
      out.by_a = out.by_v + n * n;
      double* const by_u = out.by_a + n * n;
      std::fill_n(by_u, motors_.size(), -1.0);
      out.by_force = points_ > 0 ? by_u + motors_.size() : nullptr;
    }
    work->dynamics.evaluate(work->q.data(), work->v.data(), work->a.data(), x.data() + f, out);
    for (std::size_t i = 0; i < motors_.size(); ++i) residual[motors_[i]] -= x[u][i];
  }
  std::string row_name(int row) const override { return "motion of " + tree_->velocity_names()[row]; }

 private:
  struct Work {
    Work(const std::shared_ptr<const Tree>& tree, const std::vector<BodyPoint>& points)
        : dynamics(tree, points), q(tree->stored()), v(tree->freedoms()), a(tree->freedoms()) {}
    InverseDynamics dynamics;
    std::vector<double> q, v, a;
  };

  static std::vector<int> sizes_of(const Tree& tree, const std::vector<int>& motors,
                                   const std::vector<BodyPoint>& points) {
    StateSizes sizes{StateSlots(tree), 3};
    if (!motors.empty()) sizes.stored.push_back(static_cast<int>(motors.size()));
    sizes.stored.insert(sizes.stored.end(), points.size(), 3);
    return sizes.stored;
  }
  static std::vector<JacobianEntry> pattern_of(const Tree& tree, const std::vector<int>& motors,
                                               const std::vector<BodyPoint>& points) {
    const int n = tree.freedoms();
    const StateSizes sizes{StateSlots(tree), 3};
    std::vector<JacobianEntry> pattern = dense(n, sizes.tangent);
    int slot = static_cast<int>(sizes.tangent.size());
    for (std::size_t i = 0; i < motors.size(); ++i) pattern.push_back({motors[i], slot, static_cast<int>(i)});
    if (!motors.empty()) ++slot;
    for (std::size_t c = 0; c < points.size(); ++c, ++slot) {
      for (int d = 0; d < 3; ++d)
        for (int r = 0; r < n; ++r) pattern.push_back({r, slot, d});
    }
    return pattern;
  }

  StateSlots state_;
  std::shared_ptr<const Tree> tree_;
  std::vector<int> motors_;
  int points_;
  Pool<Work> pool_;
};

}  // namespace kinegraph::screw
