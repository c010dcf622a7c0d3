#include "kinegraph/mechanics/natural/slider_constraint.hpp"

#include "kinegraph/mechanics/natural/equation_test.hpp"

namespace kinegraph::natural::slider_constraint_test {
namespace {

TEST(SliderConstraint, IsTwiceTheAreaOfTheTriangle) {
  EXPECT_DOUBLE_EQ(SliderConstraint{}.phi(std::array<double, 6>{1, 3, 0, 0, 2, 0}, 0), 6);
}

TEST(SliderConstraint, HoldsWhenThePointSlidesOnAMovingLine) {
  const auto a = some_motion().at(0.2, 0.5), b = some_motion().at(1.4, 0.5);
  const auto p = some_motion().at(Taylor2(0.9, -2.0, 3.0), 0.5);
  expect_zero(SliderConstraint{}.phi(std::array{p[0], p[1], a[0], a[1], b[0], b[1]}, 0));
}

TEST(SliderConstraint, DerivativesAreExact) { expect_exact_derivatives(SliderConstraint{}); }

}  // namespace
}  // namespace kinegraph::natural::slider_constraint_test
