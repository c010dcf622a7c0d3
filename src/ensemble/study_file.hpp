#pragma once

#include <filesystem>
#include <string>

#include "kinegraph/ensemble/study.hpp"

namespace kinegraph::ensemble {

/// A study (docs/sweep.md), by the tables of study_schema.hpp. All faults of the file are reported, each with its
/// place. The model's path is told relative to the study's. Whether the verb has such options and the model such
/// numbers is not known here.
Result<Study> read_study(const std::filesystem::path& path);
Result<Study> parse_study(const std::string& text, const std::string& file_name);

}  // namespace kinegraph::ensemble
