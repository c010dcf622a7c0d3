#include "kinegraph/io/model_file.hpp"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "kinegraph/base/names.hpp"
#include "kinegraph/io/yaml_tree.hpp"

namespace kinegraph {
namespace {

Failure cannot_read(const std::string& file, const std::string& why) {
  return Failure::bad_input({file, 0, 0}, "cannot read the file: " + why);
}

}  // namespace

Result<Model> read_model(const std::filesystem::path& path) {
  std::error_code ignored;
  const std::string extension = path.extension().string();
  if (extension == ".yaml" || extension == ".yml") return read_planar_yaml(path);
  if (!std::filesystem::exists(path, ignored)) return cannot_read(path.string(), "no such file");
  return Failure::bad_input({path.string(), 0, 0},
                            fmt::format("cannot read {} files; expected .yaml or .yml", quote(extension)));
}

Result<Model> read_planar_yaml(const std::filesystem::path& path) {
  std::error_code fault;
  const std::filesystem::file_status status = std::filesystem::status(path, fault);
  if (!std::filesystem::exists(status)) return cannot_read(path.string(), "no such file");
  if (std::filesystem::is_directory(status)) return cannot_read(path.string(), "it is a directory");
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return cannot_read(path.string(), "permission denied");
  // One byte more than allowed, so that an endless stream ends and is refused by its size.
  std::string text(io::YamlTree::kLargestFile + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.bad()) return cannot_read(path.string(), "reading failed");
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return parse_planar_yaml(text, path.string());
}

}  // namespace kinegraph
