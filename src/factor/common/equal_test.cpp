#include "kinegraph/factor/common/equal.hpp"

#include "kinegraph/factor/common/factor_test.hpp"

namespace kinegraph::equal_test {
namespace {

TEST(Equal, IsTheChangeFromOneStepToTheNext) {
  EXPECT_EQ(residual(Equal(2), {{1, 2}, {4, 8}}), (std::vector<double>{3, 6}));
}

TEST(Equal, Jacobians) { expect_exact_jacobians(Equal(3)); }

}  // namespace
}  // namespace kinegraph::equal_test
