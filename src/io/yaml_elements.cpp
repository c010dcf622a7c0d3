#include "kinegraph/io/yaml_elements.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "kinegraph/base/names.hpp"

namespace kinegraph::io {
namespace {

using Kind = YamlNode::Kind;

std::string_view example_key(const SectionSchema& section) {
  const auto required = std::find_if(section.keys.begin(), section.keys.end(), [](auto& k) { return k.required; });
  return required->key;
}

}  // namespace

void YamlElements::read(const SectionSchema& section, const YamlNode& value) {
  const std::string what(section.key);
  if (value.kind == Kind::nothing) return;
  if (value.kind != Kind::list) return error(value.where, what + ": expected a list, found " + describe(value));
  for (const YamlNode* item : value.items) {
    ElementSource& into = source_.of(section.section).emplace_back();
    into.where = item->where;
    if (item->kind != Kind::map) {
      for (const KeySchema& key : section.keys) into.fields[std::string(key.key)].faulty = true;
      error(item->where,
            fmt::format("{}: expected a map such as {{{}: …}}, found {}", what, example_key(section), describe(*item)));
    } else {
      element(section, *item, into);
    }
    ++values_;
    if (too_many()) return;
  }
}

void YamlElements::element(const SectionSchema& section, const YamlNode& item, ElementSource& into) {
  for (const auto& [key, value] : sound_keys(item)) {
    const auto known = std::find_if(section.keys.begin(), section.keys.end(),
                                    [k = key](const KeySchema& schema) { return schema.key == k->text; });
    if (known == section.keys.end()) {
      std::vector<std::string> names;
      for (const KeySchema& k : section.keys) names.emplace_back(k.key);
      unknown_key(*key, names);
    } else if (known->shape == ValueShape::drawing) {
      drawing(key->text, *value);
    } else if (known->shape == ValueShape::place) {
      place(key->text, *value, into);
    } else {
      into.fields[key->text] = field(*value, key->text, known->shape);
    }
  }
  for (const KeySchema& key : section.keys) {
    const std::string name(key.key);
    if (!key.required || into.fields.contains(name)) continue;
    error(into.where, fmt::format("missing key '{}' of a {}", name, section.element));
    into.fields[name].faulty = true;
  }
}

/// {link: …, xyz: […]}
void YamlElements::place(const std::string& key, const YamlNode& value, ElementSource& into) {
  Field& whole = into.fields[key];
  whole.where = value.where;
  whole.faulty = value.kind != Kind::map;
  if (whole.faulty) {
    return error(value.where, fmt::format("{}: expected a map {{link: …, xyz: […]}}, found {}", key, describe(value)));
  }
  for (const auto& [part, content] : sound_keys(value)) {
    if (part->text != "link" && part->text != "xyz") {
      unknown_key(*part, {"link", "xyz"});
      continue;
    }
    into.fields[key + "." + part->text] =
        field(*content, part->text, part->text == "xyz" ? ValueShape::list : ValueShape::text);
  }
}

Field YamlElements::field(const YamlNode& value, const std::string& key, ValueShape shape) {
  Field field{value.where, {}, shape == ValueShape::list, false};
  const bool fits = value.kind == (field.list ? Kind::list : Kind::text);
  if (!fits) {
    field.faulty = true;
    error(value.where, fmt::format("{}: expected {}, found {}", shown(key), field.list ? "a list" : "a number or text",
                                   describe(value)));
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
    ++values_;
    if (too_many()) break;
  }
  return field;
}

/// What a body looks like: a map, or a list of them, that says its type.
void YamlElements::drawing(const std::string& key, const YamlNode& value) {
  const std::vector<const YamlNode*> shapes =
      value.kind == Kind::list ? value.items : std::vector<const YamlNode*>{&value};
  for (const YamlNode* shape : shapes) {
    const bool typed =
        shape->kind == Kind::map && std::any_of(shape->keys.begin(), shape->keys.end(), [](const auto& k) {
          return k.first->kind == Kind::text && k.first->text == "type";
        });
    if (!typed) error(shape->where, key + ": expected a map such as {type: circle}, found " + describe(*shape));
    ++values_;
    if (too_many()) return;
  }
}

std::vector<std::pair<const YamlNode*, const YamlNode*>> YamlElements::sound_keys(const YamlNode& map) {
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
    ++values_;
    if (too_many()) break;
  }
  return sound;
}

void YamlElements::unknown_key(const YamlNode& key, const std::vector<std::string>& known) {
  if (diagnostics_.size() >= kMostFaults) return error(key.where, "unknown key " + quote(key.text));
  std::string guess = did_you_mean(key.text, known);
  if (guess.empty()) guess = fmt::format("; expected one of {}", fmt::join(known, ", "));
  error(key.where, "unknown key " + quote(key.text) + guess);
}

void YamlElements::error(const Location& where, std::string message) {
  diagnostics_.push_back({Severity::error, where, std::move(message)});
}

Failure YamlElements::refuse_too_many(const YamlNode& root) {
  return Failure::bad_input(root.where,
                            fmt::format("more than {} values: aliases multiply them", YamlTree::kMostValues));
}

}  // namespace kinegraph::io
