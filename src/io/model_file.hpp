#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "kinegraph/model/model.hpp"

namespace kinegraph {

/// How a file is read.
struct ReadOptions {
  bool strict = false;                   ///< doubtful physics is an error, not a warning
  std::optional<Robot::Base> base = {};  ///< how a robot stands in the world; nothing: as the file says, else fixed
  std::filesystem::path loops = {};    ///< the sidecar with loop closures; empty: that beside the file, if there is one
  std::filesystem::path sensors = {};  ///< of a robot: the sidecar with sensors; empty: that beside the file, likewise
};

/// The model in a file, by its extension (.yaml, .yml, .urdf, .sdf, .world; .xml by its outermost element). All faults
/// of the file are reported, each with its place.
Result<Model> read_model(const std::filesystem::path& path, const ReadOptions& options = {});

/// A planar mechanism (docs/formats.md). `file_name` is what messages call the file.
Result<Model> read_planar_yaml(const std::filesystem::path& path);
Result<Model> parse_planar_yaml(const std::string& text, const std::string& file_name);

}  // namespace kinegraph
