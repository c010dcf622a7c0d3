#include "kinegraph/model/setting_quantity.hpp"

#include <algorithm>

#include "kinegraph/model/quantities.hpp"

namespace kinegraph {
namespace {

template <class List>
auto find_named(const List& list, const std::string& name) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const auto& element) { return element.name == name; });
  return found == list.end() ? nullptr : &*found;
}

/// q and v of something that turns or slides.
std::string_view of_motion(std::string_view key, bool turns) {
  if (key == "q") return turns ? "angle" : "length";
  if (key == "v") return turns ? "angular velocity" : "velocity";
  return "";
}

std::string_view of_robot(const Model& model, const std::string& head, std::string_view key) {
  if (find_named(model.robot.links, head)) return key == "mass" ? "mass" : "";
  const Joint* joint = find_named(model.robot.joints, head);
  if (!joint) return "";
  const bool turns = joint->type == JointType::revolute || joint->type == JointType::continuous;
  return turns || joint->type == JointType::prismatic ? of_motion(key, turns) : "";
}

}  // namespace

std::string_view quantity_of_setting(const Model& model, const std::string& name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos) return "";
  const std::string head = name.substr(0, dot), key = name.substr(dot + 1);
  if (model.spatial()) return of_robot(model, head, key);
  if (const RelativeCoordinate* found = find_named(model.relative, head)) {
    return of_motion(key, found->type != RelativeCoordinate::Type::relative_position);
  }
  if (find_named(model.points, head)) {
    if (key == "x" || key == "y") return "length";
    if (key == "vx" || key == "vy") return "velocity";
  }
  if (find_named(model.bodies, head)) {
    if (key == "mass") return "mass";
    if (key == "length") return "length";
  }
  return quantity_of(key);
}

}  // namespace kinegraph
