#pragma once

#include <span>
#include <string>
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

/// The unit of a formula that is nothing but a number and a unit: "5kg", "-3.2e-1 mm"; null of "L*5kg", "5", "5kg + 1".
const Unit* only_unit(std::string_view formula);

/// What is wrong with a formula that is nothing but a number and a unit ("5kg") of another quantity than is expected
/// ("length", "angle or length"); empty if nothing is. A number without a unit is in SI.
std::string wrong_unit(std::string_view formula, std::string_view expected);

}  // namespace kinegraph
