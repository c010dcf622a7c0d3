#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>

namespace kinegraph {

/// The largest number that is read, whatever its unit. No machine has more, and products of several are still numbers.
inline constexpr double kLargest = 1e50;
/// False of NaN, too.
inline bool is_usable(double x) { return std::abs(x) <= kLargest; }
/// "from -1e+50 to 1e+50": how messages say it.
inline std::string usable_range() { return fmt::format("from {:g} to {:g}", -kLargest, kLargest); }

}  // namespace kinegraph
