#pragma once

#include <string>

#include "kinegraph/io/model_file.hpp"

namespace kinegraph {

/// A robot in SDF: a model, or a world with models (docs/formats.md). `file_name` is what messages call the file;
/// nothing else is read, neither from disk nor from the net. libsdformat gives the meaning of the file (old versions,
/// frames, poses); this reader gives every fault its place and names what libsdformat would pass over.
Result<Model> parse_sdf(const std::string& text, const std::string& file_name, const ReadOptions& options = {});

}  // namespace kinegraph
