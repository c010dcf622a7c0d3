// identify on machines from files: what was simulated is found again.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "experiments/maximal_recording.hpp"
#include "kinegraph/task/identify.hpp"

namespace kinegraph::acceptance::identification_test {
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

/// (002, section 4.7), for joints of any stiffness. pendulum.iyy starts at the paper's 0.01: beside the other moments
/// of that link, which count, it must lie between 0.0039 and 0.0041, and the search begins at the end of that.
TEST(Identification, InertiasOfAFurutaPendulumWhateverTheStiffness) {
  RecordingPlan plan;
  plan.time = 20;
  plan.joints = {"theta1", "theta2"};
  const Trajectory recording = record(furuta(M_PI - 0.03), plan);
  // arm.ixx and arm.iyy do not matter; they start where the moment that does may be 0.01
  const Model guess = furuta(
      M_PI - 0.03,
      {{"arm.ixx", 0.01}, {"arm.iyy", 0.01}, {"arm.izz", 0.01}, {"pendulum.iyy", 0.01}, {"theta1.viscous", 1e-4}});
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

/// A rotary pendulum that state feedback keeps upright while it is shaken: unstable, errors grow as e^(13 t/s).
/// Encoders and commands at 500 Hz.
Trajectory balanced(unsigned long seed) {
  RecordingPlan plan;
  plan.time = 8;
  plan.step = 2e-4;
  plan.every = plan.control_every = 10;
  plan.joints = {"theta", "alpha"};
  plan.driven = "theta";
  plan.noise = 0.9e-3;
  plan.seed = seed;
  plan.regularization = {.compliance = 1e-8, .angular_compliance = 1e-8};
  const double phase = static_cast<double>(seed);
  plan.control = [phase](double t, const std::vector<double>& q, const std::vector<double>& v) {
    const double wanted = 0.3 * std::sin(0.9 * t + phase);
    const double shake =
        std::copysign(1.6, std::sin(13 * t + phase)) + std::copysign(0.8, std::sin(31 * t + 2 * phase));
    return 1.414 * (q[0] - wanted) + 31.24 * q[1] + 0.81 * v[0] + 2.617 * v[1] + shake;  // optimal gains
  };
  return record(read("rotary_pendulum.urdf", {{"theta.dry", 5e-4}}), plan);
}

/// Fitted to one recording, R² of theta and alpha of another, 0.2 s ahead of what was read before.
std::vector<double> foretold(const Trajectory& fitted, const Trajectory& other) {
  const Model guess = read(
      "rotary_pendulum.urdf",
      {{"theta.dry", 1e-4}, {"arm.izz", 8e-5}, {"pendulum.ixx", 4e-5}, {"theta.gain", 0.006}, {"theta.viscous", 1e-4}});
  task::IdentifyOptions options;
  for (const char* name : {"arm.izz", "pendulum.ixx", "theta.gain", "theta.viscous", "theta.dry", "alpha.viscous"}) {
    options.free.emplace_back().name = name;
  }
  options.step = 0.004;
  options.held = true;
  options.from = 0.5;
  options.horizons = {0.2};
  options.keep = false;
  const auto result = task::identify(guess, {fitted}, {other}, options);
  if (!result) {
    ADD_FAILURE() << result.failure().to_string();
    return {};
  }
  const auto& check = result->summary.checks.back();
  EXPECT_TRUE(check.held_out);
  EXPECT_NEAR(check.from, 0.5, 0.01);  // --from is of every recording
  if (check.filtered.size() < 2) return {};
  std::vector<double> found;
  for (const auto& error : check.filtered[1]) found.push_back(error.r_squared);
  return found;
}

TEST(Identification, AnUnstableMachineIsForetold) {
  const std::vector<double> found = foretold(balanced(1), balanced(2));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_GT(found[0], 0.98);
  EXPECT_GT(found[1], 0.98);
}

/// Torques of 2.5e-4 N m (rms), half of the dry friction, that no column tells of are too much for it.
TEST(Identification, AnUnstableMachineIsNotForetoldWithoutKnowingItsTorques) {
  std::vector<Trajectory> tables = {balanced(1), balanced(2)};
  for (Trajectory& table : tables) {
    const int u = table.find("theta.u");
    ASSERT_GE(u, 0);
    for (int k = 0; k < table.samples(); ++k) table.at(k, u) -= 0.07 * std::sin(20 * table.times()[k]);
  }
  const std::vector<double> found = foretold(tables[0], tables[1]);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_LT(found[1], 0.98);
}

}  // namespace
}  // namespace kinegraph::acceptance::identification_test
