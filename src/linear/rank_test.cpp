#include "kinegraph/linear/rank.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <ctime>
#include <random>

#include "kinegraph/linear/sparse_lu.hpp"
#include "kinegraph/linear/systems_test.hpp"

namespace kinegraph::linear::rank_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

RankReport rank_of(const MatrixXd& a, std::vector<double> residual = {}) {
  const RankPose pose{SparseRows::from_dense(a), std::move(residual)};
  return rank({&pose, 1});
}

int svd_rank(const MatrixXd& a) {
  return a.size() == 0 ? 0 : static_cast<int>((Eigen::JacobiSVD<MatrixXd>(a).singularValues().array() > 1e-9).count());
}

TEST(Rank, AgreesWithSingularValues) {
  std::mt19937 rng(1);
  for (int trial = 0; trial < 200; ++trial) {
    const int rows = 1 + trial % 17, columns = 1 + trial % 13, inner = 1 + trial % 7;
    const MatrixXd a = test::random_sparse(rows, inner, 0.5, rng) * test::random_sparse(inner, columns, 0.5, rng);
    EXPECT_EQ(rank_of(a).rank, svd_rank(a)) << a;
  }
}

TEST(Rank, RedundantRowsFollowFromEarlierOnesAndUndeterminedColumnsMove) {
  std::mt19937 rng(2);
  for (int trial = 0; trial < 100; ++trial) {
    const int rows = 12, columns = 10;
    MatrixXd a = test::random_sparse(rows, 6, 0.4, rng) * test::random_sparse(6, columns, 0.4, rng);
    const RankReport report = rank_of(a);
    std::vector<int> redundant;
    for (const auto& r : report.redundant) redundant.push_back(r.row);
    std::vector<int> expected;
    for (int i = 0; i < rows; ++i) {
      if (svd_rank(a.topRows(i + 1)) == svd_rank(a.topRows(i))) expected.push_back(i);
    }
    EXPECT_EQ(redundant, expected) << a;
    for (const auto& r : report.redundant) {  // and from the rows that are named
      MatrixXd named(r.follows_from.size() + 1, columns);
      for (std::size_t k = 0; k < r.follows_from.size(); ++k) named.row(k) = a.row(r.follows_from[k]);
      EXPECT_EQ(svd_rank(named.topRows(r.follows_from.size())), int(r.follows_from.size()));
      named.bottomRows(1) = a.row(r.row);
      EXPECT_EQ(svd_rank(named), int(r.follows_from.size()));
    }
    std::vector<int> moving;  // e_j is in the row space exactly if x_j is determined
    for (int j = 0; j < columns; ++j) {
      MatrixXd with(rows + 1, columns);
      with << a, MatrixXd::Identity(columns, columns).row(j);
      if (svd_rank(with) > svd_rank(a)) moving.push_back(j);
    }
    EXPECT_EQ(report.undetermined, moving) << a;
    EXPECT_EQ(report.freedom(), columns - report.rank);
  }
}

TEST(Rank, SmallUnitsDoNotMatter) {
  MatrixXd a(2, 2);
  a << 1, 1, 1e-12, -1e-12;
  EXPECT_EQ(rank_of(a).rank, 2);
}

TEST(Rank, ContradictionsAreTold) {
  MatrixXd a(3, 2);
  a << 1, 0, 0, 2, 1, 2;
  const RankReport fits = rank_of(a, {1, 2, 3}), contradicts = rank_of(a, {1, 2, 4});
  ASSERT_EQ(fits.redundant.size(), 1u);
  EXPECT_EQ(fits.redundant[0].row, 2);
  EXPECT_EQ(fits.redundant[0].follows_from, (std::vector{0, 1}));
  EXPECT_TRUE(fits.redundant[0].consistent);
  EXPECT_FALSE(contradicts.redundant[0].consistent);
  EXPECT_NEAR(contradicts.redundant[0].mismatch, 0.5, 1e-12);  // row 2 scaled by 1/2
}

TEST(Rank, SingularPoseIsNotARedundantRow) {
  // Two unit bars in line: |p|² = 1 and |p − (2, 0)|² = 1 have parallel gradients at p = (1, 0), nowhere else near.
  const auto gradients = [](double x, double y) {
    MatrixXd a(2, 2);
    a << 2 * x, 2 * y, 2 * (x - 2), 2 * y;
    return RankPose{SparseRows::from_dense(a), {}};
  };
  const std::vector<RankPose> poses{gradients(1, 0), gradients(1.01, 0.02)};
  const RankReport report = rank(poses);
  EXPECT_EQ(report.rank, 2);
  EXPECT_EQ(report.rank_here, 1);
  EXPECT_TRUE(report.singular_here());
  EXPECT_TRUE(report.redundant.empty());
  EXPECT_EQ(report.pose, 1);
}

TEST(Rank, EmptyMatrices) {
  EXPECT_EQ(rank({}).rank, 0);
  const RankReport report = rank_of(MatrixXd(0, 3));
  EXPECT_EQ(report.rank, 0);
  EXPECT_EQ(report.undetermined, (std::vector{0, 1, 2}));
  const RankReport zero_row = rank_of(MatrixXd::Zero(1, 2));
  ASSERT_EQ(zero_row.redundant.size(), 1u);
  EXPECT_TRUE(zero_row.redundant[0].follows_from.empty());
}

/// Loops side by side: link k has `per_link` unknowns and as many equations on its own and the previous link's
/// unknowns; every tenth link's last equation repeats another.
SparseRows chain_of_links(int links, int per_link, std::mt19937& rng) {
  std::normal_distribution<double> normal;
  SparseRows rows;
  rows.columns = links * per_link;
  for (int k = 0; k < links; ++k) {
    std::vector<double> sum(2 * per_link, 0.0);
    for (int i = 0; i < per_link; ++i) {
      const bool repeats = k % 10 == 9 && i == per_link - 1;
      for (int j = k == 0 ? per_link : 0; j < 2 * per_link; ++j) {
        const double v = repeats ? sum[j] : (j + i) % 3 == 0 ? normal(rng) + 1 : 0.0;
        sum[j] += v;
        if (v != 0) rows.push((k - 1) * per_link + j, v);
      }
      rows.end_row();
    }
  }
  return rows;
}

TEST(Rank, CostOfChainsIsFarFromCubic) {
  std::mt19937 rng(3);
  const auto seconds = [&rng](int links) {
    const RankPose pose{chain_of_links(links, 10, rng), {}};
    const std::clock_t start = std::clock();  // of the processor: the machine may be busy
    const RankReport report = rank({&pose, 1});
    EXPECT_EQ(report.rows, 10 * links);
    EXPECT_EQ(report.rank, 10 * links - static_cast<int>(report.redundant.size()));
    EXPECT_GE(report.redundant.size(), static_cast<std::size_t>(links) / 10);
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  };
  const double quarter = seconds(125), whole = seconds(500);
  EXPECT_LT(whole, 32 * quarter);  // the square would be 16, the cube 64
}

}  // namespace
}  // namespace kinegraph::linear::rank_test
