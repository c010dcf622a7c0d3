// Beside the readers, because it takes its mechanisms from files.
#include "kinegraph/model/planar_robot.hpp"

#include <gtest/gtest.h>

#include "kinegraph/base/numbers.hpp"
#include "kinegraph/io/model_file.hpp"
#include "test/shared.hpp"

namespace kinegraph::planar_robot_test {
namespace {

Model planar(const std::string& text) {
  Result<Model> model = parse_planar_yaml(text, "m.yaml");
  EXPECT_TRUE(model.ok()) << (model ? "" : model.failure().to_string());
  return model ? *model : Model{};
}

Model read(const std::filesystem::path& path) {
  Result<Model> model = read_planar_yaml(path);
  EXPECT_TRUE(model.ok()) << (model ? "" : model.failure().to_string());
  return model ? *model : Model{};
}

Robot robot(const Model& model) {
  Result<Robot> robot = robot_of(model);
  EXPECT_TRUE(robot.ok()) << (robot ? "" : robot.failure().to_string());
  return robot ? *robot : Robot{};
}

const Joint& joint(const Robot& robot, const std::string& name) {
  const int index = robot.find_joint(name);
  EXPECT_GE(index, 0) << name;
  return robot.joints.at(index);
}

int loops(const Robot& robot) {
  return static_cast<int>(
      std::count_if(robot.joints.begin(), robot.joints.end(), [](const Joint& j) { return j.closes_loop; }));
}

/// X_FM of a joint at its initial position.
SE3 moved(const Joint& j) {
  const double q = j.initial_q.empty() ? 0 : j.initial_q[0];
  switch (j.type) {
    case JointType::revolute:
      return SE3(SO3::exp(q * j.axis), Vector3d::Zero());
    case JointType::prismatic:
      return SE3(SO3(), q * j.axis);
    default:
      return SE3();
  }
}

/// Of a mechanism that is drawn assembled: links stand where all joints, closing ones too, put them at their initial
/// positions.
void expect_drawn_consistently(const Robot& robot, double tolerance = 1e-12) {
  ASSERT_EQ(robot.X_WL.size(), robot.links.size());
  for (const Joint& j : robot.joints) {
    ASSERT_TRUE(j.child.valid());
    const SE3 X_WF = j.parent.valid() ? robot.X_WL[j.parent.value] * j.X_PF : j.X_PF;
    const SE3 X_WM = robot.X_WL[j.child.value] * j.X_CM;
    EXPECT_LT(((X_WF * moved(j)).matrix() - X_WM.matrix()).cwiseAbs().maxCoeff(), tolerance) << j.name;
  }
}

TEST(PlanarRobot, FourBar) {
  const Model model = read(source_file("models/fourbar.yaml"));
  const Robot r = robot(model);
  EXPECT_EQ(r.base, Robot::Base::fixed);
  EXPECT_EQ(r.gravity, Vector3d(0, -9.81, 0));
  ASSERT_EQ(r.links.size(), 3u);
  ASSERT_EQ(r.joints.size(), 4u);
  EXPECT_EQ(loops(r), 1);
  expect_drawn_consistently(r);
  const Link& rocker = r.links[2];
  EXPECT_EQ(rocker.name, "rocker");
  EXPECT_EQ(rocker.inertia.mass, 4);
  const double length = std::sqrt(13.0);
  EXPECT_LT((rocker.inertia.com - Vector3d(length / 2, 0, 0)).norm(), 1e-12);
  EXPECT_NEAR(rocker.inertia.about_com(2, 2), 4 * 13 / 12.0, 1e-12);
  EXPECT_DOUBLE_EQ(rocker.inertia.about_com(0, 0) + rocker.inertia.about_com(1, 1), rocker.inertia.about_com(2, 2));
  const Joint& theta = joint(r, "theta");
  EXPECT_FALSE(theta.parent.valid());
  EXPECT_EQ(theta.child, LinkIndex(0));
  EXPECT_EQ(theta.axis, Vector3d::UnitZ());
  EXPECT_FALSE(theta.passive);
  EXPECT_EQ(theta.initial_q, std::vector<double>{0});
  EXPECT_TRUE(joint(r, "P1").passive);
  EXPECT_TRUE(joint(r, "P2").closes_loop);
  EXPECT_NEAR(joint(r, "P1").initial_q.at(0), kPi / 2, 1e-12);
}

TEST(PlanarRobot, ReferenceMechanisms) {
  struct Expected {
    const char* file;
    int links, joints, loops;
  };
  for (const Expected& e : {Expected{"fourbars1.yaml", 3, 4, 1}, Expected{"fourbars1-with-rel-angle.yaml", 3, 4, 1},
                            Expected{"pendulum1.yaml", 1, 1, 0}, Expected{"pendulum2.yaml", 4, 4, 0},
                            Expected{"pendulum3.yaml", 4, 4, 0}, Expected{"pick-and-place-robot.yaml", 11, 16, 5}}) {
    const auto path = shared(std::string("models/planar/") + e.file);
    if (!path) GTEST_SKIP() << "no reference models";
    const Robot r = robot(read(*path));
    EXPECT_EQ(static_cast<int>(r.links.size()), e.links) << e.file;
    EXPECT_EQ(static_cast<int>(r.joints.size()), e.joints) << e.file;
    EXPECT_EQ(loops(r), e.loops) << e.file;
    expect_drawn_consistently(r);
  }
}

TEST(PlanarRobot, PickAndPlace) {
  const Robot r = robot(read(source_file("models/pick_and_place.yaml")));
  EXPECT_EQ(r.links.size(), 11u);
  // Four pins to the ground, and one hinge less than bodies at each of J0 K1 H0 K2 J1 H1 E1 F1 E2 F2 (three at K1, K2).
  EXPECT_EQ(r.joints.size(), 16u);
  EXPECT_EQ(loops(r), 5);
  expect_drawn_consistently(r);
  EXPECT_FALSE(joint(r, "theta1").passive);
  EXPECT_FALSE(joint(r, "theta2").passive);
}

TEST(PlanarRobot, RelativeAnglesNameJoints) {
  const Robot r = robot(read(source_file("models/double_pendulum.yaml")));
  expect_drawn_consistently(r);
  const Joint &q1 = joint(r, "q1"), &q2 = joint(r, "q2");
  EXPECT_NEAR(q1.initial_q.at(0), -kPi / 2, 1e-12);
  EXPECT_NEAR(q2.initial_q.at(0), std::atan2(-0.4, 0.3) + kPi / 2, 1e-12);
  EXPECT_FALSE(q1.passive);
  EXPECT_TRUE(q2.passive);
  ASSERT_EQ(q2.dynamics.size(), 1u);
  EXPECT_EQ(q2.dynamics[0].stiffness, 4);
  EXPECT_NEAR(q2.dynamics[0].rest, 20 * kPi / 180, 1e-12);
  EXPECT_EQ(q2.dynamics[0].damping, 0.1);
  EXPECT_EQ(loops(r), 0);
}

// The angle of the upper bar against the lower one, both lines drawn backwards: its joint is passed against its
// direction, and the zero is turned.
TEST(PlanarRobot, AnglesAgainstTheTree) {
  const Robot r = robot(planar(R"(
points:
  - {name: A, x: 0, y: 0, fixed: true}
  - {name: B, x: 1, y: 0}
  - {name: C, x: 1.6, y: 0.8}
planar_bodies:
  - {name: upper, points: [A, B], mass: 1}
  - {name: lower, points: [B, C], mass: 1}
relative_coordinates:
  - {name: bend, type: relative_angle, points: [C, B, A, B]}
  - {name: lower_angle, type: absolute_angle, points: [B, C]}
initial: {bend.v: 3}
)"));
  expect_drawn_consistently(r);
  const Joint& bend = joint(r, "bend");
  EXPECT_EQ(bend.parent, LinkIndex(0));
  EXPECT_EQ(bend.child, LinkIndex(1));
  EXPECT_EQ(bend.axis, Vector3d(0, 0, -1));
  // From C→B, at 180° + atan2(0.8, 0.6), to A→B, at 0.
  EXPECT_NEAR(bend.initial_q.at(0), kPi - std::atan2(0.8, 0.6), 1e-12);
  EXPECT_EQ(bend.initial_v, std::vector<double>{3});
  EXPECT_EQ(r.find_joint("lower_angle"), -1);
  EXPECT_FALSE(bend.passive);
}

TEST(PlanarRobot, SliderIsAMasslessLink) {
  Model model = read(source_file("models/slider_crank.yaml"));
  EXPECT_EQ(robot_of(model).failure().to_string().substr(source_file("models/slider_crank.yaml").string().size()),
            ":34:5: error: driver 'theta' has no counterpart in a spatial model\n" +
                source_file("models/slider_crank.yaml").string() +
                ":38:5: error: load 'gas' has no counterpart in a spatial model");
  model.drivers.clear();
  model.loads.clear();
  const Robot r = robot(model);
  expect_drawn_consistently(r);
  ASSERT_EQ(r.links.size(), 3u);
  EXPECT_EQ(r.links[2].name, "cylinder");
  EXPECT_EQ(r.links[2].inertia.mass, 0);
  EXPECT_EQ(loops(r), 1);
  const Joint& stroke = joint(r, "stroke");
  EXPECT_EQ(stroke.type, JointType::prismatic);
  EXPECT_FALSE(stroke.parent.valid());
  EXPECT_NEAR(stroke.initial_q.at(0), 0.23, 1e-12);
}

TEST(PlanarRobot, SliderOnAMovingLine) {
  const Robot r = robot(planar(R"(
points:
  - {name: A, x: 0, y: 0, fixed: true}
  - {name: B, x: 0, y: 2}
  - {name: C, x: 1, y: 1, fixed: true}
  - {name: D, x: 0, y: 1}
planar_bodies:
  - {name: arm, points: [A, B], mass: 1}
  - {name: crank, points: [C, D], mass: 1}
sliders:
  - {name: pin, point: D, line: [B, A]}
relative_coordinates:
  - {name: s, type: relative_position, points: [B, A, D]}
)"));
  expect_drawn_consistently(r);
  EXPECT_NEAR(joint(r, "s").initial_q.at(0), 1, 1e-12);
  EXPECT_EQ(joint(r, "s").parent, LinkIndex(0));
  EXPECT_EQ(loops(r), 1);
}

TEST(PlanarRobot, FloatingAndFixedBodies) {
  const Robot floating = robot(planar(R"(
points: [{name: A, x: 1, y: 2}, {name: B, x: 1, y: 3}, {name: C, x: 2, y: 3}]
planar_bodies: [{name: ab, points: [A, B], mass: 1}, {name: bc, points: [B, C], mass: 1}]
)"));
  expect_drawn_consistently(floating);
  ASSERT_EQ(floating.joints.size(), 2u);
  EXPECT_EQ(joint(floating, "base").type, JointType::planar);
  EXPECT_EQ(joint(floating, "base").axis, Vector3d::UnitZ());
  const Robot held = robot(planar(R"(
points: [{name: A, x: 0, y: 0, fixed: true}, {name: B, x: 1, y: 0, fixed: true}, {name: C, x: 2, y: 0}]
planar_bodies: [{name: ab, points: [A, B], mass: 1}, {name: bc, points: [B, C], mass: 1}]
)"));
  expect_drawn_consistently(held);
  ASSERT_EQ(held.joints.size(), 2u);
  EXPECT_EQ(joint(held, "ab_fixed").type, JointType::fixed);
  EXPECT_FALSE(joint(held, "B").parent.valid());
}

TEST(PlanarRobot, WhatHasNoCounterpartIsNamed) {
  const Model model = planar(R"(
points:
  - {name: A, x: 0, y: 0, fixed: true}
  - {name: B, x: 1, y: 0}
  - {name: C, x: 2, y: 0}
planar_bodies:
  - {name: ab, points: [A, B], mass: 1}
  - {name: bc, points: [B, C], mass: 1}
relative_coordinates:
  - {name: free, type: absolute_angle, points: [B, C]}
motors:
  - {coordinate: free}
coordinate_springs:
  - {name: coil, coordinate: free, stiffness: 1}
initial: {C.vy: 1}
)");
  EXPECT_EQ(robot_of(model).failure().to_string(),
            "m.yaml:12:5: error: motor 'free': no joint of the spatial model has its coordinate 'free'\n"
            "m.yaml:14:5: error: spring 'coil': no joint of the spatial model has its coordinate 'free'\n"
            "m.yaml:15:11: error: initial value of 'C.vy': no joint of the spatial model has this coordinate");
  const Result<Robot> springs = robot_of(read(source_file("models/spring_mass.yaml")));
  ASSERT_FALSE(springs.ok());
  EXPECT_EQ(springs.failure().diagnostics.size(), 5u);  // three springs and dampers, a load, a start
  EXPECT_EQ(springs.failure().exit_status(), 2);
}

// Every element of a planar file, as the maximal formulation takes it.
TEST(PlanarRobot, ForcesAreKept) {
  const Model model = planar(R"(
points:
  - {name: A, x: 0, y: 0, fixed: true}
  - {name: B, x: 1, y: 0}
  - {name: C, x: 2, y: 0}
  - {name: D, x: 5, y: 0, fixed: true}
planar_bodies:
  - {name: ab, points: [A, B], mass: 1}
  - {name: bc, points: [C, B], mass: 1}
sliders: [{name: rail, point: C, line: [A, D]}]
relative_coordinates:
  - {name: theta, type: absolute_angle, points: [A, B]}
  - {name: bend, type: relative_angle, points: [A, B, B, C]}
  - {name: stroke, type: relative_position, points: [A, D, C]}
springs: [{name: coil, points: [D, C], stiffness: 3, rest: 2, damping: 4}]
loads: [{name: push, point: B, x: 2*t, y: 5}, {name: still, point: D, x: 1}]
torques: [{name: twist, body: bc, torque: 3*t}]
drivers: [{name: pull, coordinate: stroke, law: 2 + 3*t}]
motors: [{name: drive, coordinate: theta, torque: 6*t, gain: 7, inertia: 8}]
joint_friction:
  - {joint: A, viscous: 1, dry: 2, stribeck: 3, stribeck_speed: 4, quadratic: 5, load_friction: 6}
  - {joint: B, dry: 9}
  - {joint: C, viscous: 10}
coordinate_dampers: [{coordinate: theta, damping: 0.5}]
)");
  const Result<Robot> kept = robot_of(model, PlanarForces::kept);
  ASSERT_TRUE(kept) << kept.failure().to_string();
  const Robot& r = *kept;

  ASSERT_EQ(r.springs.size(), 1u);
  EXPECT_EQ(r.springs[0].name, "coil");
  EXPECT_FALSE(r.springs[0].a.link.valid());
  EXPECT_EQ(r.springs[0].a.at, Vector3d(5, 0, 0));
  EXPECT_EQ(r.springs[0].b.link, LinkIndex(1));
  EXPECT_EQ(r.springs[0].b.at, Vector3d(0, 0, 0));  // the first point of bc
  EXPECT_EQ(r.springs[0].stiffness, 3);
  EXPECT_EQ(r.springs[0].rest, 2);
  EXPECT_EQ(r.springs[0].damping, 4);

  ASSERT_EQ(r.loads.size(), 2u);  // that on the ground has no effect
  EXPECT_EQ(r.loads[0].name, "push");
  EXPECT_EQ(r.loads[0].on.link, LinkIndex(0));
  EXPECT_EQ(r.loads[0].on.at, Vector3d(1, 0, 0));
  EXPECT_EQ(r.loads[0].force[0](4), 8);
  EXPECT_EQ(r.loads[0].force[1](4), 5);
  EXPECT_EQ(r.loads[0].force[2](4), 0);
  for (const Law& law : r.loads[0].torque) EXPECT_EQ(law(4), 0);
  EXPECT_EQ(r.loads[1].name, "twist");
  EXPECT_EQ(r.loads[1].on.link, LinkIndex(1));
  for (const Law& law : r.loads[1].force) EXPECT_EQ(law(4), 0);
  EXPECT_EQ(r.loads[1].torque[2](4), 12);

  ASSERT_EQ(r.drives.size(), 1u);
  EXPECT_EQ(r.drives[0].name, "pull");
  EXPECT_EQ(r.drives[0].joint.value, r.find_joint("stroke"));
  EXPECT_EQ(r.drives[0].law(2), 8);
  EXPECT_EQ(joint(r, "stroke").initial_q, std::vector<double>{2});
  EXPECT_EQ(joint(r, "stroke").initial_v, std::vector<double>{3});
  ASSERT_EQ(r.torques.size(), 1u);
  EXPECT_EQ(r.torques[0].name, "drive");
  EXPECT_EQ(r.torques[0].joint.value, r.find_joint("theta"));
  EXPECT_EQ(r.torques[0].torque(2), 12);

  JointDynamics d = joint(r, "theta").dynamics.at(0);
  EXPECT_EQ(d.damping, 1.5);
  EXPECT_EQ(d.friction, 2);
  EXPECT_EQ(d.stribeck, 3);
  EXPECT_EQ(d.stribeck_speed, 4);
  EXPECT_EQ(d.quadratic, 5);
  EXPECT_EQ(d.load_friction, 6);
  EXPECT_EQ(d.gain, 7);
  EXPECT_EQ(d.armature, 8);
  EXPECT_EQ(joint(r, "bend").dynamics.at(0).friction, 9);
  EXPECT_EQ(joint(r, "stroke").dynamics.at(0).damping, 10);
  // A flat body that exists: Σ = ½ tr(I) 1 − I has no negative eigenvalue.
  for (const Link& link : r.links) {
    const Matrix3d& I = link.inertia.about_com;
    const Matrix3d sigma = I.trace() / 2 * Matrix3d::Identity() - I;
    EXPECT_GE(sigma.diagonal().minCoeff(), -1e-15) << link.name;
  }

  EXPECT_EQ(robot_of(model).failure().to_string(),
            "m.yaml:15:11: error: spring 'coil' has no counterpart in a spatial model\n"
            "m.yaml:16:9: error: load 'push' has no counterpart in a spatial model\n"
            "m.yaml:16:47: error: load 'still' has no counterpart in a spatial model\n"
            "m.yaml:17:11: error: torque 'twist' has no counterpart in a spatial model\n"
            "m.yaml:18:11: error: driver 'pull' has no counterpart in a spatial model\n"
            "m.yaml:21:5: error: joint friction 'A': stribeck, quadratic, load_friction needs --formulation maximal of "
            "simulate");
}

TEST(PlanarRobot, FrictionOfJointsThatScrewHas) {
  Model model = read(source_file("models/fourbar_friction.yaml"));
  const Robot r = robot(model);
  EXPECT_EQ(joint(r, "D").dynamics.at(0).friction, 2);
  EXPECT_TRUE(r.torques.empty());
}

TEST(PlanarRobot, WhatCannotBeKeptIsNamed) {
  const Model model = planar(R"(
points:
  - {name: A, x: 0, y: 0, fixed: true}
  - {name: B, x: 1, y: 0}
  - {name: C, x: 2, y: 0}
  - {name: X, x: 3, y: 3}
planar_bodies:
  - {name: ab, points: [A, B], mass: 1}
  - {name: bc, points: [B, C], mass: 1}
relative_coordinates:
  - {name: theta, type: absolute_angle, points: [A, B]}
springs: [{name: coil, points: [X, C], stiffness: 1}]
drivers: [{coordinate: C.x, law: 2}]
motors: [{name: one, coordinate: theta, gain: 2}, {name: two, coordinate: theta, gain: 3}]
)");
  EXPECT_EQ(robot_of(model, PlanarForces::kept).failure().to_string(),
            "m.yaml:12:11: error: spring 'coil': its point 'X' belongs to no body\n"
            "m.yaml:13:11: error: driver 'C.x': no joint of the spatial model has its coordinate 'C.x'\n"
            "m.yaml:14:51: error: motor 'two': another motor of coordinate 'theta' has another gain");
}

TEST(PlanarRobot, ASpatialModelIsItsRobot) {
  Model model;
  model.robot.links.resize(1);
  model.robot.links[0].name = "only";
  EXPECT_EQ(robot(model).links[0].name, "only");
}

}  // namespace
}  // namespace kinegraph::planar_robot_test
