#include "kinegraph/task/joint_samples.hpp"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>
#include <numeric>

#include "kinegraph/lie/se3.hpp"

namespace kinegraph::task::joint_samples_test {
namespace {

struct Numbered {
  std::vector<int> q, v, a;
  JointSeries series(const std::string& name, JointType type) const { return {name, type, q, v, a}; }
};

std::vector<int> range(int first, int count) {
  std::vector<int> list(count);
  std::iota(list.begin(), list.end(), first);
  return list;
}

TEST(JointSamples, GivesWhatTheTableHas) {
  Trajectory table({"j.q", "j.v", "j.a"});
  for (int k = 0; k < 3; ++k) {
    double* row = table.append(k * k);  // no equal steps, and none are needed
    row[0] = k, row[1] = 10 + k, row[2] = 20 + k;
  }
  const Numbered columns{{0}, {1}, {2}};
  const auto samples = read_joint_samples(table, columns.series("j", JointType::revolute), true, 0);
  ASSERT_TRUE(samples) << samples.failure().to_string();
  EXPECT_EQ(samples->q(0, 2), 2);
  EXPECT_EQ(samples->v(0, 2), 12);
  EXPECT_EQ(samples->a(0, 2), 22);
}

TEST(JointSamples, DifferentiatesWhatIsMissing) {
  Trajectory positions({"j.q"}), rates({"j.q", "j.v"});
  const double h = 0.01;
  for (int k = 0; k <= 200; ++k) {
    *positions.append(k * h) = std::sin(2 * k * h);
    double* row = rates.append(k * h);
    row[0] = std::sin(2 * k * h), row[1] = 2 * std::cos(2 * k * h);
  }
  const Numbered one{{0}, {-1}, {-1}}, two{{0}, {1}, {-1}};
  const auto a = read_joint_samples(positions, one.series("j", JointType::revolute), true, 0);
  const auto b = read_joint_samples(rates, two.series("j", JointType::revolute), true, 0);
  ASSERT_TRUE(a && b);
  for (int k = 10; k <= 190; ++k) {
    EXPECT_NEAR(a->v(0, k), 2 * std::cos(2 * k * h), 1e-6);
    EXPECT_NEAR(a->a(0, k), -4 * std::sin(2 * k * h), 1e-4);
    EXPECT_NEAR(b->a(0, k), -4 * std::sin(2 * k * h), 1e-6);
  }
}

TEST(JointSamples, AContinuousJointMayPassPi) {
  Trajectory table({"j.q"});
  for (int k = 0; k <= 100; ++k) *table.append(0.1 * k) = std::remainder(0.3 * k, 2 * M_PI);
  const Numbered columns{{0}, {-1}, {-1}};
  const auto samples = read_joint_samples(table, columns.series("j", JointType::continuous), true, 0);
  ASSERT_TRUE(samples);
  EXPECT_NEAR((samples->v.array() - 3).abs().maxCoeff(), 0, 1e-8);
}

/// X(t) = exp(ξ₁ f) exp(ξ₂ g): its twist, seen from the body, is Ad(exp(−ξ₂ g)) ξ₁ ḟ + ξ₂ ġ.
TEST(JointSamples, TumblingBodiesGetTheirTwist) {
  Eigen::Matrix<double, 6, 1> x1, x2;
  x1 << 0.3, -0.8, 0.5, 0.2, 0.1, -0.4;
  x2 << -0.6, 0.2, 0.9, -0.3, 0.5, 0.2;
  const auto twist = [&](double t) -> Eigen::Matrix<double, 6, 1> {
    return SE3::exp(-x2 * std::cos(t)).Ad() * x1 * (3 * std::cos(3 * t)) - x2 * std::sin(t);
  };
  Trajectory table({"b.qw", "b.qx", "b.qy", "b.qz", "b.x", "b.y", "b.z"});
  const double h = 0.01;
  for (int k = 0; k <= 300; ++k) {
    const double t = k * h;
    double* row = table.append(t);
    (SE3::exp(x1 * std::sin(3 * t)) * SE3::exp(x2 * std::cos(t))).store(row);
    if (k % 2) {  // the other sign of a quaternion is the same rotation
      for (int i = 0; i < 4; ++i) row[i] = -row[i];
    }
  }
  const Numbered columns{range(0, 7), std::vector<int>(6, -1), std::vector<int>(6, -1)};
  const auto samples = read_joint_samples(table, columns.series("b", JointType::floating), true, 0);
  ASSERT_TRUE(samples) << samples.failure().to_string();
  for (int k = 20; k <= 280; k += 7) {
    const double t = k * h, d = 1e-5;
    EXPECT_LT((samples->v.col(k) - twist(t)).norm(), 1e-5) << k;
    EXPECT_LT((samples->a.col(k) - (twist(t + d) - twist(t - d)) / (2 * d)).norm(), 1e-3) << k;
    EXPECT_NEAR(samples->q.col(k).head<4>().norm(), 1, 1e-12);
  }
}

TEST(JointSamples, RefusesWhatHasNoRates) {
  const Numbered columns{{0}, {-1}, {-1}};
  Trajectory single({"j.q"});
  *single.append(0) = 1;
  EXPECT_EQ(read_joint_samples(single, columns.series("j", JointType::revolute), true, 0).failure().to_string(),
            "error: a single sample has no rates: give 'j.v', 'j.a' too");
  EXPECT_EQ(read_joint_samples(single, columns.series("j", JointType::revolute), false, 0).failure().to_string(),
            "error: a single sample has no rates: give 'j.v' too");
  Trajectory uneven({"j.q"});
  for (const double t : {0.0, 1.0, 2.0, 4.0}) *uneven.append(t) = t;
  EXPECT_EQ(read_joint_samples(uneven, columns.series("j", JointType::revolute), true, 0).failure().to_string(),
            "error: unequal steps: t goes from 2 to 4, a step of 2; the others are 1; rates are found on equal steps "
            "only: or give 'j.v', 'j.a'");
  Trajectory quaternion({"b.qw", "b.qx", "b.qy", "b.qz"});
  double* row = quaternion.append(0);
  row[0] = row[1] = row[2] = row[3] = 1;
  const Numbered four{range(0, 4), std::vector<int>(3, -1), std::vector<int>(3, -1)};
  EXPECT_EQ(read_joint_samples(quaternion, four.series("b", JointType::ball), true, 0).failure().to_string(),
            "error: the quaternion b.qw … b.qz has length 2, not 1");
}

}  // namespace
}  // namespace kinegraph::task::joint_samples_test
