#include "kinegraph/task/spatial_solver.hpp"

#include <fmt/format.h>

namespace kinegraph::task {
namespace {

constexpr double kContradiction = 1e-4;  // of redundant equations, relative: more is no rounding of a table

}  // namespace

Result<build::Dynamics*> SpatialSolver::plan(const std::vector<build::Given>& given) {
  if (const auto found = plans_.find(given); found != plans_.end()) return &found->second;
  build::ScrewProblem problem = build::screw_problem(tree_, given, planar_loops_);
  build::ScrewOrder order;
  if (!ordering_.empty() && ordering_ != "best") {
    Result<build::ScrewOrder> named = build::screw_order(problem, ordering_);
    if (!named) return named.failure();
    order = *std::move(named);
  }
  return &plans_.emplace(given, build::Dynamics(std::move(problem), std::move(order))).first->second;
}

Result<build::Dynamics::Outcome> SpatialSolver::solve(build::Dynamics& dynamics, const SpatialMotion& motion, double t,
                                                      Eigen::VectorXd& a, Eigen::VectorXd& tau) const {
  const build::Dynamics::Outcome outcome =
      dynamics.solve(motion.q().data(), motion.v().data(), a.data(), tau.data(), motion.surroundings());
  if (!outcome.ok) return Failure::no_answer(fmt::format("at t = {:g} s: {}", t, outcome.message));
  if (outcome.inconsistency > kContradiction) {
    return Failure::no_answer(
        fmt::format("at t = {:g} s what is known contradicts itself: '{}' is not satisfied, by {:.2g} of its terms", t,
                    outcome.worst, outcome.inconsistency));
  }
  if (!a.allFinite() || !tau.allFinite()) {
    return Failure::no_answer(fmt::format("at t = {:g} s the numbers are too large to be computed with", t));
  }
  return outcome;
}

}  // namespace kinegraph::task
