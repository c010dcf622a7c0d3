#include "kinegraph/filter/particle_resampling.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace kinegraph::filter::particle_resampling_test {
namespace {

TEST(Systematic, TakesEachItemItsShareRoundedUpOrDown) {
  const std::vector<double> w = {0.1, 0, 2.5, 0.4, 1e-9, 1, 0};
  double sum = 0;
  for (double x : w) sum += x;
  constexpr int count = 13, trials = 4000;
  std::vector<double> average(w.size());
  std::vector<int> parent(count);
  for (int k = 0; k < trials; ++k) {
    systematic(w.data(), static_cast<int>(w.size()), (k + 0.5) / trials, count, parent.data());
    std::vector<int> copies(w.size());
    for (int p : parent) ++copies[p];
    EXPECT_TRUE(std::is_sorted(parent.begin(), parent.end()));
    for (std::size_t i = 0; i < w.size(); ++i) {
      const double share = count * w[i] / sum;
      ASSERT_GE(copies[i], std::floor(share));
      ASSERT_LE(copies[i], std::ceil(share));
      average[i] += copies[i] / double(trials);
    }
  }
  for (std::size_t i = 0; i < w.size(); ++i) EXPECT_NEAR(average[i], count * w[i] / sum, 1e-3);  // unbiased
}

TEST(Systematic, OfATeamTakesTheSameSharesWhateverItsThreads) {
  for (const int parts : {1, 3, 16}) {
    std::vector<double> sums;
    for (const int n : {1, 2, 40, 1000}) {
      std::vector<double> w(n);
      for (int i = 0; i < n; ++i) w[i] = i % 3 == 1 || (i > n / 2 && i < n - 1) ? 0 : 0.3 + std::sin(i) * std::sin(i);
      double sum = 0;
      for (double x : w) sum += x;
      for (const int count : {1, 13, 2000}) {
        for (const double u : {0.0, 0.3, 0.999}) {
          std::vector<int> parent(count, -1), other(count, -2), copies(n);
          systematic(Team(parts, 1), w.data(), n, u, count, parent.data(), sums);
          systematic(Team(parts, 4), w.data(), n, u, count, other.data(), sums);
          EXPECT_EQ(parent, other);
          EXPECT_TRUE(std::is_sorted(parent.begin(), parent.end()));
          for (int p : parent) {
            ASSERT_GE(p, 0);
            ASSERT_LT(p, n);
            ++copies[p];
          }
          for (int i = 0; i < n; ++i) {
            const double share = count * w[i] / sum;
            EXPECT_GE(copies[i], std::floor(share - 1e-9));
            EXPECT_LE(copies[i], std::ceil(share + 1e-9));
          }
        }
      }
    }
  }
}

TEST(Systematic, KeepsEqualWeightsAsTheyAre) {
  std::vector<double> w(100, 0.01);
  std::vector<int> parent(100);
  systematic(w.data(), 100, 0.5, 100, parent.data());
  for (int i = 0; i < 100; ++i) EXPECT_EQ(parent[i], i);
  EXPECT_NEAR(effective_size(w.data(), 100), 100, 1e-10);
}

TEST(Allocate, KeepsSomeOfEachBranchAlive) {
  std::vector<int> counts;
  allocate({0.999999, 1e-6}, 100, 10, counts);
  EXPECT_EQ(counts, (std::vector<int>{90, 10}));
  allocate({0.7, 0.3, 0}, 100, 10, counts);
  EXPECT_EQ(counts, (std::vector<int>{70, 30, 0}));
  allocate({0.5, 0.25, 0.25}, 2, 10, counts);
  EXPECT_EQ(counts[0] + counts[1] + counts[2], 2);
  allocate({0.4999, 0.4999, 0.0002}, 10, 3, counts);
  EXPECT_EQ(counts, (std::vector<int>{4, 3, 3}));
}

}  // namespace
}  // namespace kinegraph::filter::particle_resampling_test
