#include "kinegraph/factor/screw/whole_dynamics.hpp"

#include "kinegraph/factor/screw/walker_test.hpp"

namespace kinegraph::screw::whole_dynamics_test {
namespace {

std::vector<Manifold> manifolds_of(const Tree& tree, int motors, int points) {
  std::vector<Manifold> all = state_manifolds(tree, 3);
  if (motors > 0) all.push_back(Manifold::real(motors));
  for (int c = 0; c < points; ++c) all.push_back(Manifold::real(3));
  return all;
}

TEST(WholeDynamics, JacobiansMatchDifferencesOfARobotThatFloats) {
  const auto tree = walker(Robot::Base::floating);
  ASSERT_EQ(StateSlots::refusal(*tree), "");
  const WholeDynamics factor(tree, {6, 7, 9}, {{1, {0.1, 0, 0.2}}, {4, {0, 0.3, 0}}});
  expect_exact_jacobians(factor, manifolds_of(*tree, 3, 2));
}

TEST(WholeDynamics, JacobiansMatchDifferencesOfARobotThatStands) {
  const auto tree = walker(Robot::Base::fixed);
  expect_exact_jacobians(WholeDynamics(tree, {0, 1, 2, 3}, {}), manifolds_of(*tree, 4, 0));
}

TEST(WholeDynamics, CurvatureMatchesDifferences) {
  const auto floats = walker(Robot::Base::floating), stands = walker(Robot::Base::fixed);
  expect_exact_curvatures(WholeDynamics(floats, {6, 7, 9}, {{1, {0.1, 0, 0.2}}, {4, {0, 0.3, 0}}}),
                          manifolds_of(*floats, 3, 2));
  expect_exact_curvatures(WholeDynamics(stands, {0, 1, 2, 3}, {}), manifolds_of(*stands, 4, 0));
}

TEST(WholeDynamics, AtRestTheFeetCarryTheWeight) {
  const auto tree = walker(Robot::Base::floating);
  const WholeDynamics factor(tree, {6, 7, 8, 9}, {{0, {0, 0, 0}}});
  SlotValues x;
  for (const Manifold& manifold : manifolds_of(*tree, 4, 1)) {
    x.emplace_back(manifold.stored(), 0.0);
    if (manifold.stored() > manifold.tangent()) x.back()[0] = 1;
  }
  x.back()[2] = tree->mass() * kGravity;
  const std::vector<double> e = residual(factor, x);
  for (int i = 3; i < 6; ++i) EXPECT_NEAR(e[i], 0, 1e-12);  // forces on the base; moments are not in balance
  EXPECT_EQ(factor.row_name(6), "motion of j0.v");
}

}  // namespace
}  // namespace kinegraph::screw::whole_dynamics_test
