#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "kinegraph/identify/expected_reading.hpp"
#include "kinegraph/identify/machines_test.hpp"
#include "kinegraph/identify/prediction.hpp"
#include "kinegraph/mechanics/maximal/conversion.hpp"
#include "kinegraph/model/planar_robot.hpp"

namespace kinegraph::identify::closed_prediction_test {
namespace {

using Eigen::VectorXd;

constexpr double kStepOfLoop = 0.01;

/// Torque of a digital PD controller that holds the pendulum at an angle which moves about the upright one.
ControlLaw balance(int ticks_per_step) {
  constexpr double kStiffness = 3, kDamping = 0.3;
  const double rate = kDamping * ticks_per_step / kStepOfLoop;
  ControlLaw law;
  law.command = "motor.tau";
  law.terms = {{"encoder.q", "wanted"}};
  law.gains = Eigen::Vector4d(-kStiffness - rate, rate, 0, 0);
  return law;
}

/// A pendulum that is held upright, step by step as predictions go. Without the controller its errors grow as e^(5
/// t/s).
struct Balanced {
  std::shared_ptr<const maximal::Mechanism> mechanism;
  MachinePoint machine;
  ControlLaw law;
  Run run;
  std::vector<double> poses;

  /// `other`: N m, of a second motor whose torque goes to and fro.
  Balanced(int steps, int ticks_per_step, double other = 0) : law(balance(ticks_per_step)) {
    const Model model = *pendulum().with({{"theta.q", 1.5}});
    const Robot robot = *robot_of(model, PlanarForces::kept);
    mechanism = *maximal::Mechanism::make(robot);
    machine.model = model;
    machine.numbers = *mechanism->numbers(robot);
    machine.sensors = model.sensors;
    step::RegularizedStep stepper(mechanism, kSoftness);
    stepper.set_numbers(machine.numbers);
    ExpectedReading expected(machine, mechanism);
    VectorXd q(mechanism->stored()), v = VectorXd::Zero(mechanism->tangent()), after(v);
    VectorXd q_tree = mechanism->tree().start_position();
    maximal::poses_of(*mechanism, machine.numbers, q_tree.data(), q.data());
    std::vector<maximal::Grip> grips(mechanism->freedoms().size(), maximal::Grip::none);
    ControlRecord& record = run.control.emplace_back();
    record.terms.resize(1);
    poses.assign(q.data(), q.data() + q.size());
    for (int k = 0; k <= steps; ++k) {
      poses.insert(poses.end(), q.data(), q.data() + q.size());
      run.times.push_back(kStepOfLoop * k);
      if (k == steps) break;
      tick(record, k * kStepOfLoop, expected.read(q.data(), v.data(), v.data(), kStepOfLoop, 0, 0)[0]);
      step::StepInput& input = run.input.emplace_back(*mechanism, kStepOfLoop);
      const std::size_t last = record.u.size() - 1;
      input.torque[0] = 0.5 * (record.u[last] + record.u[last > 0 ? last - 1 : 0]);  // from the middle to the middle
      record.rest.push_back(other * std::sin(3 * k * kStepOfLoop));
      input.torque[0] += record.rest.back();
      input.reference[0] = q_tree[0];
      EXPECT_TRUE(stepper.advance(q.data(), v.data(), input, grips.data(), after.data()));
      Reading reading;
      reading.knot = k;
      reading.t = k * kStepOfLoop;
      reading.y.fill(std::nan(""));
      reading.y[0] = record.terms[0].y.back();
      run.readings.push_back(reading);
      if (ticks_per_step == 2) {
        tick(record, (k + 0.5) * kStepOfLoop, expected.read(q.data(), v.data(), after.data(), kStepOfLoop, 0.5, 0)[0]);
      }
      v = after;
      after *= kStepOfLoop;
      maximal::retract(static_cast<int>(mechanism->bodies().size()), q.data(), after.data(), q.data());
    }
  }

  static constexpr maximal::Regularization kSoftness{1e-8, 1e-8, 0.02};

