#include <fmt/format.h>

#include "kinegraph/base/names.hpp"
#include "kinegraph/io/model_file.hpp"
#include "kinegraph/io/yaml_elements.hpp"

namespace kinegraph {
namespace {

using io::YamlElements;
using io::YamlNode;
using io::YamlTree;
using Kind = YamlNode::Kind;

/// From the YAML tree to a ModelSource by the tables of model/schema.hpp.
class Reader {
 public:
  explicit Reader(std::string file) { source_->file = std::move(file); }

  Result<Model> read(const YamlNode& root) {
    if (root.kind != Kind::map) {
      const std::string found = root.kind == Kind::nothing ? "nothing" : root.kind == Kind::list ? "a list" : "a text";
      return Failure::bad_input(root.where, "expected a map with the keys of a model, such as points, found " + found);
    }
    for (const auto& [key, value] : elements_.sound_keys(root)) top_level(*key, *value);
    if (elements_.too_many()) return elements_.refuse_too_many(root);
    return evaluate(source_, {}, std::move(diagnostics_));
  }

 private:
  void top_level(const YamlNode& key, const YamlNode& value) {
    for (const SectionSchema& section : sections()) {
      if (key.text == section.key) return elements_.read(section, value);
    }
    if (key.text == "parameters") return named_texts(key.text, value, source_->parameters);
    if (key.text == "initial") return named_texts(key.text, value, source_->initial);
    if (key.text == "gravity") {
      source_->gravity =
          elements_.field(value, key.text, value.kind == Kind::list ? ValueShape::list : ValueShape::text);
    } else if (key.text == "name" || key.text == "description") {
      const Field given = elements_.field(value, key.text, ValueShape::text);
      if (key.text == "name" && !given.faulty) source_->name = given.items.front();
    } else {
      std::vector<std::string> known;
      for (const KeySchema& k : file_keys()) known.emplace_back(k.key);
      for (const SectionSchema& section : sections()) known.emplace_back(section.key);
      elements_.unknown_key(key, known);
    }
  }

  void named_texts(const std::string& what, const YamlNode& value, std::vector<NamedText>& into) {
    if (value.kind == Kind::nothing) return;
    if (value.kind != Kind::map)
      return elements_.error(value.where, what + ": expected a map, found " + describe(value));
    for (const auto& [key, content] : elements_.sound_keys(value)) {
      const Field given = elements_.field(*content, key->text, ValueShape::text);
      NamedText named{YamlElements::text(*key), {}, given.faulty};
      if (!given.faulty) named.value = given.items.front();
      into.push_back(std::move(named));
    }
  }

  std::shared_ptr<ModelSource> source_ = std::make_shared<ModelSource>();
  std::vector<Diagnostic> diagnostics_;
  YamlElements elements_{*source_, diagnostics_};
};

}  // namespace

Result<Model> parse_planar_yaml(const std::string& text, const std::string& file_name) {
  const Result<YamlTree> tree = YamlTree::parse(text, file_name);
  if (!tree) return tree.failure();
  return Reader(file_name).read(tree->root());
}

}  // namespace kinegraph
