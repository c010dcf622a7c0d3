#include "kinegraph/base/units.hpp"

#include <fmt/format.h>

#include <array>

#include "kinegraph/base/names.hpp"
#include "kinegraph/base/numbers.hpp"

namespace kinegraph {
namespace {

constexpr std::array kUnits = {
    Unit{"rad", 1, "radian", "angle"},
    Unit{"deg", kDegree, "degree", "angle"},
    Unit{"mrad", 1e-3, "milliradian", "angle"},
    Unit{"rev", kTurn, "revolution", "angle"},
    Unit{"m", 1, "metre", "length"},
    Unit{"km", 1e3, "kilometre", "length"},
    Unit{"dm", 1e-1, "decimetre", "length"},
    Unit{"cm", 1e-2, "centimetre", "length"},
    Unit{"mm", 1e-3, "millimetre", "length"},
    Unit{"um", 1e-6, "micrometre", "length"},
    Unit{"s", 1, "second", "time"},
    Unit{"ms", 1e-3, "millisecond", "time"},
    Unit{"us", 1e-6, "microsecond", "time"},
    Unit{"min", 60, "minute", "time"},
    Unit{"h", 3600, "hour", "time"},
    Unit{"Hz", 1, "hertz", "frequency"},
    Unit{"kHz", 1e3, "kilohertz", "frequency"},
    Unit{"kg", 1, "kilogram", "mass"},
    Unit{"g", 1e-3, "gram", "mass"},
    Unit{"N", 1, "newton", "force"},
    Unit{"kN", 1e3, "kilonewton", "force"},
    Unit{"mN", 1e-3, "millinewton", "force"},
    Unit{"Nm", 1, "newton metre", "torque"},
    Unit{"kNm", 1e3, "kilonewton metre", "torque"},
    Unit{"mNm", 1e-3, "millinewton metre", "torque"},
    Unit{"rad/s", 1, "radian per second", "angular velocity"},
    Unit{"mrad/s", 1e-3, "milliradian per second", "angular velocity"},
    Unit{"deg/s", kDegree, "degree per second", "angular velocity"},
    Unit{"rpm", kTurn / 60, "revolution per minute", "angular velocity"},
    Unit{"m/s", 1, "metre per second", "velocity"},
    Unit{"mm/s", 1e-3, "millimetre per second", "velocity"},
    Unit{"km/h", 1 / 3.6, "kilometre per hour", "velocity"},
    Unit{"rad/s^2", 1, "radian per second squared", "angular acceleration"},
    Unit{"deg/s^2", kDegree, "degree per second squared", "angular acceleration"},
    Unit{"m/s^2", 1, "metre per second squared", "acceleration"},
    Unit{"mm/s^2", 1e-3, "millimetre per second squared", "acceleration"},
    Unit{"N/m", 1, "newton per metre", "stiffness"},
    Unit{"N/mm", 1e3, "newton per millimetre", "stiffness"},
    Unit{"kN/m", 1e3, "kilonewton per metre", "stiffness"},
    Unit{"Nm/rad", 1, "newton metre per radian", "stiffness"},
    Unit{"Nm/deg", 1 / kDegree, "newton metre per degree", "stiffness"},
    Unit{"Ns/m", 1, "newton second per metre", "damping"},
    Unit{"Nms/rad", 1, "newton metre second per radian", "damping"},
};

bool in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || (c & 0x80);
}

bool is_one_of(std::string_view quantity, std::string_view expected) {
  while (!expected.empty()) {
    const std::size_t end = expected.find(" or ");
    if (expected.substr(0, end) == quantity) return true;
    expected = end == std::string_view::npos ? "" : expected.substr(end + 4);
  }
  return false;
}

std::string_view article(std::string_view quantity) {
  return std::string_view("aeiou").find(quantity[0]) == std::string_view::npos ? "a" : "an";
}

}  // namespace

std::span<const Unit> units() { return kUnits; }

const Unit* unit_at(std::string_view text) {
  const Unit* best = nullptr;
  for (const Unit& unit : kUnits) {
    const bool whole =
        text.starts_with(unit.name) && (text.size() == unit.name.size() || !in_word(text[unit.name.size()]));
    if (whole && (!best || unit.name.size() > best->name.size())) best = &unit;
  }
  return best;
}

const Unit* only_unit(std::string_view text) {
  const std::size_t digits = text.find_first_of("0123456789");
  if (digits == std::string_view::npos || text.find_first_not_of("+-. ") != digits) return nullptr;
  std::size_t end = text.find_first_not_of(".0123456789", digits);
  if (end == std::string_view::npos) return nullptr;
  if ((text[end] == 'e' || text[end] == 'E') && end + 1 < text.size()) {
    const std::size_t sign = text[end + 1] == '+' || text[end + 1] == '-' ? 1 : 0;
    const std::size_t power = text.find_first_not_of("0123456789", end + 1 + sign);
    if (power != end + 1 + sign) end = power;
  }
  end = text.find_first_not_of(' ', end);
  if (end == std::string_view::npos) return nullptr;
  const Unit* unit = unit_at(text.substr(end));
  return unit && text.find_first_not_of(' ', end + unit->name.size()) == std::string_view::npos ? unit : nullptr;
}

std::string wrong_unit(std::string_view formula, std::string_view expected) {
  const Unit* found = only_unit(formula);
  if (!found || expected.empty() || is_one_of(found->quantity, expected)) return "";
  std::string fitting;
  for (const Unit& unit : kUnits) {
    if (is_one_of(unit.quantity, expected)) fitting += fmt::format("{}{}", fitting.empty() ? "" : ", ", unit.name);
  }
  return fmt::format("expected {} {} ({}), found the unit of {} {}: {}", article(expected), expected,
                     fitting.empty() ? "in SI, without a unit" : fitting, article(found->quantity), found->quantity,
                     quote(std::string(formula)));
}

}  // namespace kinegraph
