#include "kinegraph/identify/natural_kappa.hpp"

#include <gtest/gtest.h>

#include "kinegraph/identify/synthetic_test.hpp"

namespace kinegraph::identify::natural_kappa_test {
namespace {

Model scaled(Model model, double mass, double length) {
  for (Link& link : model.robot.links) {
    link.inertia.mass *= mass;
    link.inertia.com *= length;
    link.inertia.about_com *= mass * length * length;
  }
  for (Joint& joint : model.robot.joints) joint.X_PF = SE3(joint.X_PF.rotation(), length * joint.X_PF.position());
  return model;
}

/// Of the same shape in its own time: T² ∝ length.
SyntheticOptions swing(double mass, double length, double duration = 3) {
  SyntheticOptions options;
  options.h = 0.01 * std::sqrt(length);
  options.duration = duration * std::sqrt(length);
  options.regularization = {1e-8 * length / mass, 1e-8 / (mass * length), 0.02 * std::sqrt(length)};
  return options;
}

/// In units of the machine's own impulses, mass · √(length · g).
double scaled_kappa(double mass, double length, double start = 2) {
  const Synthetic made = record(scaled(rod_in_space(0.004, start), mass, length), swing(mass, length));
  const double own = natural_length(*made.mechanism);
  return natural_kappa(*made.mechanism, {made.run}, {made.poses}, 1e-3, own) * mass * mass * length;
}

/// A rod that is let swing finds its moment again, in steps and from a start that are scaled with it.
double moment_over_truth(double mass, double length) {
  const Model truth = scaled(rod_in_space(0.004), mass, length), start = scaled(rod_in_space(0.006), mass, length);
  const SyntheticOptions options = swing(mass, length);
  const Synthetic made = record(truth, options);
  FreeParameter moment;
  moment.name = "rod.ixx";
  Result<Parameters> parameters = Parameters::make(start, {moment});
  EXPECT_TRUE(parameters);
  Weights weights;
  weights.noise = {1e-3};
  weights.length = natural_length(parameters->mechanism());
  weights.kappa = natural_kappa(parameters->mechanism(), {made.run}, {made.poses}, 1e-3, weights.length) / 1e-6;
  Eigen::VectorXd x = parameters->start();
  std::vector<Problem> problems;
  problems.emplace_back(start, parameters->shared_mechanism(), made.run, options.regularization, weights);
  std::vector<std::vector<double>> poses = {made.poses};
  const Result<SolverReport> report = solve(*parameters, problems, x, poses, {});
  EXPECT_TRUE(report && report->converged);
  return parameters->quantities(x)[0].value / (0.004 * mass * length * length);
}

TEST(NaturalKappa, FollowsMassAndSize) {
  const double usual = scaled_kappa(1, 1);
  for (const double mass : {1e-3, 1e3}) EXPECT_NEAR(scaled_kappa(mass, 1), usual, 1e-6 * usual) << mass;
  for (const double length : {1e-3, 10.0, 1e3}) EXPECT_NEAR(scaled_kappa(1, length), usual, 1e-6 * usual) << length;
}

TEST(NaturalKappa, FollowsHowMuchTheMachineMoves) {
  const double much = scaled_kappa(1, 1, 2), little = scaled_kappa(1, 1, M_PI - 0.05);
  EXPECT_GT(little, 100 * much);
  EXPECT_TRUE(std::isfinite(scaled_kappa(1, 1, M_PI)));  // hangs
}

TEST(NaturalKappa, LargeAndSmallMachinesAreFittedAlike) {
  const double usual = moment_over_truth(1, 1);
  EXPECT_NEAR(usual, 1, 0.02);
  for (const double mass : {1e-3, 10.0, 1e3}) EXPECT_NEAR(moment_over_truth(mass, 1), usual, 1e-6) << mass;
  for (const double length : {1e-3, 10.0, 1e3}) EXPECT_NEAR(moment_over_truth(1, length), usual, 1e-6) << length;
}

TEST(NaturalKappa, IsFiniteWithoutGravityOrJoints) {
  Model model = rod_in_space(0.004);
  model.robot.gravity.setZero();
  const Synthetic made = record(model, swing(1, 1, 0.1));
  EXPECT_GT(natural_kappa(*made.mechanism, {made.run}, {made.poses}, 1e-3, 1), 0);
  model.robot.joints[0].type = JointType::fixed;
  if (const auto welded = maximal::Mechanism::make(model.robot)) {
    EXPECT_GT(natural_length(**welded), 0);
    EXPECT_GT(natural_kappa(**welded, {}, {}, 1e-3, 1), 0);
  }
}

/// What a motion takes up of the readings: all of them if it need not follow the model, its start if it must.
TEST(NaturalKappa, MotionsTakeUpReadings) {
  const Model model = rod_in_space(0.004);
  const SyntheticOptions options = swing(1, 1);
  const Synthetic made = record(model, options);
  const Parameters none = free_parameters(model, {});
  const auto taken = [&](double kappa) {
    Weights weights;
    weights.noise = {1e-3};
    weights.kappa = kappa;
    std::vector<Problem> problems;
    problems.emplace_back(model, made.mechanism, made.run, options.regularization, weights);
    Eigen::VectorXd x = none.start();
    std::vector<std::vector<double>> poses = {made.poses};
    SolverOptions wanted;
    wanted.measure = false, wanted.absorbed = true;
    const Result<SolverReport> report = solve(none, problems, x, poses, wanted);
    return report ? report->absorbed.sum() : -1;
  };
  const double readings = static_cast<double>(made.run.readings.size());
  EXPECT_NEAR(taken(1), readings, 0.02 * readings);
  EXPECT_NEAR(taken(1e14), 2, 2);  // an angle and a rate
  const double some = taken(1e8);
  EXPECT_GT(some, 4);
  EXPECT_LT(some, 0.5 * readings);
}

}  // namespace
}  // namespace kinegraph::identify::natural_kappa_test
