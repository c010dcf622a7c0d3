#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kinegraph {

/// The lists of elements that a planar model file may hold.
enum class Section {
  points,
  planar_bodies,
  relative_coordinates,
  sliders,
  drivers,
  springs,
  dampers,
  coordinate_springs,
  coordinate_dampers,
  motors,
  loads,
  torques,
};
inline constexpr int kSections = 12;

/// How the value of a key is written.
enum class ValueShape {
  text,     ///< a name, a formula, true or false
  list,     ///< of texts
  drawing,  ///< what the body looks like: accepted, of no effect on the mechanics
};

struct KeySchema {
  std::string_view key;
  ValueShape shape;
  bool required;
  std::string_view meaning;
};

/// One list of elements: its key in the file, what messages call an element, and an element's keys. The reader, its
/// messages and a test of docs/formats.md all follow this table.
struct SectionSchema {
  Section section;
  std::string_view key;
  std::string_view element;
  std::span<const KeySchema> keys;
};

const SectionSchema& schema(Section section);
std::span<const SectionSchema> sections();

/// Keys of the file itself beside the lists.
std::span<const KeySchema> file_keys();

}  // namespace kinegraph
