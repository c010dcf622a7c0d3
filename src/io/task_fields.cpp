#include "kinegraph/io/task_fields.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "kinegraph/base/largest.hpp"
#include "kinegraph/base/names.hpp"
#include "kinegraph/base/units.hpp"
#include "kinegraph/expr/expression.hpp"

namespace kinegraph::io {
namespace {

using Kind = YamlNode::Kind;

std::string expected(TaskShape shape) {
  switch (shape) {
    case TaskShape::text:
      return "a text";
    case TaskShape::number:
      return "a number";
    case TaskShape::truth:
      return "true or false";
    case TaskShape::list:
      return "a list of numbers";
    case TaskShape::names:
      return "a list of names";
    case TaskShape::map:
      return "a map {name: number, …}";
    case TaskShape::pairs:
      return "a list of pairs [[a, b], …]";
    case TaskShape::groups:
      return "a list of names, or of lists of names [[a, b], c]";
    case TaskShape::rows:
      return "a list of lists of four numbers [[t, x, y, z], …]";
  }
  return "";
}

bool fits(TaskShape shape, const YamlNode& node) {
  const auto all = [&](auto test) { return std::all_of(node.items.begin(), node.items.end(), test); };
  const auto is_text = [](const YamlNode* item) { return item->kind == Kind::text; };
  switch (shape) {
    case TaskShape::text:
    case TaskShape::number:
      return node.kind == Kind::text;
    case TaskShape::truth:
      return node.kind == Kind::text && (node.text == "true" || node.text == "false");
    case TaskShape::list:
    case TaskShape::names:
      return node.kind == Kind::list && all(is_text);
    case TaskShape::map:
      return node.kind == Kind::map;
    case TaskShape::pairs:
      return node.kind == Kind::list && all([&](const YamlNode* pair) {
               return pair->kind == Kind::list && pair->items.size() == 2 && is_text(pair->items[0]) &&
                      is_text(pair->items[1]);
             });
    case TaskShape::groups:
      return node.kind == Kind::list && all([&](const YamlNode* group) {
               return is_text(group) ||
                      (group->kind == Kind::list && std::all_of(group->items.begin(), group->items.end(), is_text));
             });
    case TaskShape::rows:
      return node.kind == Kind::list && all([&](const YamlNode* row) {
               return row->kind == Kind::list && row->items.size() == 4 &&
                      std::all_of(row->items.begin(), row->items.end(), is_text);
             });
  }
  return false;
}

/// What kind of quantity a key means wherever it stands; empty where that depends on more.
std::string_view quantity_of_task(std::string_view key) {
  for (const char* time : {"horizon", "time", "from", "to", "until", "cycle"}) {
    if (key == time) return "time";
  }
  for (const char* length : {"radius", "length", "ground"}) {
    if (key == length) return "length";
  }
  for (const char* length : {"margin", "swing"}) {
    if (key == length) return "length";
  }
  for (const char* angle : {"rpy", "base_rpy"}) {
    if (key == angle) return "angle";
  }
  // of a joint that turns or slides: which, the robot knows
  if (key == "joints" || key.starts_with("joints ")) return "angle or length";
  if (key == "velocity" || key.starts_with("rates ")) return "angular velocity or velocity";
  if (key == "torque") return "torque or force";
  return key == "mass" ? "mass" : "";
}

}  // namespace

void keep_first_faults(std::vector<Diagnostic>& faults, const std::string& file_name) {
  const std::size_t found = faults.size();
  if (found <= kMostFaults) return;
  faults.resize(kMostFaults);
  faults.push_back({Severity::error, {file_name, 0, 0}, fmt::format("… and {} more faults", found - kMostFaults)});
}

TaskFields::TaskFields(const TaskSection& section, const YamlNode& map, std::vector<Diagnostic>& faults,
                       const std::vector<std::string>& other_keys)
    : where_(map.where), faults_(faults) {
  std::vector<std::string> known = other_keys;
  std::set<std::string_view> seen;
  for (const TaskKey& key : section.keys) known.emplace_back(key.key);
  of_any_quantity_ = std::find(known.begin(), known.end(), "distribution") != known.end();
  for (const auto& [key, value] : map.keys) {
    if (key->kind != Kind::text) {
      error(key->where, "expected a text as key, found " + describe(*key));
      continue;
    }
    if (!seen.insert(key->text).second) {
      error(key->where, "duplicate key " + quote(key->text));
      continue;
    }
    const auto found = std::find_if(section.keys.begin(), section.keys.end(),
                                    [k = key](const TaskKey& entry) { return entry.key == k->text; });
    if (found != section.keys.end()) {
      if (fits(found->shape, *value)) {
        fields_.emplace_back(key->text, value);
      } else {
        error(value->where,
              fmt::format("{}: expected {}, found {}", key->text, expected(found->shape), describe(*value)));
      }
    } else if (std::find(other_keys.begin(), other_keys.end(), key->text) == other_keys.end()) {
      const bool many = faults.size() >= kMostFaults;
      std::string guess = many ? "" : did_you_mean(key->text, known);
      if (guess.empty() && !many) guess = fmt::format("; expected one of {}", fmt::join(known, ", "));
      error(key->where, fmt::format("unknown key {} of a {}{}", quote(key->text), section.element, guess));
    }
  }
  for (const TaskKey& key : section.keys) {
    if (key.required && !seen.contains(key.key)) {
      error(map.where, fmt::format("missing key '{}' of a {}: {}", key.key, section.element, key.meaning));
    }
  }
}

void TaskFields::error(const Location& where, std::string message) const {
  faults_.push_back({Severity::error, where, std::move(message)});
}

const YamlNode* TaskFields::find(const char* key) const {
  const auto found =
      std::find_if(fields_.begin(), fields_.end(), [&](const auto& field) { return field.first == key; });
  return found == fields_.end() ? nullptr : found->second;
}

Location TaskFields::where(const char* key) const {
  const YamlNode* node = find(key);
  return node ? node->where : where_;
}

std::optional<double> TaskFields::value(const std::string& key, const YamlNode& node) const {
  const std::string_view quantity = of_any_quantity_ ? std::string_view() : quantity_of_task(key);
  if (const std::string wrong = wrong_unit(node.text, quantity); !wrong.empty()) {
    error(node.where, fmt::format("{}: {}", key, wrong));
    return {};
  }
  const Result<double> number = parse_number(node.text, node.where);
  if (number && is_usable(*number)) return *number;
  if (number) {
    error(node.where, fmt::format("{}: must be {}, is {}", key, usable_range(), written(node)));
    return {};
  }
  for (const Diagnostic& fault : number.failure().diagnostics) {
    error(fault.where, fmt::format("{}: {}", key, fault.message));
  }
  return {};
}

double TaskFields::number(const char* key, double fallback) const {
  const YamlNode* node = find(key);
  return node ? value(key, *node).value_or(fallback) : fallback;
}

double TaskFields::positive(const char* key, double fallback) const {
  const YamlNode* node = find(key);
  const std::optional<double> x = node ? value(key, *node) : std::nullopt;
  if (x && !(*x > 0)) error(where(key), fmt::format("{}: must be > 0, is {}", key, written(*node)));
  if (x && *x > 0 && *x < 1 / kLargest) {
    error(where(key), fmt::format("{}: must be at least {:g}, is {}", key, 1 / kLargest, written(*node)));
  }
  return x.value_or(fallback);
}

double TaskFields::not_negative(const char* key, double fallback) const {
  const YamlNode* node = find(key);
  const std::optional<double> x = node ? value(key, *node) : std::nullopt;
  if (x && !(*x >= 0)) error(where(key), fmt::format("{}: must be >= 0, is {}", key, written(*node)));
  return x.value_or(fallback);
}

bool TaskFields::truth(const char* key, bool fallback) const {
  const YamlNode* node = find(key);
  return node ? node->text == "true" : fallback;
}

TaskName TaskFields::name(const char* key) const {
  const YamlNode* node = find(key);
  return node ? TaskName{node->text, node->where} : TaskName{"", where_};
}

std::vector<TaskName> TaskFields::names(const char* key) const {
  std::vector<TaskName> all;
  if (const YamlNode* node = find(key)) {
    for (const YamlNode* item : node->items) all.push_back({item->text, item->where});
  }
  return all;
}

TaskNumbers TaskFields::numbers(const char* key) const {
  TaskNumbers all;
  const YamlNode* node = find(key);
  if (!node) return all;
  for (const auto& [name, content] : node->keys) {
    if (name->kind != Kind::text || content->kind != Kind::text) {
      error(name->where, fmt::format("{}: expected name: number", key));
      continue;
    }
    if (const auto x = value(fmt::format("{} {}", key, shown(name->text)), *content)) {
      all.push_back({{name->text, name->where}, *x});
    }
  }
  return all;
}

std::vector<double> TaskFields::list(const char* key, std::size_t count) const {
  const YamlNode* node = find(key);
  if (!node) return {};
  if (node->items.size() != count) {
    error(node->where, fmt::format("{}: expected {} numbers, found {}", key, count, node->items.size()));
    return {};
  }
  std::vector<double> all;
  for (const YamlNode* item : node->items) {
    if (const auto x = value(key, *item)) all.push_back(*x);
  }
  return all.size() == count ? all : std::vector<double>();
}

std::optional<Vector3d> TaskFields::vector(const char* key, bool may_be_free) const {
  const YamlNode* node = find(key);
  if (!node) return {};
  if (node->items.size() != 3) {
    error(node->where, fmt::format("{}: expected [x, y, z], found {} values", key, node->items.size()));
    return {};
  }
  Vector3d v;
  for (int i = 0; i < 3; ++i) {
    const YamlNode& item = *node->items[i];
    if (may_be_free && item.text == "free") {
      v[i] = std::nan("");
    } else {
      v[i] = value(key, item).value_or(0);
    }
  }
  return v;
}

std::vector<std::pair<TaskName, TaskName>> TaskFields::pairs(const char* key) const {
  std::vector<std::pair<TaskName, TaskName>> all;
  if (const YamlNode* node = find(key)) {
    for (const YamlNode* pair : node->items) {
      all.push_back({{pair->items[0]->text, pair->items[0]->where}, {pair->items[1]->text, pair->items[1]->where}});
    }
  }
  return all;
}

std::vector<std::vector<TaskName>> TaskFields::groups(const char* key) const {
  std::vector<std::vector<TaskName>> all;
  const YamlNode* node = find(key);
  if (!node) return all;
  for (const YamlNode* group : node->items) {
    std::vector<TaskName>& names = all.emplace_back();
    if (group->kind == Kind::text) names.push_back({group->text, group->where});
    for (const YamlNode* item : group->items) names.push_back({item->text, item->where});
  }
  return all;
}

std::vector<std::pair<double, Vector3d>> TaskFields::rows(const char* key) const {
  std::vector<std::pair<double, Vector3d>> all;
  const YamlNode* node = find(key);
  if (!node) return all;
  for (const YamlNode* row : node->items) {
    const double t = value(key, *row->items[0]).value_or(0);
    if (!all.empty() && !(t > all.back().first)) error(row->where, fmt::format("{}: times must increase", key));
    Vector3d p;
    for (int i = 0; i < 3; ++i) {
      const YamlNode& item = *row->items[i + 1];
      p[i] = item.text == "free" ? std::nan("") : value(key, item).value_or(0);
    }
    all.emplace_back(t, p);
  }
  return all;
}

int TaskFields::choice(const char* key, const std::vector<std::string>& words, int fallback) const {
  const YamlNode* node = find(key);
  if (!node) return fallback;
  const auto found = std::find(words.begin(), words.end(), node->text);
  if (found != words.end()) return static_cast<int>(found - words.begin());
  std::string guess = did_you_mean(node->text, words);
  if (guess.empty()) guess = fmt::format("; expected one of {}", fmt::join(words, ", "));
  error(node->where, fmt::format("{}: unknown {}{}", key, quote(node->text), guess));
  return fallback;
}

}  // namespace kinegraph::io
