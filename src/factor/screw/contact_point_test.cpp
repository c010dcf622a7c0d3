#include "kinegraph/factor/screw/contact_point.hpp"

#include "kinegraph/factor/screw/centre_of_mass_goal.hpp"
#include "kinegraph/factor/screw/walker_test.hpp"

namespace kinegraph::screw::contact_point_test {
namespace {

const BodyPoint kFoot{2, {0.1, -0.3, 0.2}};

TEST(ContactPoint, JacobiansMatchDifferences) {
  for (const Robot::Base base : {Robot::Base::floating, Robot::Base::fixed}) {
    const auto tree = walker(base);
    expect_exact_jacobians(PointHeight("foot", tree, kFoot, -0.2), state_manifolds(*tree, 1));
    expect_exact_jacobians(PointVelocity("foot", tree, kFoot), state_manifolds(*tree, 2));
    expect_exact_jacobians(PointAcceleration("foot", tree, kFoot, 3, -0.2), state_manifolds(*tree, 3));
  }
}

TEST(ContactPoint, CurvatureMatchesDifferences) {
  for (const Robot::Base base : {Robot::Base::floating, Robot::Base::fixed}) {
    const auto tree = walker(base);
    expect_exact_curvatures(PointHeight("foot", tree, kFoot, -0.2), state_manifolds(*tree, 1));
    expect_exact_curvatures(PointVelocity("foot", tree, kFoot), state_manifolds(*tree, 2));
    expect_exact_curvatures(PointAcceleration("foot", tree, kFoot, 3, -0.2), state_manifolds(*tree, 3));
  }
}

TEST(FrameGoal, JacobiansMatchDifferences) {
  const auto tree = walker(Robot::Base::floating);
  GoalPose goal;
  goal.X_WG = Transform<double>(SE3::exp((Vector6d() << 0.2, -0.1, 0.3, 1, 2, 3).finished()));
  goal.rotation = true;
  goal.axis[1] = false;
  const FrameGoal factor("goal hand", tree, 2, Transform<double>(SE3::exp(Vector6d::Constant(0.1))), goal);
  ASSERT_EQ(factor.rows(), 5);
  EXPECT_EQ(factor.row_name(0), "goal hand: turn x");
  EXPECT_EQ(factor.row_name(4), "goal hand: z");
  expect_exact_jacobians(factor, state_manifolds(*tree, 1));
}

TEST(CentreOfMassGoal, JacobiansMatchDifferences) {
  const auto tree = walker(Robot::Base::floating);
  const CentreOfMassGoal factor("com", tree, {0, 2}, {0.5, 0, 0.3});
  EXPECT_EQ(factor.row_name(1), "com: z");
  expect_exact_jacobians(factor, state_manifolds(*tree, 1));
  expect_exact_curvatures(factor, state_manifolds(*tree, 1));
}

TEST(CentreOfMassGoal, IsTheMeanOfTheBodies) {
  const auto tree = walker(Robot::Base::fixed);
  const CentreOfMassGoal factor("com", tree, {0, 1, 2}, {0, 0, 0});
  const SlotValues x = random_values(state_manifolds(*tree, 1), 3);
  Poses poses(tree->bodies().size());
  body_poses(*tree, x[0].data(), poses);
  Eigen::Vector3d sum = Eigen::Vector3d::Zero();
  for (std::size_t i = 0; i < poses.size(); ++i) sum += tree->bodies()[i].mass * (poses[i] * tree->bodies()[i].com);
  const std::vector<double> c = residual(factor, x);
  EXPECT_LT((Eigen::Map<const Eigen::Vector3d>(c.data()) - sum / tree->mass()).norm(), 1e-14);
}

}  // namespace
}  // namespace kinegraph::screw::contact_point_test
