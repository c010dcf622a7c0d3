#include "kinegraph/mechanics/natural/constant_distance.hpp"

#include "kinegraph/mechanics/natural/equation_test.hpp"

namespace kinegraph::natural::constant_distance_test {
namespace {

TEST(ConstantDistance, IsSquaredLengthMinusSquaredLength) {
  EXPECT_DOUBLE_EQ(ConstantDistance{2.0}.phi(std::array<double, 4>{1, 1, 4, 5}, 0), 9 + 16 - 4);
}

TEST(ConstantDistance, HoldsAlongARigidMotion) {
  const auto a = some_motion().at(0.2, -0.1), b = some_motion().at(1.4, 0.8);
  expect_zero(ConstantDistance{1.5}.phi(std::array{a[0], a[1], b[0], b[1]}, 0));
}

TEST(ConstantDistance, DerivativesAreExact) { expect_exact_derivatives(ConstantDistance{1.3}); }

}  // namespace
}  // namespace kinegraph::natural::constant_distance_test
