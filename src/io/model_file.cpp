#include "kinegraph/io/model_file.hpp"

#include <fmt/format.h>

#include "kinegraph/base/names.hpp"
#include "kinegraph/io/sdf.hpp"
#include "kinegraph/io/sensors_file.hpp"
#include "kinegraph/io/text_file.hpp"
#include "kinegraph/io/urdf.hpp"
#include "kinegraph/io/xml_tree.hpp"
#include "kinegraph/io/yaml_tree.hpp"

namespace kinegraph {
namespace {

/// The sidecars of robot.urdf are robot.loops.yaml and robot.sensors.yaml. A link to a file that is not there is meant
/// to be read, too.
std::filesystem::path sidecar(const std::filesystem::path& path, const char* extension) {
  std::filesystem::path beside = path;
  beside.replace_extension(extension);
  std::error_code ignored;
  return std::filesystem::exists(symlink_status(beside, ignored)) ? beside : std::filesystem::path();
}

Result<Model> read_urdf(const std::string& text, const std::filesystem::path& path, ReadOptions options) {
  if (options.loops.empty()) options.loops = sidecar(path, ".loops.yaml");
  return parse_urdf(text, path.string(), options);
}

/// A file whose name does not say what it is: its outermost element does.
Result<Model> read_xml(const std::string& text, const std::filesystem::path& path, const ReadOptions& options) {
  const Result<io::XmlTree> tree = io::XmlTree::parse(text, path.string());
  if (!tree) return tree.failure();
  const std::string root = tree->root().name();
  if (root == "robot") return read_urdf(text, path, options);
  if (root == "sdf") return parse_sdf(text, path.string(), options);
  return Failure::bad_input(tree->where(tree->root()),
                            fmt::format("outermost element {}: expected 'robot' (URDF) or 'sdf'", quote(root)));
}

Result<Model> read_robot(const std::string& extension, const std::filesystem::path& path, const ReadOptions& options) {
  const Result<std::string> text = io::read_text_file(path, io::XmlTree::kLargestFile);
  if (!text) return text.failure();
  if (extension == ".urdf") return read_urdf(*text, path, options);
  if (extension == ".xml") return read_xml(*text, path, options);
  return parse_sdf(*text, path.string(), options);
}

}  // namespace

Result<Model> read_model(const std::filesystem::path& path, const ReadOptions& options) {
  std::string extension = path.extension().string();
  for (char& c : extension) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  if (extension == ".yaml" || extension == ".yml") return read_planar_yaml(path);
  const bool known = extension == ".urdf" || extension == ".sdf" || extension == ".world" || extension == ".xml";
  if (std::error_code ignored; std::filesystem::exists(path, ignored) && !known) {
    return Failure::bad_input({path.string(), 0, 0}, fmt::format("cannot read {} files; expected .yaml, .yml, .urdf, "
                                                                 ".sdf, .world or .xml",
                                                                 quote(path.extension().string())));
  }
  Result<Model> model = read_robot(extension, path, options);
  const std::filesystem::path sensors = options.sensors.empty() ? sidecar(path, ".sensors.yaml") : options.sensors;
  if (!model || sensors.empty()) return model;
  return io::read_sensors(sensors, *std::move(model));
}

Result<Model> read_planar_yaml(const std::filesystem::path& path) {
  const Result<std::string> text = io::read_text_file(path, io::YamlTree::kLargestFile);
  if (!text) return text.failure();
  return parse_planar_yaml(*text, path.string());
}

}  // namespace kinegraph
