#include "kinegraph/identify/natural_kappa.hpp"

#include <gtest/gtest.h>

#include "kinegraph/identify/synthetic_test.hpp"

namespace kinegraph::identify {
namespace {

double kappa_of(const Model& model) { return natural_kappa(**maximal::Mechanism::make(model.robot)); }

Model scaled(Model model, double mass, double length) {
  for (Link& link : model.robot.links) {
    link.inertia.mass *= mass;
    link.inertia.com *= length;
    link.inertia.about_com *= mass * length * length;
  }
  for (Joint& joint : model.robot.joints) joint.X_PF = SE3(joint.X_PF.rotation(), length * joint.X_PF.position());
  return model;
}

/// A rod that is let swing finds its moment again, in steps and from a start that are scaled with it.
double moment_over_truth(double mass, double length) {
  const Model truth = scaled(rod_in_space(0.004), mass, length), start = scaled(rod_in_space(0.006), mass, length);
  SyntheticOptions options;
  options.h = 0.01 * std::sqrt(length);  // of the same shape in its own time
  options.duration = 3 * std::sqrt(length);
  options.regularization = {1e-8 / mass, 1e-8 / (mass * length), 0.02 * std::sqrt(length)};
  const Synthetic made = record(truth, options);
  FreeParameter moment;
  moment.name = "rod.ixx";
  Result<Parameters> parameters = Parameters::make(start, {moment});
  EXPECT_TRUE(parameters);
  Weights weights;
  weights.noise = {1e-3};
  weights.kappa = natural_kappa(parameters->mechanism()) / 1e-6;
  Eigen::VectorXd x = parameters->start();
  std::vector<Problem> problems;
  problems.emplace_back(start, parameters->shared_mechanism(), made.run, options.regularization, weights);
  std::vector<std::vector<double>> poses = {made.poses};
  const Result<SolverReport> report = solve(*parameters, problems, x, poses, {});
  EXPECT_TRUE(report && report->converged);
  return parameters->quantities(x)[0].value / (0.004 * mass * length * length);
}

TEST(NaturalKappa, FollowsMassAndSize) {
  const double usual = kappa_of(rod_in_space(0.004));
  EXPECT_NEAR(kappa_of(scaled(rod_in_space(0.004), 1e3, 1)), 1e-6 * usual, 1e-9 * usual);
  EXPECT_NEAR(kappa_of(scaled(rod_in_space(0.004), 1e-3, 1)), 1e6 * usual, 1e3 * usual);
  // T² ∝ length and P² ∝ length² where masses move on circles, length⁴ where they only turn
  const double small = kappa_of(scaled(rod_in_space(0.004), 1, 1e-3)) / usual;
  EXPECT_GT(small, 0.9e3);
  EXPECT_LT(small, 1.1e9);
}

TEST(NaturalKappa, HeavyAndLightMachinesAreFittedAlike) {
  const double usual = moment_over_truth(1, 1);
  EXPECT_NEAR(usual, 1, 0.05);
  for (const double mass : {1e-3, 1e3}) EXPECT_NEAR(moment_over_truth(mass, 1), usual, 1e-6);
}

/// Not to the last digit as with masses: impulses in N s and in N m s count alike, whatever the machine's length. What
/// is asked of a moment at this step (5 %) holds at any size.
TEST(NaturalKappa, LongAndShortMachinesAreFitted) {
  for (const double length : {1e-3, 1e3}) {
    EXPECT_NEAR(moment_over_truth(1, length), 1, 0.05) << length;
    EXPECT_NEAR(moment_over_truth(1e-3, length), moment_over_truth(1e3, length), 1e-6) << length;
  }
}

TEST(NaturalKappa, IsFiniteWithoutGravityOrJoints) {
  Model model = rod_in_space(0.004);
  model.robot.gravity.setZero();
  EXPECT_GT(kappa_of(model), 0);
  model.robot.joints[0].type = JointType::fixed;
  if (const auto welded = maximal::Mechanism::make(model.robot)) {
    EXPECT_GT(natural_kappa(**welded), 0);
  }
}

}  // namespace
}  // namespace kinegraph::identify
