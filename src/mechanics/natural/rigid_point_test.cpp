#include "kinegraph/mechanics/natural/rigid_point.hpp"

#include "kinegraph/mechanics/natural/equation_test.hpp"

namespace kinegraph::natural::rigid_point_test {
namespace {

TEST(RigidPoint, BothRowsHoldAlongARigidMotion) {
  const double length = 1.6;
  const auto p0 = some_motion().at(0, 0), p1 = some_motion().at(length, 0), p = some_motion().at(0.4, -0.9);
  const double along = 0.4 / length, across = -0.9 / length;
  expect_zero(RigidPoint{along, across}.phi(std::array{p[0], p0[0], p1[0], p0[1], p1[1]}, 0));
  expect_zero(RigidPoint{along, -across}.phi(std::array{p[1], p0[1], p1[1], p0[0], p1[0]}, 0));
}

TEST(RigidPoint, MirroredPointViolatesIt) {
  const RigidPoint row{0.5, 0.5};  // the x row of the point (½, ½) of a body with unit length
  EXPECT_DOUBLE_EQ(row.phi(std::array<double, 5>{0, 0, 0, 0, 1}, 0), 0.5);  // body along y: x must be −½
  EXPECT_DOUBLE_EQ(row.phi(std::array<double, 5>{-0.5, 0, 0, 0, 1}, 0), 0.0);
}

TEST(RigidPoint, DerivativesAreExact) { expect_exact_derivatives(RigidPoint{0.3, -0.8}); }

}  // namespace
}  // namespace kinegraph::natural::rigid_point_test
