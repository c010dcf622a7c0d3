#pragma once

#include <string>
#include <vector>

#include "kinegraph/model/model.hpp"

namespace kinegraph {

/// The columns that verbs write of the motion of a machine, by name: "P1.x", "theta.q", "theta.tau", "A.fx"; of a robot
/// "elbow.q", "hand.x", "elbow.reaction.fx". Readings of sensors and estimated forces are none of them.
std::vector<std::string> motion_columns(const Model& model);
std::vector<std::string> motion_columns(const Robot& robot);

}  // namespace kinegraph
