#include "kinegraph/model/robot.hpp"

#include <algorithm>

namespace kinegraph {
namespace {

struct TypeFacts {
  const char* name;
  int stored, freedoms;
};

constexpr TypeFacts kTypeFacts[] = {{"fixed", 0, 0}, {"revolute", 1, 1},  {"continuous", 1, 1},  {"prismatic", 1, 1},
                                    {"screw", 1, 1}, {"universal", 2, 2}, {"cylindrical", 2, 2}, {"planar", 3, 3},
                                    {"ball", 4, 3},  {"floating", 7, 6}};

template <class List>
int find(const List& list, const std::string& name) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const auto& e) { return e.name == name; });
  return found == list.end() ? -1 : static_cast<int>(found - list.begin());
}

}  // namespace

const char* to_string(JointType type) { return kTypeFacts[static_cast<int>(type)].name; }
int stored_numbers(JointType type) { return kTypeFacts[static_cast<int>(type)].stored; }
int freedoms(JointType type) { return kTypeFacts[static_cast<int>(type)].freedoms; }

std::array<double*, 6> friction_numbers(JointDynamics& d) {
  return {&d.damping, &d.friction, &d.stribeck, &d.stribeck_speed, &d.quadratic, &d.load_friction};
}

std::string Robot::base_name(const std::string& root, bool only) const {
  if (!only) return "base_" + root;
  return find_link("base") >= 0 || find_joint("base") >= 0 ? "floating_base" : "base";
}

int Robot::find_link(const std::string& name) const { return find(links, name); }
int Robot::find_joint(const std::string& name) const { return find(joints, name); }

}  // namespace kinegraph
