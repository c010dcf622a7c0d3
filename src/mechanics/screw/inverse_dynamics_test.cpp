#include "kinegraph/mechanics/screw/inverse_dynamics.hpp"

#include <gtest/gtest.h>

#include "kinegraph/mechanics/screw/differential.hpp"
#include "kinegraph/mechanics/screw/kinematics.hpp"
#include "kinegraph/mechanics/screw/mass_matrix.hpp"
#include "kinegraph/mechanics/screw/robots_test.hpp"

namespace kinegraph::screw::inverse_dynamics_test {
namespace {

const std::vector<JointType> kConstant{JointType::revolute, JointType::prismatic,   JointType::screw,
                                       JointType::ball,     JointType::cylindrical, JointType::revolute,
                                       JointType::floating, JointType::continuous};

struct Case {
  std::shared_ptr<const Tree> tree;
  Eigen::VectorXd q, v, a;
};

/// A tree on a base that floats, with springs, damping, friction and armature, and a joint that mimics another.
Case random_case(unsigned seed) {
  RandomRobot random(seed);
  random.robot.base = Robot::Base::floating;
  random.grow(kConstant);
  for (Joint& joint : random.robot.joints) {
    joint.dynamics.resize(freedoms(joint.type));
    for (JointDynamics& d : joint.dynamics) d = {0.3, 0.001, joint.type == JointType::revolute ? 2.0 : 0.0, 0.1, 0.2};
  }
  random.robot.joints.back().mimic = Mimic{JointIndex(0), -0.5, 0.2};
  random.robot.joints.back().dynamics.clear();
  random.robot.X_WL.assign(random.robot.links.size(), SE3());
  const auto tree = Tree::make(random.robot);
  EXPECT_TRUE(tree);
  return {*tree, random.position(**tree), random.velocity(**tree), random.velocity(**tree)};
}

struct Results {
  Eigen::VectorXd tau;
  Eigen::MatrixXd by_q, by_v, by_a, by_force;
};

Results run(InverseDynamics& dynamics, const Case& c, const std::vector<Eigen::Vector3d>& forces) {
  const int n = c.tree->freedoms(), m = static_cast<int>(forces.size());
  Results r{Eigen::VectorXd(n), Eigen::MatrixXd(n, n), Eigen::MatrixXd(n, n), Eigen::MatrixXd(n, n),
            Eigen::MatrixXd(n, 3 * m)};
  std::vector<const double*> at;
  for (const Eigen::Vector3d& f : forces) at.push_back(f.data());
  dynamics.evaluate(c.q.data(), c.v.data(), c.a.data(), at.data(),
                    {r.tau.data(), r.by_q.data(), r.by_v.data(), r.by_a.data(), r.by_force.data()});
  return r;
}

TEST(InverseDynamics, AgreesWithTheDifferentialOfTheRecursionByBodies) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const Case c = random_case(seed);
    ASSERT_EQ(InverseDynamics::refusal(*c.tree), "");
    const int n = c.tree->freedoms();
    InverseDynamics dynamics(c.tree);
    const Results r = run(dynamics, c, {});

    Motion motion(c.tree);
    Surroundings surroundings;
    motion.set(c.q.data(), c.v.data(), surroundings);
    Differential differential(c.tree);
    differential.set(motion, c.q.data(), c.v.data(), c.a.data(), nullptr);
    const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(n, n), none = Eigen::MatrixXd::Zero(n, n);
    Eigen::MatrixXd by_q, by_v, by_a, closure;
    differential.accelerations(motion, one, none, nullptr, nullptr, by_q, closure);
    differential.accelerations(motion, none, one, nullptr, nullptr, by_v, closure);
    differential.accelerations(motion, none, none, &one, nullptr, by_a, closure);
    EXPECT_LT((r.by_q - by_q).norm(), 1e-11 * by_q.norm());
    EXPECT_LT((r.by_v - by_v).norm(), 1e-11 * by_v.norm());
    EXPECT_LT((r.by_a - by_a).norm(), 1e-11 * by_a.norm());
    MassMatrix mass(c.tree);
    EXPECT_LT((r.by_a - mass.at(c.q.data())).norm(), 1e-12 * by_a.norm());
  }
}

TEST(InverseDynamics, PowerIsTheRateOfTheEnergy) {
  Case c = random_case(9);
  InverseDynamics dynamics(c.tree);
  const Results r = run(dynamics, c, {});
  const auto energy_at = [&](double t) {
    Eigen::VectorXd q(c.q.size()), delta = t * c.v + 0.5 * t * t * c.a, v = c.v + t * c.a;
    c.tree->retract(c.q.data(), delta.data(), q.data());
    return energy(*c.tree, q.data(), v.data()).total();
  };
  const double h = 1e-5;
  double losses = 0;  // of damping and friction: what springs take is in the energy
  for (const Coordinate& k : c.tree->coordinates()) {
    for (int i = 0; i < k.freedoms; ++i) {
      JointDynamics d = k.dynamics[i];
      d.stiffness = 0;
      losses += joint_force(d, 0, c.v[k.v + i]) * c.v[k.v + i];
    }
  }
  EXPECT_NEAR(r.tau.dot(c.v) + losses, (energy_at(h) - energy_at(-h)) / (2 * h), 1e-6 * r.tau.norm());
}

