#pragma once

#include "kinegraph/model/joint_names.hpp"

namespace kinegraph::screw {

using kinegraph::acceleration_names;
using kinegraph::position_names;
using kinegraph::torque_names;
using kinegraph::velocity_names;

}  // namespace kinegraph::screw
