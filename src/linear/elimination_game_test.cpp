#include "kinegraph/linear/elimination_game.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>

namespace kinegraph::linear::elimination_game_test {
namespace {

/// The graph of a chain of n joints (001, Fig. 4a, 6a, 9a), known variables left out: V̇i − V̇i−1 − θ̈i (6 rows),
/// Fi − Fi+1 − V̇i (6), Fi − τi (1). `torque_known` per joint; else its acceleration is.
struct ChainGraph {
  explicit ChainGraph(const std::vector<bool>& torque_known) {
    const int n = static_cast<int>(torque_known.size());
    for (int i = 1; i <= n; ++i) {
      variable("F" + std::to_string(i), 6);
      variable("V" + std::to_string(i), 6);
      variable((torque_known[i - 1] ? "a" : "t") + std::to_string(i), 1);
    }
    for (int i = 1; i <= n; ++i) {
      const std::string k = std::to_string(i), before = std::to_string(i - 1), after = std::to_string(i + 1);
      factor(6, {"V" + k, "V" + before, "a" + k});
      factor(6, {"F" + k, "F" + after, "V" + k});
      factor(1, {"F" + k, "t" + k});
    }
  }
  void variable(const std::string& name, int size) {
    index[name] = static_cast<int>(incidence.size.size());
    names.push_back(name);
    incidence.size.push_back(size);
  }
  void factor(int rows, const std::vector<std::string>& variables) {
    Incidence::Factor f{rows, {}};
    for (const std::string& name : variables) {
      if (index.contains(name)) f.variables.push_back(index[name]);
    }
    incidence.factors.push_back(f);
  }
  EliminationGame play(const std::string& order, int steps = -1) const {
    std::vector<std::vector<int>> groups;
    std::istringstream words(order);
    for (std::string word; words >> word;) groups.push_back({index.at(word)});
    return linear::play(incidence, groups, steps);
  }
  std::string text(const std::vector<int>& variables) const {
    std::vector<std::string> list;
    for (const int v : variables) list.push_back(names[v]);
    std::sort(list.begin(), list.end());
    std::string all;
    for (const std::string& name : list) all += (all.empty() ? "" : " ") + name;
    return all;
  }
  Incidence incidence;
  std::map<std::string, int> index;
  std::vector<std::string> names;
};

const ChainGraph kInverse({false, false, false}), kForward({true, true, true}), kHybrid({false, true, true});
const char* const kRnea = "t3 t2 t1 F1 F2 F3 V3 V2 V1";
const char* const kAba = "F3 V3 a3 F2 V2 a2 F1 V1 a1";
const char* const kCrba = "F1 F2 F3 V3 V2 V1 a3 a2 a1";
const char* const kCustom = "t1 a2 a3 F1 V1 V3 F3 V2 F2";

TEST(EliminationGame, EdgesOfTheClassicAlgorithmsOnThreeJoints) {
  EXPECT_EQ(kInverse.play(kRnea).edges().size(), 10u);
  EXPECT_EQ(kForward.play(kAba).edges().size(), 18u);
  EXPECT_EQ(kForward.play(kCrba).edges().size(), 20u);
  EXPECT_EQ(kHybrid.play("t1 a2 a3 V3 F1 V1 F2 V2 F3").edges().size(), 13u);
  EXPECT_EQ(kHybrid.play(kCustom).edges().size(), 13u);
}

TEST(EliminationGame, RneaCreatesNoFactorAndFillsNothing) {
  const EliminationGame game = kInverse.play(kRnea);
  for (const EliminationStep& step : game.steps) EXPECT_EQ(step.created, -1);
  EXPECT_EQ(game.fill(), 0);
  EXPECT_EQ(game.width(), 3);
  EXPECT_EQ(game.width_in_numbers(), 18);
  EXPECT_EQ(kInverse.text(game.steps[3].parents), "F2 V1");
}

TEST(EliminationGame, RowsThatRemainAreANewFactor) {
  const EliminationGame game = kForward.play(kCrba, 1);
  ASSERT_EQ(game.steps.size(), 1u);
  EXPECT_EQ(game.steps[0].rows, 7);  // the wrench and the torque of joint 1
  ASSERT_EQ(game.steps[0].created, 9);
  EXPECT_EQ(game.factors[9].rows, 1);
  EXPECT_EQ(kForward.text(game.factors[9].variables), "F2 V1");
  EXPECT_EQ(std::count(game.used.begin(), game.used.end(), true), 2);
}

TEST(EliminationGame, EveryVariableGetsAsManyRowsAsItHasNumbers) {
  for (const char* order : {kAba, kCrba, "F2 V2 a2 a1 F1 V1 a3 F3 V3"}) {
    const EliminationGame game = kForward.play(order);
    EXPECT_EQ(std::count(game.used.begin(), game.used.end(), false), 0) << order;
    for (const EliminationStep& step : game.steps) {
      EXPECT_GE(step.rows, game.incidence.size[step.variables[0]]) << order;
    }
    EXPECT_TRUE(game.steps.back().parents.empty());
  }
}

TEST(EliminationGame, FillCountsWhatNoFactorJoined) {
  // F2 depends on V1, with which it stands in the wrench factor of body 1; F3 then does too: no factor joined them.
  EXPECT_EQ(kForward.play(kCrba, 2).fill(), 0);
  EXPECT_EQ(kForward.play(kCrba, 3).fill(), 1);
  EXPECT_GT(kForward.play(kCrba).fill(), kForward.play(kAba).fill());
}

TEST(EliminationGame, FlopsOfADenseFront) {
  // 3 equations in 2 + 1 unknowns: first column 2 rows × (1 + 2·3), second 1 row × (1 + 2·2), then d² + 2dp
  Incidence one{{2, 1}, {{3, {0, 1}}}};
  EXPECT_DOUBLE_EQ(play(one, {{0}}).flops(), 14 + 5 + 4 + 4);
}

TEST(EliminationGame, CustomOrderCutsTheGraphInTwo) {
  const EliminationGame game = kHybrid.play(kCustom);
  const std::vector<Clique> tree = clique_tree(game);
  const auto cut =
      std::find_if(tree.begin(), tree.end(), [](const Clique& c) { return kHybrid.text(c.separator) == "F2 V2"; });
  ASSERT_NE(cut, tree.end());
  EXPECT_EQ(kHybrid.text(cut->frontal), "V1 a2");
  EXPECT_EQ(kHybrid.text(tree[0].frontal), "F2 F3 V2");
  EXPECT_EQ(cut->parent, 0);
}

TEST(EliminationGame, CliquesHoldEveryEdgeAndEveryVariableOnce) {
  for (const ChainGraph* graph : {&kForward, &kHybrid}) {
    const EliminationGame game = graph->play(graph == &kForward ? kAba : kCustom);
    const std::vector<Clique> tree = clique_tree(game);
    std::vector<int> home(game.position.size(), -1);
    for (std::size_t c = 0; c < tree.size(); ++c) {
      EXPECT_LT(tree[c].parent, static_cast<int>(c));
      for (const int v : tree[c].frontal) {
        EXPECT_EQ(home[v], -1);
        home[v] = static_cast<int>(c);
      }
    }
    for (const auto& [child, parent] : game.edges()) {
      const Clique& c = tree[home[child]];
      const bool inside = std::count(c.frontal.begin(), c.frontal.end(), parent) > 0 ||
                          std::count(c.parents.begin(), c.parents.end(), parent) > 0;
      EXPECT_TRUE(inside) << graph->names[child] << " <- " << graph->names[parent];
    }
  }
}

TEST(EliminationGame, GroupsAreOneFront) {
  Incidence three{{1, 1, 1}, {{3, {0, 1, 2}}}};
  const EliminationGame game = play(three, {{0, 1, 2}});
  EXPECT_EQ(game.edges().size(), 3u);
  EXPECT_EQ(game.width(), 3);
  EXPECT_EQ(clique_tree(game).size(), 1u);
}

TEST(EliminationGame, VariablesOutsideTheOrderStayAsParents) {
  const EliminationGame game = play({{1, 1}, {{1, {0, 1}}}}, {{0}});
  EXPECT_EQ(game.steps[0].parents, std::vector<int>{1});
  EXPECT_EQ(game.position[1], -1);
  EXPECT_EQ(clique_tree(game)[0].separator, std::vector<int>{1});
}

TEST(EliminationGame, RefusesOrdersThatAreNone) {
  const Incidence two{{1, 1}, {{2, {0, 1}}}};
  EXPECT_THROW(play(two, {{0}, {0}}), std::invalid_argument);
  EXPECT_THROW(play(two, {{2}}), std::invalid_argument);
}

}  // namespace
}  // namespace kinegraph::linear::elimination_game_test
