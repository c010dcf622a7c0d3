#include "kinegraph/task/hybrid.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>

#include "kinegraph/io/csv.hpp"
#include "memory.hpp"
#include "outputs.hpp"
#include "progress_bar.hpp"
#include "spatial_dynamics.hpp"

namespace kinegraph::cli {
namespace {

class Hybrid final : public Verb {
 public:
  std::string_view name() const override { return "hybrid"; }
  std::string_view purpose() const override { return "torques or accelerations, whichever is unknown, joint by joint"; }
  std::string_view teaching() const override {
    return "Examples:\n"
           "  kinegraph hybrid robot.urdf --known known.csv --out all.csv\n"
           "  kinegraph hybrid five_bar.sdf --known known.csv --reactions --json -\n"
           "  kinegraph hybrid robot.urdf --known known.csv --ordering colamd\n\n"
           "The table has a row per instant: position and velocity of every joint, and of each its acceleration or "
           "its\n"
           "torque. An empty field is unknown, and is answered; which one it is may change from row to row:\n"
           "  t,waist.q,waist.v,waist.a,waist.tau,elbow.q,elbow.v,elbow.a,elbow.tau\n"
           "  0,0.1,0,2.5,,0.3,0,,1.2            waist: its torque is asked for; elbow: its acceleration\n"
           "  0.1,0.1,0.2,,4,0.3,0,,1.2          both accelerations: forward dynamics\n"
           "A joint with neither: a passive one (and a floating base) has no torque; others are refused. In loops the\n"
           "positions of as many joints as there are freedoms are enough. Velocities that are missing are found as\n"
           "'inverse' finds them. Loads on links: hand.load.fx .fy .fz .mx .my .mz, in the world's axes.\n"
           "--out has q v a tau of every joint, with --reactions the wrench through it, elbow.reaction.fx ….\n";
  }
  void declare(CLI::App& app) override {
    app.add_option("--known", known_, "what is known, by joint name; - is standard input")->type_name("FILE.csv");
    app.add_option("--columns", columns_, "names for the columns of --known, the first is t")->type_name("t,NAME,...");
    app.add_option("--noise", noise_, "standard deviation of recorded positions; 0: exact to their digits")
        ->type_name("VALUE")
        ->capture_default_str();
    app.add_option("--ordering", ordering_, "the order of elimination")
        ->type_name(ordering_names())
        ->capture_default_str();
    app.add_flag("--planar-loops", planar_loops_, "wrenches across the plane of a loop are none (default: least norm)");
    app.add_flag("--reactions", reactions_, "also the wrenches through the joints, as elbow.reaction.fx");
    common_.declare(app, true);
  }
  Done run() override;

 private:
  std::string known_, columns_, noise_ = "0", ordering_ = "best";
  bool reactions_ = false, planar_loops_ = false;
};

/// What the first row of a table gives of accelerations and torques: the graph of the report is that row's.
std::vector<std::string> first_known(const Trajectory& table) {
  std::vector<std::string> names;
  for (int i = 0; i < table.series() && table.samples() > 0; ++i) {
    const std::string& name = table.names()[i];
    if ((name.ends_with(".a") || name.ends_with(".tau")) && std::isfinite(table.at(0, i))) names.push_back(name);
  }
  return names;
}

Done Hybrid::run() {
  OptionReader reader;
  common_.read(reader);
  if (known_.empty()) reader.fault("known", "is missing: kinegraph hybrid MODEL --known FILE.csv");
  task::HybridOptions options;
  options.noise = reader.number("noise", noise_);
  if (!(options.noise >= 0)) reader.fault("noise", fmt::format("must be >= 0, is {}", noise_));
  options.ordering = read_ordering(reader, ordering_);
  options.planar_loops = planar_loops_;
  if (!reader.ok()) return reader.failure();

  Result<Outputs> outputs = Outputs::open(common_);
  if (!outputs) return outputs.failure();
  const Result<Model> model = common_.read_model();
  if (!model) return model.failure();
  ProgressBar bar("hybrid", common_);
  CsvOptions csv;
  csv.columns = split_list(columns_);
  csv.may_be_empty = task::may_be_unknown;
  csv.progress = bar.callback();
  const Result<Trajectory> known = read_table(common_.embedding, known_, csv);
  if (!known) return known.failure();

  if (ReportContent* report = outputs->show(*model, command)) {
    report->page.inputs.emplace_back("known", known_);
    report->page.graphs = instant_pictures(*model, "hybrid", first_known(*known), options.ordering);
  }
  options.reactions = reactions_;
  options.progress = bar.callback();
  const Result<task::HybridResult> result = task::hybrid(*model, *known, options);
  if (!result) return result.failure();
  for (const std::string& warning : result->summary.warnings) common_.warn("warning: " + warning);
  Summary summary = summarize_spatial("hybrid", common_.model, known_, result->summary);
  summary.add("masks", result->masks, "sets of known numbers");
  return outputs->write(summary, &result->trajectory, bar.callback());
}

}  // namespace

std::unique_ptr<Verb> make_hybrid() { return std::make_unique<Hybrid>(); }

}  // namespace kinegraph::cli
