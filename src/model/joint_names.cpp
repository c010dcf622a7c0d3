#include "kinegraph/model/joint_names.hpp"

namespace kinegraph {
namespace {

struct Names {
  std::vector<const char*> position, velocity, acceleration, torque;
};

const Names& quantities(JointType type) {
  static const Names one{{"q"}, {"v"}, {"a"}, {"tau"}}, none{};
  static const Names two{{"q1", "q2"}, {"v1", "v2"}, {"a1", "a2"}, {"tau1", "tau2"}};
  static const Names planar{{"x", "y", "q"}, {"vx", "vy", "v"}, {"ax", "ay", "a"}, {"fx", "fy", "tau"}};
  static const Names ball{{"qw", "qx", "qy", "qz"}, {"wx", "wy", "wz"}, {"alx", "aly", "alz"}, {"mx", "my", "mz"}};
  static const Names floating{{"qw", "qx", "qy", "qz", "x", "y", "z"},
                              {"wx", "wy", "wz", "vx", "vy", "vz"},
                              {"alx", "aly", "alz", "ax", "ay", "az"},
                              {"mx", "my", "mz", "fx", "fy", "fz"}};
  switch (type) {
    case JointType::fixed:
      return none;
    case JointType::universal:
    case JointType::cylindrical:
      return two;
    case JointType::planar:
      return planar;
    case JointType::ball:
      return ball;
    case JointType::floating:
      return floating;
    default:
      return one;
  }
}

std::vector<std::string> with_joint(const std::string& joint, const std::vector<const char*>& quantities) {
  std::vector<std::string> names;
  for (const char* quantity : quantities) names.push_back(joint + "." + quantity);
  return names;
}

}  // namespace

std::vector<std::string> position_names(const std::string& joint, JointType type) {
  return with_joint(joint, quantities(type).position);
}
std::vector<std::string> freedom_names(const std::string& joint, JointType type) {
  if (type == JointType::ball) return with_joint(joint, {"rx", "ry", "rz"});
  if (type == JointType::floating) return with_joint(joint, {"rx", "ry", "rz", "x", "y", "z"});
  const std::vector<const char*>& position = quantities(type).position;
  return position.size() == 1 ? std::vector{joint} : with_joint(joint, position);
}
std::vector<std::string> velocity_names(const std::string& joint, JointType type) {
  return with_joint(joint, quantities(type).velocity);
}
std::vector<std::string> acceleration_names(const std::string& joint, JointType type) {
  return with_joint(joint, quantities(type).acceleration);
}
std::vector<std::string> torque_names(const std::string& joint, JointType type) {
  return with_joint(joint, quantities(type).torque);
}

}  // namespace kinegraph
