#include "kinegraph/ensemble/study_schema.hpp"

#include <array>

namespace kinegraph::ensemble {
namespace {

using enum TaskShape;

constexpr std::array kFile = {
    TaskKey{"verb", text, true, "which question is asked: simulate, inverse, estimate, …"},
    TaskKey{"model", text, true, "the machine's file (of plan the task's), relative to the study's"},
    TaskKey{"design", text, false, "how distributions are drawn together: random (default), latin-hypercube, sobol"},
    TaskKey{"samples", number, false, "how many draws of the distributions"},
    TaskKey{"repetitions", number, false, "of every case, each with a seed of its own; default 1"},
    TaskKey{"seed", number, false, "every random number of the study comes from it; default 0"},
};
constexpr std::array kVary = {
    TaskKey{"from", number, false, "a grid: its first value"},
    TaskKey{"to", number, false, "its last value"},
    TaskKey{"count", number, false, "how many values"},
    TaskKey{"step", number, false, "or the distance between two"},
    TaskKey{"spacing", text, false, "linear (default) or log: equal ratios"},
    TaskKey{"list", names, false, "a list of values; [a, b, c] alone is the same"},
    TaskKey{"distribution", text, false, "normal, uniform or log-uniform"},
    TaskKey{"mean", number, false, "of a normal distribution"},
    TaskKey{"sd", number, false, "its standard deviation"},
    TaskKey{"low", number, false, "least value; a normal distribution is cut off there"},
    TaskKey{"high", number, false, "largest value, likewise"},
};

const std::array kSections = {
    TaskSection{"", false, "study", kFile},
    TaskSection{"options", false, "option", {}},
    TaskSection{"vary", false, "varied number", kVary},
    TaskSection{"outputs", true, "output", {}},
};

}  // namespace

std::span<const TaskSection> study_sections() { return kSections; }

}  // namespace kinegraph::ensemble
