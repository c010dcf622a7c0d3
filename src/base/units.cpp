#include "kinegraph/base/units.hpp"

#include <array>
#include <numbers>

namespace kinegraph {
namespace {

constexpr double kDegree = std::numbers::pi / 180;

constexpr std::array kUnits = {
    Unit{"rad", 1, "radian"},
    Unit{"deg", kDegree, "degree"},
    Unit{"mrad", 1e-3, "milliradian"},
    Unit{"rev", 2 * std::numbers::pi, "revolution"},
    Unit{"m", 1, "metre"},
    Unit{"km", 1e3, "kilometre"},
    Unit{"dm", 1e-1, "decimetre"},
    Unit{"cm", 1e-2, "centimetre"},
    Unit{"mm", 1e-3, "millimetre"},
    Unit{"um", 1e-6, "micrometre"},
    Unit{"s", 1, "second"},
    Unit{"ms", 1e-3, "millisecond"},
    Unit{"us", 1e-6, "microsecond"},
    Unit{"min", 60, "minute"},
    Unit{"h", 3600, "hour"},
    Unit{"Hz", 1, "hertz"},
    Unit{"kHz", 1e3, "kilohertz"},
    Unit{"kg", 1, "kilogram"},
    Unit{"g", 1e-3, "gram"},
    Unit{"N", 1, "newton"},
    Unit{"kN", 1e3, "kilonewton"},
    Unit{"mN", 1e-3, "millinewton"},
    Unit{"Nm", 1, "newton metre"},
    Unit{"kNm", 1e3, "kilonewton metre"},
    Unit{"mNm", 1e-3, "millinewton metre"},
    Unit{"rad/s", 1, "radian per second"},
    Unit{"mrad/s", 1e-3, "milliradian per second"},
    Unit{"deg/s", kDegree, "degree per second"},
    Unit{"rpm", 2 * std::numbers::pi / 60, "revolution per minute"},
    Unit{"m/s", 1, "metre per second"},
    Unit{"mm/s", 1e-3, "millimetre per second"},
    Unit{"km/h", 1 / 3.6, "kilometre per hour"},
    Unit{"rad/s^2", 1, "radian per second squared"},
    Unit{"deg/s^2", kDegree, "degree per second squared"},
    Unit{"m/s^2", 1, "metre per second squared"},
    Unit{"mm/s^2", 1e-3, "millimetre per second squared"},
    Unit{"N/m", 1, "newton per metre"},
    Unit{"N/mm", 1e3, "newton per millimetre"},
    Unit{"kN/m", 1e3, "kilonewton per metre"},
    Unit{"Nm/rad", 1, "newton metre per radian"},
    Unit{"Nm/deg", 1 / kDegree, "newton metre per degree"},
    Unit{"Ns/m", 1, "newton second per metre"},
    Unit{"Nms/rad", 1, "newton metre second per radian"},
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
