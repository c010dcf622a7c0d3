#include "kinegraph/filter/consistency.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <numeric>
#include <random>

#include "kinegraph/base/numbers.hpp"
#include "kinegraph/filter/ekf.hpp"
#include "kinegraph/filter/toy_test.hpp"

namespace kinegraph::filter::consistency_test {
namespace {

const std::vector<SensorInfo>& one_sensor() {
  static const std::vector<SensorInfo> sensors = {{"gyro", {{"gyro.w", 0.1, false}}}};
  return sensors;
}

Innovation of(double u, double sd = 0.3) {
  Innovation i;
  i.e = {u * sd, kNan, kNan, kNan, kNan, kNan}, i.sd = {sd, kNan, kNan, kNan, kNan, kNan};
  i.nis = u * u, i.rows = 1;
  return i;
}

/// u(k) = mean + scale · (n(k) + memory · u'(k − 1)), of unit variance before scaling.
Consistency collected(int count, double scale, double mean, double memory, std::uint64_t seed) {
  std::mt19937_64 bits(seed);
  std::normal_distribution<double> normal;
  Consistency c(one_sensor());
  double last = normal(bits);
  for (int k = 0; k < count; ++k) {
    last = memory * last + std::sqrt(1 - memory * memory) * normal(bits);
    c.add(of(mean + scale * last));
  }
  return c;
}

TEST(Consistency, HasNoObjectionToWhatIsWhite) {
  int outside = 0, objections = 0, correlated = 0;
  for (int seed = 0; seed < 200; ++seed) {
    const Consistency c = collected(500, 1, 0, 0, 1000 + seed);
    outside += !c.nis().inside();
    objections += !c.verdict().empty();
    correlated += c.channels()[0].p_value < 0.05;
  }
  EXPECT_NEAR(outside, 10, 9);  // 5 % of 200
  EXPECT_NEAR(correlated, 10, 9);
  EXPECT_LE(objections, 2);
}

// As of a smoother that starts without knowing anything.
TEST(Consistency, CountsNothingThatWasNotExpected) {
  Consistency c = collected(500, 1, 0, 0, 1);
  const ChiSquaredAverage before = c.nis();
  Innovation first = of(1);
  first.sd[0] = std::numeric_limits<double>::infinity();
  first.nis = 0;
  for (int k = 0; k < 500; ++k) c.add(first);
  EXPECT_EQ(c.nis().mean, before.mean);
  EXPECT_EQ(c.channels()[0].count, 500);
}

TEST(Consistency, SaysWhatIsTooLargeOrTooSmall) {
  EXPECT_EQ(collected(20000, 2.3, 0, 0, 1).verdict(),
            (std::vector<std::string>{"innovations of 'gyro' are 2.3 × larger than expected: its noise or the process "
                                      "noise is set too small"}));
  EXPECT_EQ(collected(20000, 0.5, 0, 0, 1).verdict(),
            (std::vector<std::string>{"innovations of 'gyro' are 2 × smaller than expected: its noise or the process "
                                      "noise is set too large"}));
}

TEST(Consistency, SaysWhatIsOffOrCorrelated) {
  const Consistency shifted = collected(2000, 1, 0.2, 0, 3);
  EXPECT_NEAR(shifted.channels()[0].mean, 0.2, 4 / std::sqrt(2000));
  const auto off = shifted.verdict();
  ASSERT_EQ(off.size(), 1u);
  EXPECT_TRUE(off[0].starts_with("innovations of 'gyro.w' are +0.")) << off[0];
  const auto slow = collected(2000, 1, 0, 0.6, 4).verdict(), fast = collected(2000, 1, 0, -0.6, 4).verdict();
  ASSERT_FALSE(slow.empty());
  EXPECT_NE(slow.back().find("over 1 readings): the process noise is set too small"), std::string::npos) << slow.back();
  EXPECT_NE(fast.back().find("over 1 readings): the process noise is set too large"), std::string::npos) << fast.back();
  EXPECT_TRUE(collected(2000, 1, 0, -0.6, 4).verdict(false).empty());  // residuals of a smoother may be correlated
  EXPECT_EQ(collected(5, 1, 0, 0, 1).verdict(), (std::vector<std::string>{"5 readings are too few to judge by"}));
}

TEST(Consistency, CorrelationsAreThoseOfTheTextbook) {
  std::mt19937_64 bits(8);
  std::normal_distribution<double> normal;
  std::vector<double> u(60);
  Consistency c(one_sensor(), 5);
  for (double& x : u) c.add(of(x = normal(bits)));
  const ChannelConsistency s = c.channels()[0];
  const double n = 60, mean = std::accumulate(u.begin(), u.end(), 0.0) / n;
  double variance = 0, q = 0;
  for (const double x : u) variance += (x - mean) * (x - mean);
  ASSERT_EQ(s.correlation.size(), 5u);
  for (int lag = 1; lag <= 5; ++lag) {
    double r = 0;
    for (int k = lag; k < 60; ++k) r += (u[k] - mean) * (u[k - lag] - mean);
    r /= variance;
    EXPECT_NEAR(s.correlation[lag - 1], r, 0.03);  // the ends are treated differently
    q += n * (n + 2) * s.correlation[lag - 1] * s.correlation[lag - 1] / (n - lag);
  }
  EXPECT_NEAR(s.ljung_box, q, 1e-12);
  EXPECT_NEAR(s.bound, 1.96 / std::sqrt(60), 1e-12);
}

TEST(Consistency, CountsWhatWasGatedOut) {
  Consistency c = collected(80, 1, 0, 0, 6);
  for (int k = 0; k < 20; ++k) {
    Innovation i = of(100);
    i.accepted = false;
    c.add(i);
  }
  EXPECT_EQ(c.rejected(), 20);
  EXPECT_EQ(c.nis().count, 80);
  EXPECT_EQ(c.verdict().back(), "20 % of the readings were gated out");
}

TEST(Consistency, AveragesErrors) {
  Consistency c(one_sensor());
  MatrixXd P(2, 2);
  P << 4, 1, 1, 2;
  c.add_error(Eigen::Vector2d(1, -1), P);
  EXPECT_NEAR(c.nees().mean, Eigen::Vector2d(1, -1).dot(P.inverse() * Eigen::Vector2d(1, -1)) / 2, 1e-14);
  EXPECT_NEAR(c.nees().high, 7.377758908227871 / 2, 1e-9);
  EXPECT_NEAR(c.nees().low, 0.05063561596857975 / 2, 1e-12);
  c.add_error(Eigen::Vector2d(1, -1), MatrixXd::Zero(2, 2));
  EXPECT_EQ(c.nees().count, 2);
}

// A filter that believes its sensor four times as good as it is.
TEST(Consistency, CatchesAFilterWithTooLittleNoise) {
  std::mt19937_64 bits(12);
  std::normal_distribution<double> normal;
  for (const double noise : {0.05, 0.0125}) {
    Pendulum p;
    p.mutable_sensors()[1].channels[0].noise = noise;
    Belief start;
    start.x = Eigen::Vector2d(0.5, 0), start.P = Eigen::Vector2d(1e-4, 1e-4).asDiagonal();
    auto filter = Ekf::make(p.clone(), start);
    ASSERT_TRUE(filter);
    Consistency c(p.sensors());
    (*filter)->on_innovation = [&](const Innovation& i) { c.add(i); };
    Eigen::Vector2d x = start.x, next;
    for (int k = 1; k <= 1000; ++k) {
      const double n[2] = {normal(bits), normal(bits)};
      p.advance(0, 0.01, x.data(), next.data());
      p.disturb(0, 0.01, (x = next).data(), n);
      ASSERT_TRUE((*filter)->push({0.01 * k, 1, {x[1] + 0.05 * normal(bits), kNan, kNan, kNan, kNan, kNan}}));
    }
    if (noise == 0.05) {
      EXPECT_TRUE(c.verdict().empty()) << c.verdict()[0];
    } else {
      ASSERT_FALSE(c.verdict().empty());
      EXPECT_NE(c.verdict()[0].find("larger than expected: its noise or"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace kinegraph::filter::consistency_test
