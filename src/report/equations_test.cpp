#include "kinegraph/report/equations.hpp"

#include <gtest/gtest.h>

#include "kinegraph/report/robots_test.hpp"
#include "kinegraph/report/symbols.hpp"

namespace kinegraph::report::equations_test {
namespace {

std::string equations_of(std::shared_ptr<const screw::Tree> tree, const std::vector<build::Given>& given,
                         const std::string& order, const std::string& custom = "") {
  const Played p = played(tree, given, order, custom);
  const auto text = equations(p.problem, p.skeleton, p.order);
  return text ? *text : text.failure().to_string();
}

/// From a heading to the next empty line.
std::string part(const std::string& text, const std::string& heading) {
  const std::size_t begin = text.find(heading);
  if (begin == std::string::npos) return "";
  const std::size_t line = text.find('\n', begin) + 1;
  return text.substr(line, text.find("\n\n", line) + 1 - line);
}

TEST(Equations, RneaIsTheRecursionOfNewtonAndEuler) {
  const auto tree = arm(3);
  const std::string text = equations_of(tree, build::given_inverse(*tree), "rnea");
  EXPECT_EQ(part(text, "Back-substitution"),
            "   1  V̇1 = Ad(T1,0) V̇0 + A1 a1 + [ad V1] A1 v1\n"
            "   2  V̇2 = Ad(T2,1) V̇1 + A2 a2 + [ad V2] A2 v2\n"
            "   3  V̇3 = Ad(T3,2) V̇2 + A3 a3 + [ad V3] A3 v3\n"
            "   4  F3 = G3 V̇3 − [ad V3]ᵀ G3 V3 − w3\n"
            "   5  F2 = Ad(T3,2)ᵀ F3 + G2 V̇2 − [ad V2]ᵀ G2 V2 − w2\n"
            "   6  F1 = Ad(T2,1)ᵀ F2 + G1 V̇1 − [ad V1]ᵀ G1 V1 − w1\n"
            "   7  τ1 = F1ᵀ A1\n"
            "   8  τ2 = F2ᵀ A2\n"
            "   9  τ3 = F3ᵀ A3\n");
  EXPECT_EQ(part(text, "Computed by the elimination"), "");
}

TEST(Equations, CrbaCollectsCompositeInertiasAndTheMassMatrix) {
  const auto tree = arm(3);
  const std::string made = part(equations_of(tree, build::given_forward(*tree), "crba"), "Computed by the elimination");
  for (const char* line :
       {"I2 = G2 + X3ᵀ G3 X3    [composite inertia of body 2]", "I1 = G1 + X2ᵀ I2 X2    [composite inertia of body 1]",
        "M3,3 = A3ᵀ G3 A3", "M2,3 = A2ᵀ X3ᵀ G3 A3", "M1,2 = A1ᵀ X2ᵀ I2 A2", "M1,1 = A1ᵀ I1 A1"}) {
    EXPECT_NE(made.find(line), std::string::npos) << line << "\n" << made;
  }
}

TEST(Equations, AbaCollectsArticulatedInertias) {
  const auto tree = arm(3);
  const std::string text = equations_of(tree, build::given_forward(*tree), "aba");
  const std::string made = part(text, "Computed by the elimination"), back = part(text, "Back-substitution");
  for (const char* line :
       {"D3 = A3ᵀ G3 A3", "I2 = G2 + X3ᵀ G3 X3 − X3ᵀ G3 A3 D3⁻¹ A3ᵀ G3 X3    [articulated inertia of body 2]",
        "D2 = A2ᵀ I2 A2"}) {
    EXPECT_NE(made.find(line), std::string::npos) << line << "\n" << made;
  }
  EXPECT_NE(back.find("a3 = D3⁻¹ (τ3 − A3ᵀ G3 X3 V̇2 − A3ᵀ h3)"), std::string::npos) << back;
  EXPECT_NE(back.find("V̇3 = X3 V̇2 + A3 a3 + c3"), std::string::npos) << back;
}

TEST(Equations, AnOrderAgainstTheGrainSaysWhatDependsOnWhat) {
  using build::Given;
  const std::string text =
      equations_of(arm(3), {Given::acceleration, Given::torque, Given::torque}, "custom", "t1 a2 a3 F1 V1 V3 F3 V2 F2");
  const std::string back = part(text, "Back-substitution");
  EXPECT_NE(back.find("a2 = f(V̇1, V̇2)    [from acceleration l2 (6 rows, 5 remain)]"), std::string::npos) << back;
  EXPECT_NE(back.find("τ1 = F1ᵀ A1"), std::string::npos) << back;
}

TEST(Equations, LoopsAreSolvedLast) {
  const auto tree = five_bar();
  const std::string back = part(equations_of(tree, build::given_forward(*tree), "aba"), "Back-substitution");
  EXPECT_EQ(back.find("   1  (F5 a5) = f()"), 0u) << back;
}

TEST(Equations, GrowthIsRefused) {
  const auto tree = arm(80);
  EXPECT_NE(equations_of(tree, build::given_forward(*tree), "crba").find("grow too long"), std::string::npos);
  EXPECT_EQ(equations_of(tree, build::given_forward(*tree), "aba").find("grow too long"), std::string::npos);
}

TEST(Namer, TakesWhatIsCommonOutOfTheBrackets) {
  const Symbol a{"A", true}, g{"G"}, x{"X"}, xt{"X", true};
  Namer namer;
  const Product p = namer.simplify({{1, {a, g}}, {1, {a, xt, g, x}}}, "I2");
  EXPECT_EQ(text(p, {}), "Aᵀ I2");
  EXPECT_EQ(text(namer.definitions().at(0).sum, {}), "G + Xᵀ G X");
  EXPECT_EQ(text(namer.simplify({{-1, {g}}, {-1, {xt, g, x}}}, "J"), {}), "I2");  // the same brackets, the same name
  EXPECT_EQ(text(namer.simplify({{1, {g}}, {-1, {x}}}, "I2"), {}), "I2'");
}

}  // namespace
}  // namespace kinegraph::report::equations_test
