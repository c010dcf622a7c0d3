#pragma once

#include <string>
#include <vector>

#include "experiments/maximal_recording.hpp"
#include "kinegraph/task/identify.hpp"

namespace kinegraph::experiments {

/// The three ways in which paper 002 excites its Furuta pendulum (section 4.6), of a simulated one: Table G.5 with dry
/// friction and a motor, let go near the upright position, pushed for a second, and swung up.
enum class Scenario { release, pulse, swing_up };

Model furuta_truth();  ///< what the recordings are made with
Trajectory furuta_recording(Scenario scenario);

/// The machine as identification starts with it (Table 1). `all_inertias`: the pendulum's moment about its own length
/// starts at 0.01 with the others; else it is known, as in the paper.
Model furuta_guess(bool all_inertias);
/// What is free: inertias, friction, the motor's gain and the direction of gravity.
task::IdentifyOptions furuta_options(bool all_inertias);

/// rad², per knot: what is left of all readings, as the paper has it.
double reading_square(const task::IdentifySummary& found);

}  // namespace kinegraph::experiments
