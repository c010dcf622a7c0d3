#pragma once

#include <span>
#include <string_view>

namespace kinegraph {

/// A unit that may follow a number: its value in SI.
struct Unit {
  std::string_view name;
  double si;
  std::string_view meaning;
  std::string_view quantity;  ///< "length"
};

/// All of them; docs/formats.md lists the same.
std::span<const Unit> units();

/// The longest unit that `text` starts with as a whole word ("deg/s" of "deg/s*t", none of "degree"), or null.
const Unit* unit_at(std::string_view text);

}  // namespace kinegraph
