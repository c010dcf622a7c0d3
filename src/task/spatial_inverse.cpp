#include "kinegraph/task/spatial_inverse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "kinegraph/model/friction_support.hpp"
#include "kinegraph/task/compiled_dynamics.hpp"
#include "kinegraph/task/spatial_solver.hpp"

namespace kinegraph::task {
namespace {

using build::Given;
using screw::Coordinate;

/// Per coordinate: its acceleration is known (a motor follows it, or a floating base is led), or its torque (none).
Result<std::vector<Given>> choose_given(const screw::Tree& tree, const SpatialMotion& motion,
                                        const std::vector<std::string>& asked) {
  const std::vector<Coordinate>& coordinates = tree.coordinates();
  std::vector<Given> given(coordinates.size(), Given::torque);
  std::vector<std::string> valid;
  for (const Coordinate& c : coordinates) valid.push_back(c.name);
  Failure faults{Failure::Kind::bad_input, {}};
  for (const std::string& name : asked) {
    const int c = tree.find_coordinate(name);
    if (c >= 0) {
      given[c] = Given::acceleration;
    } else {
      faults.diagnostics.push_back(
          {Severity::error, {}, fmt::format("actuators: unknown joint '{}'{}", name, did_you_mean(name, valid))});
    }
  }
  if (!faults.diagnostics.empty()) return faults;

  const bool marked = std::any_of(coordinates.begin(), coordinates.end(),
                                  [](const Coordinate& c) { return c.in_loop && c.passive && c.joint >= 0; });
  int motors = 0;
  for (std::size_t c = 0; c < coordinates.size(); ++c) {
    const Coordinate& coordinate = coordinates[c];
    bool motor = !coordinate.passive;
    if (coordinate.in_loop && !marked) {
      motor = false;
      for (int k = 0; k < coordinate.freedoms; ++k) motor = motor || motion.held()[coordinate.v + k];
    }
    const bool led = coordinate.joint < 0;  // a floating base
    if (led || (asked.empty() && motor)) given[c] = Given::acceleration;
    if (coordinate.in_loop && given[c] == Given::acceleration) motors += coordinate.freedoms;
  }
  if (motors < motion.loop_freedoms()) {
    return Failure::bad_input(
        fmt::format("actuators: the loops have {} freedoms and {} motor{}; name {} joints or more "
                    "with --actuators",
                    motion.loop_freedoms(), motors, motors == 1 ? "" : "s", motion.loop_freedoms()));
  }
  return given;
}

/// Samples by generated code, where the ground is at rest and nothing pulls at links; numeric elimination does the
/// rest.
class CodeForSamples {
 public:
  CodeForSamples(const screw::Tree& tree, const std::vector<Given>& given, CompiledDynamics code)
      : tree_(tree), given_(given), code_(std::move(code)), known_(tree.freedoms()), out_(tree.freedoms()) {}

  bool solve(const SpatialMotion& motion, Eigen::VectorXd& a, Eigen::VectorXd& tau) {
    const screw::Surroundings& around = motion.surroundings();
    if (!code_ || around.loads || !around.base_twist.isZero() || !around.base_acceleration.isZero() ||
        around.gravity != tree_.gravity()) {
      return false;
    }
    each([&](int i, bool torque) { known_[i] = torque ? tau[i] : a[i]; });
    if (!code_.run(motion.q().data(), motion.v().data(), known_.data(), out_.data()) || !out_.allFinite()) return false;
    each([&](int i, bool torque) { (torque ? a : tau)[i] = out_[i]; });
    ++solved_;
    return true;
  }

  std::string note(long samples) const {
    if (!code_ || solved_ == samples) return code_.note();
    return fmt::format("{}; {} of {} samples by numeric elimination (loads, a moved base or singular positions)",
                       code_.note(), samples - solved_, samples);
  }

 private:
  template <class F>
  void each(const F& f) const {
    for (std::size_t c = 0; c < given_.size(); ++c) {
      const Coordinate& coordinate = tree_.coordinates()[c];
      for (int k = 0; k < coordinate.freedoms; ++k) f(coordinate.v + k, given_[c] == Given::torque);
    }
  }

  const screw::Tree& tree_;
  const std::vector<Given>& given_;
  CompiledDynamics code_;
  Eigen::VectorXd known_, out_;
  long solved_ = 0;
};

Result<CompiledDynamics> make_code(const std::shared_ptr<const screw::Tree>& tree, const std::vector<Given>& given,
                                   const SpatialInverseOptions& options) {
  if (!options.compiled) return CompiledDynamics();
  if (options.reactions) return CompiledDynamics::none("joint forces are asked for");
  return CompiledDynamics::make(tree, given, options.progress);
}

}  // namespace

Result<SpatialDynamicsResult> spatial_inverse(const Model& model, const Trajectory& table,
                                              const SpatialInverseOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  if (auto known = screw_friction(model.robot); !known) return known.failure();
  const auto start = make_spatial_start(model);
  if (!start) return start.failure();
  const screw::Tree& tree = *start->tree;
  const auto columns = find_spatial_columns(tree, table, model.points);
  if (!columns) return columns.failure();
  auto motion = SpatialMotion::make(*start, table, *columns, {true, options.noise});
  if (!motion) return motion.failure();
  const auto given = choose_given(tree, *motion, options.actuators);
  if (!given) return given.failure();
  SpatialSolver solver(start->tree, options.ordering, options.planar_loops);
  const auto dynamics = solver.plan(*given);
  if (!dynamics) return dynamics.failure();

  Result<CompiledDynamics> made = make_code(start->tree, *given, options);
  if (!made) return made.failure();
  CodeForSamples code(tree, *given, *std::move(made));

  SpatialRecord record(start->tree, options.reactions, table.samples());
  Eigen::VectorXd a(tree.freedoms()), tau(tree.freedoms());
  for (int k = 0; k < table.samples(); ++k) {
    if (auto done = motion->go_to(k); !done) return done.failure();
    a = motion->a();
    tau.setZero();
    build::Dynamics::Outcome outcome;
    outcome.ok = code.solve(*motion, a, tau);
    if (outcome.ok) {
      (*dynamics)->write(motion->q().data(), motion->v().data(), a.data(), tau.data(), motion->surroundings());
    } else {
      const auto solved = solver.solve(**dynamics, *motion, table.times()[k], a, tau);
      if (!solved) return solved.failure();
      outcome = *solved;
    }
    record.add(table.times()[k], *motion, a, tau, **dynamics, outcome);
    if (options.progress && k % 256 == 0 && !options.progress(double(k) / table.samples())) {
      return Failure::interrupted();
    }
  }

  SpatialDynamicsResult result{record.take(), record.summary(*motion)};
  SpatialDynamicsSummary& summary = result.summary;
  for (std::size_t c = 0; c < given->size(); ++c) {
    if ((*given)[c] == Given::acceleration) summary.actuators.push_back(tree.coordinates()[c].name);
  }
  summary.degrees_of_freedom = start->mobility.freedoms;
  if (options.compiled) summary.code = code.note(table.samples());
  summary.ordering = options.ordering.empty() ? "best" : options.ordering;
  summary.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  summary.sample_us = summary.wall_s / table.samples() * 1e6;
  return result;
}

}  // namespace kinegraph::task
