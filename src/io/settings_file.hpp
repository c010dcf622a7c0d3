#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kinegraph/base/result.hpp"

namespace kinegraph {

/// A number of a model by its name, and where a file says so.
struct FileSetting {
  std::string name;
  double value = 0;
  Location where;         ///< of the name
  std::string comment;    ///< when written: behind the value
  std::string text = {};  ///< when read: the value as it is written
};

/// Reads lines `name = value`, values as everywhere with units and formulas. Empty lines and what follows a # are
/// passed over. Refused, all faults at once with their places: lines that are neither, names given twice.
Result<std::vector<FileSetting>> read_settings_file(const std::filesystem::path& path);
/// The same from memory; `name` stands in messages.
Result<std::vector<FileSetting>> parse_settings(const std::string& text, const std::string& name);

/// The text of such a file, `heading` above as comments. Every digit is kept.
std::string settings_text(const std::vector<FileSetting>& settings, const std::string& heading);

}  // namespace kinegraph
