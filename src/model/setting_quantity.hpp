#pragma once

#include <string>
#include <string_view>

#include "kinegraph/model/model.hpp"

namespace kinegraph {

/// What kind of quantity a number is that Model::with() takes ("rod.mass": "mass", "theta.v": "angular velocity"), for
/// wrong_unit(); empty where the name does not tell, as of parameters.
std::string_view quantity_of_setting(const Model& model, const std::string& name);

}  // namespace kinegraph
