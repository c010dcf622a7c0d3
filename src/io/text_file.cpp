#include "kinegraph/io/text_file.hpp"

#include <fstream>

namespace kinegraph::io {

Result<std::string> read_text_file(const std::filesystem::path& path, std::size_t largest) {
  const auto cannot_read = [&](const char* why) {
    return Failure::bad_input({path.string(), 0, 0}, std::string("cannot read the file: ") + why);
  };
  std::error_code fault;
  const std::filesystem::file_status status = std::filesystem::status(path, fault);
  if (!std::filesystem::exists(status)) return cannot_read("no such file");
  if (std::filesystem::is_directory(status)) return cannot_read("it is a directory");
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return cannot_read("permission denied");
  // One byte more than allowed, so that an endless stream ends and is refused by its size.
  std::string text(largest + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.bad()) return cannot_read("reading failed");
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return text;
}

}  // namespace kinegraph::io
