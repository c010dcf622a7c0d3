#include "kinegraph/ensemble/design.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

#include "kinegraph/ensemble/study_file.hpp"

namespace kinegraph::ensemble::design_test {
namespace {

Study study(const std::string& rest) {
  Result<Study> read = parse_study("verb: check\nmodel: m.yaml\noutputs: [mass]\n" + rest, "s.yaml");
  EXPECT_TRUE(read) << read.failure().to_string();
  return *std::move(read);
}

double number(const Case& of, std::size_t i) { return std::atof(of.values[i].c_str()); }

TEST(Design, CountsLikeNestedLoops) {
  const Study s = study("repetitions: 2\nvary: {a: {from: 1, to: 3, count: 3}, --b: [x, y]}\n");
  const Design design(s);
  ASSERT_EQ(design.cases(), 12U);
  std::vector<std::string> seen;
  std::set<std::uint64_t> seeds;
  for (std::uint64_t k = 0; k < design.cases(); ++k) {
    const Case c = design.at(k);
    seen.push_back(c.values[0] + c.values[1] + std::to_string(c.repetition));
    seeds.insert(c.seed);
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"1x0", "1x1", "1y0", "1y1", "2x0", "2x1", "2y0", "2y1", "3x0", "3x1", "3y0",
                                            "3y1"}));
  EXPECT_EQ(seeds.size(), 12U);
}

TEST(Design, GridsReachTheirEnds) {
  const Study s = study("vary: {a: {from: 0.1, to: 0.7, count: 7}, b: {from: 1, to: 1000, count: 4, spacing: log}}\n");
  const Design design(s);
  EXPECT_EQ(design.at(0).values, (std::vector<std::string>{"0.1", "1"}));
  EXPECT_EQ(design.at(27).values, (std::vector<std::string>{"0.7", "1000"}));
  EXPECT_NEAR(number(design.at(1), 1), 10, 1e-13);
}

TEST(Permutation, IsOneOfEverySize) {
  for (const std::uint64_t n : {1U, 2U, 3U, 7U, 64U, 1000U, 4097U}) {
    const Permutation order(n, 3, 5), other(n, 4, 5);
    std::vector<char> seen(n);
    std::uint64_t moved = 0, differ = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
      const std::uint64_t at = order(i);
      ASSERT_LT(at, n);
      ASSERT_EQ(seen[at]++, 0);
      moved += at != i;
      differ += at != other(i);
    }
    if (n >= 1000) {
      EXPECT_GT(std::min(moved, differ), n * 98 / 100);
    }
  }
}

TEST(LatinHypercube, HasOneDrawInEveryPartOfEveryAxis) {
  const Study s = study(
      "design: latin-hypercube\nsamples: 1000\nvary:\n  a: {distribution: uniform, low: 0, high: 1}\n"
      "  b: {distribution: uniform, low: 0, high: 1}\n");
  const Design design(s);
  std::vector<int> parts[2] = {std::vector<int>(1000), std::vector<int>(1000)};
  double together = 0;
  for (std::uint64_t k = 0; k < 1000; ++k) {
    const Case c = design.at(k);
    for (std::size_t d = 0; d < 2; ++d) ++parts[d][static_cast<std::size_t>(1000 * number(c, d))];
    together += (number(c, 0) - 0.5) * (number(c, 1) - 0.5) * 12 / 1000;
  }
  EXPECT_EQ(parts[0], std::vector<int>(1000, 1));
  EXPECT_EQ(parts[1], std::vector<int>(1000, 1));
  EXPECT_LT(std::abs(together), 0.15);  // the orders of the axes are independent: five standard deviations
}

TEST(Sobol, BeginsAsPublished) {
  const Sobol sobol(3, 0);
  const double expected[][3] = {{0, 0, 0},          {0.5, 0.5, 0.5},       {0.75, 0.25, 0.25},
                                {0.25, 0.75, 0.75}, {0.375, 0.375, 0.625}, {0.875, 0.875, 0.125}};
  for (std::uint64_t i = 0; i < 6; ++i) {
    for (std::size_t d = 0; d < 3; ++d) {
      EXPECT_EQ(static_cast<double>(sobol.plain(i, d)) * 0x1p-52, expected[i][d]) << i << " " << d;
    }
  }
}

