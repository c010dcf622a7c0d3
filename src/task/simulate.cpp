#include "kinegraph/task/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kinegraph/model/friction_support.hpp"
#include "kinegraph/step/explicit_stepper.hpp"
#include "kinegraph/task/driver_jump.hpp"
#include "kinegraph/task/energy.hpp"
#include "kinegraph/task/input.hpp"
#include "kinegraph/task/maximal_simulate.hpp"
#include "kinegraph/task/natural_parts.hpp"
#include "kinegraph/task/option_rules.hpp"
#include "kinegraph/task/planar_drawing.hpp"
#include "kinegraph/task/recorder.hpp"
#include "kinegraph/task/spatial_simulate.hpp"
#include "kinegraph/task/start.hpp"
#include "kinegraph/task/times.hpp"

namespace kinegraph::task {
namespace {

Failure check_options(const SimulateOptions& o) {
  Failure faults{Failure::Kind::bad_input, {}};
  check_time_and_step(o.time, o.step, faults);
  check_rule(o.window >= 2, "window", "must be >= 2", o.window, faults);
  check_rule(o.every >= 1, "every", "must be >= 1", o.every, faults);
  check_choice("formulation", o.formulation, {"natural", "independent", "screw", "maximal"}, faults);
  check_choice("method", o.method, {"smoother", "batch", "step"}, faults);
  check_choice("weights", o.weights, {"hard", "soft"}, faults);
  if (o.method == "step") {
    check_rule(o.formulation != "independent", "formulation", "must be natural with method step", o.formulation,
               faults);
    check_rule(o.weights != "soft", "weights", "must be hard with method step", o.weights, faults);
  }
  if (o.method != "step" && !o.integrator.empty()) {
    check_choice("integrator", o.integrator, {"euler", "trapezoidal", "hermite-simpson"}, faults);
  }
  for (const auto& [name, factor] : o.soft_scale) {
    check_choice("soft-scale", name, {"prior", "integrator", "dynamics", "constraint", "equality"}, faults);
    check_rule(std::isfinite(factor) && factor > 0, "soft-scale " + name, "must be > 0", factor, faults);
  }
  return faults;
}

build::NaturalOptions graph_options(const SimulateOptions& o, const Mobility& mobility) {
  build::NaturalOptions g;
  g.formulation = o.formulation == "independent" ? build::Formulation::independent : build::Formulation::natural;
  g.integrator = o.integrator == "euler"         ? build::Integrator::euler
                 : o.integrator == "trapezoidal" ? build::Integrator::trapezoidal
                                                 : build::Integrator::hermite_simpson;
  g.step = o.step;
  g.redundant = mobility.redundant;
  if (g.formulation == build::Formulation::independent) g.independent = mobility.independent;
  g.soft = o.weights == "soft";
  const auto scale = [&](const char* name) {
    const auto it = o.soft_scale.find(name);
    return it == o.soft_scale.end() ? 1.0 : it->second;
  };
  g.weights.integrator *= scale("integrator");
  g.weights.dynamics *= scale("dynamics");
  g.weights.constraint *= scale("constraint");
  g.weights.equality *= scale("equality");
  return g;
}

/// Takes every sample of a run: measures it, keeps it or passes it on.
class Run {
 public:
  Run(const Model& model, const Start& start, const SimulateOptions& options, long steps)
      : options_(options),
        steps_(steps),
        system_(start.system),
        recorder_(model, start.system, options.reactions),
        energy_(model, start.system, options.step),
        moved_(assembled_drawing(model).moved),
        phi_(start.system->constraints()) {
    result_.trajectory = Trajectory(recorder_.names());
    if (options.keep) result_.trajectory.reserve(static_cast<int>(steps / options.every + 2));
    if (options.begin) options.begin(recorder_.names());
  }

