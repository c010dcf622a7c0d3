#include "experiments/maximal_recording.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "kinegraph/base/random.hpp"
#include "kinegraph/io/model_file.hpp"
#include "kinegraph/mechanics/maximal/conversion.hpp"
#include "kinegraph/step/regularized_step.hpp"
#include "kinegraph/task/maximal_simulate.hpp"

namespace kinegraph::experiments {
namespace {

template <class T>
T or_exit(Result<T> result) {
  if (result) return *std::move(result);
  fmt::print(stderr, "{}\n", result.failure().to_string());
  std::exit(result.failure().exit_status());
}

}  // namespace

Model read(const std::string& file, const Settings& settings) {
  const Model model = or_exit(read_model(std::string(KINEGRAPH_SOURCE_DIR "/models/") + file));
  return or_exit(model.with(settings));
}

Model furuta(double theta2, Settings settings) {
  settings["gravity"] = 9.82;
  settings["theta2.q"] = theta2;
  return read("furuta.urdf", settings);
}

Trajectory record(const Model& model, const RecordingPlan& plan) {
  const task::MaximalStart start = or_exit(task::make_maximal_start(model, {}));
  const auto& mechanism = start.mechanism;
  const screw::Tree& tree = mechanism->tree();
  step::RegularizedStep stepper(mechanism, plan.regularization);
  step::StepInput input(*mechanism, plan.step);
  std::vector<int> at;
  for (const std::string& name : plan.joints) at.push_back(tree.find_coordinate(name));
  std::vector<std::string> names;
  for (const std::string& name : plan.joints) names.push_back(name + ".q");
  if (!plan.driven.empty()) names.push_back(plan.driven + ".u");
  int driven = -1;
  for (std::size_t f = 0; f < mechanism->freedoms().size(); ++f) {
    if (mechanism->joints()[mechanism->freedoms()[f].joint].name == plan.driven) driven = static_cast<int>(f);
  }

  Eigen::VectorXd q_tree = start.q_tree, v_tree = start.v_tree, q(mechanism->stored()), v(mechanism->tangent()),
                  after = v;
  maximal::poses_of(*mechanism, mechanism->numbers(), q_tree.data(), q.data());
  maximal::velocities_of(*mechanism, mechanism->numbers(), q_tree.data(), v_tree.data(), v.data());
  std::vector<maximal::Grip> grip(mechanism->freedoms().size(), maximal::Grip::none);
  const int bodies = static_cast<int>(mechanism->bodies().size());
  Random random(plan.seed);
  Trajectory table(names);
  const long steps = std::lround(plan.time / plan.step);
  std::vector<double> positions(at.size()), rates(at.size());
  for (long k = 0; k <= steps; ++k) {
    const bool reads = k % plan.every == 0, controls = plan.control && k % plan.control_every == 0;
    if (reads || controls) {
      maximal::coordinates_of(*mechanism, mechanism->numbers(), q.data(), q_tree.data());
      maximal::rates_of(*mechanism, mechanism->numbers(), q.data(), v.data(), v_tree.data());
      for (std::size_t i = 0; i < at.size(); ++i) {
        positions[i] = q_tree[tree.coordinates()[at[i]].q];
        rates[i] = v_tree[tree.coordinates()[at[i]].v];
      }
      if (controls && driven >= 0)
        input.control[driven] = plan.control(static_cast<double>(k) * plan.step, positions, rates);
    }
    if (reads) {
      double* row = table.append(static_cast<double>(k) * plan.step);
      for (std::size_t i = 0; i < at.size(); ++i) row[i] = positions[i] + plan.noise * random.normal();
      if (driven >= 0) row[at.size()] = input.control[driven];
    }
    if (!stepper.advance(q.data(), v.data(), input, grip.data(), after.data())) {
      fmt::print(stderr, "no step at {} s\n", static_cast<double>(k) * plan.step);
      std::exit(1);
    }
    v = k == 0 ? Eigen::VectorXd(0.5 * (v + after)) : after;  // velocities are means over steps
    const Eigen::VectorXd move = plan.step * v;
    maximal::retract(bodies, q.data(), move.data(), q.data());
  }
  return table;
}

}  // namespace kinegraph::experiments
