#pragma once

#include <span>

#include "kinegraph/model/plan_schema.hpp"

namespace kinegraph::ensemble {

/// The parts of a study file; the first is the file itself. The reader, its messages, `sweep --help` and a test of
/// docs/sweep.md follow this table. Parts without keys (options, outputs) hold names of the user's choice.
std::span<const TaskSection> study_sections();

}  // namespace kinegraph::ensemble
