#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

namespace kinegraph {

/// A file of this repository: source_file("models/fourbar.yaml").
inline std::filesystem::path source_file(const std::string& relative) {
  return std::filesystem::path(KINEGRAPH_SOURCE_DIR) / relative;
}

/// A file of the reference data, which stands beside the repository and not in it: `../shared`, or the folder that the
/// environment variable KINEGRAPH_SHARED names. Nothing if it is absent: the test then says GTEST_SKIP, and `make test`
/// lists it as skipped.
inline std::optional<std::filesystem::path> shared(const std::string& relative) {
  const char* folder = std::getenv("KINEGRAPH_SHARED");
  const auto root = folder ? std::filesystem::path(folder) : source_file("../shared");
  const auto path = (root / relative).lexically_normal();
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::nullopt;
  return path;
}

}  // namespace kinegraph
