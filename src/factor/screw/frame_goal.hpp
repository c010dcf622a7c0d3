#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kinegraph/factor/common/pool.hpp"
#include "kinegraph/factor/screw/state_slots.hpp"
#include "kinegraph/mechanics/screw/chain_motion.hpp"
#include "kinegraph/mechanics/screw/goal.hpp"

namespace kinegraph::screw {

/// What factors on the motion of one body share: the chain that moves it, in working memory for each thread.
struct ChainWork {
  ChainWork(const std::shared_ptr<const Tree>& tree, int body)
      : chain(tree, body), q(tree->stored()), v(tree->freedoms()), a(tree->freedoms()) {}
  /// Reads as many derivatives as `levels` says (1: q; 3: q, v, a).
  void set(const StateSlots& state, Slots x, int levels) {
    const int s = state.slots();
    state.position(x, 0, q.data());
    if (levels > 1) state.rate(x, s, v.data());
    if (levels > 2) state.rate(x, 2 * s, a.data());
    chain.set(q.data(), levels > 1 ? v.data() : nullptr, levels > 2 ? a.data() : nullptr);
  }
  ChainMotion chain;
  std::vector<double> q, v, a;
};

/// A frame T of a body of the robot is at its goal, as a function of the joints.
///
///     e = (log(R_WGᵀ R_WT), p_WT − p_WG),  of which what is asked for      (003, section V: goals)      Slots: q.
class FrameGoal final : public Factor {
 public:
  FrameGoal(const std::string& name, std::shared_ptr<const Tree> tree, int body, const Transform<double>& X_BT,
            const GoalPose& goal)
      : Factor(name, goal.rows(), StateSizes(StateSlots(*tree), 1).stored,
               dense(goal.rows(), StateSizes(StateSlots(*tree), 1).tangent)),
        state_(*tree),
        X_BT_(X_BT),
        goal_(goal),
        pool_([tree, body] { return std::make_unique<ChainWork>(tree, body); }) {}

  void evaluate(Slots x, double* residual, double* jacobian) const override {
    const auto work = pool_.borrow();
    work->set(state_, x, 1);
    const Transform<double> X_WT = work->chain.pose() * X_BT_;
    Matrix6d by_T;
    goal_rows(goal_, X_WT, residual, jacobian ? &by_T : nullptr);
    if (!jacobian) return;
    std::fill_n(jacobian, rows() * state_.freedoms(), 0.0);
    for (const ChainMotion::Column& column : work->chain.columns()) {
      const Vector6d change = by_T * X_WT.twist_back(column.J);
      for (int r = 0; r < rows(); ++r) jacobian[column.freedom * rows() + r] += change[r];
    }
  }
  std::string row_name(int row) const override {
    static const char* const turns[] = {"turn x", "turn y", "turn z"};
    static const char* const axes[] = {"x", "y", "z"};
    if (goal_.rotation && row < 3) return name() + ": " + turns[row];
    int left = row - (goal_.rotation ? 3 : 0);
    for (int i = 0; i < 3; ++i) {
      if (goal_.axis[i] && left-- == 0) return name() + ": " + axes[i];
    }
    return Factor::row_name(row);
  }

 private:
  StateSlots state_;
  Transform<double> X_BT_;
  GoalPose goal_;
  Pool<ChainWork> pool_;
};

}  // namespace kinegraph::screw
