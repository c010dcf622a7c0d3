#pragma once

#include <filesystem>
#include <string>

#include "kinegraph/ensemble/study.hpp"

namespace kinegraph::ensemble {

/// A study (docs/sweep.md), by the tables of study_schema.hpp. All faults of the file are reported, each with its
/// place. The model's path is told relative to the study's. Whether the verb has such options and the model such
/// numbers is not known here.
Result<Study> parse_study(const std::string& text, const std::string& file_name);

/// What could be read of a study and all that is wrong with it, so that the rest can be checked, too: entries of
/// options and outputs that are not sound are left out, those of `vary` may have no values.
struct StudyDraft {
  Study study;
  std::vector<Diagnostic> faults;
};
/// Those of the study's own file first, in its order, each told once; more than a hundred are counted.
void order_faults(std::vector<Diagnostic>& faults, const std::string& file_name);

/// Fails only where there is no file, or it is no YAML.
Result<StudyDraft> read_study(const std::filesystem::path& path);

}  // namespace kinegraph::ensemble
