#pragma once

#include <filesystem>
#include <string>

#include "kinegraph/model/plan_task.hpp"

namespace kinegraph {

/// A task for `plan` (docs/formats.md, "Tasks"), by the tables of model/plan_schema.hpp. All faults of the file are
/// reported, each with its place. Files that it names are told relative to its own.
Result<PlanTask> read_task(const std::filesystem::path& path);
Result<PlanTask> parse_task(const std::string& text, const std::string& file_name);

}  // namespace kinegraph
