#include "kinegraph/task/simulate.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <limits>
#include <optional>

#include "kinegraph/base/names.hpp"
#include "kinegraph/io/csv.hpp"
#include "kinegraph/step/lie_stepper.hpp"
#include "kinegraph/task/maximal_simulate.hpp"
#include "kinegraph/task/sensed_simulation.hpp"
#include "memory.hpp"
#include "outputs.hpp"
#include "progress_bar.hpp"

namespace kinegraph::cli {
namespace {

std::string explicit_methods() {
  std::string names;
  for (const step::Tableau& tableau : step::tableaus()) names += std::string(tableau.name) + ", ";
  return names + "default rk4; in space also symplectic-euler, implicit-midpoint";
}

class Simulate final : public Verb {
 public:
  std::string_view name() const override { return "simulate"; }
  std::string_view purpose() const override { return "the motion that follows from a start and from forces"; }
  std::string_view teaching() const override {
    static const std::string text =
        "Examples:\n"
        "  kinegraph simulate fourbar.yaml --time 5 --step 1ms --out motion.csv\n"
        "  kinegraph simulate fourbar.yaml --set theta.q=30deg --set theta.v=60rpm --json -\n"
        "  kinegraph simulate fourbar.yaml --formulation independent --integrator trapezoidal --window 10\n"
        "  kinegraph simulate fourbar.yaml --input torque.csv --reactions --out motion.csv\n"
        "  kinegraph simulate fourbar.yaml --weights soft --soft-scale dynamics=0.1\n"
        "  kinegraph simulate robot.urdf --time 2 --integrator dopri5 --poses --out motion.csv\n"
        "  kinegraph simulate furuta.urdf --formulation maximal --input control.csv --out motion.csv\n"
        "  kinegraph simulate fourbar_gyro.yaml --sensors readings.csv --out truth.csv --seed 1\n\n"
        "--out has a row per step (per N steps with --every N): t, then\n"
        "  of every point     P1.x P1.y P1.vx P1.vy P1.ax P1.ay\n"
        "  of every angle     theta.q theta.v theta.a\n"
        "  of every motor     theta.tau\n"
        "  with --reactions   P1.fx P1.fy, the force in the joint\n"
        "and of a robot (URDF, SDF, or any model with --formulation screw)\n"
        "  of every joint     elbow.q elbow.v elbow.a, elbow.tau where --input drives it\n"
        "  with --poses       hand.x hand.y hand.z hand.qw hand.qx hand.qy hand.qz\n"
        "  with --reactions   elbow.reaction.mx .my .mz .fx .fy .fz\n"
        "--input is a table of the same kind, for example with the header 't,theta.tau': what motors (.tau), loads "
        "(.fx\n"
        ".fy) and torques on bodies (.tau) do, by their names; of a robot joints (elbow.tau) and loads on links "
        "(hand.load.fx).\n"
        "Controls are theta.u or elbow.u: the torque is the motor's gain times that.\n"
        "--formulation maximal lets every link move on its own, held by constraints that give way a little: dry "
        "friction\n"
        "holds and lets go, Stribeck friction and drag are known, links may touch. Models that need it get it.\n"
        "--sensors is a log of what the model's sensors read, each at its own rate, with noise, offset, rounding, "
        "outliers,\n"
        "losses and delay as the model says; the numbers come from --seed. 'kinegraph estimate' reads it. --disturbed "
        "drives\n"
        "the motion by the model's process noise and unknown forces, which estimators assume.\n"
        "--compiled makes code for the robot ('kinegraph codegen'), has the machine's C++ compiler compile it, keeps "
        "it in\n"
        "the user's cache folder and says so; the same motion to rounding, several times faster. Without a compiler, "
        "or\n"
        "where there is no straight-line code, numeric elimination goes on, and the summary says why.\n"
        "Integrators of robots, and of planar machines with --method step:\n  " +
        explicit_methods() + "\n";
    return text;
  }
  void declare(CLI::App& app) override;
  Done run() override;

 private:
  task::SimulateOptions read_options(OptionReader& reader);
  Failure check_applies(bool robot) const;
  Done run_sensed(const Model& model, const task::SimulateOptions& options, Outputs& outputs, ProgressBar& bar);
  Summary summarize_motion(const Model& model, task::SimulateSummary found) const;
  void choose_where_samples_go(const Model& model, Outputs& outputs, task::SimulateOptions& options) const;

