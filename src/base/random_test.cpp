#include "kinegraph/base/random.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace kinegraph::random_test {
namespace {

// The known answers of Philox 2×64-10.
TEST(Random, BlockIsPhilox) {
  const auto zero = Random::block(0, {0, 0});
  EXPECT_EQ(zero.a, 0xca00a0459843d731u);
  EXPECT_EQ(zero.b, 0x66c24222c9a845b5u);
  const auto ones = Random::block(~0ull, {~0ull, ~0ull});
  EXPECT_EQ(ones.a, 0x65b021d60cd8310fu);
  EXPECT_EQ(ones.b, 0x4d02f3222f86df20u);
  const auto pi = Random::block(0xa4093822299f31d0, {0x243f6a8885a308d3, 0x13198a2e03707344});
  EXPECT_EQ(pi.a, 0x0a5e742c2997341cu);
  EXPECT_EQ(pi.b, 0xb0f883d38000de5du);
}

TEST(Random, GivesTheSameNumbersEachTime) {
  Random a(42, 3, 5), b(42, 3, 5);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(a.normal(), b.normal());
  Random golden(42, 3, 5);
  for (double x : {-0.38157693929509784, -1.3576351560363842, 0.10545707900602699, -1.0631403416751086}) {
    EXPECT_DOUBLE_EQ(golden.normal(), x);
  }
}

TEST(Random, StreamsShareNoNumbers) {
  std::set<std::uint64_t> seen;
  int drawn = 0;
  for (std::uint64_t seed : {0, 1, 2}) {
    for (std::uint64_t stream : {0, 1, 2, 3}) {
      for (std::uint32_t substream : {0, 1, 2, 3}) {
        Random random(seed, stream, substream);
        for (int i = 0; i < 50; ++i, ++drawn) seen.insert(random.bits());
      }
    }
  }
  EXPECT_EQ(static_cast<int>(seen.size()), drawn);
}

TEST(Random, UniformFillsTheInterval) {
  constexpr int n = 200000, bins = 64;
  Random random(7);
  std::vector<int> count(bins);
  for (int i = 0; i < n; ++i) {
    const double u = random.uniform();
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    ++count[static_cast<int>(u * bins)];
  }
  double chi2 = 0;
  for (int c : count) chi2 += (c - double(n) / bins) * (c - double(n) / bins) / (double(n) / bins);
  EXPECT_LT(chi2, 120);  // 63 degrees of freedom: 99.998 %
  EXPECT_GT(chi2, 25);
  for (int i = 0; i < 1000; ++i) {
    const int k = random.below(7);
    ASSERT_TRUE(k >= 0 && k < 7);
  }
}

// Counts between cuts that fall inside the layers, at their edges and in the tail, against the distribution.
TEST(Random, NormalHasTheNormalDistribution) {
  constexpr int n = 2000000;
  const std::vector<double> cuts = {-4, -3.6541528853610088, -3, -2, -1, -0.5, -0.25, 0, 0.25, 0.5, 1, 2, 3, 3.7, 4};
  std::vector<int> count(cuts.size() + 1);
  Random random(11);
  double sums[5] = {};
  for (int i = 0; i < n; ++i) {
    const double x = random.normal();
    std::size_t bin = 0;
    while (bin < cuts.size() && x > cuts[bin]) ++bin;
    ++count[bin];
    double power = 1;
    for (double& s : sums) s += power, power *= x;
  }
  const auto below = [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); };
  double chi2 = 0;
  for (std::size_t b = 0; b < count.size(); ++b) {
    const double p = (b < cuts.size() ? below(cuts[b]) : 1) - (b > 0 ? below(cuts[b - 1]) : 0);
    chi2 += (count[b] - n * p) * (count[b] - n * p) / (n * p);
  }
  EXPECT_LT(chi2, 45);  // 15 degrees of freedom: 99.99 %
  EXPECT_NEAR(sums[1] / n, 0, 4 * std::sqrt(1.0 / n));
  EXPECT_NEAR(sums[2] / n, 1, 4 * std::sqrt(2.0 / n));
  EXPECT_NEAR(sums[3] / n, 0, 4 * std::sqrt(15.0 / n));
  EXPECT_NEAR(sums[4] / n, 3, 4 * std::sqrt(96.0 / n));
}

// First numbers of neighbouring streams: what particles use. No correlation with the next stream or the next number.
TEST(Random, NeighbouringStreamsAreIndependent) {
  constexpr int n = 200000;
  double across = 0, along = 0, substreams = 0, mean = 0, square = 0, last = 0;
  for (int i = 0; i < n; ++i) {
    Random random(5, i / 100, i % 100), other(5, i / 100 + 1, i % 100);
    const double x = random.normal(), y = random.normal(), z = other.normal();
    mean += x, square += x * x;
    across += x * z, along += x * y, substreams += x * last;
    last = x;
  }
  const double bound = 4 / std::sqrt(double(n));
  EXPECT_NEAR(mean / n, 0, bound);
  EXPECT_NEAR(square / n, 1, std::sqrt(2.0) * bound);
  EXPECT_NEAR(across / n, 0, bound);
  EXPECT_NEAR(along / n, 0, bound);
  EXPECT_NEAR(substreams / n, 0, bound);
}

}  // namespace
}  // namespace kinegraph::random_test
