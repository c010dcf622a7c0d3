#include "kinegraph/factor/goal/within.hpp"

#include "kinegraph/factor/common/factor_test.hpp"
#include "kinegraph/factor/goal/friction_cone.hpp"
#include "kinegraph/factor/goal/target.hpp"

namespace kinegraph::within_test {
namespace {

TEST(Within, IsPositiveAsLongAsTheGoalIsNear) {
  const auto goal = std::make_shared<Target>("goal", 3, std::vector<int>{1}, std::vector<double>{2});
  const Within near(goal, 0.5);
  EXPECT_EQ(residual(near, {{0, 2.25, 0}}), (std::vector<double>{0.25, 0.75}));
  EXPECT_EQ(residual(near, {{0, 1, 0}}), (std::vector<double>{1.5, -0.5}));
  EXPECT_EQ(near.row_name(1), goal->row_name(0));
  expect_exact_jacobians(near);
  expect_exact_jacobians(Within(std::make_shared<FrictionCone>("foot", 0.8), 0.3));
}

}  // namespace
}  // namespace kinegraph::within_test
