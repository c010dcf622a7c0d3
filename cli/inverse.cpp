#include "kinegraph/task/inverse.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "kinegraph/base/names.hpp"
#include "kinegraph/io/csv.hpp"
#include "kinegraph/task/spatial_inverse.hpp"
#include "memory.hpp"
#include "outputs.hpp"
#include "progress_bar.hpp"
#include "spatial_dynamics.hpp"

namespace kinegraph::cli {
namespace {

class Inverse final : public Verb {
 public:
  std::string_view name() const override { return "inverse"; }
  std::string_view purpose() const override { return "the torques that make a machine follow a motion"; }
  std::string_view teaching() const override {
    return "Examples:\n"
           "  kinegraph inverse fourbar.yaml --motion motion.csv --out torque.csv\n"
           "  kinegraph inverse fourbar.yaml --motion table.txt --columns t,theta.q --reactions --out torque.csv\n"
           "  kinegraph inverse robot.yaml --motion path.csv --actuators shoulder,elbow --json -\n"
           "  kinegraph inverse arm.urdf --motion motion.csv --out torque.csv\n"
           "  kinegraph inverse five_bar.sdf --motion motion.csv --actuators j1,j5 --reactions --out torque.csv\n\n"
           "The motion is a table: a header row 't,theta.q' and a row per instant at equal steps; one column for each "
           "degree\n"
           "of freedom, named as a coordinate: an angle (theta.q) or a point on a moving body (P6.x, P6.y). A table "
           "without\n"
           "header takes its names from --columns; '-' there leaves a column out.\n"
           "--out has what simulate writes, and the torque theta.tau of every actuator.\n\n"
           "Of a robot (URDF, SDF): a column elbow.q for every joint, elbow.v and elbow.a if they are known (rates "
           "that\n"
           "are not need equal steps); in loops as many joints as there are freedoms. A load on a link: hand.load.fx "
           ".fy\n"
           ".fz .mx .my .mz, in the world's axes at the link's origin. A base that is moved: base.wx … base.vz, "
           "base.alx\n"
           "… base.az, base.qw … base.qz. --out has q v a tau of every joint, and with --reactions the wrench through "
           "it,\n"
           "elbow.reaction.fx …. Motors are the joints not marked passive; in loops without such marks those of the\n"
           "motion. More motors than freedoms: the least sum of squared torques. Columns of joints that follow in "
           "loops "
           "are not\n"
           "needed; where they are given they decide the branch. Where the loops pass a singular position, in which "
           "the\n"
           "given joints do not determine the others, these go on as their rates say, and a warning tells when.\n";
  }
  void declare(CLI::App& app) override {
    app.add_option("--motion", motion_, "the prescribed motion; - is standard input")->type_name("FILE.csv");
    app.add_option("--columns", columns_, "names for the columns of --motion, the first is t")->type_name("t,NAME,...");
    app.add_option("--actuators", actuators_,
                   "coordinates whose torque is asked for; default: the motors, else all angles")
        ->type_name("NAME,...");
    app.add_option("--noise", noise_,
                   "standard deviation of the samples of a recorded motion; 0: exact to their digits")
        ->type_name("VALUE")
        ->capture_default_str();
    app.add_option("--formulation", formulation_, "of a planar machine: as points (default), or as a robot")
        ->type_name("natural|screw");
    app.add_option("--ordering", ordering_, "of a robot: the order of elimination")
        ->type_name(ordering_names())
        ->capture_default_str();
    app.add_flag("--planar-loops", planar_loops_,
                 "of a robot: wrenches across the plane of a loop are none (default: least norm)");
    app.add_flag("--compiled", compiled_,
                 "of a robot: by code generated and compiled for it; else the summary says why");
    app.add_flag("--reactions", reactions_, "also the joint forces, as P1.fx P1.fy (of a robot: elbow.reaction.fx …)");
    common_.declare(app, true);
  }
  Done run() override;

 private:
  void read_formulation(OptionReader& reader, bool spatial) const;

