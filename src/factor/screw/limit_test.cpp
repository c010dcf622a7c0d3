#include "kinegraph/factor/screw/limit.hpp"

#include <gtest/gtest.h>

#include "kinegraph/factor/common/factor_test.hpp"

namespace kinegraph::screw::limit_test {
namespace {

JointLimits within(double lower, double upper) {
  JointLimits limits;
  limits.lower = lower;
  limits.upper = upper;
  return limits;
}

TEST(JointLimit, PullsBackOnlyFromBeyond) {
  const JointLimit factor("elbow", {within(-1, 2), JointLimits()});
  EXPECT_EQ(residual(factor, {{0.5, 1e9}, {0, 0}}), (std::vector<double>{0, 0}));
  EXPECT_EQ(residual(factor, {{2.25, -1e9}, {0, 0}}), (std::vector<double>{0.25, 0}));
  EXPECT_EQ(residual(factor, {{-1.5, 0}, {0, 0}}), (std::vector<double>{-0.5, 0}));
  // A known force holds at the limit itself.
  EXPECT_EQ(residual(factor, {{2, 0}, {0.5, 0}}), (std::vector<double>{0.5, 0}));
  EXPECT_EQ(residual(factor, {{-1, 0}, {-0.5, 0}}), (std::vector<double>{-0.5, 0}));
}

TEST(JointLimit, JacobiansMatchDifferencesOnBothSidesAndBetween) {
  const JointLimit factor("elbow", {within(-1, 2), within(0, 1)});
  JacobianCheckOptions options;
  options.known_slots = {1};
  for (const SlotValues& x :
       {SlotValues{{0.5, 3}, {0.1, 0.2}}, SlotValues{{4, -3}, {0.1, 0}}, SlotValues{{-2.5, 0.5}, {0, 0.1}}}) {
    const JacobianCheck check = check_jacobians(factor, x, options);
    EXPECT_TRUE(check.ok()) << check.message;
  }
}

}  // namespace
}  // namespace kinegraph::screw::limit_test
