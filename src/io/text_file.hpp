#pragma once

#include <filesystem>
#include <string>

#include "kinegraph/base/result.hpp"

namespace kinegraph::io {

/// The bytes of a file, at most one more than `largest`: the reader that gets them refuses that.
Result<std::string> read_text_file(const std::filesystem::path& path, std::size_t largest);

}  // namespace kinegraph::io
