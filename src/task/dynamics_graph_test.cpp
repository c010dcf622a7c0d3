#include "kinegraph/build/dynamics_graph.hpp"

#include <gtest/gtest.h>

#include "kinegraph/build/dynamics.hpp"
#include "kinegraph/mechanics/screw/robots_test.hpp"
#include "kinegraph/solve/optimizer.hpp"

namespace kinegraph::build::dynamics_graph_test {
namespace {

/// The general solver on the graph of factors and the compiled elimination agree: they share no numbers but the model.
TEST(DynamicsGraph, TheGeneralSolverGivesWhatTheEliminationGives) {
  screw::RandomRobot r(61);
  r.grow(screw::all_moving_types());
  const auto tree = *screw::Tree::make(r.robot);
  const int coordinates = static_cast<int>(tree->coordinates().size());
  const Eigen::VectorXd q = r.position(*tree), v = r.velocity(*tree), given_a = r.velocity(*tree),
                        given_tau = r.velocity(*tree);
  for (int question = 0; question < 3; ++question) {
    std::vector<Given> given;
    for (int c = 0; c < coordinates; ++c) {
      given.push_back(question == 0 || (question == 2 && c % 2 == 0) ? Given::acceleration : Given::torque);
    }
    Graph graph;
    Values values;
    const ScrewKeys keys;
    add_dynamics(tree, keys, q, v, graph, values);
    set_known(*tree, keys, given, graph.known());
    for (int c = 0; c < coordinates; ++c) {
      const screw::Coordinate& coordinate = tree->coordinates()[c];
      const bool torque = given[c] == Given::torque;
      const auto at = values.at(torque ? keys.tau(c) : keys.a(c));
      for (int k = 0; k < coordinate.freedoms; ++k) at[k] = (torque ? given_tau : given_a)[coordinate.v + k];
    }
    const Result<Report> report = optimize(graph, values);
    ASSERT_TRUE(report) << report.failure().to_string();

    Dynamics dynamics(tree, given);
    Eigen::VectorXd a = given_a, tau = given_tau;
    ASSERT_TRUE(dynamics.solve(q.data(), v.data(), a.data(), tau.data(), {}).ok);
    for (int c = 0; c < coordinates; ++c) {
      const screw::Coordinate& coordinate = tree->coordinates()[c];
      for (int k = 0; k < coordinate.freedoms; ++k) {
        EXPECT_NEAR(values.at(keys.a(c))[k], a[coordinate.v + k], 1e-8 * a.cwiseAbs().maxCoeff());
        EXPECT_NEAR(values.at(keys.tau(c))[k], tau[coordinate.v + k], 1e-8 * tau.cwiseAbs().maxCoeff());
      }
    }
    for (int i = 0; i < static_cast<int>(tree->bodies().size()); ++i) {
      EXPECT_LT((values.vector(keys.wrench(i)) - dynamics.wrench(i)).norm(), 1e-7 * (1 + dynamics.wrench(i).norm()));
    }
  }
}

}  // namespace
}  // namespace kinegraph::build::dynamics_graph_test
