#include "kinegraph/expr/law.hpp"

#include <gtest/gtest.h>

#include "kinegraph/expr/expression.hpp"

namespace kinegraph::law_test {
namespace {

Law law(const std::string& text) { return Law(std::make_shared<const Expression>(*Expression::parse(text, {}))); }

TEST(Law, HasExactDerivatives) {
  const Law crank = law("1.2*(1 - cos(2*t))");
  EXPECT_FALSE(crank.is_constant());
  const double t = 0.7;
  EXPECT_DOUBLE_EQ(crank(t), 1.2 * (1 - std::cos(2 * t)));
  EXPECT_DOUBLE_EQ(crank.taylor(t).x, crank(t));
  EXPECT_DOUBLE_EQ(crank.taylor(t).d, 2.4 * std::sin(2 * t));
  EXPECT_DOUBLE_EQ(crank.taylor(t).dd, 4.8 * std::cos(2 * t));
}

TEST(Law, EveryPowerOfTimeHasDerivativesAtZero) {
  const Taylor2 start = law("1 + 2*t + 3*t^2 + t^3").taylor(0);
  EXPECT_EQ(start.x, 1);
  EXPECT_EQ(start.d, 2);
  EXPECT_EQ(start.dd, 6);
}

TEST(Law, FormulaWithoutTimeIsAConstant) {
  const Law constant = law("3*2");
  EXPECT_TRUE(constant.is_constant());
  EXPECT_EQ(constant(5), 6);
  EXPECT_EQ(constant.taylor(5).d, 0);
  EXPECT_TRUE(Law().is_constant());
  EXPECT_EQ(Law(4)(1), 4);
}

}  // namespace
}  // namespace kinegraph::law_test