  /// Whether the energy balances over the step to this state: then it may be taken.
  bool balances(const double* q, const double* v, const double* lambda, const double* u, double t) {
    const double unbalanced = energy_.propose(q, v, lambda, u, t);
    return !division_.needed(unbalanced, energy_.scale(), energy_.rounding());
  }
  void take() { energy_.take(); }
  /// The step from a state in parts, whose ends are taken. False: no motion was found, and nothing is taken.
  bool divide(NaturalParts& parts, const NaturalState& from) {
    EnergyWatch watch = energy_;
    parts.begin(from, watch);
    if (!division_.run(parts, energy_.scale(), energy_.rounding())) return false;
    energy_ = std::move(watch);
    return true;
  }

  void sample(long k, const double* q, const double* v, const double* a, const double* lambda, const double* u,
              double t) {
    if (k == 0) energy_.start(q, v, lambda, u, t);
    SimulateSummary& s = result_.summary;
    system_->position(q, t, phi_.data(), nullptr);
    for (double p : phi_) s.constraint_max = std::max(s.constraint_max, std::abs(p));
    system_->velocity(q, v, t, phi_.data(), nullptr, nullptr);
    for (double p : phi_) s.constraint_velocity_max = std::max(s.constraint_velocity_max, std::abs(p));
    if (options_.state) options_.state(t, q, v, a);
    if (k % options_.every != 0 && k != steps_) return;
    const double* row = recorder_.row(q, v, a, lambda, u, t);
    if (options_.sample) options_.sample(t, row);
    if (options_.keep) std::copy(row, row + recorder_.names().size(), result_.trajectory.append(t));
  }

  /// False when the user has had enough.
  bool go_on(long k) { return !options_.progress || k % 1024 != 0 || options_.progress(double(k) / steps_); }
  double time(long k) const { return k * options_.step; }

  SimulateResult finish(Clock::time_point begin, long iterations, const Mobility& mobility) {
    energy_.finish();
    SimulateSummary& s = result_.summary;
    s.wall_s = seconds_since(begin);
    s.steps = steps_;
    s.step_us = s.wall_s / steps_ * 1e6;
    s.iterations_mean = double(iterations) / steps_;
    energy_.balance().tell(s);
    s.assembly_moved = moved_;
    s.divided_steps = division_.steps();
    s.degrees_of_freedom = mobility.degrees_of_freedom;
    s.redundant_constraints = static_cast<int>(mobility.redundant.size());
    s.formulation = options_.formulation;
    s.method = options_.method;
    s.weights = options_.weights;
    s.window = options_.method == "smoother" ? options_.window : 0;
    s.step = options_.step;
    s.time = steps_ * options_.step;
    warn_of_energy(s);
    return std::move(result_);
  }

  SimulateSummary& summary() { return result_.summary; }

