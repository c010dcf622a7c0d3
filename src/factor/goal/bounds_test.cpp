#include "kinegraph/factor/goal/bounds.hpp"

#include <limits>

#include "kinegraph/factor/common/factor_test.hpp"

namespace kinegraph::bounds_test {
namespace {

TEST(Bounds, ArePositiveInsideAndHaveNoRowWhereThereIsNoLimit) {
  const double none = std::numeric_limits<double>::infinity();
  const Bounds limits("limit", {-1, -none, 2}, {3, 4, none}, {"a.q", "b.q", "c.q"});
  ASSERT_EQ(limits.rows(), 4);
  EXPECT_EQ(residual(limits, {{0.5, 5, 1}}), (std::vector<double>{1.5, 2.5, -1, -1}));
  EXPECT_EQ(limits.row_name(2), "limit: b.q below its upper limit");
  EXPECT_EQ(limits.row_name(3), "limit: c.q above its lower limit");
  expect_exact_jacobians(limits);
  EXPECT_FALSE(Bounds("limit", {-none}, {none}).any());
}

}  // namespace
}  // namespace kinegraph::bounds_test
