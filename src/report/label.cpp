#include "kinegraph/report/label.hpp"

#include <fmt/format.h>

#include "kinegraph/base/names.hpp"

namespace kinegraph::report {
namespace {

const char* symbol_of(build::ScrewProblem::What what) {
  using What = build::ScrewProblem::What;
  switch (what) {
    case What::twist_acceleration:
      return "V̇";
    case What::wrench:
      return "F";
    case What::torque:
      return "τ";
    case What::acceleration:
      return "θ̈";
  }
  return "?";
}

const char* symbol_of(Kind kind) {
  switch (kind) {
    case Kind::time:
      return "t";
    case Kind::position:
      return "q";
    case Kind::velocity:
      return "q̇";
    case Kind::acceleration:
      return "q̈";
    case Kind::multiplier:
      return "λ";
    case Kind::input:
      return "u";
    case Kind::independent_position:
      return "z";
    case Kind::independent_velocity:
      return "ż";
    case Kind::independent_acceleration:
      return "z̈";
    case Kind::pose:
      return "X";
    case Kind::twist:
      return "V";
    case Kind::twist_acceleration:
      return "V̇";
    case Kind::wrench:
      return "F";
    case Kind::user:
      return "x";
  }
  return "?";
}

/// Combining dots (U+0300 to U+036F) take no room of their own: in UTF-8 0xCC or 0xCD and a second byte.
int drawn_characters(const std::string& text) {
  int count = characters(text);
  for (const char c : text) {
    if (static_cast<unsigned char>(c) == 0xCC || static_cast<unsigned char>(c) == 0xCD) --count;
  }
  return count;
}

}  // namespace

std::string Label::text() const { return symbol + index; }

std::string Label::subscripted() const {
  static const char* const kDigits[] = {"₀", "₁", "₂", "₃", "₄", "₅", "₆", "₇", "₈", "₉"};
  std::string text = symbol;
  for (const char c : index) {
    if (c >= '0' && c <= '9') {
      text += kDigits[c - '0'];
    } else {
      text += c;
    }
  }
  return text;
}

Label label(const build::ScrewProblem::Variable& variable) {
  const std::size_t digits = variable.name.find_first_of("0123456789");
  return {symbol_of(variable.what), digits == std::string::npos ? "" : variable.name.substr(digits)};
}

Label label(const Key& key) {
  const std::string step = fmt::format("{}{}", key.step, key.half ? "½" : "");
  return {symbol_of(key.kind), key.element > 0 ? fmt::format("{},{}", key.element, step) : step};
}

double width(const Label& label) { return 0.68 * drawn_characters(label.symbol) + 0.43 * characters(label.index); }

double width(const std::string& text) { return 0.58 * drawn_characters(text); }

}  // namespace kinegraph::report
