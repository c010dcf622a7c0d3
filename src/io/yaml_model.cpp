#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "kinegraph/base/names.hpp"
#include "kinegraph/io/model_file.hpp"
#include "kinegraph/io/yaml_tree.hpp"
#include "kinegraph/model/source.hpp"

namespace kinegraph {
namespace {

using io::YamlNode;
using io::YamlTree;
using Kind = YamlNode::Kind;

constexpr int kMostValues = YamlTree::kMostValues;  // more only if aliases multiply them

/// From the YAML tree to a ModelSource by the tables of model/schema.hpp: knows which keys exist and whether their
/// values are texts or lists, not what they mean.
class Reader {
 public:
  explicit Reader(std::string file) { source_->file = std::move(file); }

  Result<Model> read(const YamlNode& root) {
    if (root.kind != Kind::map) {
      const std::string found = root.kind == Kind::nothing ? "nothing" : root.kind == Kind::list ? "a list" : "a text";
      return Failure::bad_input(root.where, "expected a map with the keys of a model, such as points, found " + found);
    }
    for (const auto& [key, value] : sound_keys(root)) top_level(*key, *value);
    if (values_ > kMostValues) {
      return Failure::bad_input(root.where, fmt::format("more than {} values: aliases multiply them", kMostValues));
    }
    return evaluate(source_, {}, std::move(diagnostics_));
  }

 private:
  void top_level(const YamlNode& key, const YamlNode& value) {
    for (const SectionSchema& section : sections()) {
      if (key.text == section.key) return elements(section, value);
    }
    if (key.text == "parameters") return named_texts(key.text, value, source_->parameters);
    if (key.text == "initial") return named_texts(key.text, value, source_->initial);
    if (key.text == "gravity") {
      source_->gravity = field(value, key.text, value.kind == Kind::list ? ValueShape::list : ValueShape::text);
    } else if (key.text == "name" || key.text == "description") {
      const Field given = field(value, key.text, ValueShape::text);
      if (key.text == "name" && !given.faulty) source_->name = given.items.front();
    } else {
      std::vector<std::string> known;
      for (const KeySchema& k : file_keys()) known.emplace_back(k.key);
      for (const SectionSchema& section : sections()) known.emplace_back(section.key);
      unknown_key(key, known);
    }
  }

  void named_texts(const std::string& what, const YamlNode& value, std::vector<NamedText>& into) {
    if (value.kind == Kind::nothing) return;
    if (value.kind != Kind::map) return error(value.where, what + ": expected a map, found " + describe(value));
    for (const auto& [key, content] : sound_keys(value)) {
      const Field given = field(*content, key->text, ValueShape::text);
      NamedText named{text(*key), {}, given.faulty};
      if (!given.faulty) named.value = given.items.front();
      into.push_back(std::move(named));
    }
  }

  void elements(const SectionSchema& section, const YamlNode& value) {
    const std::string what(section.key);
    if (value.kind == Kind::nothing) return;
    if (value.kind != Kind::list) return error(value.where, what + ": expected a list, found " + describe(value));
    for (const YamlNode* item : value.items) {
      ElementSource& element = source_->of(section.section).emplace_back();
      element.where = item->where;
      if (item->kind != Kind::map) {
        for (const KeySchema& key : section.keys) element.fields[std::string(key.key)].faulty = true;
        error(item->where, fmt::format("{}: expected a map such as {{{}: …}}, found {}", what, example_key(section),
                                       describe(*item)));
      } else {
        read_element(section, *item, element);
      }
      if (++values_ > kMostValues) return;
    }
  }

  static std::string_view example_key(const SectionSchema& section) {
    const auto required = std::find_if(section.keys.begin(), section.keys.end(), [](auto& k) { return k.required; });
    return required->key;
  }

