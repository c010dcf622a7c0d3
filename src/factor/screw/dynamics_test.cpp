#include <gtest/gtest.h>

#include "kinegraph/factor/screw/loop_acceleration.hpp"
#include "kinegraph/factor/screw/screw_test.hpp"
#include "kinegraph/factor/screw/torque.hpp"
#include "kinegraph/factor/screw/twist.hpp"
#include "kinegraph/factor/screw/twist_acceleration.hpp"
#include "kinegraph/factor/screw/wrench.hpp"

namespace kinegraph::screw::dynamics_test {
namespace {

const Manifold kScrew = Manifold::real(6);

/// Every joint, both ways round, in the four equations of the dynamics graph.
class EveryJointBothWays : public testing::TestWithParam<std::tuple<JointType, bool>> {
 protected:
  JointType type() const { return std::get<0>(GetParam()); }
  bool reversed() const { return std::get<1>(GetParam()); }
  Manifold q() const { return manifold_of(type()); }
  Manifold v() const { return Manifold::real(freedoms(type())); }

  Robot robot() const {
    Robot robot = two_links(type(), reversed(), 3);
    for (Link& link : robot.links) {
      link.inertia.mass = 1.3;
      link.inertia.com = Vector3d(0.1, -0.2, 0.3);
      link.inertia.about_com = Vector3d(0.3, 0.4, 0.5).asDiagonal();
    }
    for (Joint& joint : robot.joints) joint.dynamics.assign(freedoms(type()), JointDynamics{0.3, 0, 0.7, 0.1, 0.2});
    return robot;
  }
};

TEST_P(EveryJointBothWays, TwistJacobians) {
  const auto tree = *Tree::make(robot());
  expect_exact_jacobians(TwistFactor(tree->bodies()[0]), {kScrew, q(), v()});
  expect_exact_jacobians(TwistFactor(tree->bodies()[1]), {kScrew, kScrew, q(), v()});
}

TEST_P(EveryJointBothWays, AccelerationJacobians) {
  const auto tree = *Tree::make(robot());
  expect_exact_jacobians(TwistAccelerationFactor(tree->bodies()[0]), {kScrew, kScrew, q(), v(), v()});
  expect_exact_jacobians(TwistAccelerationFactor(tree->bodies()[1]), {kScrew, kScrew, kScrew, q(), v(), v()});
}

TEST_P(EveryJointBothWays, WrenchJacobians) {
  const auto tree = *Tree::make(robot());
  expect_exact_jacobians(WrenchFactor(*tree, 0), {kScrew, kScrew, kScrew, Manifold::se3(), kScrew, q()});
  expect_exact_jacobians(WrenchFactor(*tree, 1), {kScrew, kScrew, kScrew, Manifold::se3()});
}

TEST_P(EveryJointBothWays, TorqueJacobians) {
  const auto tree = *Tree::make(robot());
  expect_exact_jacobians(TorqueFactor(*tree, 1), {v(), q(), v(), v(), kScrew});
}

TEST_P(EveryJointBothWays, LoopJacobians) {
  Robot closed = robot();
  closed.links.push_back(closed.links.back());
  closed.links.back().name = "l3";
  Joint swing = closed.joints[0];
  swing.name = "swing";
  swing.type = JointType::revolute;
  swing.dynamics.clear();
  swing.child = LinkIndex(3);
  closed.joints.push_back(swing);
  Joint loop = closed.joints[1];
  loop.name = "loop";
  loop.parent = LinkIndex(1);
  loop.child = LinkIndex(3);
  loop.closes_loop = true;
  closed.joints.push_back(loop);
  const auto tree = *Tree::make(closed);
  ASSERT_EQ(tree->loops().size(), 1u);
  expect_exact_jacobians(LoopAccelerationFactor(tree->loops()[0]), {kScrew, kScrew, kScrew, q(), v(), v()});
  std::vector<Manifold> slots{kScrew, kScrew, kScrew, Manifold::se3(), kScrew, q(), kScrew, q()};
  expect_exact_jacobians(WrenchFactor(*tree, tree->loops()[0].a), slots);
}

INSTANTIATE_TEST_SUITE_P(Types, EveryJointBothWays,
                         testing::Combine(testing::ValuesIn(moving_joint_types()), testing::Bool()),
                         [](const auto& info) {
                           return std::string(to_string(std::get<0>(info.param))) +
                                  (std::get<1>(info.param) ? "_reversed" : "");
                         });

TEST(TorqueFactor, FrictionIsRoundedOffAndDifferentiated) {
  Robot robot = two_links(JointType::revolute, false, 3);
  robot.joints[1].dynamics.assign(1, JointDynamics{0, 0.5, 0, 0, 0});
  const auto tree = *Tree::make(robot);
  const TorqueFactor factor(*tree, 1);
  const SlotValues x{{0.3}, {0.2}, {4e-4}, {0.1}, {1, 2, 3, 4, 5, 6}};
  JacobianCheckOptions options;
  options.step = 1e-4;
  options.tolerance = 1e-5;
  const JacobianCheck check = check_jacobians(factor, x, options);
  EXPECT_TRUE(check.ok()) << check.message;
  EXPECT_NEAR(residual(factor, x)[0], 3 - 0.3 + 0.5 * std::tanh(0.4), 1e-12);
}

}  // namespace
}  // namespace kinegraph::screw::dynamics_test
