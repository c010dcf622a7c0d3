#include "kinegraph/mechanics/screw/separation.hpp"

#include <gtest/gtest.h>

#include <random>

namespace kinegraph::screw::separation_test {
namespace {

using Eigen::Vector3d;

Solid sphere(double radius) { return {Solid::Type::swept, {}, 0, radius, {}}; }
Solid capsule(double radius, double length) { return {Solid::Type::swept, {}, length / 2, radius, {}}; }
Solid box(const Vector3d& size) { return {Solid::Type::box, {}, 0, 0, size / 2}; }
Solid ground() { return {Solid::Type::halfspace, {}, 0, 0, {}}; }
Transform<double> at(const Vector3d& p) { return {Matrix3d::Identity(), p}; }

/// The least distance between points of the surfaces, sampled: never below the exact one, and near it.
double sampled(const Solid& a, const Transform<double>& A, const Solid& b, const Transform<double>& B) {
  double least = 1e9;
  const int n = 200;
  for (int i = 0; i <= n; ++i) {
    const Vector3d p = A * Vector3d(0, 0, a.half_length * (2.0 * i / n - 1));
    for (int j = 0; j <= (b.type == Solid::Type::swept ? n : 0); ++j) {
      double d;
      if (b.type == Solid::Type::swept) {
        d = (p - B * Vector3d(0, 0, b.half_length * (2.0 * j / n - 1))).norm() - b.radius;
      } else {
        const Vector3d own = B.inverse() * p;
        d = (own - own.cwiseMax(-b.half_size).cwiseMin(b.half_size)).norm();
      }
      least = std::min(least, d - a.radius);
    }
  }
  return least;
}

Transform<double> random_place(std::mt19937& random, double spread) {
  std::normal_distribution<double> normal;
  Vector6d x;
  for (int i = 0; i < 6; ++i) x[i] = normal(random) * (i < 3 ? 1 : spread);
  return Transform<double>(SE3::exp(x));
}

TEST(Separation, KnownDistances) {
  EXPECT_NEAR(separation(sphere(0.1), at({0, 0, 1}), ground(), at({0, 0, 0.2})).distance, 0.7, 1e-15);
  EXPECT_NEAR(separation(sphere(0.1), at({0, 0, 0}), sphere(0.2), at({3, 4, 0})).distance, 4.7, 1e-15);
  EXPECT_NEAR(separation(capsule(0.1, 2), at({1, 0, 0}), box({1, 1, 1}), at({0, 0, 0})).distance, 0.4, 1e-15);
  EXPECT_NEAR(separation(box({1, 1, 1}), at({0, 0, 0.8}), ground(), {}).distance, 0.3, 1e-15);
  const Separation deep = separation(sphere(0.1), at({0.4, 0, 0}), box({1, 1, 1}), {});
  EXPECT_NEAR(deep.distance, -0.2, 1e-15);
  EXPECT_NEAR(deep.normal[0], -1, 1e-15);
  EXPECT_NEAR(separation(box({1, 1, 1}), {}, box({1, 1, 1}), at({0.2, 0, 1.3})).distance, 0.3, 1e-15);
  EXPECT_FALSE(can_separate(Solid::Type::halfspace, Solid::Type::halfspace));
}

TEST(Separation, IsTheLeastDistanceOfAllPoints) {
  std::mt19937 random(4);
  for (int trial = 0; trial < 20; ++trial) {
    const Transform<double> A = random_place(random, 1), B = random_place(random, 1);
    for (const Solid& b : {capsule(0.05, 0.8), box({0.3, 0.5, 0.2})}) {
      const Separation s = separation(capsule(0.1, 0.6), A, b, B);
      if (s.distance < 0.02) continue;
      const double all = sampled(capsule(0.1, 0.6), A, b, B);
      EXPECT_LE(s.distance, all + 1e-12);
      EXPECT_NEAR(s.distance, all, 2e-3);
      EXPECT_NEAR((s.on_b - s.on_a).norm(), s.distance, 1e-9);
      const Separation back = separation(b, B, capsule(0.1, 0.6), A);
      EXPECT_NEAR(back.distance, s.distance, 1e-12);
      EXPECT_LT((back.normal + s.normal).norm(), 1e-9);
    }
  }
}

/// Also where the solids are in each other.
TEST(Separation, TheNearestPointsTellItsDerivative) {
  std::mt19937 random(7);
  int checked = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const Transform<double> A = random_place(random, 0.4), B = random_place(random, 0.4);
    const Solid solids[] = {capsule(0.1, 0.6), sphere(0.3), box({0.3, 0.5, 0.2}), ground()};
    for (const Solid& b : solids) {
      const Separation s = separation(solids[trial % 2], A, b, B);
      Vector6d move;
      for (int i = 0; i < 6; ++i) move[i] = std::normal_distribution<double>()(random);
      const auto moved = [&](double h) {
        const Transform<double> M(SE3::exp(h * move));
        return separation(solids[trial % 2], M * A, b, B).distance;
      };
      const double h = 1e-6, slope = (moved(h) - moved(-h)) / (2 * h);
      const double exact = -s.normal.dot(move.tail<3>() + move.head<3>().cross(s.on_a));
      const double second = std::abs(moved(h) - 2 * moved(0) + moved(-h)) / h;
      if (second > 1e-4) continue;  // a change of the nearest feature
      ++checked;
      EXPECT_NEAR(exact, slope, 1e-5 * (1 + std::abs(slope)));
    }
  }
  EXPECT_GT(checked, 150);
}

/// Two capsules that tilt through the position in which they are parallel: the slope of the distance jumps, that of the
/// smooth one does not; which is never larger, and has the derivative that it tells.
TEST(Separation, TheSmoothOneHasNoKinkAtParallelCapsules) {
  const Solid a = capsule(0.05, 0.2), b = capsule(0.06, 0.4);
  const Vector3d axis = Vector3d::UnitY();
  const auto tilted = [&](double angle, bool smooth) {
    const Transform<double> A(Eigen::AngleAxisd(angle, axis).toRotationMatrix(), {0.3, 0, 0.05});
    return separation(a, A, b, {}, smooth);
  };
  const auto slope = [&](double angle, bool smooth) {
    const Separation s = tilted(angle, smooth);
    return -s.normal.dot(axis.cross(s.on_a - Vector3d(0.3, 0, 0.05)));
  };
  EXPECT_GT(std::abs(slope(1e-6, false) - slope(-1e-6, false)), 0.1);
  EXPECT_LT(std::abs(slope(1e-6, true) - slope(-1e-6, true)), 1e-3);
  for (double angle = -0.5; angle < 0.5; angle += 0.007) {
    const double h = 1e-6, exact = tilted(angle, false).distance, smooth = tilted(angle, true).distance;
    EXPECT_LE(smooth, exact + 1e-12);
    EXPECT_GT(smooth, exact - 2e-3);
    EXPECT_NEAR(slope(angle, true), (tilted(angle + h, true).distance - tilted(angle - h, true).distance) / (2 * h),
                1e-5);
  }
}

}  // namespace
}  // namespace kinegraph::screw::separation_test
