#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "kinegraph/report/instant_sketch.hpp"
#include "kinegraph/report/robots_test.hpp"
#include "kinegraph/report/trajectory_sketch.hpp"
#include "kinegraph/report/write_sketch.hpp"

namespace kinegraph::report::pictures_test {
namespace {

/// For looking at them: KINEGRAPH_PICTURES=folder writes every picture that is tested.
void keep(const std::string& name, const Sketch& sketch) {
  if (const char* folder = std::getenv("KINEGRAPH_PICTURES")) {
    std::ofstream(std::string(folder) + "/" + name + ".svg") << svg(sketch);
  }
}

std::vector<Label> labels(const build::ScrewProblem& problem) {
  std::vector<Label> list;
  for (const auto& v : problem.variables) list.push_back(label(v));
  return list;
}

void expect_clear(const std::string& name, const Sketch& sketch) {
  keep(name, sketch);
  for (const std::string& fault : collisions(sketch)) ADD_FAILURE() << name << ": " << fault;
}

struct Case {
  const char* name;
  std::shared_ptr<const screw::Tree> (*make)();
  bool dense;  ///< also the orders that join everything with everything
};

std::shared_ptr<const screw::Tree> arm3() { return arm(3); }
std::shared_ptr<const screw::Tree> arm7() { return arm(7); }

const Case kCases[] = {{"3r", arm3, true},
                       {"arm7", arm7, false},
                       {"quadruped", quadruped, false},
                       {"five_bar", five_bar, true},
                       {"humanoid", humanoid, false}};

class Pictures : public testing::TestWithParam<Case> {};

TEST_P(Pictures, FactorGraphsAreClear) {
  const auto tree = GetParam().make();
  for (const bool known : {true, false}) {
    for (const bool inverse : {true, false}) {
      const auto given = inverse ? build::given_inverse(*tree) : build::given_forward(*tree);
      const Played p = played(tree, given, "rnea", "", 0);
      expect_clear(
          fmt::format("{}_{}_factors{}", GetParam().name, inverse ? "inverse" : "forward", known ? "" : "_unknown"),
          instant_sketch(p.problem, p.skeleton, p.game, known));
    }
  }
}

TEST_P(Pictures, DagsAreClear) {
  const auto tree = GetParam().make();
  Played p = played(tree, build::given_inverse(*tree), "rnea");
  expect_clear(fmt::format("{}_rnea_dag", GetParam().name), instant_sketch(p.problem, p.skeleton, p.game, false));
  for (const char* order : {"aba", "amd", "crba"}) {
    if (std::string(order) == "crba" && !GetParam().dense) continue;
    p = played(tree, build::given_forward(*tree), order);
    expect_clear(fmt::format("{}_{}_dag", GetParam().name, order),
                 instant_sketch(p.problem, p.skeleton, p.game, false));
  }
}

TEST_P(Pictures, CliqueTreesAreClear) {
  const auto tree = GetParam().make();
  for (const char* order : {"aba", "crba", "metis"}) {
    const Played p = played(tree, build::given_forward(*tree), order);
    expect_clear(fmt::format("{}_{}_tree", GetParam().name, order), clique_sketch(p.game, labels(p.problem)));
  }
}

TEST_P(Pictures, EveryStepOfAnEliminationIsClear) {
  const auto tree = GetParam().make();
  const Played all = played(tree, build::given_forward(*tree), "aba");
  const int steps = static_cast<int>(all.order.size());
  for (int n = 0; n < steps; n += GetParam().dense ? 2 : 17) {
    const Played p = played(tree, build::given_forward(*tree), "aba", "", n);
    expect_clear(fmt::format("{}_aba_after{}", GetParam().name, n),
                 instant_sketch(p.problem, p.skeleton, p.game, false));
  }
}

INSTANTIATE_TEST_SUITE_P(Robots, Pictures, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string("of_") + info.param.name; });

TEST(Pictures3R, HybridOrdersOfThePaper) {
  using build::Given;
  const std::vector<Given> given{Given::acceleration, Given::torque, Given::torque};
  for (const char* order : {"t1 a2 a3 V3 F1 V1 F2 V2 F3", "t1 a2 a3 F1 V1 V3 F3 V2 F2"}) {
    const Played p = played(arm(3), given, "custom", order);
    EXPECT_EQ(p.game.edges().size(), 13u);
    const std::string name = std::string("3r_hybrid_") + order[12];
    expect_clear(name, instant_sketch(p.problem, p.skeleton, p.game, false));
    expect_clear(name + "_tree", clique_sketch(p.game, labels(p.problem)));
  }
}

TEST(TrajectoryPictures, OfARobotAreClear) {
  for (const int joints : {1, 2, 3, 7}) {
    const TrajectoryGraph graph = trajectory_graph(*arm(joints), 3);
    const auto order = time_order(graph);
    const std::string name = fmt::format("motion_arm{}", joints);
    expect_clear(name, trajectory_sketch(graph, linear::play(incidence(graph, false), order, 0), false));
    expect_clear(name + "_dag", trajectory_sketch(graph, linear::play(incidence(graph, false), order), false));
    expect_clear(name + "_bayes", trajectory_sketch(graph, linear::play(incidence(graph, true), order), true));
  }
}

TEST(TrajectoryPictures, ArrowsOfABayesNetPointForwardInTime) {
  const TrajectoryGraph graph = trajectory_graph(*arm(2), 4);
  const auto game = linear::play(incidence(graph, true), time_order(graph));
  int from_known = 0;
  for (const auto& [child, parent] : game.edges()) {
    EXPECT_LE(graph.variables[parent].half_step, graph.variables[child].half_step);
    EXPECT_FALSE(graph.variables[child].known);
    from_known += graph.variables[parent].known;
  }
  EXPECT_GT(from_known, 0);
}

TEST(Collisions, AreFound) {
  Sketch sketch;
  for (const double x : {0., 100., 200.}) {
    SketchNode node;
    node.name = fmt::format("n{}", x);
    node.labels = {{"F", "1"}};
    node.at = {x, 0};
    measure(node);
    sketch.nodes.push_back(node);
  }
  const auto line = [](Spot a, Spot b) { return Bezier{a, a, b, b}; };
  EXPECT_TRUE(collisions(sketch).empty());
  sketch.edges.push_back({0, 2, true, false, line({0, 0}, {200, 0})});
  EXPECT_EQ(collisions(sketch), std::vector<std::string>{"the edge n0 - n200 passes through n100"});
  route(sketch);
  EXPECT_TRUE(collisions(sketch).empty());
  sketch.texts.push_back({"name", {100, 4}, 11});
  EXPECT_EQ(collisions(sketch), std::vector<std::string>{"n100 overlaps the text name"});
  sketch.texts.clear();
  sketch.nodes[1].at = {30, 0};
  sketch.edges.clear();
  EXPECT_EQ(collisions(sketch), std::vector<std::string>{"n0 overlaps n100"});
}

TEST(Writers, SayTheSameGraph) {
  const auto tree = arm(3);
  const Played p = played(tree, build::given_inverse(*tree), "rnea");
  Sketch sketch = instant_sketch(p.problem, p.skeleton, p.game, false);
  sketch.title = "a < b & c";
  const std::string picture = svg(sketch), graphviz = dot(sketch), machine = json(sketch);
  EXPECT_NE(picture.find("a &lt; b &amp; c"), std::string::npos);
  std::size_t arrows = 0;
  for (std::size_t at = picture.find("marker-end"); at != std::string::npos; at = picture.find("marker-end", at + 1)) {
    ++arrows;
  }
  EXPECT_EQ(arrows, 10u);
  EXPECT_NE(graphviz.find("\"F1\" -> \"t1\";"), std::string::npos);
  EXPECT_NE(graphviz.find("label=\"V̇₁ (9)\""), std::string::npos);
  EXPECT_NE(machine.find("\"from\": \"F1\""), std::string::npos);
}

}  // namespace
}  // namespace kinegraph::report::pictures_test
