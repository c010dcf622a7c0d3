#include "kinegraph/task/open_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kinegraph/model/friction_support.hpp"
#include "kinegraph/task/motion.hpp"
#include "kinegraph/task/option_rules.hpp"
#include "kinegraph/task/spatial_start.hpp"

namespace kinegraph::task {
namespace {

constexpr double kMostSteps = 1e5;

Failure check_options(double time, double step) {
  Failure faults{Failure::Kind::bad_input, {}};
  check_time_and_step(time, step, faults);
  if (faults.diagnostics.empty()) {
    check_rule(time / step <= kMostSteps, "time", fmt::format("must be at most {:g} steps here", kMostSteps),
               steps_text(time / step), faults);
  }
  return faults;
}

/// The motion that follows from the model's start, a row per knot: where the search for another begins.
Result<std::vector<double>> simulated(Motion& motion, const Start& start, double step, int steps) {
  const int size = motion.names().chain->knot_size();
  std::vector<double> knots;
  knots.reserve(static_cast<std::size_t>(size) * (steps + 1));
  motion.begin(0, start.q, start.v, start.a, start.lambda);
  knots.insert(knots.end(), motion.solver().knot(0), motion.solver().knot(0) + size);
  for (int k = 1; k <= steps; ++k) {
    motion.advance(k * step);
    if (!motion.solve().converged) {
      return Failure::no_answer(fmt::format("the simulated motion does not get past t = {:g} s", k * step));
    }
    const double* newest = motion.solver().knot(motion.last());
    knots.insert(knots.end(), newest, newest + size);
  }
  if (motion.coordinate_changes() > 0) {
    return Failure::no_answer("no set of independent coordinates serves for the whole motion; take a shorter time");
  }
  return knots;
}

}  // namespace

Result<build::OpenGraph> pose_graph(const Model& model) {
  if (model.spatial()) {
    const Result<SpatialStart> start = make_spatial_start(model, PlanarForces::kept);
    if (!start) return start.failure();
    return build::open_pose(start->tree, start->q);
  }
  const Result<Start> start = make_start(model);
  if (!start) return start.failure();
  return build::open_pose(start->system, start->q);
}

Result<build::OpenGraph> motion_graph(const Model& model, double time, double step, bool free_start) {
  if (Failure faults = check_options(time, step); !faults.diagnostics.empty()) return faults;
  if (model.spatial()) {
    return Failure::bad_input({model.file, 0, 0}, "the graph of a motion is made of planar machines only");
  }
  if (auto known = natural_friction(model); !known) return known.failure();
  const Result<Start> start = make_start(model);
  if (!start) return start.failure();
  build::NaturalOptions options;
  options.formulation = build::Formulation::independent;
  options.integrator = build::Integrator::trapezoidal;
  options.step = step;
  options.redundant = start->mobility.redundant;
  options.independent = start->mobility.independent;
  const int steps = std::max(1, static_cast<int>(std::lround(time / step)));
  Motion motion(*start, options, static_cast<int>(model.relative.size()), 2);
  const Result<std::vector<double>> knots = simulated(motion, *start, step, steps);
  if (!knots) return knots.failure();
  return build::open_motion(motion.names(), *knots, free_start);
}

}  // namespace kinegraph::task
