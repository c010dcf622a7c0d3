#pragma once

#include <variant>
#include <vector>

#include "kinegraph/model/model.hpp"

namespace kinegraph {

/// Whether the equations of a formulation have the friction of all joints, and the inertia of motors. If not: an error
/// for each element that they lack, which names the formulation that has it.
Result<std::monostate> natural_friction(const Model& model);
Result<std::monostate> screw_friction(const Robot& robot);

/// Which of `dynamics` the screw formulation lacks: "stribeck", "quadratic", "load_friction".
std::vector<const char*> beyond_screw(const JointDynamics& dynamics);

}  // namespace kinegraph
