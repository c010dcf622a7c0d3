#pragma once

#include <string>

#include "kinegraph/identify/control_loop.hpp"
#include "options.hpp"

namespace kinegraph::cli {

/// "theta.u: theta.q@theta.target alpha.q +feedforward limit=10 order=1"
identify::ControlLaw read_controller(OptionReader& reader, const std::string& text);

}  // namespace kinegraph::cli
