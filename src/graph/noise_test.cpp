#include "kinegraph/graph/noise.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>

namespace kinegraph::noise_test {
namespace {

Eigen::MatrixXd covariance() {
  Eigen::MatrixXd a(3, 3);
  a << 2, 0.3, -0.1, 0.3, 1, 0.4, -0.1, 0.4, 0.5;
  return a;
}

/// W as a matrix, from weight() and from whiten(): the two must be the same.
Eigen::MatrixXd whitener(const Noise& noise, int n) {
  Eigen::MatrixXd by_weight(n, n), by_whiten = Eigen::MatrixXd::Identity(n, n);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) by_weight(i, j) = noise.weight(i, j);
    noise.whiten(by_whiten.col(j).data(), n);
  }
  EXPECT_EQ(by_weight, by_whiten);
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> at_once(n, n);
  at_once.setIdentity();
  noise.whiten(at_once.data(), n, n);
  EXPECT_EQ(by_weight, at_once);
  return by_weight;
}

TEST(Noise, WhitenersSquareToTheInformation) {
  const Eigen::MatrixXd full = whitener(Noise::full(covariance()), 3);
  EXPECT_LT((full.transpose() * full - covariance().inverse()).norm(), 1e-14);
  EXPECT_EQ(full(1, 0), 0);
  const Eigen::Vector3d sigmas(0.1, 2, 5);
  const Eigen::MatrixXd diagonal = whitener(Noise::diagonal(sigmas), 3);
  EXPECT_LT((diagonal * sigmas - Eigen::Vector3d::Ones()).norm(), 1e-15);
  EXPECT_EQ(whitener(Noise::isotropic(4), 2), Eigen::MatrixXd::Identity(2, 2) / 4);
  EXPECT_EQ(whitener(Noise::unit(), 2), Eigen::MatrixXd::Identity(2, 2));
}

TEST(Noise, IllConditionedCovariancesKeepTheirDigits) {
  Eigen::MatrixXd s = covariance();
  const Eigen::Vector3d scale(1e-9, 1, 1e6);
  s = scale.asDiagonal() * s * scale.asDiagonal();
  const Eigen::MatrixXd w = whitener(Noise::full(s), 3);
  EXPECT_LT((w * s * w.transpose() - Eigen::Matrix3d::Identity()).norm(), 1e-13);
}

TEST(Noise, RefusesWhatIsNoDeviation) {
  for (double bad : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW(Noise::isotropic(bad), std::invalid_argument);
    EXPECT_THROW(Noise::diagonal(Eigen::Vector2d(1, bad)), std::invalid_argument);
    EXPECT_THROW(Loss::huber(bad), std::invalid_argument);
  }
  EXPECT_THROW(Noise::full(Eigen::Matrix2d{{1, 2}, {2, 1}}), std::invalid_argument);
  EXPECT_THROW(Noise::full(Eigen::Matrix2d{{1, 0.5}, {0, 1}}), std::invalid_argument);
  EXPECT_THROW(Noise::full(Eigen::MatrixXd(2, 3)), std::invalid_argument);
}

const Loss kLosses[] = {Loss::none(), Loss::huber(1.3), Loss::cauchy(0.7), Loss::tukey(2), Loss::geman_mcclure(1.5)};

TEST(Loss, WeightIsTheDerivative) {
  for (const Loss& loss : kLosses) {
    for (double s : {0.01, 0.5, 1.2, 1.68, 1.7, 3.0, 3.9, 4.1, 50.0}) {
      const double h = 1e-6;
      EXPECT_NEAR((loss.rho(s + h) - loss.rho(s - h)) / (2 * h), loss.weight(s), 1e-8) << int(loss.shape()) << " " << s;
    }
  }
}

TEST(Loss, IsTheSquareWhereResidualsAreSmall) {
  for (const Loss& loss : kLosses) {
    EXPECT_EQ(loss.rho(0), 0);
    EXPECT_EQ(loss.weight(0), 1);
    EXPECT_NEAR(loss.rho(1e-6), 1e-6, 1e-11);
  }
}

TEST(Loss, IsConcaveAndFiniteFarOut) {
  for (const Loss& loss : kLosses) {
    double last = 1;
    for (double s = 0; s < 100; s += 0.1) {
      EXPECT_LE(loss.weight(s), last + 1e-15);
      EXPECT_GE(loss.weight(s), 0);
      last = loss.weight(s);
    }
    EXPECT_TRUE(std::isfinite(loss.rho(1e300))) << int(loss.shape());
    EXPECT_TRUE(std::isfinite(loss.weight(1e300)));
  }
}

}  // namespace
}  // namespace kinegraph::noise_test
