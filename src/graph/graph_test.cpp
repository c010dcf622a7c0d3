#include "kinegraph/graph/graph.hpp"

#include <gtest/gtest.h>

#include "kinegraph/graph/chain.hpp"
#include "kinegraph/graph/function_factor.hpp"

namespace kinegraph::graph_test {
namespace {

Key q(int step) { return {Kind::position, false, 0, step}; }
Key v(int step) { return {Kind::velocity, false, 0, step}; }

/// Sums whatever it is given; only its shape matters here.
std::shared_ptr<const Factor> shape(std::string name, int rows, std::vector<int> sizes,
                                    std::vector<int> tangents = {}) {
  return std::make_shared<FunctionFactor>(
      std::move(name), rows, std::move(sizes), [](Slots, double*, double*) {}, std::move(tangents));
}

TEST(Graph, NumbersTheColumnsOfWhatIsUnknownAndTouched) {
  Values values;
  values.insert(q(0), Eigen::VectorXd(Eigen::Vector2d::Zero()));
  values.insert(v(0), Eigen::VectorXd(Eigen::Vector2d::Zero()));
  values.insert(q(1), SE3());
  values.insert(v(1), 0.0);
  Graph graph;
  graph.add(shape("a", 2, {2, 2}), {q(0), v(0)}, Role::equality);
  graph.add(shape("b", 3, {7}, {6}), {q(1)});
  graph.add(shape("c", 1, {2}), {v(0)});
  graph.known().insert(v(0));
  const auto s = graph.structure(values);
  ASSERT_TRUE(s) << s.failure().to_string();
  EXPECT_EQ(s->variable, (std::vector<int>{0, -1, 2, -1}));
  EXPECT_EQ(s->columns, (std::vector<int>{0, 0, 2, 2, 2, 2, 2, 2}));
  EXPECT_EQ(s->row, (std::vector<int>{0, 0, -1}));
  EXPECT_EQ(s->constant, (std::vector<int>{2}));
  EXPECT_EQ(s->counts(), "8 unknowns, 5 equations (2 hard, 3 soft)");
}

TEST(Graph, ReportsEveryFault) {
  Values values;
  values.insert(q(0), Eigen::VectorXd(Eigen::Vector2d::Zero()));
  values.insert(q(1), SO3());
  Graph graph;
  graph.add(shape("speed", 2, {2, 2}), {q(0), v(0)});
  graph.add(shape("length", 1, {3}), {q(0)});
  graph.add(shape("turn", 1, {4}, {4}), {q(1)});
  graph.add(shape("weigh", 2, {2}), {q(0)}, Role::cost, Noise::diagonal(Eigen::Vector3d::Ones()));
  const auto s = graph.structure(values);
  ASSERT_FALSE(s);
  EXPECT_EQ(s.failure().to_string(),
            "error: speed (q0, v0): slot 1: no value for v0\n"
            "error: length (q0): slot 0: expects 3 numbers, q0 has 2\n"
            "error: length (q0): Jacobian entry (row 0, slot 0, column 2) is outside\n"
            "error: turn (q1): Jacobian entry (row 0, slot 0, column 3) is outside\n"
            "error: weigh (q0): noise for 3 rows, the factor has 2");
}

TEST(Graph, RefusesAWrongNumberOfKeys) {
  Graph graph;
  EXPECT_THROW(graph.add(shape("pair", 1, {1, 1}), {q(0)}), std::invalid_argument);
  EXPECT_THROW(graph.add(nullptr, {}), std::invalid_argument);
}

TEST(Graph, NumbersTheRowsOfEveryRoleByThemselves) {
  Graph graph;
  graph.add(shape("limit", 2, {1}), {q(0)}, Role::inequality);
  graph.add(shape("law", 3, {1}), {q(0)}, Role::equality);
  graph.add(shape("limit", 1, {1}), {q(1)}, Role::inequality);
  graph.add(shape("effort", 1, {1}), {q(1)});
  Values values;
  values.insert(q(0), 1.0);
  values.insert(q(1), 1.0);
  const auto s = graph.structure(values);
  ASSERT_TRUE(s);
  EXPECT_EQ(s->row, (std::vector<int>{0, 0, 2, 0}));
  EXPECT_EQ(s->counts(), "2 unknowns, 4 equations (3 hard, 1 soft), 3 inequalities");
}

/// q, v and a given time per knot, two user variables, and a midpoint velocity.
Chain sample_chain() {
  Chain chain;
  const int t = chain.add_knot_variable({Kind::time, "t", 1, true});
  const int x = chain.add_knot_variable({Kind::position, "q", 2, false});
  const int one = chain.add_knot_variable({Kind::user, "one", 1, false});
  chain.add_knot_variable({Kind::user, "other", 3, false});
  const int mid = chain.add_middle_variable({Kind::velocity, "v", 2, false});
  chain.add_to_knot(shape("law", 1, {1, 2}), {t, x}, Role::equality);
  chain.add_to_link(shape("step", 2, {2, 2, 2, 1}),
                    {{Place::from, x}, {Place::middle, mid}, {Place::to, x}, {Place::to, one}}, Role::cost,
                    Noise::isotropic(0.1));
  return chain;
}

TEST(Chain, UnrollsToAGraph) {
  const Chain chain = sample_chain();
  const int frozen[] = {0};
  const Graph graph = unroll(chain, 3, frozen);
  ASSERT_EQ(graph.size(), 5);
  std::vector<std::string> names;
  for (const BoundFactor& f : graph.factors()) names.push_back(to_string(f));
  EXPECT_EQ(names, (std::vector<std::string>{"law (t0, q0)", "step (q0, v0.5, q1, user2@1)", "law (t1, q1)",
                                             "step (q1, v1.5, q2, user2@2)", "law (t2, q2)"}));
  EXPECT_EQ(graph[1].noise.sigma(), 0.1);
  EXPECT_EQ(graph[0].role, Role::equality);

  std::vector<double> knot(3 * chain.knot_size()), middle(2 * chain.middle_size());
  for (std::size_t i = 0; i < knot.size(); ++i) knot[i] = double(i);
  for (std::size_t i = 0; i < middle.size(); ++i) middle[i] = -double(i);
  const Values values = unroll_values(chain, 3, knot, middle);
  EXPECT_EQ(values.vector(q(1)), Eigen::Vector2d(8, 9));
  EXPECT_EQ(values.vector(Key{Kind::user, false, 3, 2}), Eigen::Vector3d(18, 19, 20));
  EXPECT_EQ(values.vector(Key{Kind::velocity, true, 0, 1}), Eigen::Vector2d(-2, -3));

  // Unknown: q1, q2, user2@1, user2@2, v0.5, v1.5. The first law touches only what is known.
  const auto s = graph.structure(values);
  ASSERT_TRUE(s);
  EXPECT_EQ(s->unknowns, 2 + 2 + 1 + 1 + 2 + 2);
  EXPECT_EQ(s->constant, (std::vector<int>{0}));
  EXPECT_EQ(s->hard_rows, 2);
}

TEST(Chain, AMiddleIsFrozenWithBothEndsOfItsInterval) {
  const Chain chain = sample_chain();
  const int frozen[] = {0, 1};
  const Graph graph = unroll(chain, 3, frozen);
  EXPECT_TRUE(graph.known().contains(Key{Kind::velocity, true, 0, 0}));
  EXPECT_FALSE(graph.known().contains(Key{Kind::velocity, true, 0, 1}));
}

TEST(Chain, RefusesSlotsThatDoNotFit) {
  Chain chain = sample_chain();
  EXPECT_THROW(chain.add_to_knot(shape("law", 1, {2}), {0}, Role::cost), std::invalid_argument);
  EXPECT_THROW(chain.add_to_knot(shape("law", 1, {1}), {9}, Role::cost), std::invalid_argument);
  EXPECT_THROW(chain.add_to_knot(shape("law", 1, {1}), {0, 1}, Role::cost), std::invalid_argument);
  EXPECT_THROW(unroll(chain, 0), std::invalid_argument);
  const int beyond[] = {3};
  EXPECT_THROW(unroll(chain, 3, beyond), std::invalid_argument);
}

}  // namespace
}  // namespace kinegraph::graph_test
