#include "kinegraph/io/sensors_file.hpp"

#include <algorithm>

#include "kinegraph/io/text_file.hpp"
#include "kinegraph/io/yaml_elements.hpp"
#include "kinegraph/model/robot_sensors.hpp"

namespace kinegraph::io {

Result<Model> parse_sensors(const std::string& text, const std::string& file_name, Model model) {
  const Result<YamlTree> tree = YamlTree::parse(text, file_name);
  if (!tree) return tree.failure();
  const YamlNode& root = tree->root();
  if (root.kind != YamlNode::Kind::map) {
    return Failure::bad_input(
        root.where, "expected a map with sensors, disturbances, unknowns or joint_friction, found " + describe(root));
  }
  auto source = std::make_shared<ModelSource>();
  source->file = file_name;
  std::vector<Diagnostic> found;
  YamlElements elements(*source, found);
  const auto sections = robot_sections();
  for (const auto& [key, value] : elements.sound_keys(root)) {
    const auto known = std::find_if(sections.begin(), sections.end(),
                                    [k = key](const SectionSchema& section) { return section.key == k->text; });
    if (known != sections.end()) {
      elements.read(*known, *value);
      continue;
    }
    std::vector<std::string> names;
    for (const SectionSchema& section : sections) names.emplace_back(section.key);
    elements.unknown_key(*key, names);
  }
  if (elements.too_many()) return YamlElements::refuse_too_many(root);
  return with_sensors(std::move(model), std::move(source), std::move(found));
}

Result<Model> read_sensors(const std::filesystem::path& path, Model model) {
  const Result<std::string> text = read_text_file(path, YamlTree::kLargestFile);
  if (!text) return text.failure();
  return parse_sensors(*text, path.string(), std::move(model));
}

}  // namespace kinegraph::io
