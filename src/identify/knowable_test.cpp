#include "kinegraph/identify/knowable.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>

#include "kinegraph/base/random.hpp"

namespace kinegraph::identify::knowable_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Rows that see the quantities through `seen` (combinations × parameters) only, with deviation `sigma`.
Evidence evidence(const MatrixXd& seen, const VectorXd& values, double sigma, std::uint64_t seed = 1) {
  Random random(seed);
  MatrixXd rows(200, seen.rows());
  random.normal(rows.data(), static_cast<int>(rows.size()));
  const MatrixXd J = rows * seen / sigma;
  Evidence result;
  result.information = J.transpose() * J;
  result.scatter = result.information;  // as if the residuals were what is assumed
  result.values = values;
  for (int i = 0; i < values.size(); ++i) result.names.push_back(std::string(1, static_cast<char>('a' + i)));
  return result;
}

VectorXd numbers(std::initializer_list<double> list) {
  return Eigen::Map<const VectorXd>(list.begin(), static_cast<Eigen::Index>(list.size()));
}

TEST(Knowable, DeviationsAndCorrelationsOfWhatIsSeen) {
  MatrixXd seen = MatrixXd::Identity(3, 3);
  seen(0, 1) = 0.9;
  Evidence given = evidence(seen, numbers({2, -3, 0.001}), 0.01);
  given.scatter *= 4;  // residuals twice as large as assumed
  const Knowable found = what_is_knowable(given);
  EXPECT_TRUE(found.all_identifiable());
  EXPECT_EQ(found.rank, 3);
  const MatrixXd P = given.information.inverse();
  EXPECT_LT((found.covariance - P).norm(), 1e-12 * P.norm());
  for (int i = 0; i < 3; ++i) {
    const KnownQuantity& each = found.quantities[i];
    ASSERT_TRUE(each.identifiable);
    EXPECT_NEAR(*each.deviation, std::sqrt(P(i, i)), 1e-12);
    EXPECT_NEAR(*each.sandwich, 2 * std::sqrt(P(i, i)), 1e-12);
    EXPECT_EQ(each.weak, i == 2) << i;  // 0.001 ± 0.0014
  }
  EXPECT_EQ(found.quantities[2].remark, "weakly known");
  EXPECT_NEAR(found.correlation(0, 1), P(0, 1) / std::sqrt(P(0, 0) * P(1, 1)), 1e-12);
  EXPECT_EQ(found.correlation(1, 1), 1);
  EXPECT_TRUE(found.correlated.empty());
}

/// Scores of few blocks of time may cancel: that makes no combination known better than readings can tell.
TEST(Knowable, WhatIsToldOfCombinationsIsNoLessThanLinearised) {
  MatrixXd sum(1, 2);
  sum << 1, 1;
  Evidence given = evidence(sum, numbers({2, 3}), 0.01);
  const std::string white = what_is_knowable(given).unknown.at(0).text;
  given.scatter *= 1e-8;
  const Knowable found = what_is_knowable(given);
  EXPECT_LT(*found.unknown.at(0).known.at(0).sandwich, 1e-3 * found.unknown[0].known[0].deviation);
  EXPECT_EQ(found.unknown[0].text, white);
  EXPECT_EQ(told_deviation(0.1, 0.01), 0.1);
  EXPECT_EQ(told_deviation(0.1, 0.2), 0.2);
  EXPECT_EQ(told_deviation(0.1, {}), 0.1);
}

/// What is wrong whatever the noise counts beside it, also in combinations, where it may cancel.
TEST(Knowable, ABiasCounts) {
  Evidence given = evidence(MatrixXd::Identity(2, 2), numbers({2, -3}), 0.01);
  given.bias = numbers({0.3, 0});
  const Knowable found = what_is_knowable(given);
  const double own = given.information.inverse()(0, 0);
  EXPECT_NEAR(*found.quantities[0].sandwich, std::sqrt(own + 0.09), 1e-9);
  EXPECT_NEAR(*found.quantities[0].deviation, std::sqrt(own), 1e-12);
  EXPECT_EQ(found.quantities[0].bias, 0.3);
  EXPECT_NEAR(*found.quantities[1].sandwich, *found.quantities[1].deviation, 1e-9);

  MatrixXd sum(1, 2);
  sum << 1, 1;
  given = evidence(sum, numbers({2, 3}), 0.01);
  given.bias = numbers({0.3, -0.3});
  const Knowable together = what_is_knowable(given);
  ASSERT_EQ(together.unknown.size(), 1u);
  ASSERT_EQ(together.unknown[0].known.size(), 1u);
  EXPECT_NEAR(*together.unknown[0].known[0].sandwich, together.unknown[0].known[0].deviation, 1e-9);
}

