#pragma once
#include <chrono>

namespace kinegraph::task {

inline constexpr double kSameTime = 1e-9;     ///< s: a step, a sample, a reading nearer than this coincide
inline constexpr double kLongestStep = 0.01;  ///< s: of an estimator that was not told its step

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace kinegraph::task
