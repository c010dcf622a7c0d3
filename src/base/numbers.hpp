#pragma once
#include <limits>
#include <numbers>

namespace kinegraph {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();  ///< no number: never printed
inline constexpr double kPi = std::numbers::pi;
inline constexpr double kTurn = 2 * kPi, kDegree = kPi / 180;  ///< rad

}  // namespace kinegraph
