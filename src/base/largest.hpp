#pragma once

#include <cmath>

namespace kinegraph {

/// The largest number that is read, whatever its unit. No machine has more, and products of several are still numbers.
inline constexpr double kLargest = 1e50;
/// False of NaN, too.
inline bool is_usable(double x) { return std::abs(x) <= kLargest; }

}  // namespace kinegraph
