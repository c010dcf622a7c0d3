#pragma once

// Recordings of machines with known numbers, for the tests of identification.

#include <algorithm>
#include <functional>
#include <numbers>

#include "kinegraph/base/random.hpp"
#include "kinegraph/identify/machines_test.hpp"
#include "kinegraph/identify/solver.hpp"
#include "kinegraph/mechanics/maximal/conversion.hpp"
#include "kinegraph/model/planar_robot.hpp"

namespace kinegraph::identify {

inline Sensor sensor_of(SensorType type, const std::string& name, int coordinate) {
  Sensor sensor;
  sensor.name = name;
  sensor.type = type;
  sensor.coordinate = coordinate;
  SensorChannel channel;
  channel.name = name + (type == SensorType::encoder ? ".q" : ".v");
  channel.noise = 1e-3;
  sensor.channels = {channel};
  return sensor;
}

/// A robot with an encoder on every joint.
inline Model with_encoders(Model model) {
  for (int j = 0; j < static_cast<int>(model.robot.joints.size()); ++j) {
    model.sensors.push_back(sensor_of(SensorType::encoder, model.robot.joints[j].name + "_encoder", j));
  }
  return model;
}

/// A rod that swings about a horizontal hinge: 002's dry pendulum.
inline Model rod_in_space(double J, double start = 2) {
  Model model;
  model.file = "rod.urdf";
  model.robot.gravity = {0, 0, -9.82};
  Link link;
  link.name = "rod";
  link.has_inertia = true;
  link.inertia = {0.428, {0, 0, 0.092}, Vector3d(J, 0.006, 0.006).asDiagonal()};
  model.robot.links.push_back(link);
  Joint joint;
  joint.name = "hinge";
  joint.type = JointType::continuous;
  joint.child = LinkIndex(0);
  joint.axis = Vector3d::UnitX();
  joint.dynamics = {JointDynamics{}};
  joint.initial_q = {start};
  model.robot.joints.push_back(joint);
  model.robot.X_WL = {SE3()};
  return with_encoders(model);
}

struct SyntheticOptions {
  double duration = 10, h = 0.01;
  int fine = 20;  ///< steps of the simulation per step of the run
  double noise = 1e-3;
  unsigned seed = 1;
  maximal::Regularization regularization{1e-8, 1e-8, 0.02};
  std::function<double(double t, int freedom)> control;
  std::vector<double> fractions{0};  ///< of each step: where encoders are read
};

struct Synthetic {
  std::shared_ptr<const maximal::Mechanism> mechanism;
  Run run;
  std::vector<double> poses;  ///< the true ones, at knots
};

/// What encoders (of the first freedoms, in the order of the joints) of a robot read along its motion.
inline Synthetic record(const Model& model, const SyntheticOptions& options) {
  Synthetic out;
  out.mechanism = *maximal::Mechanism::make(*robot_of(model, PlanarForces::kept));
  const maximal::Mechanism& mechanism = *out.mechanism;
  const int bodies = static_cast<int>(mechanism.bodies().size()),
            freedoms = static_cast<int>(mechanism.freedoms().size());
  const screw::Tree& tree = mechanism.tree();
  Eigen::VectorXd q(mechanism.stored()), v(mechanism.tangent()), after(v), q_tree = tree.start_position();
  Eigen::VectorXd v_tree = Eigen::VectorXd::Zero(tree.freedoms());
  maximal::poses_of(mechanism, mechanism.numbers(), q_tree.data(), q.data());
  v.setZero();
  step::RegularizedStep stepper(out.mechanism, options.regularization);
  stepper.set_numbers(mechanism.numbers());
  std::vector<maximal::Grip> grip(freedoms, maximal::Grip::none);
  const double fine = options.h / options.fine;
  const int steps = static_cast<int>(std::lround(options.duration / options.h));
  Random random(options.seed);
  const auto store = [&] { out.poses.insert(out.poses.end(), q.data(), q.data() + q.size()); };
  store();  // knot −1: at rest
  store();
  for (int k = 0; k <= steps; ++k) {
    const double t = k * options.h;
    out.run.times.push_back(t);
    if (k == steps) break;
    step::StepInput mean(mechanism, options.h);
    for (int i = 0; i < options.fine; ++i) {
      for (const double fraction : options.fractions) {
        if (std::lround(fraction * options.fine) != i) continue;
        maximal::coordinates_of(mechanism, mechanism.numbers(), q.data(), q_tree.data());
        for (std::size_t s = 0; s < model.sensors.size(); ++s) {
          Reading reading;
          reading.knot = k, reading.fraction = fraction, reading.sensor = static_cast<int>(s);
          reading.t = t + fraction * options.h;
          reading.y.fill(std::numeric_limits<double>::quiet_NaN());
          reading.y[0] = q_tree[mechanism.freedoms()[s].position] + options.noise * random.normal();
          out.run.readings.push_back(reading);
        }
      }
      step::StepInput input(mechanism, fine);
      for (int f = 0; options.control && f < freedoms; ++f) {
        input.control[f] = options.control(t + (i + 0.5) * fine, f);
        mean.control[f] += input.control[f] / options.fine;
      }
      input.reference = q_tree.head(freedoms);
      if (i == 0) mean.reference = input.reference;
      if (!stepper.advance(q.data(), v.data(), input, grip.data(), after.data())) throw std::runtime_error("no step");
      v = after;
      after *= fine;
      maximal::retract(bodies, q.data(), after.data(), q.data());
    }
    out.run.input.push_back(mean);
    store();
  }
  return out;
}

inline Parameters free_parameters(const Model& model, const std::vector<FreeParameter>& free) {
  Result<Parameters> made = Parameters::make(model, free);
  if (!made) throw std::runtime_error(made.failure().to_string());
  return *made;
}

inline double value_of(const Parameters& parameters, const Eigen::VectorXd& x, const std::string& name) {
  for (const Quantity& quantity : parameters.quantities(x)) {
    if (quantity.name == name) return quantity.value;
  }
  throw std::runtime_error("no quantity " + name);
}

}  // namespace kinegraph::identify
