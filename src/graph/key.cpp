#include "kinegraph/graph/key.hpp"

#include <fmt/format.h>

namespace kinegraph {

const char* symbol(Kind kind) {
  switch (kind) {
    case Kind::time:
      return "t";
    case Kind::position:
      return "q";
    case Kind::velocity:
      return "v";
    case Kind::acceleration:
      return "a";
    case Kind::multiplier:
      return "lambda";
    case Kind::input:
      return "u";
    case Kind::independent_position:
      return "z";
    case Kind::independent_velocity:
      return "zv";
    case Kind::independent_acceleration:
      return "za";
    case Kind::pose:
      return "X";
    case Kind::twist:
      return "V";
    case Kind::twist_acceleration:
      return "A";
    case Kind::wrench:
      return "F";
    case Kind::user:
      return "user";
  }
  return "?";
}

std::string to_string(const Key& key) {
  const char* half = key.half ? ".5" : "";
  // A number that follows the symbol at once is the step, unless there are several elements of the kind.
  if (key.kind == Kind::user || key.element != 0) {
    return fmt::format("{}{}@{}{}", symbol(key.kind), key.element, key.step, half);
  }
  return fmt::format("{}{}{}", symbol(key.kind), key.step, half);
}

}  // namespace kinegraph
