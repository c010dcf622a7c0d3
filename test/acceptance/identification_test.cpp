// identify on machines from files: what was simulated is found again.
#include <gtest/gtest.h>

#include <cmath>

#include "experiments/maximal_recording.hpp"
#include "kinegraph/task/identify.hpp"

namespace kinegraph::acceptance {
namespace {

using experiments::furuta;
using experiments::read;
using experiments::record;
using experiments::RecordingPlan;

double value(const task::IdentifySummary& found, const std::string& name) {
  for (const auto& q : found.quantities) {
    if (q.name == name) return q.value;
  }
  return NAN;
}

/// (002, section 4.7), for joints of any stiffness. pendulum.iyy cannot start at the paper's 0.01: beside the other
/// moments of that link, which count, it must lie between 0.0039 and 0.0041.
TEST(Identification, InertiasOfAFurutaPendulumWhateverTheStiffness) {
  RecordingPlan plan;
  plan.time = 20;
  plan.joints = {"theta1", "theta2"};
  const Trajectory recording = record(furuta(M_PI - 0.03), plan);
  // arm.ixx and arm.iyy do not matter; they start where the moment that does may be 0.01
  const Model guess =
      furuta(M_PI - 0.03, {{"arm.ixx", 0.01}, {"arm.iyy", 0.01}, {"arm.izz", 0.01}, {"theta1.viscous", 1e-4}});
  for (const double compliance : {1e-5, 1e-10}) {
    task::IdentifyOptions options;
    options.free = {{"arm.izz"}, {"pendulum.iyy"}, {"theta1.viscous"}, {"theta2.viscous"}};
    options.step = 0.01;
    options.compliance = compliance;
    options.keep = false;
    const auto result = task::identify(guess, {recording}, {}, options);
    ASSERT_TRUE(result) << result.failure().to_string();
    EXPECT_TRUE(result->summary.converged);
    EXPECT_LE(result->summary.iterations, 10);
    EXPECT_NEAR(value(result->summary, "arm.izz"), 0.003, 0.05 * 0.003) << compliance;
    EXPECT_NEAR(value(result->summary, "pendulum.iyy"), 0.004, 0.01 * 0.004) << compliance;
  }
}

/// A loop of which only the crank is measured.
TEST(Identification, FrictionAndInertiasOfAFourBar) {
  RecordingPlan plan;
  plan.time = 10;
  plan.joints = {"theta"};
  plan.driven = "theta";
  plan.control = [](double t, const auto&, const auto&) {
    return 6 * std::sin(1.1 * t) + 5 * std::sin(2.7 * t + 1) + 3 * std::cos(5.3 * t);
  };
  plan.control_every = plan.every = 10;
  plan.regularization = {.compliance = 1e-9, .angular_compliance = 1e-9};
  const Model machine = read("fourbar_friction.yaml", {});
  const Trajectory recording = record(machine, plan);
  const auto guess = machine.with({{"D.dry", 0.5}, {"crank.I0", 0.5}, {"coupler.I0", 4}, {"rocker.I0", 25}});
  ASSERT_TRUE(guess);
  task::IdentifyOptions options;
  options.free = {{"D.dry"}, {"crank.I0"}, {"coupler.I0"}, {"rocker.I0"}};
  options.step = 0.002;
  options.keep = false;
  const auto result = task::identify(*guess, {recording}, {}, options);
  ASSERT_TRUE(result) << result.failure().to_string();
  EXPECT_NEAR(value(result->summary, "D.dry"), 2, 0.05 * 2);
  EXPECT_NEAR(value(result->summary, "crank.I0"), 1.0 / 3, 0.02 / 3);
  EXPECT_NEAR(value(result->summary, "coupler.I0"), 8.0 / 3, 0.02 * 8 / 3);
  EXPECT_NEAR(value(result->summary, "rocker.I0"), 4.0 / 3 * 13, 0.02 * 4 / 3 * 13);
}

}  // namespace
}  // namespace kinegraph::acceptance
