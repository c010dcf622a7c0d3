#include "kinegraph/factor/common/euler.hpp"

#include "kinegraph/factor/common/factor_test.hpp"

namespace kinegraph::euler_test {
namespace {

TEST(Euler, IsExactForConstantRates) {
  EXPECT_NEAR(residual(Euler(1, 0.2), {{1.0}, {3.0}, {1.6}})[0], 0, 1e-15);
  EXPECT_NEAR(residual(Euler(1, 0.2), {{1.0}, {3.0}, {2.0}})[0], 0.4, 1e-15);
}

TEST(Euler, Jacobians) { expect_exact_jacobians(Euler(3, 0.1)); }

}  // namespace
}  // namespace kinegraph::euler_test
