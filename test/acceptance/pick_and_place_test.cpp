// Robots with two motors and a redundant constraint: 000, section 7.2, and models/pick_and_place.yaml.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "kinegraph/task/check.hpp"
#include "kinegraph/task/inverse.hpp"
#include "test/acceptance/support.hpp"

namespace kinegraph::acceptance::pick_and_place_test {
namespace {

/// models/make_paths.py: lift from `x`, `y`, rest at the corner, carry across.
struct Path {
  double x, y, lift, across;

  static double share(double t, double from, double to) {
    const double s = std::clamp((t - from) / (to - from), 0.0, 1.0);
    return s * s * s * (10 - 15 * s + 6 * s * s);
  }
  double x_at(double t) const { return x + across * share(t, 2.75, 4.75); }
  double y_at(double t) const { return y + lift * share(t, 0.25, 2.25); }
};

void expect_on_path(const Model& model, const std::string& file, const std::string& point, const Path& path) {
  const auto motion = read_csv(source_file("models/" + file).string());
  ASSERT_TRUE(motion) << motion.failure().to_string();
  ASSERT_EQ(motion->samples(), 1000);
  const auto found = task::inverse(model, *motion, {});
  ASSERT_TRUE(found) << found.failure().to_string();
  double most = 0, rate = 0;
  for (int k = 0; k < found->trajectory.samples(); ++k) {
    const double t = found->trajectory.times()[k];
    most = std::max(most, std::hypot(value(found->trajectory, k, point + ".x") - path.x_at(t),
                                     value(found->trajectory, k, point + ".y") - path.y_at(t)));
    const double dt = 1e-5;
    const double vx = (path.x_at(t + dt) - path.x_at(t - dt)) / (2 * dt);
    const double vy = (path.y_at(t + dt) - path.y_at(t - dt)) / (2 * dt);
    rate = std::max(rate, std::hypot(value(found->trajectory, k, point + ".vx") - vx,
                                     value(found->trajectory, k, point + ".vy") - vy));
  }
  EXPECT_LE(most, 0.02e-3);
  EXPECT_LE(rate, 1e-4);
  EXPECT_LE(found->summary.constraint_max, 1e-11);
  EXPECT_EQ(found->summary.actuators.size(), 2u);
  for (double torque : found->summary.torque_peak) {
    EXPECT_GT(torque, 0);
    EXPECT_LT(torque, 1e3);
  }
}

TEST(PickAndPlace, FollowsAnLWithItsTool) {
  expect_on_path(own_model("pick_and_place"), "pick_and_place_path.csv", "tool", {-0.10, -1.25, 0.15, 0.25});
}

TEST(PickAndPlace, FollowsAnLWithPoint6OfThePapersRobot) {
  const auto model = shared_model("pick-and-place-robot");
  if (!model) GTEST_SKIP() << "no reference data";
  expect_on_path(*model, "pick_and_place_path_point6.csv", "6", {-0.5, -5.0, 0.5, 0.75});
}

/// Where the path turns: between its ends, the sample at which the motors stand stillest.
int corner(const Trajectory& motion) {
  int where = 0;
  double least = 1;
  for (int k = 100; k + 100 < motion.samples(); ++k) {
    double moved = 0;
    for (int s = 0; s < motion.series(); ++s) moved += std::abs(motion.at(k + 1, s) - motion.at(k - 1, s));
    if (moved < least) least = moved, where = k;
  }
  return where;
}

// Adams's gravity and 0.1 m wide bars, as for the four-bar; here it counts torques as we do.
TEST(PickAndPlace, TorquesOfAdams) {
  const auto robot = shared_model("pick-and-place-robot");
  const auto motion = shared_table("pick_and_place_inverse_motion.txt", {"t", "angle0.q", "angle1.q"});
  const auto adams = shared_table("pick_and_place_inverse_adams.tab", {"t", "angle0.tau", "angle1.tau"});
  if (!robot || !motion || !adams) GTEST_SKIP() << "no reference data";
  Settings settings = {{"gravity", 9.80665}};
  for (const PlanarBody& b : robot->bodies) {
    const double square = b.length * b.length;
    if (b.points.size() == 2) settings[b.name + ".I0"] = b.mass * (square + 0.01) / 12 + b.mass * square / 4;
  }
  const auto model = robot->with(settings);
  ASSERT_TRUE(model) << model.failure().to_string();
  const auto found = task::inverse(*model, *motion, {});
  ASSERT_TRUE(found) << found.failure().to_string();
  ASSERT_EQ(found->trajectory.samples(), adams->samples());

  const double turn = motion->times()[corner(*motion)];
  EXPECT_NEAR(turn, 2.5, 0.01);
  const std::vector<std::string> names = {"angle0.tau", "angle1.tau"};
  double peak = 0;
  for (int k = 0; k < adams->samples(); ++k) {
    for (const std::string& name : names) peak = std::max(peak, std::abs(value(*adams, k, name)));
  }
  for (const std::string& name : names) {
    double most = 0, at = 0, averaged = 0;
    std::vector<double> lately;
    for (int k = 0; k < adams->samples(); ++k) {
      const double t = adams->times()[k];
      if (std::abs(t - turn) <= 0.05) {
        lately.clear();
        continue;
      }
      const double e = value(found->trajectory, k, name) - value(*adams, k, name);
      if (std::abs(e) > most) most = std::abs(e), at = t;
      lately.push_back(e);
      if (lately.size() < 20) continue;
      averaged = std::max(averaged, std::abs(std::accumulate(lately.end() - 20, lately.end(), 0.0)) / 20);
    }
    EXPECT_LE(most, 0.01 * peak) << name << " at " << at << " s";
    // Adams's torque goes up and down by 2 N m from sample to sample, as it takes the motion's rounding for motion. The
    // averages over 0.1 s do not.
    EXPECT_LE(averaged, 1e-3 * peak) << name;
  }
}

// The same robot and the same torques from its point 6 as from its angles.
TEST(PickAndPlace, PointAndAnglesNeedTheSameTorques) {
  const Model model = own_model("pick_and_place");
  const auto path = read_csv(source_file("models/pick_and_place_path.csv").string());
  ASSERT_TRUE(path) << path.failure().to_string();
  const auto by_point = task::inverse(model, *path, {});
  ASSERT_TRUE(by_point) << by_point.failure().to_string();
  Trajectory angles({"theta1.q", "theta2.q"});
  for (int k = 0; k < path->samples(); ++k) {
    double* row = angles.append(path->times()[k]);
    row[0] = value(by_point->trajectory, k, "theta1.q");
    row[1] = value(by_point->trajectory, k, "theta2.q");
  }
  const auto by_angles = task::inverse(model, angles, {});
  ASSERT_TRUE(by_angles) << by_angles.failure().to_string();
  for (const std::string motor : {"theta1", "theta2"}) {
    double peak = 0, most = 0;
    for (int k = 10; k + 10 < path->samples(); ++k) {
      const double torque = value(by_point->trajectory, k, motor + ".tau");
      peak = std::max(peak, std::abs(torque));
      most = std::max(most, std::abs(torque - value(by_angles->trajectory, k, motor + ".tau")));
    }
    EXPECT_LT(most, 1e-3 * peak) << motor;
  }
}

TEST(PickAndPlace, HasOneRedundantConstraint) {
  const auto own = task::check(own_model("pick_and_place"));
  ASSERT_TRUE(own) << own.failure().to_string();
  EXPECT_EQ(own->degrees_of_freedom, 2);
  EXPECT_EQ(own->redundant.size(), 1u);
  const auto robot = shared_model("pick-and-place-robot");
  if (!robot) GTEST_SKIP() << "no reference data";
  const auto found = task::check(*robot);
  ASSERT_TRUE(found) << found.failure().to_string();
  EXPECT_EQ(found->degrees_of_freedom, 2);
  EXPECT_EQ(found->redundant.size(), 1u);
}

}  // namespace
}  // namespace kinegraph::acceptance::pick_and_place_test
