#include "kinegraph/mechanics/maximal/conversion.hpp"

#include <gtest/gtest.h>

#include <Eigen/SVD>

#include "kinegraph/mechanics/maximal/mechanisms_test.hpp"

namespace kinegraph::maximal::conversion_test {
namespace {

using Vector = Eigen::VectorXd;

/// Positions, rates of bodies as the screw formulation has them.
TEST(Conversion, BodiesAreWhereTheTreeSays) {
  for (const bool turned : {false, true}) {
    RandomMechanism r(11);
    r.chain(turned);
    const auto mechanism = r.make();
    const screw::Tree& tree = mechanism->tree();
    ASSERT_EQ(tree.bodies().size(), 9u);
    const RandomState s(r, *mechanism);
    screw::Poses poses(tree.bodies().size());
    std::vector<screw::Vector6d> twists(tree.bodies().size());
    screw::body_poses(tree, s.q_tree.data(), poses);
    screw::body_twists(tree, s.q_tree.data(), s.v_tree.data(), twists);
    for (std::size_t i = 0; i < poses.size(); ++i) {
      const Eigen::Vector3d com = tree.bodies()[i].com;
      EXPECT_LT((SO3::load(s.q.data() + 7 * i).matrix() - poses[i].R).norm(), 1e-13);
      EXPECT_LT((s.q.segment<3>(7 * i + 4) - poses[i] * com).norm(), 1e-13);
      const Eigen::Vector3d omega = twists[i].head<3>(), speed = poses[i].R * (twists[i].tail<3>() + omega.cross(com));
      EXPECT_LT((s.v.segment<3>(6 * i) - omega).norm(), 1e-13);
      EXPECT_LT((s.v.segment<3>(6 * i + 3) - speed).norm(), 1e-13);
    }
    std::vector<SE3> links(r.robot.links.size());
    link_poses(*mechanism, mechanism->numbers(), s.q.data(), links.data());
    for (std::size_t i = 0; i < links.size(); ++i) {
      const screw::Transform<double> X = screw::link_pose(tree, poses, static_cast<int>(i));
      EXPECT_LT((links[i].rotation().matrix() - X.R).norm() + (links[i].position() - X.p).norm(), 1e-12) << i;
    }
  }
}

TEST(Conversion, JointPositionsAndRatesComeBack) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    RandomMechanism r(seed);
    r.chain(seed % 2 == 0);
    if (seed % 3 == 0) r.robot.base = Robot::Base::floating, r.robot.joints.front().type = JointType::floating;
    const auto mechanism = r.make();
    const RandomState s(r, *mechanism);
    Vector q = s.q_tree, v(s.v_tree.size());
    for (const screw::Coordinate& c : mechanism->tree().coordinates()) {
      if (c.stored == c.freedoms) q.segment(c.q, c.stored).array() += 0.3;  // near enough to tell which turn
    }
    coordinates_of(*mechanism, mechanism->numbers(), s.q.data(), q.data());
    rates_of(*mechanism, mechanism->numbers(), s.q.data(), s.v.data(), v.data());
    EXPECT_LT((q - s.q_tree).cwiseAbs().maxCoeff(), 1e-12) << seed;
    EXPECT_LT((v - s.v_tree).cwiseAbs().maxCoeff(), 1e-12) << seed;
  }
}

TEST(Conversion, AnglesAreThoseNearestToTheLast) {
  RandomMechanism r(5);
  r.grow({JointType::revolute, JointType::ball}, true);
  const auto mechanism = r.make();
  RandomState s(r, *mechanism);
  s.q_tree[0] = 14.5;
  s.q_tree.segment<4>(1) *= -1;
  poses_of(*mechanism, mechanism->numbers(), s.q_tree.data(), s.q.data());
  Vector q = s.q_tree;
  q[0] = 17.5;
  coordinates_of(*mechanism, mechanism->numbers(), s.q.data(), q.data());
  EXPECT_LT((q - s.q_tree).norm(), 1e-12);
  q[0] = 17.8;
  coordinates_of(*mechanism, mechanism->numbers(), s.q.data(), q.data());
  EXPECT_NEAR(q[0], 14.5 + 2 * M_PI, 1e-12);
}

