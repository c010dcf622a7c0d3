#include "kinegraph/task/spatial_simulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kinegraph/model/friction_support.hpp"
#include "kinegraph/task/option_rules.hpp"
#include "kinegraph/task/spatial_parts.hpp"
#include "kinegraph/task/spatial_recorder.hpp"
#include "kinegraph/task/spatial_start.hpp"
#include "kinegraph/task/times.hpp"

namespace kinegraph::task {
namespace {

constexpr double kLost = 1e4;  // rad or m in one step: this is no motion any more

Failure check_options(const Model& model, const SimulateOptions& o) {
  Failure faults{Failure::Kind::bad_input, {}};
  check_time_and_step(o.time, o.step, faults);
  check_rule(o.every >= 1, "every", "must be >= 1", o.every, faults);
  if (!o.integrator.empty()) check_choice("integrator", o.integrator, step::scheme_names(), faults);
  const std::string with = model.spatial() ? "for spatial models" : "with formulation screw";
  check_rule(o.formulation == "natural" || o.formulation == "screw", "formulation", "must be screw or maximal " + with,
             o.formulation, faults);
  check_rule(o.method == "smoother" || o.method == "step", "method", "must be step " + with, o.method, faults);
  check_rule(o.weights == "hard", "weights", "must be hard " + with, o.weights, faults);
  check_rule(o.window == 2, "window", "has no meaning " + with + ", leave it out", o.window, faults);
  if (!o.soft_scale.empty()) {
    faults.diagnostics.push_back({Severity::error, {}, "soft-scale: has no meaning " + with + ", leave it out"});
  }
  return faults;
}

/// Equal steps, but for a last one that may be shorter.
long count_steps(double time, double step) {
  constexpr double kRounding = 1e-9;
  const double exact = time / step, nearest = std::round(exact);
  if (nearest >= 1 && std::abs(exact - nearest) <= kRounding * nearest) return static_cast<long>(nearest);
  return static_cast<long>(std::ceil(exact));
}

std::string joint_of(const screw::Tree& tree, int freedom) {
  for (const screw::Coordinate& c : tree.coordinates()) {
    if (freedom >= c.v && freedom < c.v + c.freedoms) return c.name;
  }
  return "?";
}

/// "damping of joint 'knee'", where it dies out within a step: explicit stages are not stable then. Else nothing.
std::string stiff_joint(const SpatialStart& start, double step) {
  step::JointResponse response(start.tree, start.mobility.freedoms);
  response.prepare(start.q.data());
  const step::JointResponse::Stiffest stiffest = response.stiffest();
  if (stiffest.coordinate < 0 || step * stiffest.rate <= 1) return "";
  return fmt::format("{} of joint '{}'", stiffest.friction ? "friction" : "damping",
                     start.tree->coordinates()[stiffest.coordinate].name);
}

/// The joint whose motion is lost: not a number, else the fastest.
std::string lost_joint(const screw::Tree& tree, const std::vector<double>& v, double step) {
  int worst = 0;
  for (int i = 0; i < tree.freedoms(); ++i) {
    if (!std::isfinite(v[i])) {
      worst = i;
      break;
    }
    if (std::abs(v[i]) > std::abs(v[worst])) worst = i;
  }
  for (const screw::Coordinate& c : tree.coordinates()) {
    if (worst < c.v || worst >= c.v + c.freedoms) continue;
    if (!std::isfinite(v[worst])) return fmt::format("the velocity of joint '{}' is not finite", c.name);
    return fmt::format("joint '{}' would move by {:.3g} in one step of {:g} s", c.name, std::abs(v[worst]) * step,
                       step);
  }
  return "the velocities are not finite";
}

class SpatialRun {
 public:
  SpatialRun(const Model& model, const SimulateOptions& options, SpatialStart start, SpatialDrive drive,
             const step::Scheme& scheme, std::string stiff)
      : options_(options),
        scheme_(scheme),
        stiff_(std::move(stiff)),
        steps_(count_steps(options.time, options.step)),
        start_(std::move(start)),
        drive_(std::move(drive)),
        field_(start_.tree, start_.mobility.freedoms, drive_),
        watch_(start_.tree, field_),
        recorder_(model, start_.tree, drive_, {options.poses, options.reactions}),
        stepper_(start_.tree, field_, scheme),
        parts_(stepper_, watch_, scheme.order >= 4) {
    result_.trajectory = Trajectory(recorder_.names());
    if (options.keep) result_.trajectory.reserve(static_cast<int>(steps_ / options.every + 2));
    if (options.begin) options.begin(recorder_.names());
  }

