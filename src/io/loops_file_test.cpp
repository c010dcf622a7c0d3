#include "kinegraph/io/loops_file.hpp"

#include <gtest/gtest.h>

#include "kinegraph/io/link_tree.hpp"

namespace kinegraph::io::loops_file_test {
namespace {

/// Three links in a row: ground, arm, hand; joints shoulder and wrist.
Robot chain() {
  Robot robot;
  for (const char* name : {"ground", "arm", "hand"}) robot.links.push_back({.name = name});
  for (int i = 0; i < 2; ++i) {
    Joint joint;
    joint.name = i == 0 ? "shoulder" : "wrist";
    joint.type = JointType::revolute;
    joint.parent = LinkIndex(i);
    joint.child = LinkIndex(i + 1);
    joint.X_PF = SE3(SO3(), Vector3d::UnitX());
    robot.joints.push_back(joint);
  }
  return robot;
}

Robot read(const std::string& text) {
  Robot robot = chain();
  Findings findings;
  parse_loops(text, "r.loops.yaml", robot, findings);
  EXPECT_FALSE(findings.failed()) << findings.failure().to_string();
  EXPECT_TRUE(findings.warnings().empty());
  return robot;
}

std::string faults(const std::string& text) {
  Robot robot = chain();
  Findings findings;
  parse_loops(text, "r.loops.yaml", robot, findings);
  return findings.failed() ? findings.failure().to_string() : "none";
}

TEST(LoopsFile, AListOfJoints) {
  const Robot robot = read(
      "- {name: close, parent: hand, child: ground, type: screw, parent_xyz: [0.4, 0, 0], child_xyz: [0, 1, 0],\n"
      "   child_rpy: [0, 0, 1], axis: [0, 0, 2], pitch: 0.1, passive: true}\n"
      "- {parent: world, child: hand, type: ball}\n");
  ASSERT_EQ(robot.joints.size(), 4u);
  const Joint &close = robot.joints[2], &ball = robot.joints[3];
  EXPECT_EQ(close.name, "close");
  EXPECT_EQ(close.type, JointType::screw);
  EXPECT_EQ(close.parent, LinkIndex(2));
  EXPECT_EQ(close.child, LinkIndex(0));
  EXPECT_EQ(close.X_PF.position(), Vector3d(0.4, 0, 0));
  EXPECT_EQ(close.X_CM.position(), Vector3d(0, 1, 0));
  EXPECT_TRUE(close.X_CM.rotation().log().isApprox(Vector3d(0, 0, 1), 1e-15));
  EXPECT_EQ(close.axis, Vector3d::UnitZ());
  EXPECT_EQ(close.pitch, 0.1);
  EXPECT_TRUE(close.closes_loop);
  EXPECT_TRUE(close.passive);
  EXPECT_EQ(ball.name, "loop0");
  EXPECT_FALSE(ball.parent.valid());
  EXPECT_TRUE(ball.closes_loop);
  EXPECT_FALSE(ball.passive);
}

TEST(LoopsFile, PairsOfFrames) {
  const Robot robot = read("closed_loop: [[wrist, ground], [arm, hand]]\ntype: ['6d', '3d']\nname_mot: [shoulder]");
  ASSERT_EQ(robot.joints.size(), 4u);
  EXPECT_EQ(robot.joints[2].type, JointType::fixed);
  EXPECT_EQ(robot.joints[2].parent, LinkIndex(2)) << "the frame of a joint is that on its child";
  EXPECT_EQ(robot.joints[2].child, LinkIndex(0));
  EXPECT_EQ(robot.joints[3].type, JointType::ball);
  EXPECT_EQ(robot.joints[3].name, "loop1");
  EXPECT_FALSE(robot.joints[0].passive);
  EXPECT_TRUE(robot.joints[1].passive);
}

TEST(LoopsFile, Faults) {
  EXPECT_EQ(faults("- {parent: hnd, child: ground, type: revolut, axes: [1, 0, 0]}"),
            "r.loops.yaml:1:12: error: unknown link 'hnd'; did you mean 'hand'?\n"
            "r.loops.yaml:1:38: error: unknown type 'revolut'; did you mean 'revolute'?\n"
            "r.loops.yaml:1:47: error: unknown key 'axes'; did you mean 'axis'?");
  EXPECT_EQ(faults("- {child: hand}"),
            "r.loops.yaml:1:3: error: missing key 'type'\nr.loops.yaml:1:3: error: missing key 'parent'");
  EXPECT_EQ(faults("- {name: wrist, parent: arm, child: hand, type: fixed, parent_xyz: [1, x], child_xyz: [1, x, 2]}"),
            "r.loops.yaml:1:10: error: duplicate joint 'wrist'\n"
            "r.loops.yaml:1:68: error: parent_xyz: expected [x, y, z], found 2 values\n"
            "r.loops.yaml:1:91: error: child_xyz: expected a number, found 'x'");
  EXPECT_EQ(faults("- {parent: arm, child: hand, type: fixed, parent_xyz: [-1e60, nan, 2]}"),
            "r.loops.yaml:1:56: error: parent_xyz: expected a number from -1e+50 to 1e+50, found '-1e60'\n"
            "r.loops.yaml:1:63: error: parent_xyz: expected a finite number, found 'nan'");
  EXPECT_EQ(faults("- {parent: arm, child: arm, type: screw, axis: [0, 0, 0], passive: maybe}"),
            "r.loops.yaml:1:3: error: missing key 'pitch'\n"
            "r.loops.yaml:1:3: error: joint 'loop0': parent and child are the same link\n"
            "r.loops.yaml:1:48: error: axis: must not be zero\n"
            "r.loops.yaml:1:68: error: passive: expected true or false, found 'maybe'");
  EXPECT_EQ(faults("closed_loop: [[wrist, grund], [arm]]\ntype: [4d]\nname_mot: [elbow]"),
            "r.loops.yaml:1:23: error: unknown link or joint 'grund'; did you mean 'ground'?\n"
            "r.loops.yaml:1:31: error: closed_loop: expected a pair of frames, found a list\n"
            "r.loops.yaml:2:8: error: type: expected '6d' or '3d', found '4d'\n"
            "r.loops.yaml:3:12: error: unknown joint 'elbow'");
  EXPECT_EQ(faults("3"), "r.loops.yaml:1:1: error: expected a list of joints that close loops, found '3'");
  EXPECT_EQ(faults("[1"), "r.loops.yaml:1:1: error: not YAML: end of sequence flow not found");
}

}  // namespace
}  // namespace kinegraph::io::loops_file_test
