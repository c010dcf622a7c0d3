#include "kinegraph/base/dual.hpp"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <Eigen/Geometry>

namespace kinegraph::dual_test {
namespace {

using D = Dual<2>;

D dual(double value, double first, double second) {
  D x(value);
  x.v << first, second;
  return x;
}

template <class T>
T mixture(const T& x, const T& y) {
  using std::abs, std::asin, std::atan2, std::cos, std::sin, std::sqrt;
  return sin(x) * cos(y) / (T(2.0) + sqrt(x * x + y)) + asin(x * y) - abs(y - x) * atan2(y, x);
}

TEST(Dual, DerivativesAreThoseOfDifferences) {
  const double x = 0.4, y = 0.7, h = 1e-6;
  const D z = mixture(D(x, 0), D(y, 1));
  EXPECT_DOUBLE_EQ(z.a, mixture(x, y));
  EXPECT_NEAR(z.v[0], (mixture(x + h, y) - mixture(x - h, y)) / (2 * h), 1e-9);
  EXPECT_NEAR(z.v[1], (mixture(x, y + h) - mixture(x, y - h)) / (2 * h), 1e-9);
}

TEST(Dual, WorksInMatrices) {
  using Vector = Eigen::Matrix<D, 3, 1>;
  const Vector a(D(1, 0), D(2), D(3, 1)), b(D(-1), D(0.5), D(2));
  const Vector c = a.cross(b);  // (2·2 − 3·0.5, 3·(−1) − 1·2, 1·0.5 + 2)
  EXPECT_EQ(c[0].a, 2.5);
  EXPECT_EQ(c[0].v, Eigen::Vector2d(0, -0.5));
  EXPECT_EQ(c[1].v, Eigen::Vector2d(-2, -1));
  EXPECT_EQ(a.dot(b).v, Eigen::Vector2d(-1, 2));
  EXPECT_NEAR(a.norm().v[1], 3 / std::sqrt(14.0), 1e-15);
  EXPECT_EQ((dual(2, 1, 0) * dual(3, 0, 1)).v, Eigen::Vector2d(3, 2));
}

TEST(Dual, KnowsItsSize) {
  EXPECT_EQ(kDirections<double>, 0);
  EXPECT_EQ(kDirections<D>, 2);
}

}  // namespace
}  // namespace kinegraph::dual_test
