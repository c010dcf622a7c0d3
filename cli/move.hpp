#pragma once

#include <string>

#include "kinegraph/task/kinematics.hpp"
#include "options.hpp"

namespace kinegraph::cli {

/// "crank.q=0:360deg" or "crank.q=0:360deg:73"; faults are told to the reader.
task::Move read_move(OptionReader& reader, const std::string& text);

}  // namespace kinegraph::cli
