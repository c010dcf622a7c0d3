#pragma once

#include <vector>

#include "kinegraph/task/identify_fit.hpp"

namespace kinegraph::task {

/// The motion at the knots of a run: joints' .q .v .a as `simulate` writes them, and readings to expect of every
/// sensor.
Trajectory motion_table(const identify::MachinePoint& machine,
                        const std::shared_ptr<const maximal::Mechanism>& mechanism, const identify::Run& run,
                        const std::vector<double>& poses);

/// Where a run starts, as initial values of the model that --set takes: of independent coordinates, so that loops can
/// close. A coordinate that has no such name is told in `unnamed`.
Settings start_values(const identify::MachinePoint& machine, const std::shared_ptr<const maximal::Mechanism>& mechanism,
                      const identify::Run& run, const std::vector<double>& poses, std::vector<std::string>& unnamed);

}  // namespace kinegraph::task
