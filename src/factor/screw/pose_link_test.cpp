#include "kinegraph/factor/screw/pose_link.hpp"

#include "kinegraph/factor/screw/middle_state.hpp"
#include "kinegraph/factor/screw/screw_test.hpp"

namespace kinegraph::screw::pose_link_test {
namespace {

const Manifold X = Manifold::se3(), V = Manifold::real(6);

TEST(PoseLink, JacobiansMatchDifferences) {
  expect_exact_jacobians(PoseEuler(0.3), {X, V, X});
  expect_exact_jacobians(PoseTrapezoidal(0.3), {X, V, X, V});
  expect_exact_jacobians(PoseHermiteSimpson(0.3), {X, V, V, X, V, V});
}

/// A body that turns and moves: its pose and twist, exactly. X = exp(t ξ₁) exp(t² ξ₂), V = Ad(exp(t² ξ₂))⁻¹ ξ₁ + 2 t
/// ξ₂.
struct Exact {
  SE3 pose(double t) const { return SE3::exp(t * a) * SE3::exp(t * t * b); }
  Vector6d twist(double t) const { return SE3::exp(t * t * b).inverse().Ad() * a + 2 * t * b; }
  Vector6d acceleration(double t) const { return (twist(t + 1e-5) - twist(t - 1e-5)) / 2e-5; }
  Vector6d a{0.7, -0.4, 0.5, 1, 0.2, -0.3}, b{-0.3, 0.6, 0.9, 0.1, -0.5, 0.4};
};

std::vector<double> stored(const SE3& x) {
  std::vector<double> s(7);
  x.store(s.data());
  return s;
}
std::vector<double> stored(const Vector6d& v) { return {v.data(), v.data() + 6}; }

double size(const std::vector<double>& e) { return Eigen::Map<const Vector6d>(e.data()).norm(); }

/// What is left over one step of an exact motion falls with the order of the rule: 2, 3 and 5 powers of h; the middle
/// of the cubic with 4.
TEST(PoseLink, RulesHaveTheirOrderOnTheGroup) {
  const Exact motion;
  const double t = 0.4;
  const auto errors = [&](double h) {
    const auto X0 = stored(motion.pose(t)), X1 = stored(motion.pose(t + h));
    const auto V0 = stored(motion.twist(t)), V1 = stored(motion.twist(t + h));
    const auto A0 = stored(motion.acceleration(t)), A1 = stored(motion.acceleration(t + h));
    Robot body;
    body.base = Robot::Base::floating;
    body.links.emplace_back().name = "body";
    body.links[0].has_inertia = true;
    body.links[0].inertia = {1, Vector3d::Zero(), Matrix3d::Identity()};
    body.X_WL.assign(1, SE3());
    MiddleState middle(StateSlots(**Tree::make(body)), h);
    const double* ends[] = {X0.data(), V0.data(), A0.data(), X1.data(), V1.data(), A1.data()};
    middle.set(ends, 3, false);
    const Vector6d off = (motion.pose(t + h / 2).inverse() * SE3::load(middle.q.data())).log();
    return std::array<double, 4>{size(residual(PoseEuler(h), {X0, V0, X1})),
                                 size(residual(PoseTrapezoidal(h), {X0, V0, X1, V1})), off.norm(),
                                 size(residual(PoseHermiteSimpson(h), {X0, V0, A0, X1, V1, A1}))};
  };
  const auto coarse = errors(0.02), fine = errors(0.01);
  EXPECT_NEAR(coarse[0] / fine[0], 4, 0.2);
  EXPECT_NEAR(coarse[1] / fine[1], 8, 0.4);
  EXPECT_NEAR(coarse[2] / fine[2], 16, 1);
  EXPECT_NEAR(coarse[3] / fine[3], 32, 3);
}

}  // namespace
}  // namespace kinegraph::screw::pose_link_test
