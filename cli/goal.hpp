#pragma once

#include <string>

#include "kinegraph/task/reach.hpp"
#include "options.hpp"

namespace kinegraph::cli {

/// "hand: x=0.4 y=0.1 z=0.5 rpy=0,90deg,0 offset=0,0,0.1" (quat=w,x,y,z instead of rpy; commas between the terms
/// are fine); faults are told to the reader.
task::FrameGoal read_goal(OptionReader& reader, const std::string& text);

}  // namespace kinegraph::cli
