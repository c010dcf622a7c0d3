#include "kinegraph/mechanics/natural/relative_position.hpp"

#include "kinegraph/mechanics/natural/equation_test.hpp"

namespace kinegraph::natural::relative_position_test {
namespace {

TEST(RelativePosition, HoldsWhenThePointMovesAlongAndAcrossTheLine) {
  const Motion m = some_motion();
  const Taylor2 s(0.8, -1.5, 2.5), across(0.3, 0.7, -1.1);
  const auto a = m.at(0, 0), b = m.at(1.4, 0), p = m.at(s, across);
  expect_zero(RelativePosition{1.4}.phi(std::array{a[0], a[1], b[0], b[1], p[0], p[1], s}, 0));
}

TEST(RelativePosition, DerivativesAreExact) { expect_exact_derivatives(RelativePosition{0.7}); }

}  // namespace
}  // namespace kinegraph::natural::relative_position_test
