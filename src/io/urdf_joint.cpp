#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "kinegraph/base/names.hpp"
#include "kinegraph/io/urdf_reader.hpp"

namespace kinegraph::io {
namespace {

bool has_axis(JointType type) {
  return type != JointType::fixed && type != JointType::ball && type != JointType::floating;
}

std::vector<std::string> names_of(const std::map<std::string, int>& indices) {
  std::vector<std::string> names;
  for (const auto& [name, index] : indices) names.push_back(name);
  return names;
}

/// A name without its namespace: drake:gear_ratio and gear_ratio are the same to us.
std::string_view local_name(std::string_view name) {
  const std::size_t colon = name.rfind(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

}  // namespace

void UrdfReader::joint(pugi::xml_node element) {
  Joint joint;
  joint.where = tree_.where(element);
  joint.name = fresh_name(element, joints_, static_cast<int>(robot_.joints.size()));
  const std::string owner = "joint " + quote(joint.name);
  joint.type = type(element, owner);
  joint.parent = end(element, "parent", owner);
  joint.child = end(element, "child", owner);
  if (joint.child.valid() && joint.parent == joint.child) {
    sound_references_ = false;
    findings_.error(tree_.where_value(element.child("child").attribute("link")),
                    owner + ": parent and child are the same link");
  }
  joint.X_PF = origin(element, owner);
  axes(element, joint, owner);
  limits(element, joint, owner);
  dynamics(element, joint, owner);
  if (const pugi::xml_node mimic = element.child("mimic")) {
    followers_.push_back({static_cast<int>(robot_.joints.size()), mimic});
  }
  robot_.joints.push_back(std::move(joint));
}

JointType UrdfReader::type(pugi::xml_node element, const std::string& owner) {
  const std::string name = xml_.text(element, "type", owner);
  if (name.empty()) return JointType::fixed;
  if (name == "spherical") return JointType::ball;
  std::vector<std::string> known;
  for (const JointType type : kJointTypes) {
    if (name == to_string(type)) return type;
    known.emplace_back(to_string(type));
  }
  std::string guess = did_you_mean(name, known);
  if (guess.empty()) guess = fmt::format("; expected one of {}", fmt::join(known, ", "));
  findings_.error(tree_.where_value(element.attribute("type")), owner + ": unknown type " + quote(name) + guess);
  return JointType::fixed;
}

/// The link at one end. A parent "world" that is not a link of the file is the world.
LinkIndex UrdfReader::end(pugi::xml_node element, const char* which, const std::string& owner) {
  const pugi::xml_node end = element.child(which);
  const std::string name = end ? xml_.text(end, "link", owner) : "";
  if (const auto found = links_.find(name); found != links_.end()) return LinkIndex(found->second);
  if (name == "world" && std::string_view(which) == "parent") return LinkIndex();
  sound_references_ = false;
  if (!end) {
    findings_.error(tree_.where(element), fmt::format("{} has no element '{}'", owner, which));
  } else if (!name.empty()) {
    findings_.error(tree_.where_value(end.attribute("link")),
                    fmt::format("{}: unknown link {}{}", owner, quote(name),
                                findings_.many() ? "" : did_you_mean(name, names_of(links_))));
  }
  return LinkIndex();
}

void UrdfReader::axes(pugi::xml_node element, Joint& joint, const std::string& owner) {
  if (!has_axis(joint.type)) return;
  joint.axis = direction(element.child("axis"), owner, Vector3d::UnitX());
  if (joint.type == JointType::universal) {
    const pugi::xml_node second = element.child("axis2");
    joint.axis2 = direction(second, owner, joint.axis.unitOrthogonal());
    if (joint.axis.cross(joint.axis2).norm() < 1e-6) {
      findings_.error(tree_.where(second), owner + ": the two axes of a universal joint must not be parallel");
    }
  }
  if (joint.type != JointType::screw) return;
  if (const pugi::xml_node screw = element.child("screw"); screw && !element.attribute("pitch")) {
    joint.pitch = xml_.number(screw, "pitch", owner);
  } else {
    joint.pitch = xml_.number(element, "pitch", owner);
  }
}

/// The unit vector of <axis xyz="…"/>.
Vector3d UrdfReader::direction(pugi::xml_node element, const std::string& owner, const Vector3d& fallback) {
  if (!element) return fallback;
  Vector3d axis = Vector3d::Zero();
  if (!xml_.numbers(element, "xyz", owner, {axis.data(), 3}, true)) return fallback;
  const double largest = axis.cwiseAbs().maxCoeff();
  if (largest > 1e-12) return (axis / largest).normalized();
  findings_.error(tree_.where_value(element.attribute("xyz")), owner + ": the axis is zero");
  return fallback;
}

/// One <limit> holds for all freedoms; of several the first for the first, and so on.
void UrdfReader::limits(pugi::xml_node element, Joint& joint, const std::string& owner) {
  const int n = freedoms(joint.type);
  const bool needs = joint.type == JointType::revolute || joint.type == JointType::prismatic;
  if (!element.child("limit") && needs) {
    findings_.warning("no limit", joint.where,
                      fmt::format("{}: {} without 'limit': taken as unlimited", owner, to_string(joint.type)),
                      quote(joint.name));
  }
  if (n == 0) return;
  const bool turns_freely = joint.type == JointType::continuous || stored_numbers(joint.type) != n;
  for (const pugi::xml_node limit : element.children("limit")) {
    JointLimits& l = joint.limits.emplace_back();
    const double velocity = xml_.bound(limit, "velocity", owner, l.velocity);
    const double effort = xml_.bound(limit, "effort", owner, l.effort);
    if (!std::isnan(velocity + effort)) l.velocity = velocity, l.effort = effort;
    const bool lower = bool(limit.attribute("lower")), upper = bool(limit.attribute("upper"));
    if (turns_freely) continue;  // continuous and ball joints have no bounds of their position
    if (lower || upper) {
      JointLimits bounds;
      bounds.lower = xml_.bound(limit, "lower", owner, 0);
      bounds.upper = xml_.bound(limit, "upper", owner, 0);
      if (!std::isnan(bounds.lower + bounds.upper)) l.lower = bounds.lower, l.upper = bounds.upper;
    } else if (needs) {
      findings_.warning("no bounds", tree_.where(limit),
                        owner + ": 'limit' without lower and upper: taken as unlimited", quote(joint.name));
    }
  }
  const int given = static_cast<int>(joint.limits.size());
  if (given > 1 && given != n) {
    findings_.error(joint.where,
                    fmt::format("{}: {} elements 'limit' for {} freedom{}", owner, given, n, n == 1 ? "" : "s"));
  }
  if (given == 1) joint.limits.resize(n, JointLimits(joint.limits.front()));
}

void UrdfReader::dynamics(pugi::xml_node element, Joint& joint, const std::string& owner) {
  const int n = freedoms(joint.type);
  for (const pugi::xml_node dynamics : element.children("dynamics")) {
    JointDynamics& d = joint.dynamics.emplace_back();
    d.damping = xml_.number(dynamics, "damping", owner, 0);
    d.friction = xml_.number(dynamics, "friction", owner, 0);
    d.stiffness = xml_.number(dynamics, "spring_stiffness", owner, 0);
    d.rest = xml_.number(dynamics, "spring_reference", owner, 0);
  }
  const int given = static_cast<int>(joint.dynamics.size());
  if (given > 1 && given != n && n > 0) {
    findings_.error(joint.where,
                    fmt::format("{}: {} elements 'dynamics' for {} freedom{}", owner, given, n, n == 1 ? "" : "s"));
  }
  if (n == 0) joint.dynamics.clear();
  if (given == 1)
    joint.dynamics.resize(n, JointDynamics(joint.dynamics.empty() ? JointDynamics() : joint.dynamics.front()));
}

/// <mimic joint="…" multiplier="…" offset="…"/>
void UrdfReader::mimics() {
  for (const auto& [index, element] : followers_) {
    Joint& joint = robot_.joints[index];
    const std::string owner = "joint " + quote(joint.name), name = xml_.text(element, "joint", owner);
    Mimic mimic{JointIndex(), xml_.number(element, "multiplier", owner, 1), xml_.number(element, "offset", owner, 0)};
    if (name.empty()) continue;
    const Location where = tree_.where_value(element.attribute("joint"));
    const auto found = joints_.find(name);
    if (found == joints_.end()) {
      findings_.error(where, fmt::format("{}: mimics the unknown joint {}{}", owner, quote(name),
                                         findings_.many() ? "" : did_you_mean(name, names_of(joints_))));
    } else if (found->second == index) {
      findings_.error(where, owner + ": mimics itself");
    } else if (freedoms(joint.type) != 1) {
      findings_.error(tree_.where(element), fmt::format("{}: a {} joint cannot mimic: it has {} freedoms", owner,
                                                        to_string(joint.type), freedoms(joint.type)));
    } else if (const Joint& other = robot_.joints[found->second]; freedoms(other.type) != 1) {
      findings_.error(where, fmt::format("{}: cannot mimic {}: a {} joint has {} freedoms", owner, quote(name),
                                         to_string(other.type), freedoms(other.type)));
    } else {
      mimic.joint = JointIndex(found->second);
      joint.mimic = mimic;
    }
  }
  resolve_mimics();
}

/// q = m (m' q' + o') + o: a chain of mimic joints becomes one step to the joint at its end.
void UrdfReader::resolve_mimics() {
  enum class State { fresh, open, done };
  std::vector<State> state(robot_.joints.size(), State::fresh);
  for (const auto& [start, element] : followers_) {
    std::vector<int> chain;
    int at = start;
    for (; robot_.joints[at].mimic && state[at] == State::fresh; at = robot_.joints[at].mimic->joint.value) {
      state[at] = State::open;
      chain.push_back(at);
    }
    if (state[at] == State::open) {
      findings_.error(tree_.where_value(element.attribute("joint")),
                      fmt::format("joint {}: mimic joints form a cycle", quote(robot_.joints[start].name)));
    }
    for (; !chain.empty(); chain.pop_back()) {
      state[chain.back()] = State::done;
      Mimic& mimic = *robot_.joints[chain.back()].mimic;
      const std::optional<Mimic>& next = robot_.joints[mimic.joint.value].mimic;
      if (!next) continue;
      mimic = {next->joint, mimic.multiplier * next->multiplier, mimic.multiplier * next->offset + mimic.offset};
    }
  }
}

/// The rotor's inertia as the joint feels it: armature = ratio² × inertia. Only where a transmission has one joint, one
/// actuator, and says both (<rotor_inertia>, <gear_ratio> or <mechanicalReduction>; Drake's names among them).
void UrdfReader::transmission(pugi::xml_node element) {
  const pugi::xml_node joint = element.child("joint"), actuator = element.child("actuator");
  if (!joint || !actuator || joint.next_sibling("joint") || actuator.next_sibling("actuator")) return;
  const std::string owner = "transmission " + quote(element.attribute("name").value());
  std::optional<double> inertia, ratio;
  for (const pugi::xml_node place : {joint, actuator}) {
    for (const pugi::xml_node child : place.children()) {
      const std::string_view name = local_name(child.name());
      const bool rotor = name == "rotor_inertia" || name == "rotorInertia";
      if (!rotor && name != "gear_ratio" && name != "mechanicalReduction") continue;
      std::optional<double>& value = rotor ? inertia : ratio;
      const pugi::xml_attribute given = child.attribute("value");
      std::string_view text = given ? given.value() : child.text().get();
      const std::size_t first = std::min(text.find_first_not_of(" \t\r\n"), text.size());
      text.remove_prefix(first);
      text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
      value = xml_.parse(text, given ? tree_.where_value(given, first) : tree_.where_text(child, first),
                         owner + ": " + child.name())
                  .value_or(0);
    }
  }
  const auto found = joints_.find(joint.attribute("name").value());
  if (!inertia || !ratio || *inertia == 0 || found == joints_.end()) return;
  Joint& driven = robot_.joints[found->second];
  if (freedoms(driven.type) != 1) return;
  driven.dynamics.resize(1);
  driven.dynamics[0].armature += *ratio * *ratio * *inertia;
}

}  // namespace kinegraph::io