TEST(InverseDynamics, ForcesAtPointsAndTheirDerivatives) {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    Case c = random_case(seed);
    const int n = c.tree->freedoms();
    const std::vector<BodyPoint> points{{1, {0.1, 0.2, -0.3}}, {5, {-0.4, 0, 0.2}}};
    const std::vector<Eigen::Vector3d> forces{{10, -20, 30}, {-5, 3, 8}};
    InverseDynamics dynamics(c.tree, points), bare(c.tree);
    const Results r = run(dynamics, c, forces);

    // −Jᵀ f, J from the twists of the bodies
    Poses poses(c.tree->bodies().size());
    body_poses(*c.tree, c.q.data(), poses);
    Eigen::VectorXd tau = run(bare, c, {}).tau;
    for (std::size_t k = 0; k < points.size(); ++k) {
      Eigen::MatrixXd J;
      body_jacobian(*c.tree, c.q.data(), poses, points[k].body, J);
      const Eigen::MatrixXd J_p =
          poses[points[k].body].R * (J.bottomRows(3) - skew<double>(points[k].at) * J.topRows(3));
      tau -= J_p.transpose() * forces[k];
      EXPECT_LT((r.by_force.middleCols(3 * static_cast<int>(k), 3) + J_p.transpose()).norm(), 1e-12);
    }
    EXPECT_LT((r.tau - tau).norm(), 1e-12 * tau.norm());

    const Eigen::VectorXd q = c.q;
    for (int i = 0; i < n; ++i) {
      const auto at = [&](double h) {
        const Eigen::VectorXd delta = h * Eigen::VectorXd::Unit(n, i);
        c.tree->retract(q.data(), delta.data(), c.q.data());
        return run(dynamics, c, forces).tau;
      };
      const double h = 1e-3;  // fourth order
      const Eigen::VectorXd slope = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
      EXPECT_LT((r.by_q.col(i) - slope).norm(), 1e-8 * (1 + r.by_q.norm()));
    }
  }
}

/// ∂(Σ wᵢ τᵢ) along (q v a f) at a state displaced by `delta` along these.
Eigen::VectorXd weighted_gradient(InverseDynamics& dynamics, const Case& at, const std::vector<Eigen::Vector3d>& forces,
                                  const Eigen::VectorXd& weight, const Eigen::VectorXd& delta) {
  const int n = at.tree->freedoms();
  Case c = at;
  std::vector<Eigen::Vector3d> f = forces;
  at.tree->retract(at.q.data(), delta.data(), c.q.data());
  c.v += delta.segment(n, n);
  c.a += delta.segment(2 * n, n);
  for (std::size_t i = 0; i < f.size(); ++i) f[i] += delta.segment<3>(3 * n + 3 * static_cast<int>(i));
  const Results r = run(dynamics, c, f);
  Eigen::VectorXd gradient(delta.size());
  gradient << r.by_q.transpose() * weight, r.by_v.transpose() * weight, r.by_a.transpose() * weight,
      r.by_force.transpose() * weight;
  return gradient;
}

TEST(InverseDynamics, CurvatureMatchesDifferencesOfTheDerivatives) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const Case c = random_case(seed);
    const int n = c.tree->freedoms(), size = 3 * n + 6;
    const std::vector<Eigen::Vector3d> forces{{10, -20, 30}, {-5, 3, 8}};
    const double slow = 0.5;  // of dry friction: smooth enough for differences
    InverseDynamics dynamics(c.tree, {{1, {0.1, 0.2, -0.3}}, {5, {-0.4, 0, 0.2}}}, slow);
    std::srand(seed);
    const Eigen::VectorXd weight = Eigen::VectorXd::Random(n);
    Eigen::MatrixXd expected(size, size), found = Eigen::MatrixXd::Zero(size, size);
    const double h = 1e-3;  // fourth order
    for (int i = 0; i < size; ++i) {
      const auto at = [&](double by) {
        return weighted_gradient(dynamics, c, forces, weight, by * Eigen::VectorXd::Unit(size, i));
      };
      expected.col(i) = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
    }
    expected = (0.5 * (expected + expected.transpose())).eval();
    std::vector<const double*> f;
    for (const Eigen::Vector3d& force : forces) f.push_back(force.data());
    dynamics.add_curvature(c.q.data(), c.v.data(), c.a.data(), f.data(), weight.data(), found.data(), size, 3 * n);
    found.triangularView<Eigen::StrictlyUpper>() = found.transpose();
    EXPECT_LT((found - expected).lpNorm<Eigen::Infinity>(), 1e-7 * expected.lpNorm<Eigen::Infinity>()) << seed;
    EXPECT_GT(expected.norm(), 1);
  }
}

TEST(InverseDynamics, SaysWhichJointItCannotTreat) {
  RandomRobot random(2);
  random.grow({JointType::revolute, JointType::universal});
  const auto tree = Tree::make(random.robot);
  ASSERT_TRUE(tree);
  EXPECT_EQ(InverseDynamics::refusal(**tree), "joint 'j2' is universal");
}

}  // namespace
}  // namespace kinegraph::screw::inverse_dynamics_test