  void read_element(const SectionSchema& section, const YamlNode& item, ElementSource& element) {
    for (const auto& [key, value] : sound_keys(item)) {
      const auto known = std::find_if(section.keys.begin(), section.keys.end(),
                                      [k = key](const KeySchema& schema) { return schema.key == k->text; });
      if (known == section.keys.end()) {
        std::vector<std::string> names;
        for (const KeySchema& k : section.keys) names.emplace_back(k.key);
        unknown_key(*key, names);
      } else if (known->shape == ValueShape::drawing) {
        drawing(key->text, *value);
      } else {
        element.fields[key->text] = field(*value, key->text, known->shape);
      }
    }
    for (const KeySchema& key : section.keys) {
      const std::string name(key.key);
      if (!key.required || element.fields.contains(name)) continue;
      error(element.where, fmt::format("missing key '{}' of a {}", name, section.element));
      element.fields[name].faulty = true;
    }
  }

  Field field(const YamlNode& value, const std::string& key, ValueShape shape) {
    Field field{value.where, {}, shape == ValueShape::list, false};
    const bool fits = value.kind == (field.list ? Kind::list : Kind::text);
    if (!fits) {
      field.faulty = true;
      error(value.where, fmt::format("{}: expected {}, found {}", shown(key),
                                     field.list ? "a list" : "a number or text", describe(value)));
      return field;
    }
    if (!field.list) field.items.push_back(text(value));
    for (const YamlNode* item : value.items) {
      if (item->kind != Kind::text) {
        field.faulty = true;
        error(item->where, fmt::format("{}: expected a number or text, found {}", shown(key), describe(*item)));
        continue;
      }
      field.items.push_back(text(*item));
      if (++values_ > kMostValues) break;
    }
    return field;
  }

  /// What a body looks like: a map, or a list of them, that says its type.
  void drawing(const std::string& key, const YamlNode& value) {
    const std::vector<const YamlNode*> shapes =
        value.kind == Kind::list ? value.items : std::vector<const YamlNode*>{&value};
    for (const YamlNode* shape : shapes) {
      const bool typed =
          shape->kind == Kind::map && std::any_of(shape->keys.begin(), shape->keys.end(), [](const auto& k) {
            return k.first->kind == Kind::text && k.first->text == "type";
          });
      if (!typed) error(shape->where, key + ": expected a map such as {type: circle}, found " + describe(*shape));
      if (++values_ > kMostValues) return;
    }
  }

  /// The keys of a map without those that are not texts or come twice, which are reported.
  std::vector<std::pair<const YamlNode*, const YamlNode*>> sound_keys(const YamlNode& map) {
    std::vector<std::pair<const YamlNode*, const YamlNode*>> sound;
    std::map<std::string_view, const YamlNode*> seen;
    for (const auto& [key, value] : map.keys) {
      if (key->kind != Kind::text) {
        error(key->where, "expected a text as key, found " + describe(*key));
      } else if (const auto [first, fresh] = seen.emplace(key->text, key); !fresh) {
        error(key->where,
              fmt::format("duplicate key {}; first given in line {}", quote(key->text), first->second->where.line));
      } else {
        sound.emplace_back(key, value);
      }
      if (++values_ > kMostValues) break;
    }
    return sound;
  }

  static Text text(const YamlNode& node) { return {node.text, node.where, node.verbatim}; }

  /// A key of ours as it is, one of the user's shortened.
  static std::string shown(const std::string& key) {
    const std::string quoted = quote(key);
    return quoted.substr(1, quoted.size() - 2);
  }

  void unknown_key(const YamlNode& key, const std::vector<std::string>& known) {
    if (diagnostics_.size() >= kMostFaults) return error(key.where, "unknown key " + quote(key.text));
    std::string guess = did_you_mean(key.text, known);
    if (guess.empty()) guess = fmt::format("; expected one of {}", fmt::join(known, ", "));
    error(key.where, "unknown key " + quote(key.text) + guess);
  }

  void error(const Location& where, std::string message) {
    diagnostics_.push_back({Severity::error, where, std::move(message)});
  }

  std::shared_ptr<ModelSource> source_ = std::make_shared<ModelSource>();
  std::vector<Diagnostic> diagnostics_;
  int values_ = 0;
};

}  // namespace

Result<Model> parse_planar_yaml(const std::string& text, const std::string& file_name) {
  const Result<YamlTree> tree = YamlTree::parse(text, file_name);
  if (!tree) return tree.failure();
  return Reader(file_name).read(tree->root());
}

}  // namespace kinegraph
