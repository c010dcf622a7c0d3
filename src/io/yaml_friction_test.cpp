#include <gtest/gtest.h>

#include "kinegraph/io/model_file.hpp"
#include "kinegraph/model/friction_support.hpp"
#include "test/shared.hpp"

namespace kinegraph::yaml_friction_test {
namespace {

/// A crank with two bars at P, of which one slides on the ground.
const std::string kMechanism = R"(parameters: {mu: 0.5}
points:
  - {name: A, x: 0, y: 0, fixed: true}
  - {name: P, x: 1, y: 0}
  - {name: Q, x: 2, y: 0}
  - {name: R, x: 1, y: 1}
  - {name: S, x: 3, y: 0, fixed: true}
planar_bodies:
  - {name: crank, points: [A, P], mass: 1}
  - {name: rod, points: [P, Q], mass: 1}
  - {name: flag, points: [P, R], mass: 1}
sliders: [{name: rail, point: Q, line: [A, S]}]
relative_coordinates: [{name: theta, type: absolute_angle, points: [A, P]}]
)";

Result<Model> parse(const std::string& more) { return parse_planar_yaml(kMechanism + more, "m.yaml"); }

Model read(const std::string& more) {
  const Result<Model> model = parse(more);
  EXPECT_TRUE(model) << (model ? "" : model.failure().to_string());
  return model ? *model : Model{};
}

std::string faults(const std::string& friction) {
  const Result<Model> model = parse("joint_friction:\n  - {" + friction + "}\n");
  if (model) return "none";
  EXPECT_EQ(model.failure().exit_status(), 2);
  return model.failure().to_string();
}

TEST(YamlFriction, IsReadAndSet) {
  const Model model = read(
      "joint_friction:\n"
      "  - {joint: A, viscous: 1, dry: 2*mu, stribeck: A.dry/4, stribeck_speed: 3 rad/s, quadratic: 5,\n"
      "     load_friction: 6mm}\n"
      "  - {joint: P.flag}\n"
      "  - {joint: Q, dry: 1 N}\n");
  ASSERT_EQ(model.frictions.size(), 3u);
  const JointDynamics& d = model.frictions[0].dynamics;
  EXPECT_EQ(model.frictions[0].name, "A");
  EXPECT_EQ(d.damping, 1);
  EXPECT_EQ(d.friction, 1);
  EXPECT_EQ(d.stribeck, 0.25);
  EXPECT_EQ(d.stribeck_speed, 3);
  EXPECT_EQ(d.quadratic, 5);
  EXPECT_EQ(d.load_friction, 6e-3);
  EXPECT_TRUE(model.frictions[1].dynamics.smooth());
  EXPECT_EQ(model.frictions[1].dynamics.stribeck_speed, 1);
  EXPECT_EQ(model.frictions[2].dynamics.friction, 1);

  const auto set = model.with({{"mu", 2}, {"P.flag.viscous", 7}, {"Q.load_friction", 0.1}, {"Q.stribeck_speed", 8}});
  ASSERT_TRUE(set) << set.failure().to_string();
  EXPECT_EQ(set->frictions[0].dynamics.friction, 4);
  EXPECT_EQ(set->frictions[0].dynamics.stribeck, 1);
  EXPECT_EQ(set->frictions[1].dynamics.damping, 7);
  EXPECT_EQ(set->frictions[2].dynamics.load_friction, 0.1);
  EXPECT_EQ(set->frictions[2].dynamics.stribeck_speed, 8);
  EXPECT_EQ(model.with({{"A.dri", 1}}).failure().to_string(),
            "error: cannot set 'A.dri': no such parameter, quantity or initial value; did you mean 'A.dry'?");
  EXPECT_EQ(model.with({{"A.dry", -1}}).failure().to_string(),
            "error: A.dry: must be >= 0, is -1\n"
            "m.yaml:15:49: error: A.stribeck: must be >= 0, is -0.25");
}

TEST(YamlFriction, Faults) {
  EXPECT_EQ(faults("joint: AA, dry: 1"), "m.yaml:15:13: error: unknown joint 'AA'");
  EXPECT_EQ(faults("joint: P.flg, dry: 1"), "m.yaml:15:13: error: unknown joint 'P.flg'; did you mean 'P.flag'?");
  EXPECT_EQ(faults("joint: A, dri: 1"), "m.yaml:15:16: error: unknown key 'dri'; did you mean 'dry'?");
  EXPECT_EQ(faults("joint: A, viscous: -1, load_friction: -2"),
            "m.yaml:15:25: error: A.viscous: must be >= 0, is -1\n"
            "m.yaml:15:44: error: A.load_friction: must be >= 0, is -2");
  EXPECT_EQ(faults("joint: A, stribeck_speed: 0"), "m.yaml:15:32: error: A.stribeck_speed: must be > 0, is 0");
  EXPECT_EQ(faults("joint: A, dry: t"),
            "m.yaml:15:21: error: 'A.dry' cannot depend on the time t; only laws, torques and loads can");
  EXPECT_EQ(faults("joint: A, dry: 1}\n  - {joint: A"),
            "m.yaml:16:13: error: joint 'A' has two frictions; the first is in line 15");
  EXPECT_EQ(faults("dry: 1"), "m.yaml:15:5: error: missing key 'joint' of a joint friction");
}

TEST(YamlFriction, GainAndInertiaOfMotors) {
  const Model model = read("motors: [{name: drive, coordinate: theta, gain: 3, inertia: mu/5}]\n");
  EXPECT_EQ(model.motors[0].gain, 3);
  EXPECT_EQ(model.motors[0].inertia, 0.1);
  const auto set = model.with({{"drive.gain", -2}, {"drive.inertia", 4}});
  ASSERT_TRUE(set) << set.failure().to_string();
  EXPECT_EQ(set->motors[0].gain, -2);
  EXPECT_EQ(set->motors[0].inertia, 4);
  EXPECT_EQ(read("motors: [{coordinate: theta}]\n").motors[0].gain, 1);
  EXPECT_EQ(model.with({{"drive.inertia", -4}}).failure().to_string(), "error: drive.inertia: must be >= 0, is -4");
}

TEST(YamlFriction, WhatNaturalCoordinatesLackIsNamed) {
  EXPECT_TRUE(natural_friction(read("motors: [{coordinate: theta, gain: 2}]\n")));
  const auto lacking =
      natural_friction(read("motors: [{coordinate: theta, inertia: 1}]\n"
                            "joint_friction: [{joint: A, dry: 1}, {joint: Q, quadratic: 1}]\n"));
  ASSERT_FALSE(lacking);
  EXPECT_EQ(lacking.failure().exit_status(), 2);
  EXPECT_EQ(lacking.failure().to_string(),
            "m.yaml:15:18: error: joint friction 'A' needs --formulation screw, or maximal of simulate\n"
            "m.yaml:15:38: error: joint friction 'Q' needs --formulation maximal of simulate\n"
            "m.yaml:14:10: error: motor 'theta': inertia needs --formulation screw, or maximal of simulate");
}

TEST(YamlFriction, WhatJointCoordinatesLackIsNamed) {
  Robot robot;
  Joint& joint = robot.joints.emplace_back();
  joint.name = "hip";
  joint.dynamics.resize(3);
  joint.dynamics[0].friction = joint.dynamics[0].damping = joint.dynamics[0].stribeck_speed = 2;
  EXPECT_TRUE(screw_friction(robot));
  joint.dynamics[1].quadratic = joint.dynamics[2].quadratic = joint.dynamics[2].stribeck = 1;
  EXPECT_EQ(screw_friction(robot).failure().to_string(),
            "error: joint 'hip': quadratic, stribeck needs --formulation maximal of simulate");
}

TEST(YamlFriction, FourBar) {
  const Result<Model> model = read_model(source_file("models/fourbar_friction.yaml"));
  ASSERT_TRUE(model) << model.failure().to_string();
  ASSERT_EQ(model->frictions.size(), 1u);
  EXPECT_EQ(model->frictions[0].name, "D");
  EXPECT_EQ(model->frictions[0].dynamics.friction, 2);
  EXPECT_TRUE(model->warnings.empty());
}

}  // namespace
}  // namespace kinegraph::yaml_friction_test
