#include "kinegraph/model/robot_settings.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace kinegraph::robot_settings_test {
namespace {

/// base (floating) – elbow (revolute) – arm – ball – hand
Model model() {
  Model model;
  model.file = "r.urdf";
  Robot& robot = model.robot;
  robot.base = Robot::Base::floating;
  for (const char* name : {"body", "arm", "hand"}) {
    Link link;
    link.name = name;
    link.inertia = {1, Vector3d::Zero(), Matrix3d::Identity()};
    robot.links.push_back(link);
    robot.X_WL.emplace_back(SO3(), Vector3d(0, 0, robot.links.size()));
  }
  Joint elbow;
  elbow.name = "elbow";
  elbow.type = JointType::revolute;
  elbow.parent = LinkIndex(0), elbow.child = LinkIndex(1);
  robot.joints.push_back(elbow);
  Joint wrist = elbow;
  wrist.name = "wrist";
  wrist.type = JointType::ball;
  wrist.parent = LinkIndex(1), wrist.child = LinkIndex(2);
  robot.joints.push_back(wrist);
  return model;
}

Robot set(const Settings& settings) {
  Result<Model> changed = model().with(settings);
  EXPECT_TRUE(changed.ok()) << (changed ? "" : changed.failure().to_string());
  return changed ? changed->robot : Robot{};
}

std::string refused(const Settings& settings) {
  const Result<Model> changed = model().with(settings);
  return changed ? "accepted" : changed.failure().to_string();
}

TEST(RobotSettings, Links) {
  const Robot robot = set({{"arm.mass", 3}, {"arm.com_y", 0.5}, {"arm.ixy", 0.1}, {"hand.izz", 1.5}});
  EXPECT_EQ(robot.links[1].inertia.mass, 3);
  EXPECT_EQ(robot.links[1].inertia.com, Vector3d(0, 0.5, 0));
  EXPECT_EQ(robot.links[1].inertia.about_com(0, 1), 0.1);
  EXPECT_EQ(robot.links[1].inertia.about_com(1, 0), 0.1);
  EXPECT_EQ(robot.links[2].inertia.about_com(2, 2), 1.5);
  EXPECT_EQ(robot.links[0].inertia.mass, 1);
  EXPECT_EQ(robot.joints.size(), 2u);
}

TEST(RobotSettings, Joints) {
  const Robot robot = set({{"elbow.damping", 0.1},
                           {"elbow.armature", 0.2},
                           {"elbow.stiffness", 7},
                           {"elbow.rest", 0.3},
                           {"elbow.friction", 0.4},
                           {"elbow.upper", 2},
                           {"wrist.damping2", 5}});
  const Joint &elbow = robot.joints[0], &wrist = robot.joints[1];
  ASSERT_EQ(elbow.dynamics.size(), 1u);
  EXPECT_EQ(elbow.dynamics[0].damping, 0.1);
  EXPECT_EQ(elbow.dynamics[0].armature, 0.2);
  EXPECT_EQ(elbow.dynamics[0].stiffness, 7);
  EXPECT_EQ(elbow.dynamics[0].rest, 0.3);
  EXPECT_EQ(elbow.dynamics[0].friction, 0.4);
  EXPECT_EQ(elbow.limits.at(0).upper, 2);
  EXPECT_EQ(elbow.limits.at(0).lower, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(wrist.dynamics.at(1).damping, 5);
  // What was not set stays as empty as it was.
  EXPECT_TRUE(wrist.limits.empty());
  EXPECT_TRUE(elbow.initial_q.empty());
}

TEST(RobotSettings, FrictionAndGain) {
  const Robot robot = set({{"elbow.viscous", 1},
                           {"elbow.dry", 2},
                           {"elbow.stribeck", 3},
                           {"elbow.stribeck_speed", 4},
                           {"elbow.quadratic", 5},
                           {"elbow.load_friction", 6},
                           {"elbow.gain", -7},
                           {"wrist.dry3", 8}});
  JointDynamics d = robot.joints[0].dynamics.at(0);
  const auto numbers = friction_numbers(d);
  for (int k = 0; k < 6; ++k) EXPECT_EQ(*numbers[k], k + 1) << k;
  EXPECT_EQ(d.damping, 1);
  EXPECT_EQ(d.friction, 2);
  EXPECT_EQ(d.gain, -7);
  EXPECT_EQ(robot.joints[1].dynamics.at(2).friction, 8);
  EXPECT_EQ(refused({{"elbow.dry", 1}, {"elbow.friction", 1}}),
            "error: elbow.friction and elbow.dry are the same number");
  EXPECT_EQ(refused({{"elbow.quadratic", -1}}), "error: joint 'elbow': quadratic must be >= 0, is -1");
  EXPECT_EQ(refused({{"elbow.stribeck_speed", 0}}), "error: joint 'elbow': stribeck_speed must be > 0, is 0");
}

TEST(RobotSettings, Surfaces) {
  Model given = model();
  EXPECT_FALSE(given.with({{"arm.mu", 1}}));  // it has no shape
  given.robot.links[1].collisions.resize(2);
  const auto changed = given.with({{"arm.mu", 0.75}, {"arm.restitution", 1}});
  ASSERT_TRUE(changed) << changed.failure().to_string();
  for (const Shape& shape : changed->robot.links[1].collisions) {
    EXPECT_EQ(shape.friction, 0.75);
    EXPECT_EQ(shape.restitution, 1);
  }
  EXPECT_EQ(given.with({{"arm.mu", -1}}).failure().to_string(),
            "error: link 'arm': mu of its surface must be >= 0, is -1");
  EXPECT_EQ(given.with({{"arm.restitution", 2}}).failure().to_string(),
            "error: link 'arm': restitution of its surface must be between 0 and 1, is 2");
}

TEST(RobotSettings, PlacesOfJoints) {
  Model given = model();
  Robot& robot = given.robot;
  robot.joints[0].X_PF = SE3(SO3::exp({0, 0, 1}), {1, 2, 3});
  robot.joints[1].X_PF = SE3(SO3(), {0, 0, 1});
  const auto changed = given.with({{"elbow.x", 5}, {"wrist.z", 2}});
  ASSERT_TRUE(changed) << changed.failure().to_string();
  const Robot& r = changed->robot;
  EXPECT_EQ(r.joints[0].X_PF.position(), Vector3d(5, 2, 3));
  EXPECT_TRUE(r.joints[0].X_PF.rotation().matrix().isApprox(SO3::exp({0, 0, 1}).matrix()));
  EXPECT_EQ(r.joints[1].X_PF.position(), Vector3d(0, 0, 2));
  EXPECT_EQ(r.joints.size(), 2u);
  // What hangs on them is drawn anew; the root stays.
  EXPECT_EQ(r.X_WL[0].position(), Vector3d(0, 0, 1));
  EXPECT_EQ(r.X_WL[1].position(), Vector3d(5, 2, 4));
  EXPECT_EQ(r.X_WL[2].position(), Vector3d(5, 2, 6));
  // Of the floating base .x is where it starts.
  EXPECT_EQ(set({{"base.z", 4}}).joints.at(2).initial_q[6], 4);
}

TEST(RobotSettings, InitialValues) {
  const Robot robot = set({{"elbow.q", 0.5}, {"elbow.v", -1}, {"wrist.qx", 1}, {"wrist.wz", 2}});
  EXPECT_EQ(robot.joints[0].initial_q, std::vector<double>{0.5});
  EXPECT_EQ(robot.joints[0].initial_v, std::vector<double>{-1});
  const std::vector<double>& q = robot.joints[1].initial_q;
  EXPECT_NEAR(q.at(0), std::sqrt(0.5), 1e-15);
  EXPECT_NEAR(q.at(1), std::sqrt(0.5), 1e-15);
  EXPECT_EQ(robot.joints[1].initial_v, (std::vector<double>{0, 0, 2}));
  EXPECT_EQ(refused({{"wrist.qw", 0}}), "error: wrist.qw, .qx, .qy, .qz: a quaternion cannot be 0");
}

TEST(RobotSettings, TheBaseBecomesAJoint) {
  const Robot robot = set({{"base.x", 3}, {"base.vz", 4}});
  ASSERT_EQ(robot.joints.size(), 3u);
  const Joint& base = robot.joints[2];
  EXPECT_EQ(base.name, "base");
  EXPECT_EQ(base.type, JointType::floating);
  EXPECT_FALSE(base.parent.valid());
  EXPECT_EQ(base.child, LinkIndex(0));
  EXPECT_TRUE(base.passive);
  EXPECT_EQ(base.initial_q, (std::vector<double>{1, 0, 0, 0, 3, 0, 1}));  // the rest as drawn
  EXPECT_EQ(base.initial_v, (std::vector<double>{0, 0, 0, 0, 0, 4}));
}

TEST(RobotSettings, Gravity) {
  EXPECT_EQ(set({{"gravity", 1.62}}).gravity, Vector3d(0, 0, -1.62));
  EXPECT_EQ(set({{"gravity.x", 1}}).gravity, Vector3d(1, 0, -9.81));
  EXPECT_EQ(set({{"gravity_z", 0}}).gravity, Vector3d(0, 0, 0));
}

TEST(RobotSettings, Refused) {
  const std::string no_such = ": no such parameter, quantity or initial value";
  EXPECT_EQ(refused({{"arm.mas", 1}, {"elbow", 1}, {"nothing.like.it", 1}}), "error: cannot set 'arm.mas'" + no_such +
                                                                                 "; did you mean 'arm.mass'?\n"
                                                                                 "error: cannot set 'elbow'" +
                                                                                 no_such +
                                                                                 "; did you mean 'elbow.q'?\n"
                                                                                 "error: cannot set 'nothing.like.it'" +
                                                                                 no_such);
  EXPECT_EQ(refused({{"arm.mass", -1}}), "error: link 'arm': the mass must be >= 0, is -1");
  EXPECT_EQ(refused({{"elbow.lower", 1}, {"elbow.upper", 0}}),
            "error: joint 'elbow': the lower limit 1 is above the upper limit 0");
  const std::string range = "error: arm.mass: must be a number from -1e+50 to 1e+50, is ";
  EXPECT_EQ(refused({{"arm.mass", std::numeric_limits<double>::infinity()}}), range + "inf");
  EXPECT_EQ(refused({{"arm.mass", std::nan("")}}), range + "nan");
  EXPECT_EQ(refused({{"arm.mass", 1e51}}), range + "1e+51");
  EXPECT_EQ(refused({{"arm.mass", -1e51}}), range + "-1e+51");
}

TEST(RobotSettings, AddUp) {
  const Result<Model> first = model().with({{"arm.mass", 2}, {"hand.mass", 5}});
  ASSERT_TRUE(first.ok());
  const Result<Model> second = first->with({{"arm.mass", 3}});
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->robot.links[1].inertia.mass, 3);
  EXPECT_EQ(second->robot.links[2].inertia.mass, 5);
  EXPECT_EQ(second->settings, (Settings{{"arm.mass", 3}, {"hand.mass", 5}}));
}

TEST(RobotSettings, NamesAreValid) {
  Settings all;
  const std::vector<std::string> names = setting_names(model().robot);
  EXPECT_GT(names.size(), 100u);
  for (const std::string& name : names) all[name] = 1;
  for (const char* off : {"ixy", "ixz", "iyz"}) {
    for (const char* link : {"body.", "arm.", "hand."}) all[std::string(link) + off] = 0;
  }
  EXPECT_EQ(set(all).joints.size(), 3u);
}

TEST(RobotSettings, ValuesAreWhatCanBeSet) {
  const Settings values = model().with({{"elbow.friction", 0.3}})->values();
  EXPECT_EQ(values.at("arm.mass"), 1);
  EXPECT_EQ(values.at("elbow.friction"), 0.3);
  EXPECT_EQ(values.at("base.qw"), 1);
  for (const auto& [name, value] : values) {
    if (!std::isfinite(value)) continue;
    EXPECT_EQ(refused({{name, value}}), "accepted") << name;
  }
}

}  // namespace
}  // namespace kinegraph::robot_settings_test
