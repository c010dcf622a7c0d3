#include "kinegraph/factor/common/prior.hpp"

#include "kinegraph/factor/common/factor_test.hpp"

namespace kinegraph::prior_test {
namespace {

TEST(Prior, IsTheDistanceFromTheGivenValue) {
  EXPECT_EQ(residual(Prior({1, 2}), {{4, 8}}), (std::vector<double>{3, 6}));
  EXPECT_EQ(residual(PriorTarget(2), {{4, 8}, {1, 2}}), (std::vector<double>{3, 6}));
}

TEST(Prior, NamesItsRows) { EXPECT_EQ(Prior({1, 2}, {"a", "b"}).row_name(1), "prior b"); }

TEST(Prior, Jacobians) {
  expect_exact_jacobians(Prior({1, 2, 3}));
  expect_exact_jacobians(PriorTarget(3));
}

}  // namespace
}  // namespace kinegraph::prior_test