  std::string motion_, columns_, actuators_, noise_ = "0", formulation_, ordering_ = "best";
  bool reactions_ = false, planar_loops_ = false, compiled_ = false;
};

/// What motors of these names give: torques, forces, or both.
std::pair<std::string, std::string> efforts(const Model& model, const std::vector<std::string>& actuators) {
  bool torques = false, forces = false;
  for (const RelativeCoordinate& coordinate : model.relative) {
    const bool drives = std::any_of(actuators.begin(), actuators.end(), [&](const std::string& name) {
      const auto motor =
          std::find_if(model.motors.begin(), model.motors.end(), [&](const Motor& m) { return m.name == name; });
      if (motor == model.motors.end()) return coordinate.name == name;
      return &model.relative[motor->coordinate.value] == &coordinate;
    });
    if (drives) (coordinate.type == RelativeCoordinate::Type::relative_position ? forces : torques) = true;
  }
  if (!forces) return {"torque", "N m"};
  return torques ? std::pair<std::string, std::string>{"torque, force", "(N m, N)"}
                 : std::pair<std::string, std::string>{"force", "N"};
}

Summary summarize(const std::string& path, const Model& model, const std::string& motion,
                  const task::InverseSummary& found) {
  const auto [effort, unit] = efforts(model, found.actuators);
  Summary summary("inverse", path);
  summary.add("motion", motion, "motion")
      .add("samples", found.samples, "samples")
      .add("prescribed", found.prescribed, "prescribed")
      .add("actuators", found.actuators, "actuators")
      .add("torque_peak", found.torque_peak, "peak " + effort, unit)
      .add("torque_rms", found.torque_rms, "RMS " + effort, unit)
      .add("following_error_max", found.following_error_max, "largest following error", "(m, rad)")
      .add("constraint_max", found.constraint_max, "largest constraint left", "m²")
      .add("iterations_mean", found.iterations_mean, "iterations, mean")
      .add("warnings", found.warnings, "")
      .add("wall_s", found.wall_s, "computed in", "s")
      .add("sample_us", found.sample_us, "per sample", "µs");
  return summary;
}

void Inverse::read_formulation(OptionReader& reader, bool spatial) const {
  const std::vector<std::string> valid{"natural", "screw"};
  if (!formulation_.empty() && formulation_ != "natural" && formulation_ != "screw") {
    reader.fault("formulation", fmt::format("must be one of natural, screw, is {}{}", quote(formulation_),
                                            did_you_mean(formulation_, valid)));
  } else if (spatial && formulation_ == "natural") {
    reader.fault("formulation", "a robot in space has no natural coordinates: leave it out, or say screw");
  } else if (!spatial && formulation_ != "screw") {
    if (ordering_ != "best") reader.fault("ordering", "needs --formulation screw");
    if (compiled_) reader.fault("compiled", "is for robots and --formulation screw");
  }
}

Done Inverse::run() {
  OptionReader reader;
  common_.read(reader);
  if (motion_.empty()) reader.fault("motion", "is missing: kinegraph inverse MODEL --motion FILE.csv");
  task::InverseOptions options;
  options.noise = reader.number("noise", noise_);
  if (!(options.noise >= 0)) reader.fault("noise", fmt::format("must be >= 0, is {}", noise_));
  const std::string ordering = read_ordering(reader, ordering_);
  if (!reader.ok()) return reader.failure();

  Result<Outputs> outputs = Outputs::open(common_);
  if (!outputs) return outputs.failure();
  const Result<Model> model = common_.read_model();
  if (!model) return model.failure();
  read_formulation(reader, model->spatial());
  if (!reader.ok()) return reader.failure();
  ProgressBar bar("inverse", common_);
  CsvOptions csv;
  csv.columns = split_list(columns_);
  csv.progress = bar.callback();
  const Result<Trajectory> motion = read_table(common_.embedding, motion_, csv);
  if (!motion) return motion.failure();

  if (ReportContent* report = outputs->show(*model, command)) {
    report->page.inputs.emplace_back("motion", motion_);
    if (model->spatial() || formulation_ == "screw") {
      report->page.graphs = instant_pictures(*model, "inverse", {}, ordering);
    } else {
      report->graph = motion_picture(*model, "natural", "trapezoidal");
    }
  }
  if (model->spatial() || formulation_ == "screw") {
    const task::SpatialInverseOptions spatial{split_list(actuators_), options.noise,  reactions_, ordering,
                                              planar_loops_,          bar.callback(), compiled_};
    const auto result = task::spatial_inverse(*model, *motion, spatial);
    if (!result) return result.failure();
    for (const std::string& warning : result->summary.warnings) common_.warn("warning: " + warning);
    return outputs->write(summarize_spatial("inverse", common_.model, motion_, result->summary), &result->trajectory,
                          bar.callback());
  }
  options.actuators = split_list(actuators_);
  options.reactions = reactions_;
  options.progress = bar.callback();
  const Result<task::InverseResult> result = task::inverse(*model, *motion, options);
  if (!result) return result.failure();
  for (const std::string& warning : result->summary.warnings) common_.warn("warning: " + warning);
  return outputs->write(summarize(common_.model, *model, motion_, result->summary), &result->trajectory,
                        bar.callback());
}

}  // namespace

std::unique_ptr<Verb> make_inverse() { return std::make_unique<Inverse>(); }

}  // namespace kinegraph::cli
