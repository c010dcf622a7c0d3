#pragma once

#include <Eigen/Geometry>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "kinegraph/model/model.hpp"
#include "kinegraph/model/trajectory.hpp"

namespace kinegraph::task {

/// Robots made in memory, for tests of this module: it does not read files.
class RobotMaker {
 public:
  LinkIndex link(const std::string& name, double mass, const Vector3d& com, const Vector3d& inertia) {
    Link link;
    link.name = name;
    link.inertia = {mass, com, inertia.asDiagonal()};
    link.has_inertia = true;
    model.robot.links.push_back(link);
    return LinkIndex(static_cast<int>(model.robot.links.size()) - 1);
  }

  Joint& joint(const std::string& name, JointType type, LinkIndex parent, LinkIndex child, const Vector3d& place,
               const Vector3d& axis, const Vector3d& place_on_child = Vector3d::Zero()) {
    Joint joint;
    joint.name = name;
    joint.type = type;
    joint.parent = parent;
    joint.child = child;
    joint.X_PF = SE3(SO3(), place);
    joint.X_CM = SE3(SO3(), place_on_child);
    joint.axis = axis.normalized();
    model.robot.joints.push_back(joint);
    return model.robot.joints.back();
  }

  Model model;
};

/// Three revolute joints about different axes, then a link `tool` fixed to the last one; armature in the first,
/// damping in the second. Hangs on the ground, or floats with its first joint on a body.
inline Model arm_of_three(Robot::Base base = Robot::Base::fixed) {
  RobotMaker make;
  make.model.robot.base = base;
  const LinkIndex foot = make.link("foot", 4, {0.1, 0, -0.1}, {0.1, 0.2, 0.15});
  const LinkIndex a = make.link("a", 2, {0.05, 0.02, 0.2}, {0.03, 0.04, 0.01});
  const LinkIndex b = make.link("b", 1.5, {0.25, 0, 0.03}, {0.002, 0.03, 0.03});
  const LinkIndex c = make.link("c", 0.7, {0.15, 0.01, 0}, {0.001, 0.01, 0.012});
  const LinkIndex tool = make.link("tool", 0.2, {0, 0, 0.05}, {1e-3, 1e-3, 5e-4});
  make.joint("waist", JointType::revolute, foot, a, {0, 0, 0.1}, {0, 0, 1}).dynamics = {{0, 0, 0, 0, 0.3}};
  make.joint("shoulder", JointType::revolute, a, b, {0, 0.05, 0.4}, {0, 1, 0}).dynamics = {{0.6, 0, 0, 0, 0}};
  make.joint("elbow", JointType::revolute, b, c, {0.5, 0, 0}, {0.3, 1, -0.2});
  make.joint("flange", JointType::fixed, c, tool, {0.3, 0, 0.02}, {0, 0, 1});
  return make.model;
}

/// A five-bar in the x-y plane, two freedoms: j1 … j4 from the ground on, j5 closes the loop.
inline Model five_bar() {
  const std::vector<Vector3d> corner{{-0.2, 0, 0}, {-0.3, 0.5, 0}, {0.1, 0.8, 0}, {0.45, 0.4, 0}, {0.2, 0, 0}};
  RobotMaker make;
  make.model.robot.gravity = {0, -kGravity, 0};
  std::vector<LinkIndex> links{make.link("ground", 1, {0, 0, 0}, {1, 1, 1})};
  make.joint("weld", JointType::fixed, LinkIndex(), links[0], {0, 0, 0}, {0, 0, 1});
  for (int i = 1; i <= 4; ++i) {
    const Vector3d bar = corner[i] - corner[i - 1];
    links.push_back(make.link("bar" + std::to_string(i), 1 + 0.3 * i, 0.5 * bar, {0.001, 0.02, 0.02 + 0.003 * i}));
    const Vector3d place = i == 1 ? corner[0] : Vector3d(corner[i - 1] - corner[i - 2]);
    make.joint("j" + std::to_string(i), JointType::revolute, links[i - 1], links[i], place, {0, 0, 1});
  }
  make.joint("j5", JointType::revolute, links[4], links[0], corner[4] - corner[3], {0, 0, 1}, corner[4]).closes_loop =
      true;
  return make.model;
}

/// A table of one row.
inline Trajectory one_row(const std::vector<std::pair<std::string, double>>& cells, double t = 0) {
  std::vector<std::string> names;
  for (const auto& [name, value] : cells) names.push_back(name);
  Trajectory table(names);
  double* row = table.append(t);
  for (const auto& [name, value] : cells) *row++ = value;
  return table;
}

inline double cell(const Trajectory& table, int sample, const std::string& name) {
  const int series = table.find(name);
  return series < 0 ? std::nan("") : table.at(sample, series);
}

/// The same table with some columns only, in their order.
inline Trajectory with_columns(const Trajectory& table, const std::vector<std::string>& names) {
  Trajectory part(names);
  for (int k = 0; k < table.samples(); ++k) {
    double* row = part.append(table.times()[k]);
    for (const std::string& name : names) *row++ = cell(table, k, name);
  }
  return part;
}

}  // namespace kinegraph::task
