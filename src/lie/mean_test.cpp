#include "kinegraph/lie/mean.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

namespace kinegraph::mean_test {
namespace {

TEST(CircularMean, GoesTheShortWayRound) {
  const std::array a = {M_PI - 0.1, -M_PI + 0.3};
  EXPECT_NEAR(circular_mean(a).angle, -M_PI + 0.1, 1e-14);
  EXPECT_NEAR(circular_mean(a).length, std::cos(0.2), 1e-14);
  const std::array turns = {0.2 + 20 * M_PI, 0.4 - 6 * M_PI};
  EXPECT_NEAR(circular_mean(turns).angle, 0.3, 1e-12);
}

TEST(CircularMean, IsWeighted) {
  const std::array a = {0.0, M_PI / 2};
  const std::array w = {3.0, 4.0};
  EXPECT_NEAR(circular_mean(a, w).angle, std::atan2(4, 3), 1e-15);
  EXPECT_NEAR(circular_mean(a, w).length, 5.0 / 7, 1e-15);
}

TEST(CircularMean, OfWhatPointsNowhere) {
  const std::array a = {0.0, M_PI};
  EXPECT_EQ(circular_mean(a).length, 0);
  EXPECT_EQ(circular_mean(a).angle, 0);
  EXPECT_TRUE(std::isinf(circular_mean({}).sd()));
}

TEST(CircularMean, GivesTheSpreadOfANormalDistribution) {
  std::mt19937_64 bits(1);
  std::normal_distribution<double> normal(3, 0.4);
  std::vector<double> a(20000);
  for (double& x : a) x = normal(bits);
  EXPECT_NEAR(std::remainder(circular_mean(a).angle - 3, 2 * M_PI), 0, 0.01);
  EXPECT_NEAR(circular_mean(a).sd(), 0.4, 0.01);
}

TEST(MeanRotation, OfTwoIsHalfWay) {
  const SO3 a = SO3::exp({0.3, -2, 1}), b = a * SO3::exp({0.4, 0.2, -1.2});
  const std::array both = {a, b};
  EXPECT_LT((mean_rotation(both).inverse() * a * SO3::exp({0.2, 0.1, -0.6})).log().norm(), 1e-12);
  const std::array w = {1.0, 3.0};
  EXPECT_LT((mean_rotation(both, w).inverse() * a * SO3::exp({0.3, 0.15, -0.9})).log().norm(), 1e-12);
}

TEST(MeanRotation, DoesNotCareForTheSignOfQuaternions) {
  const SO3 a = SO3::exp({3.1, 0, 0});
  const Eigen::Quaterniond q = a.quaternion();
  const std::array both = {a, SO3(Eigen::Quaterniond(-q.w(), -q.x(), -q.y(), -q.z()))};
  EXPECT_LT((mean_rotation(both).inverse() * a).log().norm(), 1e-12);
}

TEST(MeanRotation, HasNoFirstMomentAndTurnsWithItsRotations) {
  std::mt19937_64 bits(2);
  std::normal_distribution<double> normal(0, 0.5);
  std::vector<SO3> all, turned;
  std::vector<double> weights;
  const SO3 by = SO3::exp({1, 2, -0.5});
  for (int i = 0; i < 30; ++i) {
    all.push_back(SO3::exp({1 + normal(bits), normal(bits), -2 + normal(bits)}));
    turned.push_back(by * all.back());
    weights.push_back(0.1 + i);
  }
  const SO3 mean = mean_rotation(all, weights);
  Eigen::Vector3d moment = Eigen::Vector3d::Zero();
  for (int i = 0; i < 30; ++i) moment += weights[i] * (mean.inverse() * all[i]).log();
  EXPECT_LT(moment.norm(), 1e-10);
  EXPECT_LT((mean_rotation(turned, weights).inverse() * by * mean).log().norm(), 1e-12);
  EXPECT_LT(mean_rotation({}).log().norm(), 1e-15);
}

}  // namespace
}  // namespace kinegraph::mean_test
