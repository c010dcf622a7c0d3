#include "kinegraph/task/inverse.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "kinegraph/io/csv.hpp"
#include "outputs.hpp"
#include "progress_bar.hpp"

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
           "  kinegraph inverse robot.yaml --motion path.csv --actuators shoulder,elbow --json -\n\n"
           "The motion is a table: a header row 't,theta.q' and a row per instant at equal steps; one column for each "
           "degree\n"
           "of freedom, named as a coordinate: an angle (theta.q) or a point on a moving body (P6.x, P6.y). A table "
           "without\n"
           "header takes its names from --columns; '-' there leaves a column out.\n"
           "--out has what simulate writes, and the torque theta.tau of every actuator.\n";
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
    app.add_flag("--reactions", reactions_, "also the joint forces, as P1.fx P1.fy");
    common_.declare(app, true);
  }
  Done run() override;

 private:
  CommonOptions common_;
  std::string motion_, columns_, actuators_, noise_ = "0";
  bool reactions_ = false;
};

Summary summarize(const std::string& model, const std::string& motion, const task::InverseSummary& found) {
  Summary summary("inverse", model);
  summary.add("motion", motion, "motion")
      .add("samples", found.samples, "samples")
      .add("prescribed", found.prescribed, "prescribed")
      .add("actuators", found.actuators, "actuators")
      .add("torque_peak", found.torque_peak, "peak torque", "N m")
      .add("torque_rms", found.torque_rms, "RMS torque", "N m")
      .add("following_error_max", found.following_error_max, "largest following error", "(m, rad)")
      .add("constraint_max", found.constraint_max, "largest constraint left", "m²")
      .add("iterations_mean", found.iterations_mean, "iterations, mean")
      .add("wall_s", found.wall_s, "computed in", "s")
      .add("sample_us", found.sample_us, "per sample", "µs");
  return summary;
}

Done Inverse::run() {
  OptionReader reader;
  common_.read(reader);
  if (motion_.empty()) reader.fault("motion", "is missing: kinegraph inverse MODEL --motion FILE.csv");
  task::InverseOptions options;
  options.noise = reader.number("noise", noise_);
  if (!(options.noise >= 0)) reader.fault("noise", fmt::format("must be >= 0, is {}", noise_));
  if (!reader.ok()) return reader.failure();

  Result<Outputs> outputs = Outputs::open(common_);
  if (!outputs) return outputs.failure();
  const Result<Model> model = common_.read_model();
  if (!model) return model.failure();
  ProgressBar bar("inverse", common_.quiet);
  CsvOptions csv;
  csv.columns = split_list(columns_);
  csv.progress = bar.callback();
  const Result<Trajectory> motion = read_csv(motion_, csv);
  if (!motion) return motion.failure();

  options.actuators = split_list(actuators_);
  options.reactions = reactions_;
  options.progress = bar.callback();
  const Result<task::InverseResult> result = task::inverse(*model, *motion, options);
  if (!result) return result.failure();
  return outputs->write(summarize(common_.model, motion_, result->summary), &result->trajectory, bar.callback());
}

}  // namespace

std::unique_ptr<Verb> make_inverse() { return std::make_unique<Inverse>(); }

}  // namespace kinegraph::cli
