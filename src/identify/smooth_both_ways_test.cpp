#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "kinegraph/identify/run.hpp"

namespace kinegraph::identify::smooth_both_ways_test {
namespace {

std::vector<double> wave(double frequency, double rate, int count) {
  std::vector<double> values(count);
  for (int i = 0; i < count; ++i) values[i] = std::sin(2 * std::numbers::pi * frequency * i / rate + 0.4);
  return values;
}

/// The amplitude along the wave itself, and across it (a phase), away from the ends.
std::pair<double, double> answer(double frequency, double cutoff) {
  const double rate = 1000;
  const std::vector<double> out = smooth_both_ways(wave(frequency, rate, 4000), rate, cutoff);
  double along = 0, across = 0;
  for (int i = 1000; i < 3000; ++i) {
    const double angle = 2 * std::numbers::pi * frequency * i / rate + 0.4;
    along += out[i] * std::sin(angle) / 1000;
    across += out[i] * std::cos(angle) / 1000;
  }
  return {along, across};
}

TEST(SmoothBothWays, KeepsSlowWavesAndTakesFastOnesAway) {
  EXPECT_NEAR(answer(1, 10).first, 1 / (1 + 1e-4), 1e-6);  // 1/(1 + (f/f₀)⁴)
  EXPECT_NEAR(answer(10, 10).first, 0.5, 1e-6);            // 1/√2 each way
  EXPECT_LT(answer(100, 10).first, 1.1e-4);
  for (const double frequency : {1.0, 10.0, 30.0}) EXPECT_NEAR(answer(frequency, 10).second, 0, 1e-6) << frequency;
}

TEST(SmoothBothWays, EndsGoOnAsTheyAre) {
  std::vector<double> ramp(200);
  for (int i = 0; i < 200; ++i) ramp[i] = 3 - 0.01 * i;
  const std::vector<double> out = smooth_both_ways(ramp, 100, 5);
  for (int i = 0; i < 200; ++i) EXPECT_NEAR(out[i], ramp[i], 1e-4) << i;
}

TEST(SmoothBothWays, ChangesNothingAboveHalfTheRate) {
  const std::vector<double> values = wave(3, 20, 50);
  EXPECT_EQ(smooth_both_ways(values, 20, 10), values);
  EXPECT_EQ(smooth_both_ways({1, 2}, 100, 1), (std::vector<double>{1, 2}));
  EXPECT_TRUE(smooth_both_ways({}, 100, 1).empty());
}

}  // namespace
}  // namespace kinegraph::identify::smooth_both_ways_test
