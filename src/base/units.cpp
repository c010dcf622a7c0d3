#include "kinegraph/base/units.hpp"

#include <array>
#include <numbers>

namespace kinegraph {
namespace {

constexpr double kDegree = std::numbers::pi / 180;

constexpr std::array kUnits = {
    Unit{"rad", 1, "radian", "angle"},
    Unit{"deg", kDegree, "degree", "angle"},
    Unit{"mrad", 1e-3, "milliradian", "angle"},
    Unit{"rev", 2 * std::numbers::pi, "revolution", "angle"},
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
    Unit{"rpm", 2 * std::numbers::pi / 60, "revolution per minute", "angular velocity"},
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

}  // namespace kinegraph
