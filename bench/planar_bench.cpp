// Speed on the mechanisms of paper 000, on one thread, beside what the paper and its authors' program take. Times are
// the processor's, the best of several runs. With --strict the exit
// status is 1 if a target is missed.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bench/measure.hpp"
#include "bench/table.hpp"
#include "kinegraph/io/csv.hpp"
#include "kinegraph/io/model_file.hpp"
#include "kinegraph/task/inverse.hpp"
#include "test/shared.hpp"

namespace kinegraph::bench {
namespace {

int runs() { return quick() ? 3 : 9; }
constexpr double kNone = 0;

/// The four-bar of paper 000 in natural coordinates alone; models/fourbar.yaml has the crank angle besides.
constexpr const char* kFourbar = R"(
name: four-bar
points:
  - {name: A, x: 0, y: 0, fixed: true}
  - {name: P1, x: 1, y: 0}
  - {name: P2, x: 1, y: 2}
  - {name: D, x: 4, y: 0, fixed: true}
planar_bodies:
  - {name: crank, points: [A, P1], mass: 1}
  - {name: coupler, points: [P1, P2], mass: 2}
  - {name: rocker, points: [P2, D], mass: 4}
)";

std::filesystem::path source(const std::string& relative) {
  return std::filesystem::path(KINEGRAPH_SOURCE_DIR) / relative;
}

/// Times in one unit throughout: µs per step, or ms for a whole motion.
struct Line {
  std::string name;
  double target, ours;
  double paper, authors;  // kNone: not known
  std::string remark;
};

class Table {
 public:
  explicit Table(const std::string& title, const std::string& remark) {
    section(title);
    table_.emplace(std::vector<std::string>{"                                              ", "target", "    ours",
                                            "  paper", "authors", "paper/ours", remark, "    "});
  }
  void add(const Line& line) {
    const bool fine = line.target == kNone || line.ours <= line.target;
    table_->row({line.name, cell(line.target), cell(line.ours), cell(line.paper, 5), cell(line.authors, 5),
                 line.paper == kNone ? "-" : fmt::format("{:.0f}", line.paper / line.ours), line.remark,
                 line.target == kNone ? ""
                 : fine               ? "pass"
                                      : "FAIL"});
    missed_ += !fine;
  }
  int missed() const { return missed_; }

 private:
  std::optional<MarkdownTable> table_;
  int missed_ = 0;
};

struct Case {
  std::string name;
  bool angle;  // with the crank angle as a coordinate
  std::string formulation, method, integrator;
  int window;
  double target, paper, authors;
};

// Times of the paper (i7-8700) and of the authors' program on a machine like the one the targets were set on.
const std::vector<Case> kCases = {
    {"trapezoidal, window 2", false, "natural", "smoother", "trapezoidal", 2, 6, 1400, 2500},
    {"trapezoidal, window 10", false, "natural", "smoother", "trapezoidal", 10, 20, 3200, 5100},
    {"trapezoidal, crank angle, window 2", true, "natural", "smoother", "trapezoidal", 2, kNone, kNone, kNone},
    {"trapezoidal, independent, window 2", true, "independent", "smoother", "trapezoidal", 2, 8, 2800, 5700},
    {"trapezoidal, independent, window 10", true, "independent", "smoother", "trapezoidal", 10, kNone, 7200, 14500},
    {"Hermite-Simpson, window 2", false, "natural", "smoother", "hermite-simpson", 2, 8, kNone, kNone},
    {"Hermite-Simpson, window 10", false, "natural", "smoother", "hermite-simpson", 10, 30, kNone, kNone},
    {"Hermite-Simpson, independent, window 2", true, "independent", "smoother", "hermite-simpson", 2, kNone, kNone,
     kNone},
    {"trapezoidal, batch", false, "natural", "batch", "trapezoidal", 2, kNone, kNone, kNone},
    {"Hermite-Simpson, batch", false, "natural", "batch", "hermite-simpson", 2, kNone, kNone, kNone},
    {"step by step, RK4", false, "natural", "step", "rk4", 2, 1.2, kNone, 3.4},
};

int simulate_all() {
  const Model natural = require(parse_planar_yaml(kFourbar, "four-bar"), "four-bar");
  const Model with_angle = require(read_model(source("models/fourbar.yaml")), "models/fourbar.yaml");
  Table table("simulate: four-bar, 5 s at 1 ms, µs per step", "iterations, energy drift");
  for (const Case& c : kCases) {
    task::SimulateOptions options;
    options.formulation = c.formulation;
    options.method = c.method;
    options.integrator = c.integrator;
    options.window = c.window;
    const Cost cost = best_of(runs(), c.angle ? with_angle : natural, options);
    table.add({c.name, c.target, cost.step_us, c.paper, c.authors,
               fmt::format("{:.2f}, {:.1e}", cost.summary.iterations_mean, cost.summary.energy_drift)});
  }
  return table.missed();
}

double inverse_ms(const Model& model, const Trajectory& motion) {
  double best = 1e300;
  for (int i = 0; i < runs(); ++i) {
    const double begin = cpu_seconds();
    require(task::inverse(model, motion, {}), "inverse");
    best = std::min(best, 1e3 * (cpu_seconds() - begin));
  }
  return best;
}

Trajectory crank_motion() {  // θ = 1.2 (1 − cos 2t)
  Trajectory motion({"theta.q"});
  for (int k = 0; k < 2000; ++k) *motion.append(5e-3 * k) = 1.2 * (1 - std::cos(1e-2 * k));
  return motion;
}

int inverse_all() {
  Table table("inverse: whole motion, ms", "");
  const Model fourbar = require(read_model(source("models/fourbar.yaml")), "models/fourbar.yaml");
  table.add({"four-bar, 2000 points", 20, inverse_ms(fourbar, crank_motion()), 5300, 2000, ""});
  const Model robot = require(read_model(source("models/pick_and_place.yaml")), "models/pick_and_place.yaml");
  const Trajectory path = require(read_csv(source("models/pick_and_place_path.csv").string()), "path");
  table.add({"pick-and-place, path of the tool, 1000 points", 60, inverse_ms(robot, path), kNone, kNone, ""});

  const auto robot_file = shared("models/planar/pick-and-place-robot.yaml");
  const auto angles = shared("data/pick_and_place_inverse_motion.txt");
  if (robot_file && angles) {
    const Model papers = require(read_model(*robot_file), "pick-and-place-robot.yaml");
    CsvOptions columns;
    columns.columns = {"t", papers.relative[0].name + ".q", papers.relative[1].name + ".q"};
    const Trajectory motion = require(read_csv(angles->string(), columns), "pick_and_place_inverse_motion.txt");
    table.add({"the paper's robot, its motion, 1000 points", 60, inverse_ms(papers, motion), 15900, 4500, ""});
  }
  return table.missed();
}

}  // namespace
}  // namespace kinegraph::bench

int main(int argc, char** argv) {
  using namespace kinegraph::bench;
  const bool strict = argc > 1 && std::string(argv[1]) == "--strict";
  const int missed = simulate_all() + inverse_all();
  return strict && missed > 0 ? 1 : 0;
}
