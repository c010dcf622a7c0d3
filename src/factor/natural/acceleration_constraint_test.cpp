#include "kinegraph/factor/natural/acceleration_constraint.hpp"

#include "kinegraph/factor/common/factor_test.hpp"
#include "kinegraph/mechanics/natural/models_test.hpp"

namespace kinegraph::natural::acceleration_constraint_test {
namespace {

TEST(AccelerationConstraint, IsPhiTwiceDerivedLessTheCompliance) {
  const auto system = std::make_shared<const System>(fourbar());
  const SlotValues x{{1, 0, 1, 2}, {0, 2, 0, 0}, {-4, 0, 0, 0}, {5, 6, 7}, {0}};
  // P1 circles A at 2 rad/s: centripetal −ω² = −4, so the first bar is content; the second sees 2 (|ḋ|² + d · d̈)
  const auto e = residual(AccelerationConstraint(system), x);
  EXPECT_NEAR(e[0], 0, 1e-15);
  EXPECT_NEAR(e[1], 2 * (4 + 0), 1e-15);
  const AccelerationConstraint soft(system, {1e-3, 0, 1e-2});
  EXPECT_NEAR(residual(soft, x)[0], -5e-3, 1e-15);
  EXPECT_NEAR(residual(soft, x)[1], 8, 1e-15);
  EXPECT_EQ(soft.pattern().size(), AccelerationConstraint(system).pattern().size() + 2);
  EXPECT_EQ(soft.row_name(1), "acceleration of distance P1-P2");
}

TEST(AccelerationConstraint, Jacobians) {
  const auto four = std::make_shared<const System>(fourbar()), all = std::make_shared<const System>(zoo());
  expect_exact_jacobians(AccelerationConstraint(four));
  expect_exact_jacobians(AccelerationConstraint(four, {0.1, 0, 0.2}));
  expect_exact_jacobians(AccelerationConstraint(all, std::vector<double>(all->constraints(), 0.3)),
                         {.known_slots = {4}});
}

}  // namespace
}  // namespace kinegraph::natural::acceleration_constraint_test