  std::string time_ = "5", step_ = "1ms", window_ = "2", every_ = "1";
  std::string compliance_ = "1e-8", relaxation_ = "0";
  std::string formulation_ = "natural", method_ = "smoother", integrator_, weights_ = "hard", input_, columns_,
              sensors_;
  std::vector<std::string> soft_scale_;
  std::string reason_;  // why the formulation is maximal, though none was named
  bool reactions_ = false, poses_ = false, disturbed_ = false, compiled_ = false;
  const CLI::Option *method_option_ = nullptr, *formulation_option_ = nullptr, *integrator_option_ = nullptr;
  std::vector<std::pair<std::string, const CLI::Option*>> of_graphs_only_;  // mean nothing where there are robots
  std::vector<std::pair<std::string, const CLI::Option*>> of_maximal_only_;
};

void Simulate::declare(CLI::App& app) {
  app.add_option("--time", time_, "how long, default 5 s")->type_name("T");
  app.add_option("--step", step_, "time step, default 1ms")->type_name("H");
  app.add_option("--formulation", formulation_,
                 "dependent (default) or independent coordinates, joints in space, or links on soft joints")
      ->type_name("natural|independent|screw|maximal");
  app.add_option("--method", method_,
                 "fixed-lag smoother (default), all steps at once, or classic time stepping without a graph")
      ->type_name("smoother|batch|step");
  app.add_option("--integrator", integrator_, "default hermite-simpson; time stepping and robots: see below")
      ->type_name("euler|trapezoidal|hermite-simpson");
  app.add_option("--compliance", compliance_, "of constraints, maximal: m/N and rad/(N m), default 1e-8")
      ->type_name("E");
  app.add_option("--relaxation", relaxation_, "time in which they take an error back, maximal: default two steps")
      ->type_name("T");
  app.add_option("--window", window_, "instants the smoother holds, default 2")->type_name("N");
  app.add_option("--weights", weights_, "equations hold exactly (default), or as least squares with covariances")
      ->type_name("hard|soft");
  app.add_option("--soft-scale", soft_scale_,
                 "factor on a covariance of --weights soft: prior, integrator, dynamics, constraint, equality")
      ->type_name("NAME=FACTOR")
      ->allow_extra_args(false)
      ->take_all();
  app.add_option("--input", input_, "recorded torques and forces; - is standard input")->type_name("FILE.csv");
  app.add_option("--columns", columns_, "names for the columns of --input, the first is t")->type_name("t,NAME,...");
  app.add_flag("--reactions", reactions_, "also the joint forces");
  app.add_flag("--poses", poses_, "of a robot: also the pose of every link");
  app.add_flag("--compiled", compiled_, "of a robot: accelerations by code generated and compiled for it (see below)");
  app.add_option("--every", every_, "keep every N-th step in --out")->type_name("N");
  app.add_option("--sensors", sensors_, "write what the model's sensors read; - is standard output")
      ->type_name("FILE.csv");
  app.add_flag("--disturbed", disturbed_, "driven by the model's process noise and unknown forces, from --seed");
  common_.declare(app, true);
  for (const char* name : {"window", "weights", "soft-scale"}) {
    of_graphs_only_.emplace_back(name, app.get_option(std::string("--") + name));
  }
  for (const char* name : {"compliance", "relaxation"}) {
    of_maximal_only_.emplace_back(name, app.get_option(std::string("--") + name));
  }
  integrator_option_ = app.get_option("--integrator");
  method_option_ = app.get_option("--method");
  formulation_option_ = app.get_option("--formulation");
}

/// What does not apply to robots, or to a motion driven by noise, is refused, not passed over.
Failure Simulate::check_applies(bool robot) const {
  OptionReader reader;
  const bool maximal = formulation_ == "maximal";
  for (const auto& [name, option] : of_maximal_only_) {
    if (!maximal && option->count() > 0) reader.fault(name, "has a meaning with --formulation maximal only");
  }
  if (maximal && compiled_) reader.fault("compiled", "has no meaning with --formulation maximal");
  if (maximal && integrator_option_->count() > 0) {
    reader.fault("integrator", "has no meaning with --formulation maximal, which has its own");
  }
  if (disturbed_) {
    for (const auto& [name, option] : of_graphs_only_) {
      if (option->count() > 0) reader.fault(name, "has no meaning with --disturbed, which is time stepping");
    }
    if (method_option_->count() > 0 && method_ != "step") {
      reader.fault("method", "must be step with --disturbed, is '" + method_ + "'");
    }
    if (formulation_ == "independent" || maximal) {
      reader.fault("formulation", "must be natural or screw with --disturbed");
    }
    if (reactions_) reader.fault("reactions", "cannot be had with --disturbed");
    if (poses_) reader.fault("poses", "cannot be had with --disturbed");
    if (compiled_) reader.fault("compiled", "cannot be had with --disturbed");
    return reader.failure();
  }
  if (!robot) {
    if (poses_) reader.fault("poses", "is for robots and --formulation screw or maximal");
    if (compiled_) reader.fault("compiled", "is for robots and --formulation screw");
    for (const auto& [name, option] : of_graphs_only_) {
      if (method_ == "step" && option->count() > 0) reader.fault(name, "has no meaning with --method step");
    }
    return reader.failure();
  }
  for (const auto& [name, option] : of_graphs_only_) {
    if (option->count() > 0) reader.fault(name, "has no meaning for robots, which are simulated by time stepping");
  }
  if (method_option_->count() > 0 && method_ != "step") {
    reader.fault("method", "must be step for robots, is '" + method_ + "'");
  }
  if (formulation_option_->count() > 0 && formulation_ != "screw" && !maximal) {
    reader.fault("formulation", "must be screw or maximal for robots, is '" + formulation_ + "'");
  }
  return reader.failure();
}

task::SimulateOptions Simulate::read_options(OptionReader& reader) {
  constexpr long kMost = std::numeric_limits<int>::max();
  task::SimulateOptions options;
  options.time = reader.seconds("time", time_);
  options.step = reader.seconds("step", step_);
  options.formulation = formulation_;
  options.compliance = reader.number("compliance", compliance_);
  options.relaxation = reader.seconds("relaxation", relaxation_);
  options.method = method_;
  options.integrator = integrator_;
  options.weights = weights_;
  options.window = static_cast<int>(reader.whole("window", window_, 2, kMost));
  options.every = static_cast<int>(reader.whole("every", every_, 1, kMost));
  options.reactions = reactions_;
  options.poses = poses_;
  options.compiled = compiled_;
  for (const std::string& text : soft_scale_) {
    const auto [name, factor] = reader.setting("soft-scale", text);
    if (name.empty()) continue;
    if (!options.soft_scale.emplace(name, factor).second) reader.fault("soft-scale", quote(name) + " is given twice");
  }
  if (!soft_scale_.empty() && weights_ == "hard") reader.fault("soft-scale", "needs --weights soft");
  if (!columns_.empty() && input_.empty()) reader.fault("columns", "names the columns of --input, which is not given");
  return options;
}

/// Samples are kept and written at the end, so that writing does not count in the time per step; a run too long for
/// that writes them as they come, and needs no more memory than a short one.
void Simulate::choose_where_samples_go(const Model& model, Outputs& outputs, task::SimulateOptions& options) const {
  constexpr double kMostKept = 512e6;
  const double columns = 1 + 8.0 * static_cast<double>(model.points.size()) +
                         4.0 * static_cast<double>(model.relative.size()) +
                         (poses_ ? 7.0 : 0) * static_cast<double>(model.robot.links.size()) +
                         (reactions_ ? 10.0 : 4.0) * static_cast<double>(model.robot.joints.size());
  const double bytes = columns * sizeof(double) * options.time / options.step / options.every;
  options.keep = outputs.needs_all() || (outputs.has_trajectory() && bytes <= kMostKept);
  if (options.keep || !outputs.has_trajectory()) return;
  options.begin = [&outputs](const std::vector<std::string>& names) { outputs.stream(names); };
  options.sample = [&outputs](double t, const double* row) { outputs.sample(t, row); };
  options.progress = [&outputs, bar = options.progress](double share) { return !outputs.failed() && bar(share); };
}

Summary begin_summary(const std::string& model, const task::SimulateSummary& found) {
  Summary summary("simulate", model);
  summary.add("steps", found.steps, "steps")
      .add("time", found.time, "simulated", "s")
      .add("step", found.step, "step", "s")
      .add("formulation", found.formulation, "formulation");
  if (!found.formulation_reason.empty()) summary.add("formulation_reason", found.formulation_reason, "…");
  summary.add("method", found.method, "method").add("integrator", found.integrator, "integrator");
  if (!found.integrator_reason.empty()) summary.add("integrator_reason", found.integrator_reason, "…");
  return summary;
}

void add_assembly(const task::SimulateSummary& found, Summary& summary) {
  summary.add("assembly_moved", found.assembly_moved,
              found.assembly_moved > 0 ? "drawing moved to assemble it, by" : "", "m");
}

void add_energy(const task::SimulateSummary& found, Summary& summary) {
  summary.add("energy_start", found.energy_start, "energy at the start", "J")
      .add("energy_end", found.energy_end, "energy at the end", "J")
      .add("kinetic_start", found.kinetic_start, "kinetic energy at the start", "J")
      .add("kinetic_max", found.kinetic_max, "kinetic energy, largest", "J")
      .add("energy_error", found.energy_error, "energy error", "J")
      .add("energy_drift", found.energy_drift, std::isnan(found.energy_drift) ? "" : "… over kinetic energy or work")
      .add("energy_worst_t", found.energy_worst_t, "")
      .add("divided_steps", found.divided_steps, found.divided_steps > 0 ? "steps taken in parts" : "");
}

Summary summarize(const std::string& model, const task::SimulateSummary& found) {
  Summary summary = begin_summary(model, found);
  summary.add("window", found.window, "window")
      .add("weights", found.weights, "weights")
      .add("degrees_of_freedom", found.degrees_of_freedom, "degrees of freedom")
      .add("redundant_constraints", found.redundant_constraints, "redundant constraints")
      .add("wall_s", found.wall_s, "computed in", "s")
      .add("step_us", found.step_us, "per step", "µs")
      .add("iterations_mean", found.iterations_mean, "iterations, mean")
      .add("iterations_max", found.iterations_max, "iterations, most")
      .add("constraint_max", found.constraint_max, "largest constraint left", "m²")
      .add("constraint_velocity_max", found.constraint_velocity_max, "… of the velocities", "m²/s");
  add_energy(found, summary);
  summary.add("singular_passes", found.singular_passes, "singular positions passed")
      .add("repivots", found.repivots, "new pivot orders")
      .add("coordinate_changes", found.coordinate_changes, "new independent sets");
  add_assembly(found, summary);
  return summary.add("warnings", found.warnings, "");
}

Summary summarize_robot(const std::string& model, const task::SimulateSummary& found) {
  Summary summary = begin_summary(model, found);
  summary.add("degrees_of_freedom", found.degrees_of_freedom, "degrees of freedom")
      .add("loops", found.loops, "loops")
      .add("redundant_constraints", found.redundant_constraints, "redundant constraints")
      .add("code", found.code, found.code.empty() ? "" : "accelerations by")
      .add("wall_s", found.wall_s, "computed in", "s")
      .add("step_us", found.step_us, "per step", "µs");
  if (found.iterations_max > 0) {
    summary.add("iterations_mean", found.iterations_mean, "iterations, mean")
        .add("iterations_max", found.iterations_max, "iterations, most");
  }
  if (found.loops > 0) {
    summary.add("closure_m", found.closure_m, "loops open by at most", "m")
        .add("closure_rad", found.closure_rad, "… and", "rad");
  }
  add_energy(found, summary);
  summary.add("work", found.work, "work of torques, loads, damping", "J");
  if (found.floating) {
    summary.add("momentum_error", found.momentum_error, "momentum error", "N s")
        .add("angular_momentum_error", found.angular_momentum_error, "angular momentum error", "N m s");
  }
  if (found.shapes_pass) {
    summary.add("contacts", std::string("none: shapes touch with --formulation maximal only"), "contacts");
  }
  add_assembly(found, summary);
  summary.add("limits_exceeded", found.limits_exceeded, "").add("warnings", found.warnings, "");
  for (const std::string& limit : found.limits_exceeded) summary.add_text("  limit passed   " + limit + "\n");
  return summary;
}

Summary summarize_maximal(const std::string& model, const task::SimulateSummary& found) {
  Summary summary = begin_summary(model, found);
  summary.add("compliance", found.compliance, "compliance", "m/N")
      .add("relaxation", found.relaxation, "relaxation", "s")
      .add("degrees_of_freedom", found.degrees_of_freedom, "degrees of freedom")
      .add("loops", found.loops, "loops")
      .add("wall_s", found.wall_s, "computed in", "s")
      .add("step_us", found.step_us, "per step", "µs")
      .add("closure_m", found.closure_m, "joints give way by at most", "m")
      .add("closure_rad", found.closure_rad, "… and", "rad");
  add_energy(found, summary);
  summary.add("work", found.work, "work of torques, loads, friction", "J")
      .add("held_steps", found.held_steps, "steps in which friction held");
  if (found.can_touch) {
    summary.add("contact_steps", found.contact_steps, "steps with contacts")
        .add("contacts_max", found.contacts_max, "contacts at once, at most")
        .add("penetration_max", found.penetration_max, "deepest penetration", "m");
  }
  add_assembly(found, summary);
  return summary.add("warnings", found.warnings, "");
}

Summary summarize_disturbed(const std::string& model, const task::SimulateSummary& found) {
  Summary summary = begin_summary(model, found);
  summary.add("disturbed", true, "driven by noise")
      .add("degrees_of_freedom", found.degrees_of_freedom, "degrees of freedom")
      .add("wall_s", found.wall_s, "computed in", "s")
      .add("step_us", found.step_us, "per step", "µs");
  return summary;
}

Summary Simulate::summarize_motion(const Model& model, task::SimulateSummary found) const {
  if (disturbed_) return summarize_disturbed(common_.model, found);
  if (formulation_ == "maximal") {
    found.formulation_reason = reason_;
    return summarize_maximal(common_.model, found);
  }
  return model.spatial() || formulation_ == "screw" ? summarize_robot(common_.model, found)
                                                    : summarize(common_.model, found);
}

Done Simulate::run_sensed(const Model& model, const task::SimulateOptions& options, Outputs& outputs,
                          ProgressBar& bar) {
  std::optional<SideFile> file;
  if (!sensors_.empty()) {
    Result<SideFile> opened = SideFile::create(common_.embedding, sensors_);
    if (!opened) return opened.failure();
    file.emplace(*std::move(opened));
  }
  const Result<task::SensedResult> result =
      task::simulate_sensed(model, {options, file.has_value(), disturbed_, common_.seed_value});
  if (!result && outputs.failed()) return outputs.why_failed();
  if (!result) return result.failure();
  const task::SimulateSummary& found = result->motion.summary;
  for (const std::string& warning : found.warnings) common_.warn("warning: " + warning);
  Summary summary = summarize_motion(model, found);
  if (file) {
    const Trajectory& readings = result->readings;
    summary.add("seed", common_.seed_value, "seed")
        .add("sensors", static_cast<long>(model.sensors.size()), "sensors")
        .add("readings_lost", result->lost, "readings lost");
    if (Done done = file->write(readings, bar.callback(), true); !done) return done;
    if (sensors_ == "-") return outputs.write(summary, &result->motion.trajectory, bar.callback(), true);
    summary.add_text(
        fmt::format("  wrote {}: {} rows, {} columns\n", sensors_, readings.samples(), readings.series() + 1));
  }
  return outputs.write(summary, &result->motion.trajectory, bar.callback());
}

Done Simulate::run() {
  OptionReader reader;
  common_.read(reader);
  task::SimulateOptions options = read_options(reader);
  if (!reader.ok()) return reader.failure();

  Result<Outputs> outputs = Outputs::open(common_);
  if (!outputs) return outputs.failure();
  const Result<Model> model = common_.read_model();
  if (!model) return model.failure();
  if (formulation_option_->count() == 0 && !disturbed_) reason_ = task::needs_maximal(*model);
  if (!reason_.empty()) options.formulation = formulation_ = "maximal";
  const bool robot = model->spatial() || formulation_ == "screw" || formulation_ == "maximal";
  if (Failure faults = check_applies(robot); !faults.diagnostics.empty()) return faults;
  ProgressBar bar("simulate", common_);
  if (!input_.empty()) {
    CsvOptions csv;
    csv.columns = split_list(columns_);
    csv.progress = bar.callback();
    Result<Trajectory> input = read_table(common_.embedding, input_, csv);
    if (!input) return input.failure();
    options.input = *std::move(input);
  }
  options.progress = bar.callback();
  if (ReportContent* report = outputs->show(*model, command)) {
    if (!input_.empty()) report->page.inputs.emplace_back("input", input_);
    report->graph = motion_picture(*model, robot ? "screw" : formulation_, integrator_);
  }
  choose_where_samples_go(*model, *outputs, options);
  if (!sensors_.empty() || disturbed_) return run_sensed(*model, options, *outputs, bar);
  const Result<task::SimulateResult> result = task::simulate(*model, options);
  if (!result && outputs->failed()) return outputs->why_failed();
  if (!result) return result.failure();
  for (const std::string& warning : result->summary.warnings) common_.warn("warning: " + warning);
  return outputs->write(summarize_motion(*model, result->summary), &result->trajectory, bar.callback());
}

}  // namespace

std::unique_ptr<Verb> make_simulate() { return std::make_unique<Simulate>(); }

}  // namespace kinegraph::cli
