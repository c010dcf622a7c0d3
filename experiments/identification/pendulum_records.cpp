// Measured motions of real pendulums (../shared/data, where it is there): friction models of growing richness, each
// fitted and then replayed open loop over the whole recording.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/maximal_recording.hpp"
#include "experiments/record.hpp"
#include "kinegraph/io/csv.hpp"
#include "kinegraph/task/identify.hpp"

using namespace kinegraph;
using namespace kinegraph::experiments;

namespace {

const char* const kResult = "Friction of measured pendulums, replayed open loop";

Trajectory table_of(const std::string& file, const std::vector<std::string>& columns) {
  CsvOptions options;
  options.columns = columns;
  const Result<Trajectory> table = read_csv(shared_file("data/" + file), options);
  if (table) return *table;
  fmt::print(stderr, "{}\n", table.failure().to_string());
  std::exit(2);
}

struct Friction {
  const char* name;
  std::vector<identify::FreeParameter> free;
  double most;  ///< RMSE of the replay, rad
  double best;  ///< that a fit of the simulation error reaches
};

task::IdentifyOptions options_of(const Friction& friction, double step) {
  task::IdentifyOptions options;
  options.free = friction.free;
  options.free.push_back({"rod.iyy"});
  options.step = step;
  options.fit = "replay";
  options.keep = false;
  options.iterations = 60;
  return options;
}

/// One that swings as fast as the measured ones. Only ratios to the inertia can be told, so that its mass and centre
/// are taken as given; its other moments leave the one about the hinge all room.
Model pendulum(double angle) {
  return read("pendulum.urdf", {{"rod.ixx", 5e-4},
                                {"rod.izz", 5e-4},
                                {"rod.iyy", 4e-4},
                                {"theta.q", angle},
                                {"theta.viscous", 1e-5},
                                {"theta.dry", 1e-4},
                                {"theta.stribeck", 0},
                                {"theta.stribeck_speed", 0.3}});
}

void swing(Record& record, const std::string& file, const std::vector<std::string>& columns,
           const std::vector<Friction>& frictions, double step) {
  const Trajectory recording = table_of(file, columns);
  const double first = recording.at(0, 0);
  Table table("pendulum_" + file.substr(9, 5), {"friction", "replay RMSE in rad", "asked", "best possible",
                                                "held-out half", "iterations", "s", "fitted"});
  for (const Friction& friction : frictions) {
    Settings off;
    for (const char* name : {"theta.viscous", "theta.dry"}) {
      bool is_free = false;
      for (const auto& p : friction.free) is_free = is_free || p.name == name;
      if (!is_free) off[name] = 0;
    }
    const Model model = *pendulum(first).with(off);
    task::IdentifyOptions options = options_of(friction, step);
    const Result<task::IdentifyResult> whole = task::identify(model, {recording}, {}, options);
    options.validate_from = 0.5 * recording.times().back();
    const Result<task::IdentifyResult> half = task::identify(model, {recording}, {}, options);
    if (!whole) {
      record.missing(kResult, fmt::format("{}, {}: {}", file, friction.name, whole.failure().to_string()));
      continue;
    }
    const double rmse = whole->summary.checks[0].replay[0].rmse;
    if (!(rmse <= friction.most)) {
      record.missing(kResult, fmt::format("not reached: {}, {}: RMSE of the replay {:.3g} rad, asked for {:g}", file,
                                          friction.name, rmse, friction.most));
    }
    std::string fitted;
    for (const auto& q : whole->summary.quantities) fitted += fmt::format("{} {:.4g}  ", q.name, q.value);
    table.add(
        {friction.name, fmt::format("{:.3g}", rmse), fmt::format("{:g}", friction.most),
         fmt::format("{:g}", friction.best),
         half && half->summary.checks.size() > 1 ? fmt::format("{:.3g}", half->summary.checks[1].replay[0].rmse) : "−",
         std::to_string(whole->summary.iterations), fmt::format("{:.2f}", whole->summary.solve_s), fitted});
  }
  record.show(kResult, table);
}

}  // namespace

int main() {
  Record record("pendulum_records");
  const std::string single = "pendulum_single_1kHz.csv", small = "pendulum_small_2kHz.csv";
  if (shared_file("data/" + single).empty() || shared_file("data/" + small).empty()) {
    return record.skip("the measured data is not here", {});
  }
  const identify::FreeParameter viscous{"theta.viscous"}, dry{"theta.dry"}, quadratic{"theta.quadratic"},
      stribeck{"theta.stribeck"}, speed{"theta.stribeck_speed", 0.02, 20};
  const Friction full{"dry + quadratic + Stribeck", {viscous, dry, quadratic, stribeck, speed}, 0.004, 0.0026};
  swing(record, single, {"t", "-", "theta.q", "-"},
        {{"viscous", {viscous}, 0.035, 0.0279},
         {"dry", {viscous, dry}, 0.025, 0.0194},
         {"dry + quadratic", {viscous, dry, quadratic}, 0.010, 0.0076},
         full},
        0.01);
  swing(record, small, {"t", "theta.q"}, {{"viscous", {viscous}, 1, 2.07e-3}, {"dry", {viscous, dry}, 6e-4, 5.1e-4}},
        0.002);
}
