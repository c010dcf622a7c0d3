#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>

namespace kinegraph {

/// A time in seconds for people: six digits, and of times far from zero (seconds since 1970, say) as many as tell
/// microseconds apart.
inline std::string time_text(double t) {
  constexpr int kDigits = 6;
  if (!(std::abs(t) >= 1e5) || !(std::abs(t) < 1e15)) return fmt::format("{:.{}g}", t, kDigits);
  const int before = static_cast<int>(std::floor(std::log10(std::abs(t)))) + 1;
  return fmt::format("{:.{}g}", t, before + kDigits);
}

}  // namespace kinegraph
