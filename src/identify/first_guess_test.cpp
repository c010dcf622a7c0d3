#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "kinegraph/identify/machines_test.hpp"
#include "kinegraph/identify/run.hpp"
#include "kinegraph/mechanics/maximal/conversion.hpp"
#include "kinegraph/model/planar_robot.hpp"

namespace kinegraph::identify::first_guess_test {
namespace {

using Eigen::VectorXd;

/// A recording, its first guess, and joint positions of that.
struct Guessed {
  std::shared_ptr<const maximal::Mechanism> mechanism;
  Recordings recordings;
  std::vector<double> poses;

  Guessed(const Model& model, const std::vector<std::string>& names, double sampling, double end,
          const std::function<double(int, double)>& value, const RunOptions& options = {}) {
    mechanism = *maximal::Mechanism::make(*robot_of(model, PlanarForces::kept));
    Trajectory table(names);
    for (int i = 0; i <= std::lround(end / sampling); ++i) {
      double* row = table.append(i * sampling);
      for (std::size_t s = 0; s < names.size(); ++s) row[s] = value(static_cast<int>(s), i * sampling);
    }
    Result<Recordings> runs = read_runs(model, *mechanism, {table}, options);
    if (!runs) throw std::runtime_error(runs.failure().to_string());
    recordings = *std::move(runs);
    Result<std::vector<double>> guess = first_guess(recordings.model, *mechanism, mechanism->numbers(), run(), options);
    if (!guess) throw std::runtime_error(guess.failure().to_string());
    poses = *std::move(guess);
  }
  const Run& run() const { return recordings.runs.at(0); }
  const double* pose(int knot) const { return poses.data() + mechanism->stored() * (knot + 1); }
  VectorXd joints(int knot) const {
    VectorXd q = mechanism->tree().start_position();
    coordinates_of(*mechanism, mechanism->numbers(), pose(knot), q.data());
    return q;
  }
};

double turned(double angle, double from) { return std::remainder(angle - from, 2 * std::numbers::pi); }

TEST(FirstGuess, EncodersOnAllJoints) {
  const auto truth = [](int s, double t) { return s == 0 ? std::sin(2 * t) : 3 + 0.5 * std::cos(3 * t) + 2 * t; };
  const Guessed guess(furuta(), {"shoulder.q", "elbow.q"}, 0.001, 40, truth);
  ASSERT_EQ(guess.run().knots(), 4001);
  ASSERT_EQ(guess.poses.size(), 4002u * 14);
  for (int k = -1; k <= 4000; k += 77) {
    const VectorXd q = guess.joints(k);
    const double tolerance = k < 30 || k > 3970 ? 2e-3 : 1e-4;  // the filter's ends
    EXPECT_NEAR(turned(q[0], truth(0, 0.01 * k)), 0, tolerance) << k;
    EXPECT_NEAR(turned(q[1], truth(1, 0.01 * k)), 0, tolerance) << k;
  }
}

TEST(FirstGuess, AnEncoderOnTheCrankClosesTheLoop) {
  const auto crank = [](double t) { return 1.57 + 4 * t + 0.3 * std::sin(5 * t); };
  const Guessed guess(four_bar(), {"theta.q"}, 0.002, 4, [&](int, double t) { return crank(t); });
  for (int k = -1; k < guess.run().knots(); ++k) {
    // the rocker's joint Q by the circles of coupler and rocker, in the branch that is drawn
    const double angle = crank(0.01 * k);
    const Vector2d P(std::cos(angle), std::sin(angle)), D(3, 0), along = D - P;
    const double d = along.norm(), x = (d * d + 2.8 * 2.8 - 2.0 * 2.0) / (2 * d), y = std::sqrt(2.8 * 2.8 - x * x);
    const Vector2d Q = P + x * along / d + y * Vector2d(-along.y(), along.x()) / d;
    std::vector<SE3> links(guess.mechanism->tree().robot().links.size());
    link_poses(*guess.mechanism, guess.mechanism->numbers(), guess.pose(k), links.data());
    const Vector2d by_coupler = (links[1] * Vector3d(2.8, 0, 0)).head<2>();
    const Vector2d by_rocker = (links[2] * Vector3d(2, 0, 0)).head<2>();
    EXPECT_LT((by_coupler - by_rocker).norm(), 1e-6) << k;
    EXPECT_LT((by_rocker - Q).norm(), k < 30 || k > 370 ? 0.02 : 5e-3) << k;
  }
}

TEST(FirstGuess, AGyroscopeIsIntegrated) {
  const auto rate = [](double t) { return 2 * std::cos(2 * t); };  // from θ = −1
  const Guessed guess(pendulum("gyroscope"), {"gyroscope.w"}, 0.005, 3, [&](int, double t) { return rate(t); });
  for (int k = 0; k < guess.run().knots(); k += 10) {
    EXPECT_NEAR(guess.joints(k)[0], -1 + std::sin(0.02 * k), 5e-3) << k;
  }
}

TEST(FirstGuess, WhatNoReadingTellsFollowsTheMachinesOwnMotion) {
  // The truth: the machine's own motion, with a torque on its arm.
  const Model model = furuta();
  const auto mechanism = *maximal::Mechanism::make(model.robot);
  const double h = 0.01;
  const int steps = 150;
  step::RegularizedStep stepper(mechanism, {});
  stepper.set_numbers(mechanism->numbers());
  VectorXd q_tree = mechanism->tree().start_position(), pose(mechanism->stored()), v = VectorXd::Zero(12), after = v;
  poses_of(*mechanism, mechanism->numbers(), q_tree.data(), pose.data());
  std::vector<VectorXd> truth{q_tree};
  std::vector<maximal::Grip> grips(2, maximal::Grip::none);
  const auto torque = [](double t) { return 0.05 * std::sin(8 * t); };
  for (int k = 0; k < steps; ++k) {
    step::StepInput input(*mechanism, h);
    input.torque[0] = torque(k * h);
    ASSERT_TRUE(stepper.advance(pose.data(), v.data(), input, grips.data(), after.data()));
    v = after;
    const VectorXd moved = h * v;
    maximal::retract(2, pose.data(), moved.data(), pose.data());
    coordinates_of(*mechanism, mechanism->numbers(), pose.data(), q_tree.data());
    truth.push_back(q_tree);
  }
  RunOptions options;
  options.smoothing = 0;
  const Guessed guess(
      model, {"shoulder.q", "shoulder.tau"}, h, steps * h,
      [&](int s, double t) { return s == 0 ? truth[std::lround(t / h)][0] : torque(t); }, options);
  double farthest = 0;
  for (int k = 0; k <= steps; ++k) {
    EXPECT_NEAR(turned(guess.joints(k)[0], truth[k][0]), 0, 1e-5) << k;
    farthest = std::max(farthest, std::abs(truth[k][1] - truth[0][1]));
    EXPECT_NEAR(turned(guess.joints(k)[1], truth[k][1]), 0, 0.02) << k;
  }
  EXPECT_GT(farthest, 0.1);  // it has moved
}

TEST(FirstGuess, ReferencesGoOnOverTurns) {
  const auto truth = [](int s, double t) { return s == 0 ? 0.1 : 3.0 + 6 * t; };
  Guessed guess(furuta(), {"shoulder.q", "elbow.q"}, 0.01, 3,
                [&](int s, double t) { return std::remainder(truth(s, t), 2 * std::numbers::pi); });
  identify::Run run = guess.run();
  set_references(*guess.mechanism, guess.mechanism->numbers(), guess.poses, run);
  EXPECT_NEAR(run.input[250].reference[1], truth(1, 2.5), 1e-3);
}

TEST(FirstGuess, AMechanismThatCannotBeClosedIsTold) {
  const Model model = *four_bar().with({{"coupler.length", 7}});
  try {
    const Guessed guess(model, {"theta.q"}, 0.01, 1, [](int, double) { return 1.5; });
    FAIL() << "accepted";
  } catch (const std::runtime_error& fault) {
    EXPECT_NE(std::string(fault.what()).find("cannot be assembled at the first readings: loop"), std::string::npos)
        << fault.what();
  }
}

}  // namespace
}  // namespace kinegraph::identify::first_guess_test
