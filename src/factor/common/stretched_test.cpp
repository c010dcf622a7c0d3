#include "kinegraph/factor/common/stretched.hpp"

#include "kinegraph/factor/common/factor_test.hpp"
#include "kinegraph/factor/common/hermite_simpson.hpp"
#include "kinegraph/factor/common/trapezoidal.hpp"

namespace kinegraph::stretched_test {
namespace {

TEST(Stretched, JacobiansMatchDifferences) {
  expect_exact_jacobians(Stretched(std::make_shared<Trapezoidal>(2, 0.1), {0, 1, 0, 1}, 0.7));
  expect_exact_jacobians(Stretched(std::make_shared<HermiteSimpson>(2, 0.1), {0, 1, 2, 0, 1, 2}, 0.7));
}

/// A motion of constant acceleration a over 0.3 s: a step that is meant for 0.1 s of 1 s, in a phase that lasts 3 s.
TEST(Stretched, IsTheRuleForAStepOfAnotherLength) {
  const double a = 2, h = 0.3, x1 = 1 + 0.5 * h + 0.5 * a * h * h, v1 = 0.5 + a * h;
  const Stretched rule(std::make_shared<HermiteSimpson>(1, 0.1), {0, 1, 2, 0, 1, 2}, 1);
  EXPECT_NEAR(residual(rule, {{1}, {0.5}, {a}, {x1}, {v1}, {a}, {3}})[0], 0, 1e-15);
  EXPECT_NEAR(residual(rule, {{1}, {0.5}, {a}, {x1}, {v1}, {a}, {2}})[0], x1 - 1 - 0.2 * (0.5 + v1) / 2, 1e-15);
}

}  // namespace
}  // namespace kinegraph::stretched_test
