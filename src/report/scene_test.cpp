#include "kinegraph/report/scene.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kinegraph/report/packed.hpp"
#include "kinegraph/report/residuals.hpp"

namespace kinegraph::report::scene_test {
namespace {

/// A bar of two metres on a hinge.
Model pendulum() {
  Model model;
  model.name = "pendulum";
  model.points = {{"O", {0, 0}, {0, 0}, true, {}}, {"P", {2, 0}, {0, 0}, false, {}}};
  PlanarBody bar;
  bar.name = "bar";
  bar.points = {PointIndex(0), PointIndex(1)};
  bar.local = {{0, 0}, {2, 0}};
  bar.length = 2;
  bar.mass = 1;
  bar.inertia = 4.0 / 3;
  bar.cog = {1, 0};
  model.bodies = {bar};
  return model;
}

Trajectory turning(double radius) {
  Trajectory motion({"P.x", "P.y", "P.vx", "P.vy", "O.fx", "O.fy"});
  for (int k = 0; k <= 100; ++k) {
    const double t = 0.01 * k, c = std::cos(t), s = std::sin(t);
    const double row[] = {radius * c, radius * s, -radius * s, radius * c, 1, 2};
    std::copy(std::begin(row), std::end(row), motion.append(t));
  }
  return motion;
}

TEST(Scene, PlanarPointsComeFromTheirColumns) {
  const auto scene = scene_section(pendulum(), turning(2), {});
  ASSERT_TRUE(scene);
  EXPECT_EQ((*scene)["dimension"], 2);
  EXPECT_EQ((*scene)["t"]["count"], 101);
  std::vector<double> xy;
  for (int k = 0; k <= 100; ++k) xy.insert(xy.end(), {0, 0, 2 * std::cos(0.01 * k), 2 * std::sin(0.01 * k)});
  EXPECT_EQ((*scene)["xy"], packed(xy));
  ASSERT_EQ((*scene)["arrows"].size(), 1u);
  EXPECT_EQ((*scene)["arrows"][0]["point"], 0);
}

TEST(Scene, WithoutATableTheMachineIsAsDrawn) {
  const auto scene = scene_section(pendulum(), Trajectory{}, {});
  ASSERT_TRUE(scene);
  EXPECT_EQ((*scene)["xy"], packed(std::vector<double>{0, 0, 2, 0}));
}

TEST(Scene, LongMotionsHaveSixtyFramesPerSecondAtMost) {
  std::vector<double> times;
  for (int k = 0; k <= 20000; ++k) times.push_back(1e-3 * k);
  const std::vector<int> frames = scene::frames(times, 3000);
  EXPECT_EQ(frames.size(), 1201u);
  EXPECT_EQ(frames.front(), 0);
  EXPECT_EQ(frames.back(), 20000);
  EXPECT_EQ(scene::frames(times, 500).size(), 500u);
}

TEST(Scene, RobotPosesAreThoseOfItsJoints) {
  Model model;
  Robot& robot = model.robot;
  robot.links.resize(2);
  robot.links[0].name = "ground";
  robot.links[1].name = "arm";
  robot.links[1].inertia.mass = 1;
  robot.links[1].inertia.about_com = Matrix3d::Identity();
  Joint hinge;
  hinge.name = "hinge";
  hinge.type = JointType::revolute;
  hinge.parent = LinkIndex(0);
  hinge.child = LinkIndex(1);
  hinge.axis = Vector3d::UnitZ();
  hinge.X_PF = SE3(SO3(), Vector3d(0, 0, 1));
  robot.joints = {hinge};
  Trajectory motion({"hinge.q"});
  *motion.append(0) = 0;
  *motion.append(1) = M_PI / 2;
  const auto scene = scene_section(model, motion, {});
  ASSERT_TRUE(scene);
  EXPECT_EQ((*scene)["places"], quantised(std::vector<double>{0, 0, 1, 0, 0, 1}));
  const double half = std::sqrt(0.5);
  EXPECT_EQ((*scene)["turns"], quantised(std::vector<double>{1, 0, 0, 0, half, 0, 0, half}));
  EXPECT_EQ((*scene)["joints"][0]["name"], "hinge");
  const auto view = view_section(model, {"hinge"});
  ASSERT_TRUE(view);
  EXPECT_EQ((*view)["coordinates"][0]["name"], "hinge");
  EXPECT_EQ((*view)["start"][0], 0);
  Trajectory assembled({"hinge.q"});
  *assembled.append(0) = 0.7;
  EXPECT_EQ((*view_section(model, {"hinge"}, &assembled))["start"][0], 0.7);
}

TEST(Residuals, TellTheConstraintThatIsBroken) {
  const Trajectory exact = turning(2), wrong = turning(2.5);
  const Residuals none = residuals(pendulum(), exact, true), some = residuals(pendulum(), wrong, true);
  ASSERT_EQ(none.list.size(), 2u);  // the distance and its rate; no coordinate has a name.q
  EXPECT_LT(none.list[0].max(), 1e-14);
  EXPECT_NEAR(some.list[0].max(), 2.5 * 2.5 - 4, 1e-12);
  EXPECT_NEAR(some.list[0].rms(), 2.5 * 2.5 - 4, 1e-12);
  EXPECT_GT(some.share("position constraint", 0.5, wrong), 0.1);
  EXPECT_EQ(some.share("dynamics", 0.5, wrong), -1);
  EXPECT_EQ(some.table(wrong)["rows"].size(), 2u);
}

TEST(Residuals, TheTrapezoidalRuleLeavesTheThirdPowerOfTheStep) {
  // q = t³, v = 3 t²:   e = (t + h)³ − t³ − (h/2)(3 t² + 3 (t + h)²) = −h³/2
  Trajectory cubic({"theta.q", "theta.v"});
  for (int k = 0; k <= 10; ++k) {
    const double t = 0.1 * k;
    double* row = cubic.append(t);
    row[0] = t * t * t, row[1] = 3 * t * t;
  }
  Model model = pendulum();
  model.robot.links.resize(1);  // no planar equations: only the rule is looked at
  const Residuals found = residuals(model, cubic, true);
  ASSERT_EQ(found.list.size(), 1u);
  EXPECT_EQ(found.list[0].values.size(), 10u);
  EXPECT_NEAR(found.list[0].max(), 0.5e-3, 1e-12);
  EXPECT_NEAR(found.list[0].rms(), 0.5e-3, 1e-12);
  EXPECT_TRUE(residuals(model, cubic, false).list.empty());
}

}  // namespace
}  // namespace kinegraph::report::scene_test
