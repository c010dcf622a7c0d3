#include "kinegraph/mechanics/maximal/mechanism.hpp"

#include <gtest/gtest.h>

#include "kinegraph/mechanics/maximal/mechanisms_test.hpp"

namespace kinegraph::maximal::mechanism_test {
namespace {

using Vector = Eigen::VectorXd;

TEST(Mechanism, BodiesHaveTheNumbersOfTheirLinks) {
  RandomMechanism r(1);
  r.grow({JointType::revolute, JointType::ball}, true);
  const auto m = r.make();
  ASSERT_EQ(m->bodies().size(), 2u);
  EXPECT_EQ(m->stored(), 14);
  EXPECT_EQ(m->tangent(), 12);
  EXPECT_EQ(m->rows(), 5 + 3);
  EXPECT_EQ(m->freedoms().size(), 4u);
  for (int i = 0; i < 2; ++i) {
    const double* n = m->numbers().data() + m->bodies()[i].numbers;
    const Inertia& inertia = r.robot.links[i + 1].inertia;
    EXPECT_NEAR(n[BodyNumbers::mass], inertia.mass, 1e-14);
    // about the centre of mass the moments of inertia do not depend on where the frame stands, only on its axes
    EXPECT_NEAR(n[BodyNumbers::inertia] + n[BodyNumbers::inertia + 1] + n[BodyNumbers::inertia + 2],
                inertia.about_com.trace(), 1e-13);
    EXPECT_EQ(m->bodies()[i].name, r.robot.links[i + 1].name);
  }
  EXPECT_EQ(m->numbers().head<3>(), r.robot.gravity);
  EXPECT_EQ(m->joints()[1].name, "j2");
}

TEST(Mechanism, NumbersOfARobotThatDiffersInNumbersOnly) {
  RandomMechanism r(2);
  r.grow({JointType::revolute, JointType::prismatic}, true);
  const auto m = r.make();
  Robot other = r.robot;
  other.links[2].inertia.mass += 0.25;
  other.joints[1].dynamics.resize(1);
  other.joints[1].dynamics[0].damping = 3;
  const auto numbers = m->numbers(other);
  ASSERT_TRUE(numbers);
  const Vector change = *numbers - m->numbers();
  EXPECT_NEAR(change[m->bodies()[1].numbers + BodyNumbers::mass], 0.25, 1e-14);
  EXPECT_NEAR(change[m->freedoms()[1].numbers + FreedomNumbers::damping], 3, 1e-14);
  EXPECT_EQ((change.array().abs() > 1e-12).count(), 2);
  other.joints[1].type = JointType::ball;
  const auto refused = m->numbers(other);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.failure().diagnostics[0].message,
            "a parameter changes what the machine consists of, not only its numbers");
}

TEST(Mechanism, LinksWithoutMassGetALittle) {
  RandomMechanism r(3);
  r.grow({JointType::revolute, JointType::revolute}, true);
  r.robot.links[2].inertia = {};
  const auto m = r.make();
  EXPECT_FALSE(m->bodies()[0].weightless);
  EXPECT_TRUE(m->bodies()[1].weightless);
  const double* n = m->numbers().data() + m->bodies()[1].numbers;
  EXPECT_NEAR(n[BodyNumbers::mass], Mechanism::kStandIn * r.robot.links[1].inertia.mass, 1e-15);
  for (int k = 0; k < 3; ++k) EXPECT_GT(n[BodyNumbers::inertia + k], 0);
}

TEST(Mechanism, RefusesJointsThatMimic) {
  RandomMechanism r(4);
  r.grow({JointType::revolute, JointType::revolute}, true);
  r.robot.joints[1].mimic = Mimic{JointIndex(0), 2, 0};
  const auto made = Mechanism::make(r.robot);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.failure().diagnostics[0].message,
            "joint 'j2' mimics another, which the maximal formulation cannot do yet");
}

TEST(Mechanism, RetractAndLocalAreInverse) {
  RandomMechanism r(5);
  r.chain();
  const auto m = r.make();
  const RandomState s(r, *m);
  const int bodies = static_cast<int>(m->bodies().size());
  const Vector delta = Vector::NullaryExpr(m->tangent(), [&] { return r.number(); });
  Vector q(m->stored()), back(m->tangent());
  retract(bodies, s.q.data(), delta.data(), q.data());
  local(bodies, s.q.data(), q.data(), back.data());
  EXPECT_LT((back - delta).norm(), 1e-12);
}

}  // namespace
}  // namespace kinegraph::maximal::mechanism_test
