#pragma once

// Arms and linkages built in code, for the tests of kinematics and check on spatial models.

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "kinegraph/model/model.hpp"

namespace kinegraph::linkages {

inline SE3 pose(double x, double y, double z, double about_x = 0, double about_y = 0, double about_z = 0) {
  const SO3 R = SO3::exp({0, 0, about_z}) * SO3::exp({0, about_y, 0}) * SO3::exp({about_x, 0, 0});
  return {R, Vector3d(x, y, z)};
}

inline int add_link(Robot& robot, const std::string& name, double mass = 1) {
  Link link;
  link.name = name;
  link.inertia.mass = mass;
  link.inertia.about_com = 0.01 * mass * Matrix3d::Identity();
  link.has_inertia = mass > 0;
  robot.links.push_back(link);
  return static_cast<int>(robot.links.size()) - 1;
}

inline Joint& add_joint(Robot& robot, const std::string& name, JointType type, int parent, int child, const SE3& X_PF,
                        const Vector3d& axis = Vector3d::UnitZ()) {
  Joint joint;
  joint.name = name;
  joint.type = type;
  if (parent >= 0) joint.parent = LinkIndex{parent};
  joint.child = LinkIndex{child};
  joint.X_PF = X_PF;
  joint.axis = axis;
  robot.joints.push_back(joint);
  return robot.joints.back();
}

inline JointLimits limits(double lower, double upper) {
  JointLimits l;
  l.lower = lower;
  l.upper = upper;
  return l;
}

inline Model model_of(Robot robot) {
  Model model;
  model.name = "robot";
  model.robot = std::move(robot);
  return model;
}

/// Shoulder, elbow and wrist of three, one and three hinges; reach 0.926 m from the shoulder at 0.34 m.
inline Robot seven_joint_arm() {
  Robot robot;
  const double bend[] = {2.9, 2.05, 2.9, 2.05, 2.9, 2.05, 3.0};
  const double height[] = {0.34, 0, 0.4, 0, 0.4, 0, 0.126};
  const Vector3d axis[] = {Vector3d::UnitZ(), Vector3d::UnitY(), Vector3d::UnitZ(), -Vector3d::UnitY(),
                           Vector3d::UnitZ(), Vector3d::UnitY(), Vector3d::UnitZ()};
  int parent = add_link(robot, "base", 0);
  for (int i = 0; i < 7; ++i) {
    const int link = add_link(robot, i == 6 ? "hand" : "link" + std::to_string(i + 1));
    add_joint(robot, "joint" + std::to_string(i + 1), JointType::revolute, parent, link, pose(0, 0, height[i]), axis[i])
        .limits = {limits(-bend[i], bend[i])};
    parent = link;
  }
  return robot;
}

/// Four links of lengths a, b, a, b and twists α, β, α, β with sin α / a = sin β / b: it moves, although six equations
/// tie four hinges. It starts at θ₁ = 1 rad.
inline Robot bennett(double a = 0.3, double b = 0.5, double alpha = 0.5) {
  const double beta = std::asin(b / a * std::sin(alpha));
  Robot robot;
  const int ground = add_link(robot, "ground", 0), one = add_link(robot, "one"), two = add_link(robot, "two"),
            three = add_link(robot, "three");
  add_joint(robot, "j1", JointType::continuous, ground, one, SE3());
  add_joint(robot, "j2", JointType::continuous, one, two, pose(a, 0, 0, alpha));
  add_joint(robot, "j3", JointType::continuous, two, three, pose(b, 0, 0, beta));
  Joint& j4 = add_joint(robot, "j4", JointType::continuous, three, ground, pose(a, 0, 0, alpha));
  j4.X_CM = pose(b, 0, 0, beta).inverse();
  j4.closes_loop = true;
  // tan(θ₁/2) tan(θ₂/2) = sin((α + β)/2) / sin((β − α)/2)
  const double k = std::sin((alpha + beta) / 2) / std::sin((beta - alpha) / 2);
  const double t2 = 2 * std::atan(k / std::tan(0.5));
  const double start[] = {1.0, t2, -1.0, -t2};
  for (int i = 0; i < 4; ++i) robot.joints[i].initial_q = {start[i]};
  return robot;
}

/// A planar four-bar with hinges about −y: crank 0.2, coupler 0.5, rocker 0.4, ground 0.5. Drawn with the crank along
/// x.
inline Robot four_bar() {
  Robot robot;
  const int ground = add_link(robot, "ground", 0), crank = add_link(robot, "crank"),
            coupler = add_link(robot, "coupler"), rocker = add_link(robot, "rocker");
  const Vector3d y = -Vector3d::UnitY();
  // The far end of the coupler: 0.5 from (0.2, 0), 0.4 from (0.5, 0).
  const double x = (0.25 - 0.16 + 0.25 - 0.04) / 0.6, z = std::sqrt(0.16 - (x - 0.5) * (x - 0.5));
  const double up = std::atan2(z, x - 0.2), rock = std::atan2(z, x - 0.5);
  add_joint(robot, "crank", JointType::continuous, ground, crank, SE3(), y);
  add_joint(robot, "pin", JointType::revolute, crank, coupler, pose(0.2, 0, 0, 0, -up), y);
  add_joint(robot, "rocker", JointType::revolute, ground, rocker, pose(0.5, 0, 0, 0, -rock), y);
  Joint& end = add_joint(robot, "end", JointType::revolute, coupler, rocker, pose(0.5, 0, 0), y);
  end.X_CM = pose(0.4, 0, 0, 0, rock - up);
  end.closes_loop = true;
  return robot;
}

}  // namespace kinegraph::linkages
