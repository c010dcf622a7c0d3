#include "kinegraph/task/differentiate.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace kinegraph::task::differentiate_test {
namespace {

constexpr double kStep = 5e-3;
constexpr int kSamples = 1000;

double value(int k) { return 1.2 * (1 - std::cos(2 * k * kStep)); }
double rate(int k) { return 2.4 * std::sin(2 * k * kStep); }
double acceleration(int k) { return 4.8 * std::cos(2 * k * kStep); }

std::vector<double> sampled(double resolution) {
  std::vector<double> samples;
  for (int k = 0; k < kSamples; ++k) {
    samples.push_back(resolution > 0 ? std::round(value(k) / (2 * resolution)) * 2 * resolution : value(k));
  }
  return samples;
}

double worst(const std::vector<double>& x, double (*exact)(int), int margin) {
  double most = 0;
  for (int k = margin; k < kSamples - margin; ++k) most = std::max(most, std::abs(x[k] - exact(k)));
  return most;
}

TEST(Differentiate, ExactSamplesGiveExactDerivatives) {
  const SmoothMotion m = differentiate(sampled(0), kStep, 0);
  EXPECT_LT(worst(m.rate, rate, 10), 1e-9);
  EXPECT_LT(worst(m.acceleration, acceleration, 10), 1e-6);
  EXPECT_LT(worst(m.acceleration, acceleration, 0), 1e-3);
  EXPECT_LT(m.residual_max, 1e-11);
}

TEST(Differentiate, RoundedSamplesAreSmoothedWithinTheirDigits) {
  const double resolution = 5e-8;
  const std::vector<double> samples = sampled(resolution);
  const SmoothMotion m = differentiate(samples, kStep, resolution);
  double differences = 0;  // what plain second differences would give
  for (int k = 10; k < kSamples - 10; ++k) {
    const double a = (samples[k + 1] - 2 * samples[k] + samples[k - 1]) / (kStep * kStep);
    differences = std::max(differences, std::abs(a - acceleration(k)));
  }
  EXPECT_LT(worst(m.acceleration, acceleration, 10), 0.1 * differences);
  EXPECT_LT(m.residual_max, 4 * resolution);
}

TEST(Differentiate, ShortMotions) {
  const SmoothMotion one = differentiate({3.0}, kStep, 0);
  EXPECT_EQ(one.value[0], 3.0);
  EXPECT_EQ(one.acceleration[0], 0.0);
  const SmoothMotion two = differentiate({0.0, 1.0}, 0.5, 0);
  EXPECT_NEAR(two.rate[0], 2.0, 1e-6);
  EXPECT_TRUE(std::isfinite(two.acceleration[1]));
}

}  // namespace
}  // namespace kinegraph::task::differentiate_test
