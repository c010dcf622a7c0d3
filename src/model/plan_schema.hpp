#pragma once

#include <span>
#include <string_view>

namespace kinegraph {

/// How the value of a key of a task file is written.
enum class TaskShape {
  text,    ///< a name, one word of a choice
  number,  ///< with a unit or a formula: 30deg, pi/2
  truth,   ///< true or false
  list,    ///< of numbers
  names,   ///< of names
  map,     ///< name: number
  pairs,   ///< of pairs: [[0, 0.5], [1, 1.5]]
  groups,  ///< of names, or of lists of names that go together: [[a, b], c]
  rows,    ///< of lists of four numbers: [[t, x, y, z], …]
};

struct TaskKey {
  std::string_view key;
  TaskShape shape;
  bool required;
  std::string_view meaning;
};

/// A part of a task file: a map, or a list of them. The reader, its messages, `plan --help` and a test of
/// docs/formats.md all follow this table.
struct TaskSection {
  std::string_view key;  ///< empty: the file itself
  bool list;
  std::string_view element;
  std::span<const TaskKey> keys;
};

std::span<const TaskSection> task_sections();  ///< the first is the file itself

}  // namespace kinegraph
