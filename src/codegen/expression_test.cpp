#include "kinegraph/codegen/expression.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kinegraph/codegen/emit.hpp"
#include "kinegraph/codegen/program.hpp"
#include "kinegraph/codegen/scalar.hpp"

namespace kinegraph::codegen::expression_test {
namespace {

TEST(Expression, TheSameFunctionIsOneNode) {
  ExpressionGraph g;
  const Signed x = g.input(), y = g.input();
  EXPECT_EQ(g.multiply(x, y), g.multiply(y, x));
  EXPECT_EQ(g.subtract(x, y), -g.subtract(y, x));
  EXPECT_EQ(g.multiply(g.add(x, y), g.subtract(x, y)), g.subtract(g.multiply(x, x), g.multiply(y, y)));
  EXPECT_EQ(g.multiply(-x, y), -g.multiply(x, y));
  EXPECT_NE(g.add(x, y), g.subtract(x, y));
}

TEST(Expression, ZerosOnesAndConstantsFold) {
  ExpressionGraph g;
  const Signed x = g.input(-3, 3), s = g.sine(x), c = g.cosine(x);
  EXPECT_TRUE(g.is_zero(g.multiply(x, g.constant(0))));
  EXPECT_EQ(g.multiply(x, g.constant(1)), x);
  EXPECT_EQ(g.multiply(x, g.constant(-1)), -x);
  EXPECT_EQ(g.add(g.multiply(s, s), g.multiply(c, c)), g.one());
  EXPECT_TRUE(g.is_zero(g.subtract(x, x)));
  EXPECT_EQ(g.value(g.multiply(g.constant(2), g.constant(-4))), -8);
  EXPECT_EQ(g.multiply(g.constant(2), g.multiply(g.constant(3), x)), g.multiply(g.constant(6), x));
  EXPECT_EQ(g.sine(-x), -s);
  EXPECT_EQ(g.cosine(-x), c);
}

TEST(Expression, ConstantsOfAnySizeStay) {
  ExpressionGraph g;
  const Signed tiny = g.constant(1e-12), large = g.constant(1e12), near = g.constant(1 + 1e-9);
  EXPECT_EQ(g.value(tiny), 1e-12);
  EXPECT_EQ(g.value(large), 1e12);
  EXPECT_EQ(g.value(near), 1 + 1e-9);
}

TEST(Expression, OnlyWhatIsUsedCounts) {
  ExpressionGraph g;
  const Signed x = g.input(), y = g.input();
  const Signed product = g.multiply(x, y), sum = g.add(product, x);
  g.divide(x, y);
  g.sine(x);
  const OperationCount cost = count(g, {sum});
  EXPECT_EQ(cost.additions, 1);
  EXPECT_EQ(cost.multiplications, 1);
  EXPECT_EQ(cost.divisions, 0);
  EXPECT_EQ(cost.sines, 0);
}

TEST(Expression, DerivativesMatchDifferences) {
  Program p;
  p.graph = std::make_shared<ExpressionGraph>();
  const Signed a = p.graph->input(), b = p.graph->input();
  p.inputs = {{"x", "", {}, {a, b}}};
  const Scalar x(*p.graph, a), y(*p.graph, b);
  const Scalar f = sin(x * y) / (Scalar(2) + cos(x)) + tanh(y) * x * x - y / (x * x + Scalar(1));
  p.outputs = {{"f", "", {}, {f.in(*p.graph)}}};
  p.pivot = p.graph->one();
  for (const int direction : {0, 1}) {
    std::vector<Signed> seeds(2);
    seeds[direction] = p.graph->one();
    Program d = p;
    d.outputs[0].values = differentiate(*p.graph, p.outputs[0].values, seeds);
    double at[2] = {0.7, -0.4};
    const double exact = evaluate(d, {at})[0][0], h = 1e-6;
    at[direction] += h;
    const double plus = evaluate(p, {at})[0][0];
    at[direction] -= 2 * h;
    const double minus = evaluate(p, {at})[0][0];
    EXPECT_NEAR(exact, (plus - minus) / (2 * h), 1e-9);
  }
}

TEST(Expression, SimplifyingGathersCommonFactors) {
  Program p;
  p.graph = std::make_shared<ExpressionGraph>();
  ExpressionGraph& g = *p.graph;
  const Signed x = g.input(), y = g.input(), z = g.input(), c = g.constant(0.3);
  p.inputs = {{"x", "", {}, {x, y, z}}};
  p.outputs = {{"f", "", {}, {g.add(g.add(g.multiply(c, x), g.multiply(c, y)), z)}}};
  p.pivot = g.one();
  const Program s = simplified(p);
  EXPECT_EQ(p.cost().multiplications, 2);
  EXPECT_EQ(s.cost().multiplications, 1);
  const double at[3] = {0.1, 0.7, -2};
  EXPECT_NEAR(evaluate(s, {at})[0][0], evaluate(p, {at})[0][0], 1e-15);
}

TEST(Expression, AConstantThatIsNotFiniteIsToldNotZero) {
  Program p;
  p.graph = std::make_shared<ExpressionGraph>();
  const Signed x = p.graph->input();
  p.inputs = {{"x", "", {}, {x}}};
  p.outputs = {{"f", "", {}, {p.graph->multiply(x, p.graph->constant(1e200))}}};
  p.pivot = p.graph->one();
  EXPECT_TRUE(p.check_constants());
  EXPECT_FALSE(p.check_constants(true));  // more than a float holds
  const Scalar huge(1e200);
  p.outputs[0].values[0] = p.graph->multiply(x, (huge * huge).in(*p.graph));
  ASSERT_FALSE(p.check_constants());
  EXPECT_EQ(p.check_constants().failure().kind, Failure::Kind::no_answer);
}

TEST(Expression, Roots) {
  Program p;
  p.graph = std::make_shared<ExpressionGraph>();
  const Signed a = p.graph->input(0.5, 2);
  p.inputs = {{"x", "", {}, {a}}};
  const Scalar x(*p.graph, a), root = sqrt(x * x * x + Scalar(1));
  p.outputs = {{"f", "", {}, {root.in(*p.graph), max(x, root).in(*p.graph)}}};
  p.pivot = p.graph->one();
  const double at[1] = {1.3}, exact = std::sqrt(1.3 * 1.3 * 1.3 + 1);
  EXPECT_NEAR(evaluate(p, {at})[0][0], exact, 1e-15);
  EXPECT_NEAR(evaluate(p, {at})[0][1], exact, 1e-15);
  EXPECT_EQ(root.in(*p.graph), sqrt(Scalar(1) + x * x * x).in(*p.graph));
  p.outputs[0].values = differentiate(*p.graph, {root.in(*p.graph)}, {p.graph->one()});
  EXPECT_NEAR(evaluate(p, {at})[0][0], 1.5 * 1.3 * 1.3 / exact, 1e-14);
}

TEST(Identifier, ALongNameIsNotCut) {
  const std::string name(300, 'a');
  EXPECT_EQ(identifier(name), name);
  EXPECT_EQ(identifier(name + "1"), name + "1");
  EXPECT_EQ(comment_text(name), std::string(100, 'a') + "...");
}

TEST(Identifier, NothingButAName) {
  EXPECT_EQ(identifier("arm7_inverse"), "arm7_inverse");
  EXPECT_EQ(identifier("\"); system(\"x"), "system_x");
  EXPECT_EQ(identifier("7up"), "robot_7up");
  EXPECT_EQ(identifier("class"), "robot_class");
  EXPECT_EQ(identifier("__a__b__"), "a_b");
  EXPECT_EQ(identifier("*/ int main() {"), "int_main");
  EXPECT_EQ(identifier("机器人"), "robot");
  EXPECT_EQ(comment_text("*/ evil(); //\\\n#include"), "__ evil___ _____include");
}

}  // namespace
}  // namespace kinegraph::codegen::expression_test
