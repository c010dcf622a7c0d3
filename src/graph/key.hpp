#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>

namespace kinegraph {

/// What a variable is. One line per kind; names for messages and drawings are in key.cpp.
enum class Kind : std::uint8_t {
  time,                      ///< t
  position,                  ///< q: all dependent coordinates of a planar mechanism
  velocity,                  ///< q̇
  acceleration,              ///< q̈
  multiplier,                ///< λ
  input,                     ///< u: torques of the motors
  independent_position,      ///< z
  independent_velocity,      ///< ż
  independent_acceleration,  ///< z̈
  pose,                      ///< X: where a body is
  twist,                     ///< V: of a body, in its frame
  twist_acceleration,        ///< V̇
  wrench,                    ///< F: through a joint, on its child
  user,                      ///< anything else
};

/// The step of a variable that belongs to no time: the duration of a phase.
inline constexpr std::int32_t kNoStep = -1;

/// What (kind), whose (element), when (step). `half` marks the middle of the interval that starts at the step.
struct Key {
  Kind kind = Kind::user;
  bool half = false;
  std::int32_t element = 0;
  std::int32_t step = 0;

  constexpr auto operator<=>(const Key&) const = default;
};

const char* symbol(Kind);           ///< "q", "v", "a", "lambda", …
std::string to_string(const Key&);  ///< "q3", "v3.5", "user7@3"

}  // namespace kinegraph

template <>
struct std::hash<kinegraph::Key> {
  std::size_t operator()(const kinegraph::Key& k) const noexcept {
    std::uint64_t h = (std::uint64_t(std::uint32_t(k.step)) << 32) | std::uint32_t(k.element);
    h ^= (std::uint64_t(k.kind) * 2 + k.half) * 0x9e3779b97f4a7c15ull;
    h ^= h >> 29;
    h *= 0xbf58476d1ce4e5b9ull;
    return h ^ (h >> 32);
  }
};
