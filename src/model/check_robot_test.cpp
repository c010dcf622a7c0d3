#include <gtest/gtest.h>

#include <limits>

#include "kinegraph/model/check.hpp"

namespace kinegraph::check_robot_test {
namespace {

Robot one_link() {
  Robot robot;
  Link link;
  link.name = "arm";
  link.where = {"r", 2, 3};
  link.inertia = {1, Vector3d::Zero(), Vector3d(1, 2, 3).asDiagonal()};
  robot.links = {link};
  Joint joint;
  joint.name = "j";
  joint.type = JointType::revolute;
  joint.child = LinkIndex(0);
  joint.where = {"r", 5, 1};
  joint.limits = {JointLimits{}};
  joint.dynamics = {JointDynamics{}};
  robot.joints = {joint};
  return robot;
}

std::string found(const Robot& robot, bool strict = false) {
  std::string text;
  for (const Diagnostic& d : check_robot(robot, strict)) text += to_string(d) + "\n";
  return text;
}

TEST(CheckRobot, SoundRobots) {
  EXPECT_EQ(found(one_link(), true), "");
  Robot robot = one_link();
  robot.links[0].inertia = {};  // massless, a point
  EXPECT_EQ(found(robot, true), "");
  // A flat plate turned by an angle whose sine has seven digits: its largest inertia is the sum of the others but for
  // rounding.
  Matrix3d R;
  R << 0.8, -0.6, 0, 0.6, 0.8, 0, 0, 0, 1;
  robot.links[0].inertia.about_com = R * Vector3d(0.1, 0.2, 0.3 + 1e-8).asDiagonal() * R.transpose();
  EXPECT_EQ(found(robot, true), "");
}

TEST(CheckRobot, Masses) {
  Robot robot = one_link();
  robot.links[0].inertia_where = {"r", 3, 5};
  robot.links[0].inertia.mass = -2;
  EXPECT_EQ(found(robot), "r:3:5: error: link 'arm': the mass must be >= 0, is -2\n");
  robot.links[0].inertia.mass = std::numeric_limits<double>::infinity();
  robot.links[0].inertia.com[1] = std::nan("");
  robot.links[0].inertia.about_com(0, 0) = std::nan("");
  robot.links[0].inertia_where = {};
  EXPECT_EQ(found(robot),
            "r:2:3: error: link 'arm': the mass is not a finite number\n"
            "r:2:3: error: link 'arm': the centre of mass is not finite\n"
            "r:2:3: error: link 'arm': the inertia is not finite\n");
}

TEST(CheckRobot, PrincipalInertias) {
  Robot robot = one_link();
  Matrix3d& inertia = robot.links[0].inertia.about_com;
  inertia << 1, 2, 0, 2, 1, 0, 0, 0, 3;  // eigenvalues −1, 3, 3
  EXPECT_EQ(found(robot), "r:2:3: error: link 'arm': the inertia has a negative principal moment, -1\n");
  inertia = Vector3d(0.1, 0.2, 0.5).asDiagonal();
  const std::string broken =
      "link 'arm': no body has the principal inertias 0.1, 0.2 and 0.5 (the largest is above the sum of the others)";
  EXPECT_EQ(found(robot), "r:2:3: warning: " + broken + "\n");
  EXPECT_EQ(found(robot, true), "r:2:3: error: " + broken + "\n");
  robot.links.push_back(robot.links[0]);
  robot.links.push_back(robot.links[0]);
  EXPECT_EQ(found(robot), "r:2:3: warning: " + broken + "; 3 links in all\n");
  // Scaled to where squares would overflow or vanish.
  robot.links.resize(1);
  robot.links[0].inertia.about_com *= 1e-200;
  EXPECT_NE(found(robot), "");
  robot.links[0].inertia.about_com = Vector3d(1, 1, 1).asDiagonal() * 1e300;
  EXPECT_EQ(found(robot), "");
}

TEST(CheckRobot, Joints) {
  Robot robot = one_link();
  robot.joints[0].limits[0].lower = 2;
  robot.joints[0].limits[0].upper = 1;
  EXPECT_EQ(found(robot), "r:5:1: error: joint 'j': the lower limit 2 is above the upper limit 1\n");
  robot.joints[0].limits[0] = {};
  robot.joints[0].limits[0].effort = -1;
  robot.joints[0].dynamics[0].damping = -0.5;
  EXPECT_EQ(found(robot),
            "r:5:1: warning: joint 'j': damping is negative: -0.5\n"
            "r:5:1: warning: joint 'j': the effort limit is negative: -1\n");
  robot.joints[0].limits[0] = {};
  robot.joints[0].dynamics[0] = {};
  robot.joints[0].dynamics[0].rest = std::nan("");
  robot.joints[0].initial_q = {std::nan("")};
  EXPECT_EQ(found(robot),
            "r:5:1: error: joint 'j': rest is not a finite number\n"
            "r:5:1: error: joint 'j': an initial value is not finite\n");
}

}  // namespace
}  // namespace kinegraph::check_robot_test
