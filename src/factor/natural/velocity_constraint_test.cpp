#include "kinegraph/factor/natural/velocity_constraint.hpp"

#include "kinegraph/factor/common/factor_test.hpp"
#include "kinegraph/mechanics/natural/models_test.hpp"

namespace kinegraph::natural::velocity_constraint_test {
namespace {

TEST(VelocityConstraint, IsTheRateOfPhi) {
  const VelocityConstraint factor(std::make_shared<const System>(fourbar()));
  const auto e = residual(factor, {{1, 0, 1, 2}, {0.3, 7, 0, 0}, {0}});  // P1 leaves A at 0.3 m/s
  EXPECT_NEAR(e[0], 2 * 1 * 0.3, 1e-15);
  EXPECT_EQ(factor.row_name(2), "rate of distance P2-B");
}

TEST(VelocityConstraint, Jacobians) {
  expect_exact_jacobians(VelocityConstraint(std::make_shared<const System>(fourbar())));
  expect_exact_jacobians(VelocityConstraint(std::make_shared<const System>(zoo())), {.known_slots = {2}});
}

}  // namespace
}  // namespace kinegraph::natural::velocity_constraint_test
