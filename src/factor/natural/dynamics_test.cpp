#include "kinegraph/factor/natural/dynamics.hpp"

#include "kinegraph/factor/common/factor_test.hpp"
#include "kinegraph/mechanics/natural/models_test.hpp"

namespace kinegraph::natural::dynamics_test {
namespace {

TEST(Dynamics, FreeFallOfAnUnconstrainedBar) {
  Model model;
  add_body(model, {add_point(model, "a", 0, 0), add_point(model, "b", 1, 0)}, 2.0);
  const Dynamics factor(std::make_shared<const System>(model));
  const double g = kGravity;
  const auto at_rest = residual(factor, {{0, 0, 1, 0}, {0, 0, 0, 0}, {0, -g, 0, -g}, {0}, {}, {0}});
  for (const double e : at_rest) EXPECT_NEAR(e, 0, 1e-14);
  // Held up: the weight is missing, half at either end.
  const auto held = residual(factor, {{0, 0, 1, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, {0}, {}, {0}});
  EXPECT_NEAR(held[1], g, 1e-14);
  EXPECT_NEAR(held[3], g, 1e-14);
  EXPECT_EQ(factor.row_name(3), "motion of b.y");
}

TEST(Dynamics, MotorTorqueActsOnItsCoordinate) {
  const auto system = std::make_shared<const System>(fourbar_with_motor());
  SlotValues x{{1, 0, 1, 2, 0}, std::vector<double>(5), std::vector<double>(5), std::vector<double>(4), {3.5}, {0}};
  EXPECT_DOUBLE_EQ(residual(Dynamics(system), x)[4], -3.5);
}

TEST(Dynamics, Jacobians) {
  expect_exact_jacobians(Dynamics(std::make_shared<const System>(fourbar())));
  expect_exact_jacobians(Dynamics(std::make_shared<const System>(fourbar_with_motor())));
  expect_exact_jacobians(Dynamics(std::make_shared<const System>(zoo())), {.known_slots = {5}});
}

}  // namespace
}  // namespace kinegraph::natural::dynamics_test