 private:
  const SimulateOptions& options_;
  long steps_;
  std::shared_ptr<const natural::System> system_;
  Recorder recorder_;
  EnergyWatch energy_;
  StepDivision division_;
  double moved_;  // m: the drawing, to assemble it
  std::vector<double> phi_;
  SimulateResult result_;
};

Failure no_convergence(double t, const Motion& motion, const ChainOutcome& outcome) {
  return Failure::no_answer(
      fmt::format("no motion past t = {:g} s: after {} iterations '{}' is still off by {:.3g}; a smaller step may help",
                  t, outcome.iterations, motion.worst(outcome), outcome.worst_residual));
}

void sample(Run& run, long k, Motion& m, int knot) {
  run.sample(k, m.q(knot), m.v(knot), m.a(knot), m.lambda(knot), m.u(knot), m.t(knot));
}

bool balances(Run& run, Motion& m, int knot) {
  return run.balances(m.q(knot), m.v(knot), m.lambda(knot), m.u(knot), m.t(knot));
}

NaturalState state_at(const Start& start, Motion& m, int knot) {
  const Eigen::Index n = start.q.size(), constraints = start.lambda.size();
  using Map = Eigen::Map<const Eigen::VectorXd>;
  return {m.t(knot), Map(m.q(knot), n), Map(m.v(knot), n), Map(m.a(knot), n), Map(m.lambda(knot), constraints)};
}

/// Whether the step is so exact that the energy tells where it is too long; others are taken as they are asked for.
bool divides(const SimulateOptions& options) {
  return options.weights == "hard" && (options.integrator.empty() || options.integrator == "hermite-simpson");
}

void describe(Run& run, const SimulateOptions& options, Motion& motion) {
  run.summary().integrator = options.integrator.empty() ? "hermite-simpson" : options.integrator;
  run.summary().repivots = motion.solver().repivots();
  run.summary().singular_passes = motion.singular_passes();
  run.summary().coordinate_changes = motion.coordinate_changes();
}

/// Fixed lag: a window of knots moves along, what leaves it is frozen.
Result<SimulateResult> smooth(Run& run, const Model& model, const Start& start, const SimulateOptions& options,
                              long steps) {
  Motion motion(start, graph_options(options, start.mobility), static_cast<int>(model.relative.size()),
                static_cast<int>(std::min<long>(options.window, steps + 1)));
  motion.begin(0, start.q, start.v, start.a, start.lambda);
  const bool exact = divides(options);
  NaturalParts parts(start, graph_options(options, start.mobility), static_cast<int>(model.relative.size()));
  const auto begin = Clock::now();
  long iterations = 0;
  sample(run, 0, motion, 0);
  for (long k = 1; k <= steps; ++k) {
    motion.advance(run.time(k));
    const ChainOutcome outcome = motion.solve();
    const bool whole = outcome.converged && (balances(run, motion, motion.last()) || !exact);
    if (!whole && exact && run.divide(parts, state_at(start, motion, motion.last() - 1))) {
      const NaturalState& end = parts.state();
      motion.resume(run.time(k), end.q, end.v, end.a, end.lambda);
    } else {
      if (!outcome.converged) return no_convergence(run.time(k), motion, outcome);
      run.take();
    }
    iterations += outcome.iterations;
    run.summary().iterations_max = std::max(run.summary().iterations_max, outcome.iterations);
    sample(run, k, motion, motion.last());
    if (!run.go_on(k)) return Failure::interrupted();
  }
  describe(run, options, motion);
  return run.finish(begin, iterations, start.mobility);
}

/// All knots at once, from the motion that a window of two finds.
Result<SimulateResult> solve_batch(Run& run, const Model& model, const Start& start, const SimulateOptions& options,
                                   long steps) {
  Motion motion(start, graph_options(options, start.mobility), static_cast<int>(model.relative.size()),
                static_cast<int>(steps) + 1);
  Motion guess(start, graph_options(options, start.mobility), static_cast<int>(model.relative.size()), 2);
  for (Motion* m : {&motion, &guess}) m->begin(0, start.q, start.v, start.a, start.lambda);
  const auto begin = Clock::now();
  const int knot_size = motion.names().chain->knot_size(), middle_size = motion.names().chain->middle_size();
  for (long k = 1; k <= steps; ++k) {
    guess.advance(run.time(k));
    motion.advance(run.time(k));
    const ChainOutcome outcome = guess.solve();
    if (!outcome.converged) return no_convergence(run.time(k), guess, outcome);
    std::copy_n(guess.solver().knot(1), knot_size, motion.solver().knot(motion.last()));
    std::copy_n(guess.solver().middle(0), middle_size, motion.solver().middle(motion.last() - 1));
    if (!run.go_on(k)) return Failure::interrupted();
  }
  if (guess.coordinate_changes() > 0) {
    return Failure::no_answer(
        "method batch needs one set of independent coordinates for the whole motion, and none serves here; take "
        "formulation natural, or method smoother");
  }
  const ChainOutcome outcome = motion.solver().solve();
  if (!outcome.converged) {
    return Failure::no_answer(
        fmt::format("method batch did not converge: after {} iterations '{}' is off by {:.3g}; take method smoother, "
                    "or a shorter time",
                    outcome.iterations, motion.worst(outcome), outcome.worst_residual));
  }
  for (long k = 0; k <= steps; ++k) {
    if (k > 0) balances(run, motion, static_cast<int>(k)), run.take();
    sample(run, k, motion, static_cast<int>(k));
  }
  describe(run, options, motion);
  run.summary().iterations_max = outcome.iterations;
  return run.finish(begin, outcome.iterations * steps, start.mobility);
}

Result<SimulateResult> step_through(Run& run, const Start& start, const SimulateOptions& options,
                                    int relative_coordinates, long steps) {
  auto tableau = step::find_tableau(options.integrator.empty() ? "rk4" : options.integrator);
  if (!tableau) return tableau.failure();
  const natural::System& system = *start.system;
  step::Acceleration acceleration(start.system, start.mobility.redundant);
  step::ExplicitStepper stepper(acceleration, *tableau, [&](double t, double* u) {
    for (int j = 0; j < system.motors(); ++j) u[j] = system.motor_law(j, t);
  });
  const auto record = [&](long k) {
    run.sample(k, stepper.q().data(), stepper.v().data(), stepper.a().data(), stepper.lambda().data(),
               stepper.u().data(), stepper.t());
  };
  const auto begin = Clock::now();
  if (!stepper.start(0, start.q.data(), start.v.data())) {
    return Failure::no_answer("the accelerations at the start are not finite");
  }
  record(0);
  NaturalState before{0, start.q, start.v, start.a, start.lambda};
  const auto remember = [](const std::vector<double>& from, Eigen::VectorXd& to) {
    std::copy(from.begin(), from.end(), to.begin());
  };
  const bool exact = tableau->order >= 4;
  NaturalParts parts(start, graph_options(options, start.mobility), relative_coordinates);
  for (long k = 1; k <= steps; ++k) {
    before.t = stepper.t();
    remember(stepper.q(), before.q), remember(stepper.v(), before.v);
    remember(stepper.a(), before.a), remember(stepper.lambda(), before.lambda);
    const bool fine = stepper.advance(options.step);
    const bool whole = fine && (run.balances(stepper.q().data(), stepper.v().data(), stepper.lambda().data(),
                                             stepper.u().data(), stepper.t()) ||
                                !exact);
    const bool divided = !whole && exact && run.divide(parts, before);
    const bool done = divided ? stepper.resume(options.step, k, parts.state().q.data(), parts.state().v.data()) : fine;
    if (!done) {
      return Failure::no_answer(fmt::format("no motion past t = {:g} s: accelerations are not finite", run.time(k)));
    }
    if (!divided) run.take();
    record(k);
    if (!run.go_on(k)) return Failure::interrupted();
  }
  run.summary().integrator = tableau->name;
  run.summary().repivots = acceleration.repivots();
  return run.finish(begin, 0, start.mobility);
}

}  // namespace

Result<SimulateResult> simulate(const Model& original, const SimulateOptions& options) {
  if (options.time > 0 && options.step > 0 && options.time / options.step < 2e9) {  // else they are refused below
    for (const auto check : {check_drivers, check_forces}) {
      if (auto sound = check(original, options.time, options.step, options.progress); !sound) return sound.failure();
    }
  }
  if (options.formulation == "maximal") return simulate_maximal(original, options);
  if (original.spatial() || options.formulation == "screw") return simulate_spatial(original, options);
  if (Failure faults = check_options(options); !faults.diagnostics.empty()) return faults;
  Model model = original;
  if (options.input) {
    auto with = with_input(original, *options.input, options.time);
    if (!with) return with.failure();
    model = std::move(*with);
  }
  if (auto known = natural_friction(model); !known) return known.failure();
  auto start = make_start(model);
  if (!start) return start.failure();
  if (options.formulation == "independent" && start->mobility.independent.empty() &&
      start->mobility.degrees_of_freedom > 0) {
    return Failure::bad_input(
        fmt::format("formulation: independent is for mechanisms of up to 1000 coordinates, this "
                    "has {}; take natural",
                    start->mobility.coordinates));
  }
  const long steps = std::max(1L, std::lround(options.time / options.step));
  Run run(model, *start, options, steps);
  if (options.method == "step")
    return step_through(run, *start, options, static_cast<int>(model.relative.size()), steps);
  if (options.method == "batch") return solve_batch(run, model, *start, options, steps);
  return smooth(run, model, *start, options, steps);
}

}  // namespace kinegraph::task
