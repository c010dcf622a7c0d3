#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kinegraph/io/yaml_tree.hpp"
#include "kinegraph/model/plan_schema.hpp"
#include "kinegraph/model/plan_task.hpp"

namespace kinegraph::io {

/// More faults than these are counted.
inline constexpr std::size_t kMostFaults = 100;

/// The first of them, and how many more there are.
void keep_first_faults(std::vector<Diagnostic>& faults, const std::string& file_name);

/// One map of a task file, checked against its table: unknown, repeated and missing keys are reported. What is asked
/// for is given if it is there and sound; else the fault is told, once.
class TaskFields {
 public:
  TaskFields(const TaskSection& section, const YamlNode& map, std::vector<Diagnostic>& faults,
             const std::vector<std::string>& other_keys = {});

  bool has(const char* key) const { return find(key) != nullptr; }
  const YamlNode* find(const char* key) const;
  Location where(const char* key) const;
  const Location& where() const { return where_; }

  double number(const char* key, double fallback) const;
  double positive(const char* key, double fallback) const;      ///< > 0
  double not_negative(const char* key, double fallback) const;  ///< ≥ 0
  bool truth(const char* key, bool fallback) const;
  TaskName name(const char* key) const;
  std::vector<TaskName> names(const char* key) const;
  TaskNumbers numbers(const char* key) const;
  /// Three numbers; where `free` is said, NaN if that is allowed.
  std::optional<Vector3d> vector(const char* key, bool may_be_free = false) const;
  std::vector<double> list(const char* key, std::size_t count) const;  ///< empty if not given or not sound
  std::vector<std::pair<TaskName, TaskName>> pairs(const char* key) const;
  std::vector<std::vector<TaskName>> groups(const char* key) const;
  std::vector<std::pair<double, Vector3d>> rows(const char* key) const;  ///< times and places; `free`: NaN
  /// One of some words: its number; −1 if none.
  int choice(const char* key, const std::vector<std::string>& words, int fallback) const;
  std::optional<double> value(const std::string& key, const YamlNode& node) const;
  void error(const Location& where, std::string message) const;

 private:
  Location where_;
  std::vector<std::pair<std::string, const YamlNode*>> fields_;
  std::vector<Diagnostic>& faults_;
  bool of_any_quantity_ = false;  // the section tells what a study varies: its numbers are of that
};

}  // namespace kinegraph::io
