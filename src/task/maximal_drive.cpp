#include "kinegraph/task/maximal_drive.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kinegraph/model/planar_robot.hpp"
#include "kinegraph/task/input.hpp"
#include "kinegraph/task/spatial_columns.hpp"
#include "kinegraph/task/spatial_drive.hpp"

namespace kinegraph::task {
namespace {

constexpr const char* kForce[] = {".fx", ".fy", ".fz"};
constexpr const char* kMoment[] = {".mx", ".my", ".mz"};

/// Loads on links become loads of the robot; what cannot act on a floating joint is refused.
Result<Robot> robot_with_loads(const Model& model, const Trajectory& input, double time) {
  Robot robot = model.robot;
  const auto tree = screw::Tree::make(robot);
  if (!tree) return tree.failure();
  if (const auto known = SpatialDrive::make(model, **tree, input, time); !known) return known.failure();
  const auto columns = find_spatial_columns(**tree, input);
  if (!columns) return columns.failure();
  Failure faults{Failure::Kind::bad_input, {}};
  for (const screw::Coordinate& c : (*tree)->coordinates()) {
    const int series = columns->tau[c.v];
    if (c.type != JointType::floating || series < 0) continue;
    faults.diagnostics.push_back(
        {Severity::error, header_of(input, series),
         fmt::format("'{}': nothing drives a floating joint in the maximal formulation; give loads on its link",
                     input.names()[series])});
  }
  if (!faults.diagnostics.empty()) return faults;
  for (const SpatialColumns::Load& load : columns->loads) {
    robot.loads.push_back({robot.links[load.link].name + ".load", {LinkIndex(load.link), Vector3d::Zero()}, {}, {}});
  }
  return robot;
}

}  // namespace

Result<Robot> driven_robot(const Model& model, const std::optional<Trajectory>& input, double time) {
  if (model.spatial()) {
    if (input) return robot_with_loads(model, *input, time);
    return model.robot;
  }
  if (input) {
    const auto known = with_input(model, *input, time);
    if (!known) return known.failure();
  }
  return robot_of(model, PlanarForces::kept);
}

MaximalDrive::MaximalDrive(const maximal::Mechanism& mechanism, const std::optional<Trajectory>& input) {
  const Robot& robot = mechanism.tree().robot();
  const auto series = [&](const std::string& name) { return input ? input->find(name) : -1; };
  const auto recorded = [&](const std::string& column, const Law& otherwise) {
    const int at = series(column);
    return at >= 0 ? MeanLaw(*input, at) : MeanLaw(otherwise);
  };
  const auto add = [&](int f, MeanLaw law) {
    const int velocity = mechanism.freedoms()[f].velocity;
    torques_.push_back({f, velocity, std::move(law)});
    if (std::find(driven_.begin(), driven_.end(), velocity) == driven_.end()) driven_.push_back(velocity);
  };
  motors_.assign(robot.torques.size(), MeanLaw(Law(0)));
  for (int f = 0; f < static_cast<int>(mechanism.freedoms().size()); ++f) {
    const maximal::Freedom& freedom = mechanism.freedoms()[f];
    const maximal::Joint& joint = mechanism.joints()[freedom.joint];
    const screw::Coordinate& c = mechanism.tree().coordinates()[joint.coordinate];
    const double gain = mechanism.numbers()[freedom.numbers + maximal::FreedomNumbers::gain];
    bool motorised = false;
    for (std::size_t i = 0; i < robot.torques.size(); ++i) {
      const JointTorque& motor = robot.torques[i];
      if (motor.joint.value != c.joint || freedom.index != 0) continue;
      const int control = series(motor.name + ".u");
      motors_[i] = control >= 0 ? MeanLaw(*input, control, gain) : recorded(motor.name + ".tau", motor.torque);
      add(f, motors_[i]);
      motorised = true;
    }
    if (freedom.drive >= 0) drives_.push_back({f, robot.drives[freedom.drive].law});
    if (motorised) continue;
    const int torque = series(mechanism.tree().torque_names()[freedom.velocity]);
    const int control = joint.freedoms == 1 ? series(c.name + ".u") : -1;
    if (torque >= 0) add(f, MeanLaw(*input, torque));
    if (control >= 0) add(f, MeanLaw(*input, control, gain));
  }
  for (const LinkLoad& load : robot.loads) {
    Load made;
    for (int k = 0; k < 3; ++k) made.wrench.push_back(recorded(load.name + kForce[k], load.force[k]));
    for (int k = 0; k < 3; ++k) {
      const bool planar_torque = k == 2 && series(load.name + ".tau") >= 0;
      made.wrench.push_back(recorded(load.name + (planar_torque ? ".tau" : kMoment[k]), load.torque[k]));
    }
    loads_.push_back(std::move(made));
  }
}

/// The velocity of a step is its mean: forces at t lead from the middle of the step before to the middle of this one.
void MaximalDrive::fill(double t, double h, step::StepInput& input) const {
  const double from = std::max(0.0, t - 0.5 * h), to = t + 0.5 * h;
  input.h = h;
  input.torque.setZero();
  for (const Torque& torque : torques_) input.torque[torque.freedom] += torque.law.mean(from, to);
  for (std::size_t i = 0; i < loads_.size(); ++i) {
    for (int k = 0; k < 3; ++k) {
      input.force[i][k] = loads_[i].wrench[k].mean(from, to);
      input.moment[i][k] = loads_[i].wrench[3 + k].mean(from, to);
    }
  }
  for (const Drive& drive : drives_) input.target[drive.freedom] = drive.law(t + h);
}

double MaximalDrive::torque(int velocity, double t) const {
  double sum = 0;
  for (const Torque& torque : torques_) {
    if (torque.velocity == velocity) sum += torque.law(t);
  }
  return sum;
}

}  // namespace kinegraph::task
