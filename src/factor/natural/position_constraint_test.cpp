#include "kinegraph/factor/natural/position_constraint.hpp"

#include "kinegraph/factor/common/factor_test.hpp"
#include "kinegraph/mechanics/natural/models_test.hpp"

namespace kinegraph::natural::position_constraint_test {
namespace {

TEST(PositionConstraint, IsPhi) {
  const auto system = std::make_shared<const System>(fourbar());
  const PositionConstraint factor(system);
  const auto e = residual(factor, {{1, 0.5, 1, 2}, {0}});  // the first bar is √1.25 m long, not 1 m
  EXPECT_NEAR(e[0], 0.25, 1e-15);
  EXPECT_EQ(factor.row_name(0), "distance A-P1");
}

TEST(PositionConstraint, Jacobians) {
  expect_exact_jacobians(PositionConstraint(std::make_shared<const System>(fourbar())));
  expect_exact_jacobians(PositionConstraint(std::make_shared<const System>(zoo())), {.known_slots = {1}});
}

}  // namespace
}  // namespace kinegraph::natural::position_constraint_test
