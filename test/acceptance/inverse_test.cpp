// The torque that moves the four-bar as wanted: 000, section 7.2, θ = 1.2 (1 − cos 2t).
#include "kinegraph/task/inverse.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>

#include "test/acceptance/fourbar_reference.hpp"
#include "test/acceptance/support.hpp"

namespace kinegraph::acceptance::inverse_test {
namespace {

constexpr int kSamples = 2000, kEnds = 10;
constexpr double kStep = 5e-3;
constexpr double kDegree = M_PI / 180;

struct Angle {
  double q, v, a;
};

Angle wanted(double t) { return {1.2 * (1 - std::cos(2 * t)), 2.4 * std::sin(2 * t), 4.8 * std::cos(2 * t)}; }

Trajectory wanted_motion(const std::string& column) {
  Trajectory motion({column});
  for (int k = 0; k < kSamples; ++k) *motion.append(k * kStep) = wanted(k * kStep).q;
  return motion;
}

Result<task::InverseResult> inverse(const Model& model, const Trajectory& motion, bool reactions = false) {
  task::InverseOptions options;
  options.reactions = reactions;
  return task::inverse(model, motion, options);
}

/// RMSE without the ends, where a motion given by samples has no neighbours to tell its derivatives from.
double torque_error(const Trajectory& found, const std::string& name, const FourbarReference& fourbar) {
  double square = 0;
  for (int k = kEnds; k < kSamples - kEnds; ++k) {
    const Angle w = wanted(found.times()[k]);
    const double e = value(found, k, name) - static_cast<double>(fourbar.torque_for(w.q, w.v, w.a));
    square += e * e;
  }
  return std::sqrt(square / (kSamples - 2 * kEnds));
}

double following_error(const Trajectory& found, const std::string& name) {
  double most = 0;
  for (int k = 0; k < kSamples; ++k)
    most = std::max(most, std::abs(value(found, k, name) - wanted(found.times()[k]).q));
  return most;
}

// The notes on paper 000 print four of them.
TEST(Reference, TorqueIsTheNotesTorque) {
  const FourbarReference fourbar;
  const double printed[][2] = {{0, 66.01166667}, {1, -16.87515386}, {2, -36.11414253}, {5, -49.46537382}};
  for (const auto& [t, torque] : printed) {
    const Angle w = wanted(t);
    EXPECT_NEAR(double(fourbar.torque_for(w.q, w.v, w.a)), torque, 2e-8) << t;
  }
}

TEST(FourbarInverse, TorqueOfAMotionInFullPrecision) {
  const auto found = inverse(own_model("fourbar"), wanted_motion("theta.q"));
  ASSERT_TRUE(found) << found.failure().to_string();
  EXPECT_EQ(found->summary.samples, kSamples);
  EXPECT_LE(torque_error(found->trajectory, "theta.tau", {}), 2e-3);
  EXPECT_LE(following_error(found->trajectory, "theta.q"), 1e-3 * kDegree);
  EXPECT_LE(found->summary.following_error_max, 1e-3 * kDegree);
  EXPECT_LE(found->summary.constraint_max, 1e-12);
  EXPECT_EQ(found->summary.actuators, std::vector<std::string>{"theta"});
}

TEST(FourbarInverse, TorqueOfTheSharedMotion) {
  const auto model = shared_model("fourbars1-with-rel-angle");
  const auto motion = shared_table("fourbar_inverse_motion.txt", {"t", "angle0.q"});
  const auto exact = shared_table("fourbar_inverse_exact.csv");
  if (!model || !motion || !exact) GTEST_SKIP() << "no reference data";
  const auto found = inverse(*model, *motion, true);
  ASSERT_TRUE(found) << found.failure().to_string();
  ASSERT_EQ(found->trajectory.samples(), kSamples);
  EXPECT_LE(torque_error(found->trajectory, "angle0.tau", {}), 2e-3);
  EXPECT_LE(following_error(found->trajectory, "angle0.q"), 1e-3 * kDegree);
  double square = 0;
  for (int k = kEnds; k < kSamples - kEnds; ++k) {
    const double e = value(found->trajectory, k, "angle0.tau") - value(*exact, k, "torque");
    square += e * e;
  }
  EXPECT_LE(std::sqrt(square / (kSamples - 2 * kEnds)), 2e-3);
}

// Adams: g = 9.80665, bars 0.1 m wide, and the torque counted the other way round.
TEST(FourbarInverse, TorqueOfAdams) {
  const auto motion = shared_table("fourbar_inverse_motion.txt", {"t", "theta.q"});
  const auto adams = shared_table("fourbar_inverse_adams.tab", {"t", "torque", "-"});
  if (!motion || !adams) GTEST_SKIP() << "no reference data";
  const auto box = [](double mass, double length_squared) {
    return mass * (length_squared + 0.01) / 12 + mass * length_squared / 4;  // about the first point
  };
  const Model model = own_model(
      "fourbar", {{"gravity", 9.80665}, {"crank.I0", box(1, 1)}, {"coupler.I0", box(2, 4)}, {"rocker.I0", box(4, 13)}});
  const auto found = inverse(model, *motion);
  ASSERT_TRUE(found) << found.failure().to_string();
  ASSERT_GE(adams->samples(), kSamples);
  double square = 0;
  for (int k = kEnds; k < kSamples - kEnds; ++k) {
    ASSERT_NEAR(adams->times()[k], found->trajectory.times()[k], 1e-9);
    const double e = value(found->trajectory, k, "theta.tau") + value(*adams, k, "torque");
    square += e * e;
  }
  EXPECT_LE(std::sqrt(square / (kSamples - 2 * kEnds)), 5e-3);
}

// Ground on crank, crank on coupler, coupler on rocker, ground on rocker.
TEST(FourbarInverse, JointForcesOfTheSharedMotion) {
  const auto exact = shared_table("fourbar_inverse_exact.csv");
  if (!exact) GTEST_SKIP() << "no reference data";
  const auto found = inverse(own_model("fourbar"), wanted_motion("theta.q"), true);
  ASSERT_TRUE(found) << found.failure().to_string();
  for (const std::string joint : {"A", "P1", "P2", "D"}) {
    for (const std::string axis : {"x", "y"}) {
      double square = 0;
      for (int k = kEnds; k < kSamples - kEnds; ++k) {
        const double e = value(found->trajectory, k, joint + ".f" + axis) - value(*exact, k, joint + axis);
        square += e * e;
      }
      EXPECT_LE(std::sqrt(square / (kSamples - 2 * kEnds)), 2e-3) << joint << axis;
    }
  }
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A torque that moves the mechanism, found again from the motion alone.
TEST(FourbarInverse, GivesBackTheTorqueOfASimulation) {
  const auto law = [](double t) { return 12 * std::sin(3 * t) + 3 * t; };
  std::string text = text_of(source_file("models/fourbar.yaml"));
  const std::size_t place = text.find("torque: 0}");
  ASSERT_NE(place, std::string::npos);
  text.replace(place, 10, "torque: 12*sin(3*t) + 3*t}");
  task::SimulateOptions o;
  o.time = 4;
  const auto moved = run(model_of(text), o);
  Trajectory motion({"theta.q"});
  for (int k = 0; k <= 4000; ++k) *motion.append(k * 1e-3) = value(moved.trajectory, k, "theta.q");
  const auto found = inverse(own_model("fourbar"), motion);
  ASSERT_TRUE(found) << found.failure().to_string();
  double most = 0, work = 0;
  for (int k = kEnds; k <= 4000 - kEnds; ++k) {
    most = std::max(most, std::abs(value(found->trajectory, k, "theta.tau") - law(k * 1e-3)));
  }
  EXPECT_LT(most, 2e-4);
  // Virtual work: what the torque has done is the energy that the mechanism has gained.
  const auto power = [&](int k) {
    return value(found->trajectory, k, "theta.tau") * value(moved.trajectory, k, "theta.v");
  };
  for (int k = 1; k <= 4000; ++k) work += 0.5e-3 * (power(k - 1) + power(k));
  EXPECT_NEAR(work, moved.summary.energy_end - moved.summary.energy_start, 1e-3 * std::abs(work));
  EXPECT_GT(std::abs(work), 1);
}

}  // namespace
}  // namespace kinegraph::acceptance::inverse_test