/// The part of a direction that is 0, as of a level ground, is known well beside the whole.
TEST(Knowable, ZeroIsKnownBesideItsSize) {
  Evidence given = evidence(MatrixXd::Identity(2, 2), numbers({1e-4, 1e-4}), 0.01);
  EXPECT_TRUE(what_is_knowable(given).quantities[0].weak);
  given.sizes = numbers({9.81, 0});
  const Knowable found = what_is_knowable(given);
  EXPECT_FALSE(found.quantities[0].weak);
  EXPECT_TRUE(found.quantities[0].remark.empty());
  EXPECT_TRUE(found.quantities[1].weak);
}

TEST(Knowable, StronglyCorrelatedPairsAreListed) {
  const MatrixXd seen = (MatrixXd(3, 3) << 1, 1, 0, 0, 0.02, 0, 0, 0, 1).finished();
  const Knowable found = what_is_knowable(evidence(seen, numbers({1, 1, 1}), 1e-3));
  ASSERT_EQ(found.correlated.size(), 1u);
  EXPECT_EQ(found.correlated[0].first, 0);
  EXPECT_EQ(found.correlated[0].second, 1);
  EXPECT_LT(found.correlated[0].correlation, -0.99);
}

TEST(Knowable, AParameterThatNoRowSeesIsNamedAlone) {
  MatrixXd seen = MatrixXd::Zero(2, 3);
  seen(0, 0) = 1, seen(1, 2) = 1e6;  // units as different as they come
  const Knowable found = what_is_knowable(evidence(seen, numbers({0.5, 0.002, 3e-7}), 1e-3));
  EXPECT_EQ(found.rank, 2);
  ASSERT_EQ(found.unknown.size(), 1u);
  EXPECT_EQ(found.unknown[0].text, "b: not seen by the data");
  EXPECT_TRUE(found.unknown[0].known.empty());
  EXPECT_FALSE(found.quantities[1].identifiable);
  EXPECT_FALSE(found.quantities[1].deviation.has_value());
  EXPECT_FALSE(found.quantities[1].sandwich.has_value());
  EXPECT_EQ(found.quantities[1].remark, "not seen by the data");
  EXPECT_NEAR(*found.quantities[0].deviation, 1e-3 / std::sqrt(200), 1e-5);
  EXPECT_NEAR(*found.quantities[2].deviation, 1e-9 / std::sqrt(200), 1e-11);
  EXPECT_TRUE(found.correlation.row(1).isZero(0));
}

// The inertia of a body and of the motor on its shaft: their sum is all that the motion shows.
TEST(Knowable, TwoThatCannotBeToldApart) {
  MatrixXd seen = MatrixXd::Zero(2, 3);
  seen(0, 0) = seen(0, 2) = 1, seen(1, 1) = 1;
  Evidence given = evidence(seen, numbers({0.0021, 5, 0.001}), 1e-4);
  given.names = {"A.izz", "arm.mass", "shaft.inertia"};
  const Knowable found = what_is_knowable(given);
  EXPECT_EQ(found.rank, 2);
  ASSERT_EQ(found.unknown.size(), 1u);
  const UnknownGroup& group = found.unknown[0];
  EXPECT_EQ(group.quantities, (std::vector<int>{0, 2}));
  ASSERT_EQ(group.known.size(), 1u);
  const KnownCombination& sum = group.known[0];
  EXPECT_NEAR(sum.coefficients[0], 1, 1e-12);
  EXPECT_NEAR(sum.coefficients[1], 1, 1e-9);
  EXPECT_NEAR(sum.value, 0.0031, 1e-12);
  EXPECT_NEAR(sum.deviation, 1e-4 / std::sqrt(200), 1e-6);
  EXPECT_NEAR(*sum.sandwich, sum.deviation, 1e-9);
  EXPECT_NEAR(group.directions(0, 0), -group.directions(1, 0), 1e-9 * std::abs(group.directions(0, 0)));
  EXPECT_TRUE(group.text.starts_with("A.izz and shaft.inertia cannot be told apart, only "));
  EXPECT_TRUE(group.text.find("A.izz + shaft.inertia = 0.0031000 ± 0.0000") != std::string::npos ||
              group.text.find("shaft.inertia + A.izz = 0.0031000 ± 0.0000") != std::string::npos)
      << group.text;
  EXPECT_TRUE(found.quantities[1].identifiable);
  EXPECT_EQ(found.quantities[0].remark, "known only in combinations");
}

