#include "kinegraph/model/columns.hpp"

#include "kinegraph/model/joint_names.hpp"
#include "kinegraph/model/loops.hpp"
#include "kinegraph/model/pins.hpp"

namespace kinegraph {
namespace {

void add(std::vector<std::string>& columns, const std::string& element, std::initializer_list<const char*> quantities) {
  for (const char* quantity : quantities) columns.push_back(element + quantity);
}

void add_joint(std::vector<std::string>& columns, const Joint& joint) {
  for (const auto names : {position_names, velocity_names, acceleration_names, torque_names}) {
    for (std::string& name : names(joint.name, joint.type)) columns.push_back(std::move(name));
  }
  add(columns, joint.name + ".reaction", {".mx", ".my", ".mz", ".fx", ".fy", ".fz"});
}

}  // namespace

std::vector<std::string> motion_columns(const Robot& robot) {
  std::vector<std::string> columns;
  for (const Joint& joint : robot.joints) add_joint(columns, joint);
  for (const Joint& base : floating_bases(robot)) add_joint(columns, base);
  for (const Link& link : robot.links) add(columns, link.name, {".x", ".y", ".z", ".qw", ".qx", ".qy", ".qz"});
  return columns;
}

std::vector<std::string> motion_columns(const Model& model) {
  if (model.spatial()) return motion_columns(model.robot);
  std::vector<std::string> columns;
  for (const Point& p : model.points) {
    if (!p.fixed) add(columns, p.name, {".x", ".y", ".vx", ".vy", ".ax", ".ay"});
  }
  for (const RelativeCoordinate& r : model.relative) add(columns, r.name, {".q", ".v", ".a"});
  for (const Motor& m : model.motors) add(columns, m.name, {".tau"});
  for (const Pin& pin : pins(model)) add(columns, pin.name, {".fx", ".fy"});
  return columns;
}

}  // namespace kinegraph
