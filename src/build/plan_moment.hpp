#pragma once

#include "kinegraph/build/plan.hpp"

namespace kinegraph::build {

/// What a plan asks for at one knot, by itself: what no motion can meet that passes there. All of it as costs (Sqp with
/// soft equalities and hinges): what must hold anyway weighs kFirm times as much as goals and torques, which yield.
struct PlanMoment {
  static constexpr double kFirm = 100;
  Graph graph;
  Values values;
  std::vector<bool> yields;  ///< per factor: whether it may miss
};

/// Positions with which goals are met: joints within their limits, points that stand since the start where they stood,
/// others that stand on their ground. Empty (no factor) without goals of positions there.
PlanMoment posture(const PlanProblem& problem, int knot);
void set_posture(const PlanSetting& setting, const Eigen::VectorXd& q, PlanMoment& moment);

/// Torques with which the robot stands still at the plan's position, by forces within the cones of the points that
/// stand. Empty where none bears.
PlanMoment stillness(const PlanProblem& problem, int knot);

}  // namespace kinegraph::build