TEST(Conversion, JointsOfLoopsToo) {
  for (const JointType type : {JointType::revolute, JointType::prismatic, JointType::ball}) {
    RandomMechanism r(6);
    const std::vector<JointType> six(6, JointType::revolute);
    r.grow(six, true);
    const auto open = *screw::Tree::make(r.robot);
    const Vector q0 = r.position(*open);
    r.close(type, 6, 0, *open, q0, 0.4);
    const auto mechanism = r.make();
    const screw::Tree& tree = mechanism->tree();
    ASSERT_EQ(tree.loops().size(), 1u);
    Vector q_tree = Vector::Zero(tree.stored());
    q_tree.head(6) = q0;
    screw::Poses poses(tree.bodies().size());
    Vector q(mechanism->stored()), v(mechanism->tangent()), found = q_tree;
    if (type == JointType::ball) found.tail<4>() << 1, 0, 0, 0;
    poses_of(*mechanism, mechanism->numbers(), q_tree.data(), q.data());
    coordinates_of(*mechanism, mechanism->numbers(), q.data(), found.data());
    if (type == JointType::ball) {
      EXPECT_LT((SO3::load(found.data() + 6).log() - Vector3d(0.4, -0.4, 0.8)).norm(), 1e-12);
    } else {
      EXPECT_NEAR(found[6], 0.4, 1e-12);
    }
    // a motion that keeps the loop closed
    screw::body_poses(tree, found.data(), poses);
    Eigen::MatrixXd J;
    screw::closure_jacobian(tree, found.data(), poses, J);
    Eigen::JacobiSVD<Eigen::MatrixXd> svd(J, Eigen::ComputeFullV);
    const Vector rates = svd.matrixV().rightCols(1);
    ASSERT_LT((J * rates).norm(), 1e-12);
    velocities_of(*mechanism, mechanism->numbers(), found.data(), rates.data(), v.data());
    Vector back(tree.freedoms());
    rates_of(*mechanism, mechanism->numbers(), q.data(), v.data(), back.data());
    EXPECT_LT((back - rates).norm(), 1e-12);
  }
}

TEST(Conversion, EnergyIsThatOfTheTree) {
  for (const bool turned : {false, true}) {
    RandomMechanism r(8);
    r.chain(turned);
    r.robot.gravity = {1, -2, -9};
    for (kinegraph::Joint& joint : r.robot.joints) {
      if (joint.type == JointType::floating) joint.dynamics.clear();  // nothing acts along those
    }
    const auto mechanism = r.make();
    const RandomState s(r, *mechanism);
    const screw::Energy e = screw::energy(mechanism->tree(), s.q_tree.data(), s.v_tree.data());
    const Energy found = energy_of(*mechanism, mechanism->numbers(), s.q.data(), s.v.data(), s.q_tree.data());
    EXPECT_NEAR(found.kinetic, e.kinetic, 1e-12 * e.kinetic);
    EXPECT_NEAR(found.potential, e.potential + e.spring, 1e-12 * std::abs(e.potential));
  }
}

TEST(Conversion, EnergyOfASpring) {
  RandomMechanism r(9);
  r.grow({JointType::revolute}, true);
  r.robot.springs.push_back({"s", {LinkIndex(1), {0.1, 0.2, 0.3}}, {LinkIndex(), {1, 2, 3}}, 50, 0.5, 0});
  const auto mechanism = r.make();
  const RandomState s(r, *mechanism);
  Robot without = r.robot;
  without.springs.clear();
  const auto bare = *Mechanism::make(without);
  std::vector<SE3> links(2);
  link_poses(*mechanism, mechanism->numbers(), s.q.data(), links.data());
  const double length = (links[1] * Vector3d(0.1, 0.2, 0.3) - Vector3d(1, 2, 3)).norm();
  const double more = energy_of(*mechanism, mechanism->numbers(), s.q.data(), s.v.data()).potential -
                      energy_of(*bare, bare->numbers(), s.q.data(), s.v.data()).potential;
  EXPECT_NEAR(more, 25 * (length - 0.5) * (length - 0.5), 1e-11);
}

}  // namespace
}  // namespace kinegraph::maximal::conversion_test
