#pragma once

#include <string>
#include <vector>

#include "kinegraph/model/robot.hpp"

namespace kinegraph {

/// What the numbers of a joint are called in files, by its type: "j.q", or "j.qw j.qx j.qy j.qz".
std::vector<std::string> position_names(const std::string& joint, JointType type);
/// What each freedom moves, "j", or of several "j.q1 j.q2": of a ball "j.rx j.ry j.rz", turns about the axes of its
/// child; floating: these, then "j.x j.y j.z" along them.
std::vector<std::string> freedom_names(const std::string& joint, JointType type);
std::vector<std::string> velocity_names(const std::string& joint, JointType type);
std::vector<std::string> acceleration_names(const std::string& joint, JointType type);
std::vector<std::string> torque_names(const std::string& joint, JointType type);

}  // namespace kinegraph