// Base parameters of an arm: the moment about its joint is I + 0.25 m l² …, gravity shows m c.
TEST(Knowable, CombinationsHaveTheirCoefficients) {
  MatrixXd seen = MatrixXd::Zero(2, 4);
  seen.row(0) << 1, 0.25, 0, 0;   // a + 0.25 b
  seen.row(1) << 0, 0, 1, -0.04;  // c − 0.04 d
  const Knowable found = what_is_knowable(evidence(seen, numbers({1, 2, 3, 40}), 1e-5));
  ASSERT_EQ(found.unknown.size(), 2u);
  for (int k = 0; k < 2; ++k) {
    const UnknownGroup& group = found.unknown[k];
    ASSERT_EQ(group.known.size(), 1u);
    const KnownCombination& known = group.known[0];
    EXPECT_EQ(group.quantities, (std::vector<int>{2 * k, 2 * k + 1}));
    const double ratio = seen(k, known.quantities[1]) / seen(k, known.quantities[0]);
    EXPECT_NEAR(known.coefficients[1] / known.coefficients[0], ratio, 1e-8 * std::abs(ratio));
  }
  EXPECT_EQ(found.unknown[0].known[0].text, "a + 0.25 b");
  EXPECT_EQ(found.unknown[1].known[0].text, "c − 0.04 d");
}

