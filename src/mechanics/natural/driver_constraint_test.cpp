#include "kinegraph/mechanics/natural/driver_constraint.hpp"

#include "kinegraph/mechanics/natural/equation_test.hpp"
#include "kinegraph/mechanics/natural/models_test.hpp"

namespace kinegraph::natural::driver_constraint_test {
namespace {

TEST(DriverConstraint, FollowsItsLawAtAllThreeLevels) {
  const DriverConstraint driver{law_of_t("1.2*(1-cos(2*t))")};
  const double t = 0.7;
  const Taylor2 exact(1.2 * (1 - std::cos(2 * t)), 2.4 * std::sin(2 * t), 4.8 * std::cos(2 * t));
  expect_zero(driver.phi(std::array{exact}, t));
  EXPECT_NEAR(driver.phi(std::array{Taylor1(exact.x, exact.d + 1)}, t).d, 1, 1e-14);
  EXPECT_NEAR(driver.phi(std::array{exact.x + 1}, t), 1, 1e-14);
}

TEST(DriverConstraint, DerivativesAreExact) { expect_exact_derivatives(DriverConstraint{Law(0.3)}); }

}  // namespace
}  // namespace kinegraph::natural::driver_constraint_test
