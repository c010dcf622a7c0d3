#include "kinegraph/mechanics/screw/convex.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "kinegraph/mechanics/screw/separation.hpp"

namespace kinegraph::screw::convex_test {
namespace {

using Eigen::Vector3d;

class Places {
 public:
  explicit Places(unsigned seed) : random_(seed) {}
  Vector3d vector() { return {normal_(random_), normal_(random_), normal_(random_)}; }
  Transform<double> place(double spread) {
    Vector6d x;
    x << vector(), spread * vector();
    Transform<double> X(SE3::exp(x));
    X.p = x.tail<3>();
    return X;
  }

 private:
  std::mt19937 random_;
  std::normal_distribution<double> normal_;
};

ConvexCore box(const Vector3d& half, const Transform<double>& X) { return {ConvexCore::Type::box, X, half, {}}; }

/// Boxes are projected on one after the other until nothing moves: slow, and sure (von Neumann).
double by_projections(const ConvexCore& a, const ConvexCore& b) {
  const auto project = [](const ConvexCore& on, const Vector3d& p) {
    return on.X * Vector3d((on.X.inverse() * p).cwiseMax(-on.half).cwiseMin(on.half));
  };
  Vector3d p = a.X.p;
  double last = -1;
  for (int i = 0; i < 400000; ++i) {
    const Vector3d q = project(b, p);
    p = project(a, q);
    const double d = (p - q).norm();
    if (i % 100 == 99) {
      if (std::abs(d - last) < 1e-15) return d;
      last = d;
    }
  }
  return last;
}

/// The least overlap over the fifteen axes that can part two boxes; negative: by how much they are apart along one.
double by_axes(const ConvexCore& a, const ConvexCore& b) {
  std::vector<Vector3d> axes;
  for (int i = 0; i < 3; ++i) {
    axes.push_back(a.X.R.col(i));
    axes.push_back(b.X.R.col(i));
    for (int j = 0; j < 3; ++j) axes.push_back(a.X.R.col(i).cross(b.X.R.col(j)).normalized());
  }
  double least = 1e9;
  for (const Vector3d& n : axes) {
    const double reach =
        (a.X.R.transpose() * n).cwiseAbs().dot(a.half) + (b.X.R.transpose() * n).cwiseAbs().dot(b.half);
    least = std::min(least, reach - std::abs(n.dot(b.X.p - a.X.p)));
  }
  return least;
}

TEST(Convex, BoxesAreAsFarApartAsBruteForceSays) {
  Places places(1);
  int apart = 0, deep = 0;
  for (int trial = 0; trial < 600; ++trial) {
    const ConvexCore a = box({0.15, 0.25, 0.1}, places.place(0.3)), b = box({0.2, 0.05, 0.3}, places.place(0.3));
    const CoreDistance d = nearest(a, b);
    const double overlap = by_axes(a, b);
    if (overlap > 0) {
      EXPECT_NEAR(d.distance, -overlap, 1e-11) << trial;
      ++deep;
    } else {
      EXPECT_NEAR(d.distance, by_projections(a, b), 1e-11) << trial;
      ++apart;
    }
    EXPECT_NEAR(d.normal.norm(), 1, 1e-12);
    EXPECT_LT((d.on_b - d.on_a - d.distance * d.normal).norm(), 1e-10) << trial;
    EXPECT_NEAR(nearest(b, a).distance, d.distance, 1e-11);
  }
  EXPECT_GT(apart, 200);
  EXPECT_GT(deep, 50);
}

TEST(Convex, SidesThatAreLevelAndSetsThatTouch) {
  const auto at = [](double x, double y) { return Transform<double>(Matrix3d::Identity(), {x, y, 0}); };
  const Vector3d half(0.5, 0.5, 0.5);
  EXPECT_NEAR(nearest(box(half, at(0, 0)), box(half, at(1.25, 0.3))).distance, 0.25, 1e-15);
  EXPECT_NEAR(nearest(box(half, at(0, 0)), box(half, at(1, 0))).distance, 0, 1e-12);
  EXPECT_NEAR(nearest(box(half, at(0, 0)), box(half, at(0.9, 0.2))).distance, -0.1, 1e-12);
  const CoreDistance same = nearest(box(half, at(0, 0)), box(half, at(0, 0)));
  EXPECT_NEAR(same.distance, -1, 1e-12);
  EXPECT_NEAR(same.normal.norm(), 1, 1e-12);
  // flat sets: two points that coincide, a point on a segment
  EXPECT_EQ(nearest(box({0, 0, 0}, at(1, 1)), box({0, 0, 0}, at(1, 1))).distance, 0);
  const CoreDistance on = nearest(box({0, 0, 0.5}, at(0, 0)), box({0, 0, 0}, at(0, 0)));
  EXPECT_EQ(on.distance, 0);
  EXPECT_NEAR(on.normal[2], 0, 1e-12);
}

TEST(Convex, TheHullOfACloudIsItsCorners) {
  Places places(5);
  std::vector<Vector3d> cloud;
  for (int i = 0; i < 8; ++i) cloud.push_back({i & 1 ? 1.0 : -1.0, i & 2 ? 1.0 : -1.0, i & 4 ? 1.0 : -1.0});
  for (int i = 0; i < 2000; ++i) cloud.push_back(places.vector().cwiseMax(-1).cwiseMin(1) * 0.999);
  std::shuffle(cloud.begin(), cloud.end(), std::mt19937(3));
  EXPECT_EQ(hull_corners(cloud, 1e-3 * 1.8).size(), 8U);
  // of points on a ball all are corners
  std::vector<Vector3d> ball;
  for (int i = 0; i < 100; ++i) ball.push_back(places.vector().normalized());
  EXPECT_EQ(hull_corners(ball, 0).size(), 100U);
  EXPECT_EQ(hull_corners({&ball[0], 1}, 0).size(), 1U);
}

/// One of every kind, with sizes of some decimetres.
std::vector<Solid> all_kinds() {
  Places places(11);
  std::vector<Solid> all(6);
  for (Solid& solid : all) solid.half_size = {0.15, 0.25, 0.1};
  all[0].half_length = 0.2, all[0].radius = 0.07;
  all[1].type = Solid::Type::box;
  all[2].type = Solid::Type::cylinder, all[2].half_size = {0.15, 0.15, 0.25};
  all[3].type = Solid::Type::ellipsoid;
  Shape mesh;
  mesh.type = Shape::Type::mesh;
  mesh.size = {0.2, 0.3, 0.25};
  std::vector<Vector3d> cloud;
  for (int i = 0; i < 30; ++i) cloud.push_back(places.vector().normalized());
  all[4] = *hull_of(mesh, cloud);
  all[5].type = Solid::Type::halfspace;
  return all;
}

/// Of all kinds with all others, apart and in each other; not where the nearest feature changes.
TEST(Convex, NearestPointsTellTheDerivativeOfEveryPair) {
  Places places(7);
  const std::vector<Solid> kinds = all_kinds();
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    for (std::size_t j = 0; j < kinds.size(); ++j) {
      if (!can_separate(kinds[i].type, kinds[j].type)) continue;
      int checked = 0, deep = 0;
      for (int trial = 0; trial < 60; ++trial) {
        const Transform<double> A = places.place(0.25), B = places.place(0.25);
        const Separation s = separation(kinds[i], A, kinds[j], B);
        Vector6d move;
        move << places.vector(), places.vector();
        const auto moved = [&](double h) {
          return separation(kinds[i], Transform<double>(SE3::exp(h * move)) * A, kinds[j], B).distance;
        };
        const double h = 1e-5, up = moved(h), down = moved(-h), slope = (up - down) / (2 * h);
        ASSERT_TRUE(std::isfinite(s.distance) && s.normal.allFinite() && s.on_a.allFinite() && s.on_b.allFinite());
        if (std::abs(up - 2 * s.distance + down) / h > 2e-3) continue;
        ++checked;
        deep += s.distance < 0;
        const double exact = -s.normal.dot(move.tail<3>() + move.head<3>().cross(s.on_a));
        EXPECT_NEAR(exact, slope, 1e-4 * (1 + std::abs(slope))) << i << " " << j << " at " << s.distance;
        EXPECT_GT(s.normal.norm(), 0.5);
      }
      EXPECT_GT(checked, 30) << i << " " << j;
      EXPECT_GT(deep, 0) << i << " " << j;
    }
  }
}

}  // namespace
}  // namespace kinegraph::screw::convex_test