/// Every axis alone is stratified for all powers of two, and neighbouring axes together at 2² parts.
TEST(Sobol, IsEvenOnEveryAxisAndOnPairs) {
  const Sobol sobol(kSobolDimensions, 11);
  constexpr std::uint64_t n = 1024;
  for (std::size_t d = 0; d < kSobolDimensions; ++d) {
    std::vector<int> parts(n);
    for (std::uint64_t i = 0; i < n; ++i) ++parts[static_cast<std::size_t>(sobol.at(i, d) * n)];
    EXPECT_EQ(parts, std::vector<int>(n, 1)) << d;
  }
  int quarters[4] = {};
  for (std::uint64_t i = 0; i < 4; ++i) ++quarters[2 * (sobol.at(i, 0) > 0.5) + (sobol.at(i, 1) > 0.5)];
  EXPECT_TRUE(std::all_of(quarters, quarters + 4, [](int count) { return count == 1; }));
  EXPECT_NE(Sobol(1, 1).at(0, 0), Sobol(1, 2).at(0, 0));
}

/// The share of draws below x is the distribution function, to the evenness of the design.
TEST(Distributions, AreWhatTheySay) {
  const Distribution normal{Distribution::Type::normal, 2, 0.5, -Distribution::kInfinity, Distribution::kInfinity};
  EXPECT_EQ(normal.quantile(0.5), 2);
  for (const double u : {1e-300, 1e-12, 0.025, 0.3, 0.7, 0.975, 1 - 1e-12}) {
    const double x = (normal.quantile(u) - 2) / 0.5;
    EXPECT_NEAR(0.5 * std::erfc(-x / std::sqrt(2.0)) / u, 1, 1e-11) << u;
  }
  EXPECT_NEAR((normal.quantile(0.975) - 2) / 0.5, 1.959963984540054, 1e-14);
  const Distribution cut{Distribution::Type::normal, 0, 1, -1, 1};
  EXPECT_NEAR(cut.quantile(1e-9), -1, 1e-6);
  EXPECT_NEAR(cut.quantile(0.5), 0, 1e-15);
  const Distribution ratio{Distribution::Type::log_uniform, 0, 1, 0.01, 100};
  EXPECT_NEAR(ratio.quantile(0.5), 1, 1e-15);
}

TEST(Design, DrawsAreThoseOfTheirDistribution) {
  for (const char* design_name : {"random", "latin-hypercube", "sobol"}) {
    const Study s = study("design: " + std::string(design_name) +
                          "\nsamples: 4096\nvary: {a: {distribution: normal, mean: 3, sd: 2}}\n");
    const Design design(s);
    double sum = 0, squares = 0;
    for (std::uint64_t k = 0; k < 4096; ++k) {
      const double x = (number(design.at(k), 0) - 3) / 2;
      sum += x, squares += x * x;
    }
    const bool even = s.design != Study::Joint::random;
    EXPECT_NEAR(sum / 4096, 0, even ? 1e-3 : 5 / 64.0) << design_name;
    EXPECT_NEAR(squares / 4096, 1, even ? 1e-2 : 5 * std::sqrt(2.0) / 64) << design_name;
  }
}

/// The same draws at every point of a grid: what differs there is due to the grid.
TEST(Design, GridsShareTheirDraws) {
  const Study s = study("samples: 5\nvary: {a: [1, 2], b: {distribution: uniform, low: 0, high: 1}}\n");
  const Design design(s);
  for (std::uint64_t k = 0; k < 5; ++k) EXPECT_EQ(design.at(k).values[1], design.at(k + 5).values[1]);
  EXPECT_NE(design.at(0).seed, design.at(5).seed);
}

/// Ten million cases and more are planned without a list: nothing is kept from one case to the next.
TEST(Design, TenMillionCasesNeedNoMemory) {
  const Study s = study(
      "design: latin-hypercube\nsamples: 10000000\nvary:\n  a: {distribution: normal, mean: 1, sd: 1}\n"
      "  b: {distribution: uniform, low: 0, high: 1}\n  c: {from: 0, to: 1, count: 1000}\n");
  const Design design(s);
  ASSERT_EQ(design.cases(), 10'000'000'000U);
  std::size_t characters = design.at(0).values[0].size();
  const auto used = [] { return ::mallinfo2().uordblks; };
  const std::size_t before = used();
  for (std::uint64_t k = 0; k < design.cases(); k += 100'000) {
    const Case c = design.at(k);
    characters += c.values[0].size() + c.values[1].size();
  }
  EXPECT_LE(used(), before + 4096);
  EXPECT_GT(characters, 100'000U);
}

}  // namespace
}  // namespace kinegraph::ensemble::design_test