// Three parameters of which one combination is seen, beside one that is unseen and one that is known.
TEST(Knowable, GroupsComeApart) {
  MatrixXd seen = MatrixXd::Zero(3, 6);
  seen.row(0) << 1, 1, 1, 0, 0, 0;
  seen.row(1) << 1, 0, -1, 0, 0, 0;
  seen.row(2) << 0, 0, 0, 0, 1, 0;
  const Evidence given = evidence(seen, VectorXd::Ones(6), 1e-3);
  const Knowable found = what_is_knowable(given);
  EXPECT_EQ(found.rank, 3);
  ASSERT_EQ(found.unknown.size(), 3u);
  EXPECT_EQ(found.unknown[0].quantities, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(found.unknown[1].text, "d: not seen by the data");
  EXPECT_EQ(found.unknown[2].text, "f: not seen by the data");
  EXPECT_TRUE(found.quantities[4].identifiable);
  const UnknownGroup& group = found.unknown[0];
  ASSERT_EQ(group.directions.cols(), 1);
  EXPECT_LT((seen.topLeftCorner(2, 3) * group.directions).norm(), 1e-8);
  ASSERT_EQ(group.known.size(), 2u);
  for (const KnownCombination& known : group.known) {
    VectorXd weights = VectorXd::Zero(6);
    for (std::size_t i = 0; i < known.quantities.size(); ++i) weights[known.quantities[i]] = known.coefficients[i];
    EXPECT_NEAR(weights.head(3).dot(group.directions.col(0)), 0, 1e-8);
    // its deviation, from the combinations that are seen: weights = seenᵀ c, S = seenᵀ S₃ seen, c S₃⁻¹ c
    const MatrixXd square = seen * seen.transpose();
    const VectorXd c = square.ldlt().solve(seen * weights);
    const MatrixXd half = square.ldlt().solve(seen * given.information * seen.transpose());
    const MatrixXd S3 = square.ldlt().solve(half.transpose());
    EXPECT_NEAR(known.deviation, std::sqrt(c.dot(S3.ldlt().solve(c))), 1e-6 * known.deviation);
  }
}

// Seen, but so little that not even the order of it is known: as good as not at all.
TEST(Knowable, AFaintParameterIsNotGivenANumber) {
  MatrixXd seen = MatrixXd::Identity(2, 2);
  seen(1, 1) = 1e-5;
  Evidence given = evidence(seen, numbers({1, 1}), 1e-3);
  Knowable found = what_is_knowable(given);  // b: 1 ± 7
  EXPECT_TRUE(found.quantities[1].identifiable);
  EXPECT_TRUE(found.quantities[1].weak);
  given.scales = numbers({1, 0.1});
  found = what_is_knowable(given);
  EXPECT_FALSE(found.quantities[1].identifiable);
  EXPECT_TRUE(found.quantities[0].identifiable);
  EXPECT_EQ(found.unknown[0].text, "b: not seen by the data");
  EXPECT_NEAR(*found.quantities[0].deviation, 1e-3 / std::sqrt(200), 2e-5);
  // the same with two of them: the difference is faint, the sum is not
  const MatrixXd both = (MatrixXd(2, 2) << 1, 1, 1e-6, -1e-6).finished();
  found = what_is_knowable(evidence(both, numbers({1, 1}), 1e-3));
  ASSERT_EQ(found.unknown.size(), 1u);
  EXPECT_EQ(found.unknown[0].known[0].text, "a + b");
  EXPECT_NEAR(found.unknown[0].known[0].deviation, 1e-3 / std::sqrt(200), 2e-5);
}

// Quantities that are functions of other coordinates, more of them than coordinates.
TEST(Knowable, QuantitiesOfCoordinates) {
  Evidence given = evidence(MatrixXd::Identity(2, 2), numbers({1, 1}), 1e-2);
  given.names = {"sum", "twice", "nothing"};
  given.values = numbers({2, 2, 7});
  given.slopes = (MatrixXd(3, 2) << 1, 1, 2, 0, 0, 0).finished();
  const Knowable found = what_is_knowable(given);
  EXPECT_TRUE(found.all_identifiable());
  const MatrixXd P = given.information.inverse();
  EXPECT_NEAR(*found.quantities[0].deviation, std::sqrt(P.sum()), 1e-12);
  EXPECT_NEAR(*found.quantities[1].deviation, 2 * std::sqrt(P(0, 0)), 1e-12);
  EXPECT_EQ(*found.quantities[2].deviation, 0);
  EXPECT_TRUE(found.correlation.allFinite());
  given.information.row(1).setZero();
  given.information.col(1).setZero();
  const Knowable less = what_is_knowable(given);
  EXPECT_FALSE(less.quantities[0].identifiable);
  EXPECT_TRUE(less.quantities[1].identifiable);
  EXPECT_EQ(less.unknown[0].text, "sum: not seen by the data");
}

TEST(Knowable, RandomNullSpacesAreFound) {
  Random random(5);
  for (int trial = 0; trial < 50; ++trial) {
    const int p = 3 + random.below(10), rank = 1 + random.below(p);
    MatrixXd seen(rank, p);
    random.normal(seen.data(), static_cast<int>(seen.size()));
    VectorXd values(p);
    for (int i = 0; i < p; ++i) {
      values[i] = std::pow(10, random.uniform(-4, 4));
      seen.col(i) /= values[i];
    }
    const Knowable found = what_is_knowable(evidence(seen, values, 1e-4));
    EXPECT_EQ(found.rank, rank);
    int directions = 0;
    for (const UnknownGroup& group : found.unknown) {
      directions += static_cast<int>(group.directions.cols());
      for (int k = 0; k < group.directions.cols(); ++k) {
        VectorXd change = VectorXd::Zero(p);
        for (std::size_t i = 0; i < group.quantities.size(); ++i)
          change[group.quantities[i]] = group.directions(static_cast<int>(i), k);
        EXPECT_LT((seen * change).norm(),
                  1e-3 * change.cwiseQuotient(values).norm() * seen.row(0).cwiseProduct(values.transpose()).norm());
      }
      for (const KnownCombination& known : group.known) EXPECT_TRUE(std::isfinite(known.deviation));
    }
    EXPECT_EQ(directions, p - rank);
  }
}

TEST(Knowable, NothingIsNotANumber) {
  Evidence given;
  EXPECT_TRUE(what_is_knowable(given).quantities.empty());
  given.information = MatrixXd::Zero(2, 2);
  given.names = {"a", "b"};
  given.values = VectorXd::Zero(2);
  Knowable found = what_is_knowable(given);
  EXPECT_EQ(found.rank, 0);
  ASSERT_EQ(found.unknown.size(), 2u);
  EXPECT_EQ(found.unknown[1].text, "b: not seen by the data");
  given.information(0, 0) = std::numeric_limits<double>::quiet_NaN();
  found = what_is_knowable(given);
  EXPECT_FALSE(found.quantities[0].identifiable);
  EXPECT_TRUE(found.correlation.allFinite());
}

TEST(Knowable, NumbersWithTheirDeviation) {
  EXPECT_EQ(with_deviation(0.0031, 0.00002), "0.003100 ± 0.000020");
  EXPECT_EQ(with_deviation(12345.678, 12), "12346 ± 12");
  EXPECT_EQ(with_deviation(-1.5, 0.25), "-1.50 ± 0.25");
  EXPECT_EQ(with_deviation(1e-9, 2.5e-11), "1e-09 ± 2.5e-11");
  EXPECT_EQ(with_deviation(3, 0), "3");
}

}  // namespace
}  // namespace kinegraph::identify::knowable_test
