// Robots with two motors and a redundant constraint: 000, section 7.2, and models/pick_and_place.yaml.
#include <algorithm>
#include <cmath>

#include "kinegraph/task/check.hpp"
#include "kinegraph/task/inverse.hpp"
#include "test/acceptance/support.hpp"

namespace kinegraph::acceptance {
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
    rate = std::max(rate, std::hypot(value(found->trajectory, k, point + ".vx") - (path.x_at(t + dt) - path.x_at(t - dt)) / (2 * dt),
                                     value(found->trajectory, k, point + ".vy") - (path.y_at(t + dt) - path.y_at(t - dt)) / (2 * dt)));
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

}  // namespace
}  // namespace kinegraph::acceptance
