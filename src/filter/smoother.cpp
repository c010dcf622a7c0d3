#include "kinegraph/filter/smoother.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kinegraph/filter/smoother_problem.hpp"

namespace kinegraph::filter {
namespace {

constexpr double kRough = 0.1;      // a stage before the last ends with a step below this
constexpr double kRounding = 1e-3;  // a step that cannot be improved below this is converged: rounding
// Of the undamped step: the least and the most that is taken of it, and what makes no difference.
constexpr double kLeast = 0.1, kFarthest = 2, kNear = 0.2;
constexpr double kFirstDamping = 1e-9;  // relative to the columns. Slow motions of a long chain have curvatures that
constexpr double kMostDamping = 1e4;    // small beside them

std::vector<WidenedLoss> stages(const Loss& loss) {
  const Loss first = convex(loss);
  if (first.shape() == loss.shape()) return {{loss, 1}};
  return {{first, 1}, {loss, 4}, {loss, 2}, {loss, 1}};
}

struct Search {
  SmootherProblem& problem;
  const SmootherOptions& options;
  Smoothed& out;

  /// The undamped step, in standard deviations (root mean square).
  Result<double> next_step(const WidenedLoss& loss) {
    const double share = 1 - 1 / (1 + 0.2 * out.iterations);  // how many it will be is not known
    if (auto fault = problem.linearise(loss, share); !fault) return fault.failure();
    const linear::TimeChainReport& report = problem.chain().solve();
    if (report.undetermined > 0) return Failure::no_answer(problem.undetermined());
    if (!report.finite) return Failure::no_answer("the motion or a sensor gives numbers that are not finite");
    return std::sqrt(report.step / problem.unknowns());
  }

  /// Along the undamped step: cost and slope at its start, −|step|², and the cost at its end make a parabola, whose
  /// lowest point is tried where it is far from the end.
  bool search_line(const WidenedLoss& loss) {
    const double cost = problem.cost(), slope = problem.chain().report().step, end = problem.try_step(loss, 1);
    const double bend = end - cost + slope,
                 best = std::clamp(bend > 0 ? 0.5 * slope / bend : kFarthest, kLeast, kFarthest);
    if (std::abs(best - 1) > kNear || end >= cost) {
      const double between = problem.try_step(loss, best);
      if (between < std::min(cost, end)) return problem.accept(), true;
      if (end < cost) problem.try_step(loss, 1);
    }
    if (end < cost) problem.accept();
    return end < cost;
  }

  /// Tries the undamped step, then steps with ever more damping, until the cost falls.
  bool improve(const WidenedLoss& loss) {
    if (search_line(loss)) return true;
    double growth = 10;
    for (double damping = kFirstDamping; damping <= kMostDamping; damping *= growth, growth *= 10) {
      problem.chain().solve(damping);
      if (problem.try_step(loss, 1) < problem.cost()) return problem.accept(), true;
    }
    return false;
  }

  /// Iterates to a step below `tolerance`. The system of the last states stays in the problem.
  Result<bool> run(const WidenedLoss& loss, double tolerance) {
    for (;; ++out.iterations) {
      const auto step = next_step(loss);
      if (!step) return step.failure();
      if (*step <= tolerance) return true;
      if (out.iterations >= options.max_iterations) {
        out.why_not =
            fmt::format("after {} iterations the next step is still {:.3g} standard deviations", out.iterations, *step);
        return false;
      }
      if (improve(loss)) continue;
      problem.chain().solve();  // undamped again, for the covariances
      if (*step <= kRounding) return true;
      out.why_not =
          fmt::format("no step makes the cost smaller, though one of {:.3g} standard deviations should", *step);
      return false;
    }
  }
};

}  // namespace

Result<Smoothed> smooth(StateSpace& space, const Belief& prior, const std::vector<Measurement>& measurements,
                        const SmootherOptions& options, const std::vector<TimedState>& initial) {
  if (auto fault = SmootherProblem::check(space, prior, measurements, options, initial); !fault) return fault.failure();
  SmootherProblem problem(space, prior, measurements, options);
  const std::vector<WidenedLoss> losses = stages(options.loss);
  if (auto fault = problem.start(prior, initial); !fault) return fault.failure();
  Smoothed out;
  Search search{problem, options, out};
  for (std::size_t i = 0; i < losses.size(); ++i) {
    const bool last = i + 1 == losses.size();
    out.why_not.clear();
    const auto done = search.run(losses[i], last ? options.tolerance : std::max(options.tolerance, kRough));
    if (!done) return done.failure();
    out.converged = *done;
  }
  if (auto fault = problem.finish(losses.back(), prior.branch, out); !fault) return fault.failure();
  return out;
}

}  // namespace kinegraph::filter
