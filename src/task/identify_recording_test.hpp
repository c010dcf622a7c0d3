#pragma once

// Recordings of a pendulum that is pushed, for the tests of identify.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "kinegraph/base/random.hpp"
#include "kinegraph/identify/machines_test.hpp"
#include "kinegraph/mechanics/maximal/conversion.hpp"
#include "kinegraph/model/planar_robot.hpp"
#include "kinegraph/step/regularized_step.hpp"
#include "kinegraph/task/identify.hpp"

namespace kinegraph::task {

using Torque = std::function<double(double)>;

/// What an encoder of `theta` reads at 200 Hz, and the motor's torque, by steps of 0.5 ms.
inline Trajectory record(const Model& model, double time, double noise, const Torque& torque, unsigned seed = 1) {
  constexpr double kStep = 5e-4;
  const auto mechanism = *maximal::Mechanism::make(*robot_of(model, PlanarForces::kept));
  const screw::Tree& tree = mechanism->tree();
  const int bodies = static_cast<int>(mechanism->bodies().size());
  Eigen::VectorXd q(mechanism->stored()), v = Eigen::VectorXd::Zero(mechanism->tangent()), after(v),
                                          q_tree = tree.start_position();
  maximal::poses_of(*mechanism, mechanism->numbers(), q_tree.data(), q.data());
  step::RegularizedStep stepper(mechanism, {1e-8, 1e-8, 0});
  stepper.set_numbers(mechanism->numbers());
  step::StepInput input(*mechanism, kStep);
  std::vector<maximal::Grip> grips(mechanism->freedoms().size(), maximal::Grip::none);
  Random random(seed);
  Trajectory table({"encoder.q", "motor.tau"});
  table.file = "swing.csv";
  for (int i = 0; i * kStep <= time; ++i) {
    const double t = i * kStep;
    maximal::coordinates_of(*mechanism, mechanism->numbers(), q.data(), q_tree.data());
    if (i % 10 == 0) {
      double* row = table.append(t);
      row[0] = q_tree[0] + noise * random.normal();
      row[1] = torque(t);
    }
    input.torque[0] = torque(t);
    input.reference[0] = q_tree[0];
    EXPECT_TRUE(stepper.advance(q.data(), v.data(), input, grips.data(), after.data()));
    v = after;
    after *= kStep;
    maximal::retract(bodies, q.data(), after.data(), q.data());
  }
  return table;
}

inline double pushes(double t) { return 0.3 * std::sin(3 * t) + 0.2 * std::sin(7.3 * t); }
inline double nothing(double) { return 0; }

inline Model with(const Settings& settings) { return *identify::pendulum().with(settings); }

inline IdentifyOptions options_of(const std::vector<std::string>& free) {
  IdentifyOptions options;
  for (const std::string& name : free) options.free.emplace_back().name = name;
  return options;
}

inline const IdentifySummary::Quantity& found(const IdentifySummary& summary, const std::string& name) {
  for (const IdentifySummary::Quantity& q : summary.quantities) {
    if (q.name == name) return q;
  }
  throw std::runtime_error("no quantity " + name);
}

}  // namespace kinegraph::task
