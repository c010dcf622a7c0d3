#pragma once

// Machines in code, for the tests of identification.

#include <numbers>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kinegraph/model/model.hpp"
#include "kinegraph/model/source.hpp"

namespace kinegraph::identify {

/// The rotary pendulum of 002 (Table G.5): an arm about the vertical, a pendulum about the arm's own axis. θ₂ = 0 is
/// upright.
inline Model furuta() {
  Model model;
  model.file = "furuta.urdf";
  Robot& robot = model.robot;
  robot.gravity = {0, 0, -9.82};
  const auto link = [&](const char* name, double mass, const Vector3d& com, const Vector3d& moments) {
    Link made;
    made.name = name;
    made.has_inertia = true;
    made.inertia = {mass, com, moments.asDiagonal()};
    robot.links.push_back(made);
  };
  link("arm", 0.238, {0.128, 0, 0}, {1e-4, 0.003, 0.003});
  link("pendulum", 0.428, {0, 0, 0.092}, {0.004, 0.004, 1e-4});
  const auto joint = [&](const char* name, int parent, int child, const Vector3d& at, const Vector3d& axis) {
    Joint made;
    made.name = name;
    made.type = JointType::continuous;
    if (parent >= 0) made.parent = LinkIndex(parent);
    made.child = LinkIndex(child);
    made.X_PF = SE3(SO3(), at);
    made.axis = axis;
    made.dynamics = {JointDynamics{}};
    made.dynamics[0].armature = 1e-4;
    robot.joints.push_back(made);
  };
  joint("shoulder", -1, 0, {0, 0, 0}, Vector3d::UnitZ());
  joint("elbow", 0, 1, {0.376, 0, 0}, Vector3d::UnitX());
  robot.joints[0].dynamics[0].damping = 1e-3;
  robot.joints[1].dynamics[0].damping = 1e-4;
  robot.joints[1].initial_q = {std::numbers::pi - 0.03};
  robot.X_WL = {SE3(), SE3(SO3(), {0.376, 0, 0})};
  return model;
}

/// A planar file, element by element.
class PlanarFile {
 public:
  using Fields = std::vector<std::pair<std::string, std::string>>;

  PlanarFile() { source_.file = "machine.yaml"; }
  PlanarFile& parameter(const std::string& name, const std::string& value) {
    source_.parameters.push_back({{name, {}}, {value, {}}});
    return *this;
  }
  /// Values in brackets are lists: "[A, P]".
  PlanarFile& add(Section section, const Fields& fields) {
    ElementSource element;
    element.where = {source_.file, ++line_, 1};
    for (const auto& [key, value] : fields) element.fields[key] = field(value);
    source_.of(section).push_back(element);
    return *this;
  }
  PlanarFile& initial(const std::string& name, const std::string& value) {
    source_.initial.push_back({{name, {}}, {value, {}}});
    return *this;
  }
  Result<Model> read() const { return evaluate(std::make_shared<const ModelSource>(source_), {}); }

 private:
  Field field(const std::string& value) const {
    Field made;
    made.where = {source_.file, line_, 1};
    made.list = value.starts_with('[');
    if (!made.list) {
      made.items.push_back({value, made.where});
      return made;
    }
    std::size_t from = 1;
    while (from < value.size()) {
      const std::size_t to = value.find_first_of(",]", from);
      const std::size_t first = value.find_first_not_of(' ', from);
      made.items.push_back({value.substr(first, to - first), made.where});
      from = to + 1;
    }
    return made;
  }

  ModelSource source_;
  int line_ = 0;
};

/// A rod that swings about A, its friction there, a sensor: of type encoder, or one on the rod; motors that turn it.
inline Model pendulum(const std::string& sensor = "encoder", const std::vector<std::string>& motors = {"motor"}) {
  PlanarFile file;
  file.parameter("L", "0.5").parameter("m", "0.3");
  file.add(Section::points, {{"name", "A"}, {"x", "0"}, {"y", "0"}, {"fixed", "true"}});
  file.add(Section::points, {{"name", "P"}, {"x", "0"}, {"y", "-L"}});
  file.add(Section::planar_bodies, {{"name", "rod"}, {"points", "[A, P]"}, {"mass", "m"}});
  file.add(Section::relative_coordinates, {{"name", "theta"}, {"type", "absolute_angle"}, {"points", "[A, P]"}});
  for (const std::string& motor : motors) {
    file.add(Section::motors, {{"name", motor}, {"coordinate", "theta"}, {"gain", "0.2"}});
  }
  file.add(Section::joint_friction, {{"joint", "A"}, {"viscous", "0.001"}, {"dry", "0.002"}});
  const bool encoder = sensor == "encoder";
  file.add(Section::sensors, {{"name", sensor},
                              {"type", sensor},
                              {encoder ? "coordinate" : "body", encoder ? "theta" : "rod"},
                              {"noise", "0.001"}});
  file.initial("theta.q", "-1");
  Result<Model> model = file.read();
  if (!model) throw std::runtime_error(model.failure().to_string());
  return *model;
}

/// A crank of 1 m, a coupler of 3 m and a rocker of 2 m on a ground of 3 m; an angle of the crank.
inline Model four_bar() {
  PlanarFile file;
  file.add(Section::points, {{"name", "A"}, {"x", "0"}, {"y", "0"}, {"fixed", "true"}});
  file.add(Section::points, {{"name", "P"}, {"x", "0"}, {"y", "1"}});
  file.add(Section::points, {{"name", "Q"}, {"x", "2.6"}, {"y", "1.95"}});
  file.add(Section::points, {{"name", "D"}, {"x", "3"}, {"y", "0"}, {"fixed", "true"}});
  file.add(Section::planar_bodies, {{"name", "crank"}, {"points", "[A, P]"}, {"mass", "1"}, {"length", "1"}});
  file.add(Section::planar_bodies, {{"name", "coupler"}, {"points", "[P, Q]"}, {"mass", "2"}, {"length", "2.8"}});
  file.add(Section::planar_bodies, {{"name", "rocker"}, {"points", "[D, Q]"}, {"mass", "1.5"}, {"length", "2"}});
  file.add(Section::relative_coordinates, {{"name", "theta"}, {"type", "absolute_angle"}, {"points", "[A, P]"}});
  file.add(Section::motors, {{"name", "motor"}, {"coordinate", "theta"}});
  file.add(Section::joint_friction, {{"joint", "D"}, {"dry", "0.5"}});
  Result<Model> model = file.read();
  if (!model) throw std::runtime_error(model.failure().to_string());
  return *model;
}

}  // namespace kinegraph::identify
