#include "kinegraph/expr/expression.hpp"

#include <ceres/jet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numbers>

#include "kinegraph/base/units.hpp"

namespace kinegraph::expression_test {
namespace {

double value(const std::string& text) {
  const Result<double> result = parse_number(text);
  EXPECT_TRUE(result.ok()) << (result ? "" : result.failure().to_string());
  return result ? *result : 0;
}

std::string fault(const std::string& text) {
  const Result<Expression> result = Expression::parse(text, {"f", 3, 10});
  return result ? "none" : result.failure().to_string();
}

TEST(Expression, FollowsTheUsualRules) {
  EXPECT_EQ(value("1+2*3"), 7);
  EXPECT_EQ(value("(1+2)*3"), 9);
  EXPECT_EQ(value("10-4-3"), 3);
  EXPECT_EQ(value("24/4/2"), 3);
  EXPECT_EQ(value("2^3^2"), 512);
  EXPECT_EQ(value("-2^2"), -4);
  EXPECT_EQ(value("2^-1"), 0.5);
  EXPECT_EQ(value("--3"), 3);
  EXPECT_EQ(value("+-+3"), -3);
  EXPECT_EQ(value("2*-3"), -6);
  EXPECT_EQ(value(" \t1.5e+2 "), 150);
  EXPECT_EQ(value(".5"), 0.5);
  EXPECT_EQ(value("1."), 1);
  EXPECT_EQ(value("(1/3)*3"), 1);
}

TEST(Expression, KnowsItsFunctions) {
  EXPECT_DOUBLE_EQ(value("2.0*cos(deg2rad(45.0))"), std::numbers::sqrt2);
  EXPECT_DOUBLE_EQ(value("sin(pi/6)"), 0.5);
  EXPECT_DOUBLE_EQ(value("tan(atan(0.3))"), 0.3);
  EXPECT_DOUBLE_EQ(value("asin(1)+acos(1)"), std::numbers::pi / 2);
  EXPECT_DOUBLE_EQ(value("atan2(1,-1)"), 3 * std::numbers::pi / 4);
  EXPECT_DOUBLE_EQ(value("sinh(1)^2-cosh(1)^2"), -1);
  EXPECT_DOUBLE_EQ(value("tanh(0)"), 0);
  EXPECT_DOUBLE_EQ(value("sqrt(2)^2"), 2);
  EXPECT_DOUBLE_EQ(value("cbrt(27)"), 3);
  EXPECT_DOUBLE_EQ(value("log(e)"), 1);
  EXPECT_DOUBLE_EQ(value("exp(1)"), std::numbers::e);
  EXPECT_DOUBLE_EQ(value("log10(1000)"), 3);
  EXPECT_DOUBLE_EQ(value("pow(2, 10)"), 1024);
  EXPECT_DOUBLE_EQ(value("hypot(3,4)"), 5);
  EXPECT_DOUBLE_EQ(value("abs(-3)+abs(3)"), 6);
  EXPECT_DOUBLE_EQ(value("sign(-2)+sign(0)*10+sign(5)*100"), 99);
  EXPECT_DOUBLE_EQ(value("min(3,1,2)"), 1);
  EXPECT_DOUBLE_EQ(value("max(3,1,2,7,5)"), 7);
  EXPECT_DOUBLE_EQ(value("floor(-1.5)"), -2);
  EXPECT_DOUBLE_EQ(value("ceil(-1.5)"), -1);
  EXPECT_DOUBLE_EQ(value("mod(-1,3)"), 2);
  EXPECT_DOUBLE_EQ(value("rad2deg(pi)"), 180);
  EXPECT_DOUBLE_EQ(value("step(-1e-9)+step(0)+step(2)"), 2);
  EXPECT_DOUBLE_EQ(value("smoothstep(-1)+smoothstep(0.5)+smoothstep(2)"), 1.5);
}

TEST(Expression, UnitsFollowNumbers) {
  EXPECT_DOUBLE_EQ(value("30deg"), std::numbers::pi / 6);
  EXPECT_DOUBLE_EQ(value("1ms"), 1e-3);
  EXPECT_DOUBLE_EQ(value("2*30 mm"), 0.06);
  EXPECT_DOUBLE_EQ(value("2min + 3 s"), 123);
  EXPECT_DOUBLE_EQ(value("60rpm"), 2 * std::numbers::pi);
  EXPECT_DOUBLE_EQ(value("180deg/s*2"), 2 * std::numbers::pi);
  EXPECT_DOUBLE_EQ(value("9.81 m/s^2"), 9.81);
  EXPECT_DOUBLE_EQ(value("-500g/2kg"), -0.25);
  EXPECT_DOUBLE_EQ(value("min(2min, 1)"), 1);
  EXPECT_DOUBLE_EQ(value("(2mm)^2"), 4e-6);
  for (const Unit& unit : units()) EXPECT_DOUBLE_EQ(value("2" + std::string(unit.name)), 2 * unit.si) << unit.name;
}

TEST(Expression, NamesItsVariablesInOrder) {
  const Expression e = *Expression::parse("b*a + b + P1.x + θ", {"f", 3, 10});
  EXPECT_EQ(e.variables(), (std::vector<std::string>{"b", "a", "P1.x", "θ"}));
  EXPECT_EQ(e.where_of(1).column, 12);
  EXPECT_EQ(e.where_of(3).column, 27);
  EXPECT_EQ(e.evaluate(std::vector<double>{2, 3, 10, 100}), 118);
}

TEST(Expression, ErrorsPointAtTheCharacter) {
  EXPECT_EQ(fault(""), "f:3:10: error: expected a formula, found nothing");
  EXPECT_EQ(fault("2*"), "f:3:12: error: expected a number, a name or '(', found the end of the formula");
  EXPECT_EQ(fault("2*)"), "f:3:12: error: expected a number, a name or '(', found ')'");
  EXPECT_EQ(fault("(1+2"), "f:3:14: error: expected ')', found the end of the formula");
  EXPECT_EQ(fault("(1, 2)"), "f:3:12: error: expected ')', found ','");
  EXPECT_EQ(fault("1 $ 2"), "f:3:12: error: expected an operator, found '$'");
  EXPECT_EQ(fault("a b"), "f:3:12: error: expected an operator, found 'b'");
  EXPECT_EQ(fault("2 L"), "f:3:12: error: expected an operator or a unit, found 'L'");
  EXPECT_EQ(fault("θ + ä$"), "f:3:15: error: expected an operator, found '$'");
  EXPECT_EQ(fault("1 + sine(2)"), "f:3:14: error: unknown function 'sine'; did you mean 'sin'?");
  EXPECT_EQ(fault("atan2(1)"), "f:3:10: error: function 'atan2' takes 2 arguments, is given 1");
  EXPECT_EQ(fault("sin(1,2)"), "f:3:10: error: function 'sin' takes 1 argument, is given 2");
  EXPECT_EQ(fault("max(1)"), "f:3:10: error: function 'max' takes 2 or more arguments, is given 1");
  EXPECT_EQ(fault("sin()"), "f:3:10: error: function 'sin' takes 1 argument, is given 0");
  EXPECT_EQ(fault("2*sin"), "f:3:12: error: 'sin' is a function; expected '(' after it");
  EXPECT_EQ(fault("1e999"), "f:3:10: error: number out of range");
  EXPECT_EQ(fault("2mm^2"), "f:3:13: error: a power of a number with a unit is ambiguous; write (2mm)^…");
  EXPECT_EQ(fault(".nan"), "f:3:10: error: '.nan' is not a finite number");
  EXPECT_EQ(fault("-.INF"), "f:3:10: error: '-.INF' is not a finite number");
}

TEST(Expression, LimitsLengthAndDepth) {
  EXPECT_EQ(fault(std::string(10'001, '1')), "f:3:10: error: formula too long: 10001 characters, at most 10000");
  EXPECT_EQ(fault(fmt::format("{}1{}", std::string(5'000, '('), std::string(4'999, ')'))),
            "f:3:210: error: formula nested too deeply: more than 200 levels");
  EXPECT_EQ(fault(fmt::format("{}1", std::string(9'000, '-'))),
            "f:3:210: error: formula nested too deeply: more than 200 levels");
  std::string powers = "1";
  for (int i = 0; i < 300; ++i) powers += "^1";
  EXPECT_NE(fault(powers).find("nested too deeply"), std::string::npos);
}

TEST(Expression, DeepFormulasEvaluate) {
  // The worst case for the stack: each level holds a sum, a product, a power and an argument.
  std::string text = "x";
  for (int i = 0; i < 98; ++i) text = fmt::format("x+x*x^max(x,{})", text);
  const Expression e = *Expression::parse(text, {});
  EXPECT_EQ(e.evaluate(std::vector<double>{0}), 0);
  std::string sum = "1";
  for (int i = 0; i < 4'000; ++i) sum += "+1";
  EXPECT_EQ(value(sum), 4'001);
}

TEST(Expression, NumbersMustBeFinite) {
  EXPECT_EQ(parse_number("0/0", {"--set L", 0, 0}).failure().to_string(), "--set L: error: '0/0' is not a number");
  EXPECT_EQ(parse_number("1/0").failure().to_string(), "error: '1/0' is infinite");
  EXPECT_EQ(parse_number("2*L").failure().to_string(), "error: expected a number, found the name 'L'");
  EXPECT_EQ(parse_number("2*(", {"--set L", 0, 0}).failure().to_string(),
            "--set L: error: expected a number, a name or '(', found the end of the formula (character 4)");
}

TEST(Expression, BindReplacesVariablesByNumbers) {
  const Expression e = *Expression::parse("a*sin(w*t)+a^n", {});
  const Expression bound = e.bind([](const std::string& name) -> std::optional<double> {
    if (name == "t") return std::nullopt;
    return name == "a" ? 2 : 3;
  });
  EXPECT_EQ(bound.variables(), std::vector<std::string>{"t"});
  EXPECT_DOUBLE_EQ(bound.evaluate(std::vector<double>{0.1}), 2 * std::sin(0.3) + 8);
  const Expression number = bound.bind([](const std::string&) { return std::optional(0.0); });
  EXPECT_TRUE(number.variables().empty());
  EXPECT_DOUBLE_EQ(number.evaluate({}), 8);
}

TEST(Expression, TheSameFormulaWithDualNumbers) {
  using Jet = ceres::Jet<double, 2>;
  const Expression e = *Expression::parse("x^2*sin(y) + min(x, y)*smoothstep(x) + atan2(y, x) + mod(y, x)", {});
  const double x = 0.6, y = 0.9, h = 1e-6;
  const Jet jet = e.evaluate(std::span<const Jet>(std::vector<Jet>{{x, 0}, {y, 1}}));
  const auto f = [&](double a, double b) { return e.evaluate(std::vector<double>{a, b}); };
  EXPECT_DOUBLE_EQ(jet.a, f(x, y));
  EXPECT_NEAR(jet.v[0], (f(x + h, y) - f(x - h, y)) / (2 * h), 1e-8);
  EXPECT_NEAR(jet.v[1], (f(x, y + h) - f(x, y - h)) / (2 * h), 1e-8);
}

}  // namespace
}  // namespace kinegraph::expression_test
