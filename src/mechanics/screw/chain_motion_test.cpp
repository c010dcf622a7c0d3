#include "kinegraph/mechanics/screw/chain_motion.hpp"

#include <gtest/gtest.h>

#include "kinegraph/mechanics/screw/kinematics.hpp"
#include "kinegraph/mechanics/screw/robots_test.hpp"

namespace kinegraph::screw::chain_motion_test {
namespace {

struct Moving {
  std::shared_ptr<const Tree> tree;
  Eigen::VectorXd q, v, a;
};

Moving chain(unsigned seed) {
  RandomRobot random(seed);
  random.robot.base = Robot::Base::floating;
  random.grow({JointType::revolute, JointType::prismatic, JointType::revolute, JointType::ball}, true);
  random.robot.X_WL.assign(random.robot.links.size(), SE3());
  const auto tree = Tree::make(random.robot);
  EXPECT_TRUE(tree);
  return {*tree, random.position(**tree), random.velocity(**tree), random.velocity(**tree)};
}

const Eigen::Vector3d kAt(0.3, -0.2, 0.5);

PointState at(const Moving& m) {
  ChainMotion motion(m.tree, static_cast<int>(m.tree->bodies().size()) - 1);
  motion.set(m.q.data(), m.v.data(), m.a.data());
  return point_state(motion, kAt);
}

Moving moved(const Moving& m, const Eigen::VectorXd& dq, const Eigen::VectorXd& dv) {
  Moving other = m;
  m.tree->retract(m.q.data(), dq.data(), other.q.data());
  other.v += dv;
  return other;
}

TEST(ChainMotion, VelocityAndAccelerationAreRatesAlongTheMotion) {
  const Moving m = chain(3);
  // along the motion: q moves by t v + ½ t² a in the chart, where ball and base turn by more than that at third order
  const auto along = [&](double t) { return at(moved(m, t * m.v + 0.5 * t * t * m.a, t * m.a)); };
  const double h = 1e-3;
  const PointState now = at(m);
  EXPECT_LT((now.velocity - (8 * (along(h).p - along(-h).p) - (along(2 * h).p - along(-2 * h).p)) / (12 * h)).norm(),
            1e-8);
  EXPECT_LT((now.acceleration - (along(h).p - 2 * now.p + along(-h).p) / (h * h)).norm(), 1e-4);
  Poses poses(m.tree->bodies().size());
  body_poses(*m.tree, m.q.data(), poses);
  EXPECT_LT((now.p - poses.back() * kAt).norm(), 1e-14);
}

TEST(ChainMotion, DerivativesMatchDifferences) {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    const Moving m = chain(seed);
    const int n = m.tree->freedoms();
    ChainMotion motion(m.tree, static_cast<int>(m.tree->bodies().size()) - 1);
    motion.set(m.q.data(), m.v.data(), m.a.data());
    const PointState now = point_state(motion, kAt);
    ASSERT_EQ(static_cast<int>(motion.columns().size()), n);
    for (const ChainMotion::Column& column : motion.columns()) {
      const Eigen::VectorXd e = Eigen::VectorXd::Unit(n, column.freedom), o = Eigen::VectorXd::Zero(n);
      const double h = 1e-3;
      const auto slope = [&](auto part, const Eigen::VectorXd& dq, const Eigen::VectorXd& dv) {
        const auto f = [&](double t) -> Eigen::Vector3d { return part(at(moved(m, t * dq, t * dv))); };
        return Eigen::Vector3d((8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h));
      };
      const auto p = [](const PointState& s) { return s.p; };
      const auto velocity = [](const PointState& s) { return s.velocity; };
      const auto acceleration = [](const PointState& s) { return s.acceleration; };
      const PointChange c = point_change(motion, now, column);
      EXPECT_LT((c.p_q - slope(p, e, o)).norm(), 1e-9);
      EXPECT_LT((c.velocity_q - slope(velocity, e, o)).norm(), 1e-9);
      EXPECT_LT((c.p_q - slope(velocity, o, e)).norm(), 1e-9);
      EXPECT_LT((c.acceleration_q - slope(acceleration, e, o)).norm(), 1e-8);
      EXPECT_LT((c.acceleration_v - slope(acceleration, o, e)).norm(), 1e-8);
    }
  }
}

}  // namespace
}  // namespace kinegraph::screw::chain_motion_test
