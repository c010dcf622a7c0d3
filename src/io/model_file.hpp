#pragma once

#include <filesystem>
#include <string>

#include "kinegraph/model/model.hpp"

namespace kinegraph {

/// The model in a file, by its extension (.yaml, .yml). All faults of the file are reported, each with its place.
Result<Model> read_model(const std::filesystem::path& path);

/// A planar mechanism (docs/formats.md). `file_name` is what messages call the file.
Result<Model> read_planar_yaml(const std::filesystem::path& path);
Result<Model> parse_planar_yaml(const std::string& text, const std::string& file_name);

}  // namespace kinegraph
