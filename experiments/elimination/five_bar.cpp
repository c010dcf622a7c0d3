// (001, section VII): inverse, forward and hybrid dynamics of a five-bar by one graph with a planar factor. The paper
// prints no number; an independent computation beside the project does.
#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/clock.hpp"
#include "experiments/record.hpp"
#include "kinegraph/io/model_file.hpp"
#include "kinegraph/task/hybrid.hpp"
#include "kinegraph/task/spatial_inverse.hpp"

using namespace kinegraph;
using namespace kinegraph::experiments;

namespace {

constexpr const char* kResult = "001 Five-bar";
using Json = nlohmann::json;

/// One sample of all five joints: columns j1.q … of the given kinds.
Trajectory sample(const Json& state, const std::vector<std::pair<const char*, const char*>>& kinds) {
  std::vector<std::string> names;
  std::vector<double> values;
  for (int j = 0; j < 5; ++j) {
    for (const auto& [kind, key] : kinds) {
      names.push_back(fmt::format("j{}{}", j + 1, kind));
      values.push_back(state[key][j].get<double>());
    }
  }
  Trajectory motion(names);
  std::copy(values.begin(), values.end(), motion.append(0));
  return motion;
}

Model with_gravity(const Model& model, const Json& gravity) {
  Model there = model;
  for (int i = 0; i < 3; ++i) there.robot.gravity[i] = gravity[i].get<double>();
  return there;
}

void compare(Record& record, const std::string& quantity, const char* unit, double ours, double reference) {
  record.compare({kResult, quantity, unit, NAN, ours,
                  fmt::format("independent computation: {:.7f}, difference {:.1e}", reference, ours - reference)});
}

/// The motion of a motor over a turn of its crank: what the torques look like.
void picture(Record& record, const Model& model) {
  Trajectory motion({"left_motor.q", "right_motor.q"});
  for (int k = 0; k <= 400; ++k) {
    const double t = 5e-3 * k, angle = 0.25 * (1 - std::cos(M_PI * t));
    double* row = motion.append(t);
    row[0] = angle, row[1] = -0.5 * angle;
  }
  task::SpatialInverseOptions options;
  options.planar_loops = true;
  const auto found = bench::require(task::spatial_inverse(model, motion, options), "inverse");
  record.draw(kResult, "five_bar_torques",
              report::Plot{"Five-bar: torques of the two motors",
                           "t in s",
                           "torque in N m",
                           {curve("left", found.trajectory, "left_motor.tau"),
                            curve("right", found.trajectory, "right_motor.tau")}},
              "our own five-bar (models/five_bar.sdf), both motors there and back");
}

}  // namespace

int main() {
  Record record("five_bar");
  picture(record, bench::require(read_model(KINEGRAPH_SOURCE_DIR "/models/five_bar.sdf"), "model"));
  const std::string sdf = shared_file("models/synthetic/five_bar.sdf");
  const std::string golden = shared_file("models/synthetic/golden_five_bar.json");
  if (sdf.empty() || golden.empty()) return record.skip("the reference five-bar is not here", {"001 Five-bar"});
  const Model model = bench::require(read_model(sdf), "model");
  std::ifstream file(golden);
  const Json all = Json::parse(file);
  int number = 0;
  for (const Json& state : all["id"]) {
    task::SpatialInverseOptions options;
    options.actuators = {"j1", "j5"};
    options.planar_loops = true;
    const auto found =
        bench::require(task::spatial_inverse(with_gravity(model, state["gravity"]),
                                             sample(state, {{".q", "q"}, {".v", "qd"}, {".a", "qdd"}}), options),
                       "inverse");
    ++number;
    for (const auto& [joint, key] : {std::pair("j1", "tau1"), std::pair("j5", "tau5")}) {
      const Trajectory& t = found.trajectory;
      compare(record, fmt::format("inverse, state {}: torque of {}", number, joint), "N m",
              t.at(0, t.find(std::string(joint) + ".tau")), state[key].get<double>());
    }
  }
  number = 0;
  for (Json state : all["fd"]) {
    state["tau"] = {state["tau1"], 0.0, 0.0, 0.0, state["tau5"]};
    task::HybridOptions options;
    options.planar_loops = true;
    const auto found =
        bench::require(task::hybrid(with_gravity(model, state["gravity"]),
                                    sample(state, {{".q", "q"}, {".v", "qd"}, {".tau", "tau"}}), options),
                       "forward");
    const Trajectory& t = found.trajectory;
    compare(record, fmt::format("forward, state {}: acceleration of j1", ++number), "rad/s²", t.at(0, t.find("j1.a")),
            state["qdd"][0].get<double>());
  }
}