  void tick(ControlRecord& record, double t, double y) const {
    const double wanted = std::numbers::pi / 2 + 0.2 * std::sin(2 * t);
    const double before = record.t.empty() ? y - wanted : record.terms[0].y.back() - record.terms[0].target.back();
    record.t.push_back(t);
    record.u.push_back(law.gains[0] * (y - wanted) + law.gains[1] * before);
    record.added.push_back(0);
    record.terms[0].y.push_back(y), record.terms[0].target.push_back(wanted);
  }

  /// What was commanded from a time on is not known any more.
  Balanced& forget_commands(double from) {
    for (std::size_t k = 0; k < run.input.size(); ++k) {
      if (run.times[k] > from - 1e-9) run.input[k].torque[0] = 1e3;
    }
    ControlRecord& record = run.control[0];
    for (std::size_t i = 0; i < record.t.size(); ++i) {
      if (record.t[i] > from + 1e-9) record.u[i] = 1e3, record.terms[0].y[i] = 1e3;
    }
    return *this;
  }
};

TEST(ClosedPrediction, AMachineAndItsControllerAreReplayedWithoutTheCommands) {
  for (const int ticks : {1, 2}) {
    Balanced balanced(500, ticks);
    balanced.forget_commands(0);
    const PredictionOptions options{Balanced::kSoftness, 1, {balanced.law}};
    const Replay replay =
        Predictor(balanced.machine, balanced.mechanism, balanced.run, balanced.poses, options).replay();
    ASSERT_TRUE(replay.complete);
    ASSERT_EQ(replay.channels.size(), 1u);
    EXPECT_LT(replay.channels[0].rmse, 1e-8) << ticks;
    EXPECT_GT(replay.channels[0].r_squared, 1 - 1e-12);
  }
}

TEST(ClosedPrediction, PredictionsStartFromWhatWasCommanded) {
  const Balanced balanced(300, 1);
  const PredictionOptions options{Balanced::kSoftness, 1, {balanced.law}};
  Predictor predictor(balanced.machine, balanced.mechanism, balanced.run, balanced.poses, options);
  const auto far = predictor.ahead(0.5);
  ASSERT_EQ(far.size(), 1u);
  EXPECT_EQ(far[0].count, 300 - 50);
  EXPECT_LT(far[0].rmse, 1e-8);
}

/// A second motor on the joint that the controller's motor drives.
TEST(ClosedPrediction, WhatElseDrivesTheJointGoesOn) {
  const auto error = [](bool told) {
    Balanced balanced(300, 1, 0.5);
    EXPECT_EQ(balanced.run.control[0].rest.size(), balanced.run.input.size());
    if (!told) balanced.run.control[0].rest.clear();
    balanced.forget_commands(0);
    return Predictor(balanced.machine, balanced.mechanism, balanced.run, balanced.poses,
                     {Balanced::kSoftness, 1, {balanced.law}})
        .replay()
        .channels[0]
        .rmse;
  };
  EXPECT_LT(error(true), 1e-8);
  EXPECT_GT(error(false), 0.05);
}

/// A wrong start: the controller takes it back, with the commands as recorded it grows.
TEST(ClosedPrediction, AControllerKeepsErrorsSmall) {
  Balanced balanced(300, 1);
  Balanced pushed = balanced;
  const int stored = balanced.mechanism->stored();
  VectorXd turn = VectorXd::Zero(balanced.mechanism->tangent());
  turn[2] = 1e-3;  // about z, of the pose before the first: a rate of −0.1 rad/s too much
  maximal::retract(1, balanced.poses.data(), turn.data(), pushed.poses.data());
  ASSERT_EQ(turn.size(), 6);
  ASSERT_EQ(static_cast<int>(pushed.poses.size()), 302 * stored);
  const auto error = [&](const std::vector<ControlLaw>& laws) {
    return Predictor(pushed.machine, pushed.mechanism, pushed.run, pushed.poses, {Balanced::kSoftness, 1, laws})
        .replay()
        .channels[0]
        .rmse;
  };
  EXPECT_LT(error({balanced.law}), 0.01);
  EXPECT_GT(error({}), 0.5);
}

}  // namespace
}  // namespace kinegraph::identify::closed_prediction_test