  Result<SimulateResult> run() {
    if (options_.compiled) {
      auto made = CompiledDynamics::make(start_.tree, build::given_forward(*start_.tree), options_.progress);
      if (!made) return made.failure();
      field_.use(*std::move(made));
      result_.summary.code = field_.compiled_note();
    }
    const auto begin = Clock::now();
    if (!stepper_.start(0, start_.q.data(), start_.v.data())) return no_motion(0);
    watch_.start(stepper_.q().data(), stepper_.v().data());
    record(0);
    long iterations = 0;
    for (long k = 1; k <= steps_; ++k) {
      if (!parts_.advance_step(length(k), kLost)) return no_motion(k);
      iterations += stepper_.iterations();
      result_.summary.iterations_max = std::max(result_.summary.iterations_max, stepper_.iterations());
      watch_.take(stepper_.t(), stepper_.q().data(), stepper_.v().data(), stepper_.extra().data());
      record(k);
      if (options_.progress && k % 1024 == 0 && !options_.progress(double(k) / double(steps_))) {
        return Failure::interrupted();
      }
    }
    result_.summary.wall_s = seconds_since(begin);
    result_.summary.iterations_mean = double(iterations) / double(steps_);
    return finish();
  }

 private:
  double length(long k) const {
    const double rest = options_.time - double(k - 1) * options_.step;
    return k == steps_ && std::abs(rest - options_.step) > 1e-6 * options_.step ? rest : options_.step;
  }

  bool implicit() const { return scheme_.kind == step::Scheme::Kind::implicit_midpoint; }

  void record(long k) {
    if (options_.state) options_.state(stepper_.t(), stepper_.q().data(), stepper_.v().data(), stepper_.a().data());
    if (k % options_.every != 0 && k != steps_) return;
    if (options_.compiled) field_.look(stepper_.q().data(), stepper_.v().data());
    const double* row = recorder_.row(stepper_.q().data(), stepper_.v().data(), stepper_.a().data(), field_);
    if (options_.sample) options_.sample(stepper_.t(), row);
    if (options_.keep) std::copy_n(row, recorder_.names().size(), result_.trajectory.append(stepper_.t()));
  }

  Failure no_motion(long k) const {
    if (k == 0) return Failure::no_answer("no accelerations at the start: " + why());
    return Failure::no_answer(
        fmt::format("no motion past t = {:g} s: {}; a smaller step may help", double(k - 1) * options_.step, why()));
  }

  std::string why() const {
    if (stepper_.unsettled() >= 0) {
      return fmt::format("the iteration does not converge: joint '{}' is too stiff for a step of {:g} s",
                         joint_of(*start_.tree, stepper_.unsettled()), options_.step);
    }
    if (!implicit() && !stiff_.empty()) return too_stiff();
    return field_.message().empty() ? lost_joint(*start_.tree, stepper_.last_v(), options_.step) : field_.message();
  }

  std::string too_stiff() const {
    return fmt::format("{} is too stiff for {} with a step of {:g} s: implicit-midpoint can follow it", stiff_,
                       scheme_.name, options_.step);
  }

  SimulateResult finish() {
    SimulateSummary& s = result_.summary;
    watch_.tell(s);
    s.steps = steps_;
    s.step_us = s.wall_s / double(steps_) * 1e6;
    s.step = options_.step;
    s.time = stepper_.t();
    s.formulation = "screw";
    s.method = "step";
    s.weights = "hard";
    s.integrator = scheme_.name;
    if (implicit() && options_.integrator.empty()) {
      s.integrator_reason = fmt::format("because {} is stiff for this step", stiff_);
    }
    s.loops = static_cast<int>(start_.tree->loops().size());
    s.degrees_of_freedom = start_.mobility.freedoms;
    s.redundant_constraints = start_.mobility.closure_equations - start_.mobility.rank;
    if (!implicit() && !stiff_.empty()) s.warnings.push_back(too_stiff());
    s.divided_steps = parts_.divided();
    s.assembly_moved = start_.moved;
    const std::vector<Link>& links = start_.tree->robot().links;
    s.shapes_pass = std::count_if(links.begin(), links.end(), [](const Link& l) { return !l.collisions.empty(); }) > 1;
    warn_of_energy(s);
    return std::move(result_);
  }

  const SimulateOptions& options_;
  step::Scheme scheme_;
  std::string stiff_;
  long steps_;
  SpatialStart start_;
  SpatialDrive drive_;
  SpatialField field_;
  SpatialWatch watch_;
  SpatialRecorder recorder_;
  step::LieStepper stepper_;
  SpatialParts parts_;
  SimulateResult result_;
};

}  // namespace

Result<SimulateResult> simulate_spatial(const Model& model, const SimulateOptions& options) {
  if (Failure faults = check_options(model, options); !faults.diagnostics.empty()) return faults;
  if (auto known = screw_friction(model.robot); !known) return known.failure();
  Result<SpatialStart> start = make_spatial_start(model);
  if (!start) return start.failure();
  Result<SpatialDrive> drive = SpatialDrive::make(model, *start->tree, options.input, options.time);
  if (!drive) return drive.failure();
  const std::string stiff = stiff_joint(*start, options.step);
  const std::string standard = stiff.empty() ? "rk4" : "implicit-midpoint";
  const std::optional<step::Scheme> scheme =
      step::find_scheme(options.integrator.empty() ? standard : options.integrator);
  return SpatialRun(model, options, *std::move(start), *std::move(drive), *scheme, stiff).run();
}

}  // namespace kinegraph::task
