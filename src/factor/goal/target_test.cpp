#include "kinegraph/factor/goal/target.hpp"

#include "kinegraph/factor/common/factor_test.hpp"

namespace kinegraph::target_test {
namespace {

TEST(Target, IsTheDistanceToTheGoal) {
  const Target goal("goal", 4, {2, 0}, {1.5, -1}, {"a.q", "b.q", "c.q", "d.q"});
  EXPECT_EQ(residual(goal, {{1, 2, 3, 4}}), (std::vector<double>{1.5, 2}));
  EXPECT_EQ(goal.row_name(0), "goal: c.q");
  expect_exact_jacobians(goal);
}

}  // namespace
}  // namespace kinegraph::target_test
