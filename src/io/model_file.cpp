#include "kinegraph/io/model_file.hpp"

#include <fmt/format.h>

#include "kinegraph/base/names.hpp"
#include "kinegraph/io/sdf.hpp"
#include "kinegraph/io/text_file.hpp"
#include "kinegraph/io/urdf.hpp"
#include "kinegraph/io/xml_tree.hpp"
#include "kinegraph/io/yaml_tree.hpp"

namespace kinegraph {
namespace {

/// The sidecar of robot.urdf is robot.loops.yaml.
std::filesystem::path sidecar(const std::filesystem::path& path) {
  std::filesystem::path beside = path;
  beside.replace_extension(".loops.yaml");
  std::error_code ignored;
  return std::filesystem::exists(beside, ignored) ? beside : std::filesystem::path();
}

Result<Model> read_urdf(const std::string& text, const std::filesystem::path& path, ReadOptions options) {
  if (options.loops.empty()) options.loops = sidecar(path);
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

}  // namespace

Result<Model> read_model(const std::filesystem::path& path, const ReadOptions& options) {
  std::string extension = path.extension().string();
  for (char& c : extension) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  if (extension == ".yaml" || extension == ".yml") return read_planar_yaml(path);
  const bool urdf = extension == ".urdf", sdf = extension == ".sdf" || extension == ".world";
  if (std::error_code ignored; std::filesystem::exists(path, ignored) && !urdf && !sdf && extension != ".xml") {
    return Failure::bad_input({path.string(), 0, 0}, fmt::format("cannot read {} files; expected .yaml, .yml, .urdf, "
                                                                 ".sdf, .world or .xml",
                                                                 quote(path.extension().string())));
  }
  const Result<std::string> text = io::read_text_file(path, io::XmlTree::kLargestFile);
  if (!text) return text.failure();
  if (urdf) return read_urdf(*text, path, options);
  if (sdf) return parse_sdf(*text, path.string(), options);
  return read_xml(*text, path, options);
}

Result<Model> read_planar_yaml(const std::filesystem::path& path) {
  const Result<std::string> text = io::read_text_file(path, io::YamlTree::kLargestFile);
  if (!text) return text.failure();
  return parse_planar_yaml(*text, path.string());
}

}  // namespace kinegraph
