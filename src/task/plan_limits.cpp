#include "kinegraph/task/plan_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace kinegraph::task {

using build::PlanProblem;
using build::PlanSetting;

std::vector<LimitCheck> exceeded_limits(const PlanSetting& setting, const Trajectory& motion, double first_step) {
  const int n = setting.tree->freedoms(), stored = setting.tree->stored(), joints = setting.state.joints;
  std::vector<LimitCheck> worst;
  const double first = first_step * (1 - 1e-9);
  const auto check = [&](int series, double lower, double upper, bool given) {
    LimitCheck found{motion.names()[series], 0, 0};
    const double start = motion.samples() > 0 ? motion.at(0, series) : 0;
    const bool outside = given && (start > upper || start < lower);  // then it counts from the first knot on
    for (int i = 0; i < motion.samples(); ++i) {
      if (outside && motion.times()[i] < first) continue;
      const double x = motion.at(i, series), excess = std::max(x - upper, lower - x);
      if (excess > found.excess) found.excess = excess, found.time = motion.times()[i];
    }
    if (found.excess > 0) worst.push_back(found);
  };
  for (int j = 0; j < joints; ++j) {
    check(stored - joints + j, setting.lower[j], setting.upper[j], true);
    check(stored + n - joints + j, -setting.speed[j], setting.speed[j], true);
  }
  for (std::size_t m = 0; m < setting.motors.size(); ++m) {
    check(stored + 2 * n + setting.motors[m], -setting.effort[m], setting.effort[m], false);
  }
  std::sort(worst.begin(), worst.end(), [](const auto& a, const auto& b) { return a.excess > b.excess; });
  return worst;
}

namespace {

constexpr double kMostDrawn = 0.5;  ///< share of what is allowed: limits do not cross

/// A start that is too near already is given: then it counts from the first knot on.
void tell_clearance(const PlanProblem& problem, const PlanSetting& setting, const Trajectory& motion,
                    PlanSummary& summary) {
  summary.has_clearance = !setting.pairs.empty() && motion.samples() > 0;
  summary.clearance = std::numeric_limits<double>::infinity();
  const bool near = build::least_distance(setting, setting.start_q, 0).first < setting.margin;
  for (int i = 0; summary.has_clearance && i < motion.samples(); ++i) {
    if (near && motion.times()[i] < problem.step(0) * (1 - 1e-9)) continue;
    const Eigen::VectorXd q = Eigen::Map<const Eigen::VectorXd>(motion.row(i), setting.tree->stored());
    const int knot = problem.step_at(motion.times()[i]);
    const auto [distance, pair] = build::least_distance(setting, q, knot);
    if (distance >= summary.clearance) continue;
    summary.clearance = distance;
    summary.nearest = fmt::format("{} at {:.4g} s", setting.pairs[pair].name, motion.times()[i]);
  }
}

}  // namespace

void tell_limits(const PlanProblem& problem, const PlanSetting& asked, const Trajectory& motion, PlanSummary& summary) {
  summary.limits = exceeded_limits(asked, motion, problem.step(0));
  summary.limit_excess = summary.limits.empty() ? 0 : summary.limits.front().excess;
  tell_clearance(problem, asked, motion, summary);
}

std::shared_ptr<const PlanSetting> drawn_in(const PlanSetting& now, const PlanSetting& asked,
                                            const PlanSummary& summary) {
  auto setting = std::make_shared<PlanSetting>(now);
  const int n = now.tree->freedoms(), joints = now.state.joints;
  bool any = false;
  const auto amount = [](double excess) { return 1.2 * excess + kLimitTolerance; };
  for (const LimitCheck& limit : summary.limits) {
    if (limit.excess < kLimitTolerance) continue;
    any = true;
    for (int j = 0; j < joints; ++j) {
      if (limit.name == now.tree->position_names()[now.tree->stored() - joints + j]) {
        const double by = std::min(amount(limit.excess), kMostDrawn * 0.5 * (now.upper[j] - now.lower[j]));
        setting->lower[j] += by;
        setting->upper[j] -= by;
      }
      if (limit.name == now.tree->velocity_names()[n - joints + j]) {
        setting->speed[j] -= std::min(amount(limit.excess), kMostDrawn * now.speed[j]);
      }
    }
    for (std::size_t m = 0; m < now.motors.size(); ++m) {
      if (limit.name == now.tree->torque_names()[now.motors[m]]) {
        setting->effort[m] -= std::min(amount(limit.excess), kMostDrawn * now.effort[m]);
      }
    }
  }
  if (summary.has_clearance && summary.clearance < asked.margin) {
    any = true;
    setting->margin += amount(asked.margin - summary.clearance);
  }
  return any ? setting : nullptr;
}

}  // namespace kinegraph::task
