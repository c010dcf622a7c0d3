// Inverse and forward dynamics, M(q), bias and gravity against Pinocchio's numbers (test/golden/make_goldens.py).
#include "test/acceptance/golden.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kinegraph/build/dynamics.hpp"

namespace kinegraph::acceptance::golden_test {
namespace {

using build::Dynamics;
using build::Given;
using Eigen::VectorXd;

constexpr double kExact = 1e-10, kOrders = 1e-9;

/// Against the largest entry of the vector.
double difference(const Eigen::MatrixXd& found, const Eigen::MatrixXd& expected) {
  return (found - expected).cwiseAbs().maxCoeff() / expected.cwiseAbs().maxCoeff();
}

std::vector<Given> all(const screw::Tree& tree, Given given) { return {tree.coordinates().size(), given}; }

VectorXd inverse(Dynamics& dynamics, const VectorXd& q, const VectorXd& v, VectorXd a) {
  VectorXd tau = VectorXd::Zero(a.size());
  screw::Surroundings surroundings;
  surroundings.joint_forces = false;
  const auto outcome = dynamics.solve(q.data(), v.data(), a.data(), tau.data(), surroundings);
  EXPECT_TRUE(outcome.ok) << outcome.message;
  return tau;
}

VectorXd forward(Dynamics& dynamics, const VectorXd& q, const VectorXd& v, VectorXd tau) {
  VectorXd a = VectorXd::Zero(tau.size());
  screw::Surroundings surroundings;
  surroundings.joint_forces = false;
  const auto outcome = dynamics.solve(q.data(), v.data(), a.data(), tau.data(), surroundings);
  EXPECT_TRUE(outcome.ok) << outcome.message;
  return a;
}

class GoldenNumbers : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    golden_ = read_golden(GetParam());
    if (!golden_.tree) GTEST_SKIP() << "no reference models beside the project";
    ASSERT_EQ(golden_.states.size(), 20U);
  }
  Golden golden_;
};

TEST_P(GoldenNumbers, InverseBiasAndGravity) {
  Dynamics dynamics(golden_.tree, all(*golden_.tree, Given::acceleration));
  for (const GoldenState& s : golden_.states) {
    const VectorXd rest = VectorXd::Zero(s.v.size());
    EXPECT_LT(difference(inverse(dynamics, s.q, s.v, s.a), s.rnea), kExact);
    EXPECT_LT(difference(inverse(dynamics, s.q, s.v, rest), s.bias), kExact);
    EXPECT_LT(difference(inverse(dynamics, s.q, rest, rest), s.gravity), kExact);
  }
}

TEST_P(GoldenNumbers, Forward) {
  Dynamics dynamics(golden_.tree, all(*golden_.tree, Given::torque));
  for (const GoldenState& s : golden_.states) {
    EXPECT_LT(difference(forward(dynamics, s.q, s.v, s.tau), s.aba), kExact);
  }
}

TEST_P(GoldenNumbers, MassMatrix) {
  const auto given = all(*golden_.tree, Given::torque);
  const auto order = build::screw_order(build::screw_problem(golden_.tree, given), "crba");
  ASSERT_TRUE(order.ok());
  Dynamics dynamics(golden_.tree, given, *order);
  for (const GoldenState& s : golden_.states) {
    const Eigen::MatrixXd M = dynamics.mass_matrix(s.q.data());
    ASSERT_EQ(M.rows(), s.v.size());
    EXPECT_TRUE(s.M.size() > 0 || !s.Mx.empty());
    if (s.M.size() > 0) {
      EXPECT_LT(difference(M, s.M), kExact);
    }
    for (std::size_t k = 0; k < s.Mx.size(); ++k) EXPECT_LT(difference(M * s.x[k], s.Mx[k]), kExact);
  }
}

TEST_P(GoldenNumbers, EveryOrder) {
  const GoldenState& s = golden_.states.front();
  for (const Given given : {Given::acceleration, Given::torque}) {
    const auto problem = build::screw_problem(golden_.tree, all(*golden_.tree, given));
    for (const std::string& name : build::screw_order_names()) {
      if (name == "custom") continue;
      if (name == "natural" && golden_.tree->freedoms() > 100) continue;  // fills in everything: minutes of planning
      SCOPED_TRACE(name);
      const auto order = build::screw_order(problem, name);
      ASSERT_TRUE(order.ok()) << order.failure().to_string();
      Dynamics dynamics(golden_.tree, problem.given, *order);
      if (given == Given::acceleration) {
        EXPECT_LT(difference(inverse(dynamics, s.q, s.v, s.a), s.rnea), kOrders);
      } else {
        EXPECT_LT(difference(forward(dynamics, s.q, s.v, s.tau), s.aba), kOrders);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Own, GoldenNumbers, testing::Values("three_r", "arm7", "quadruped"),
                         [](const auto& info) { return info.param; });
INSTANTIATE_TEST_SUITE_P(Shared, GoldenNumbers,
                         testing::Values("puma560", "iiwa14", "iiwa_drake", "panda", "panda_drake", "ur5", "solo12",
                                         "hyq", "simple_humanoid", "chain_200"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace kinegraph::acceptance::golden_test
