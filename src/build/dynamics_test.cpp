#include "kinegraph/build/dynamics.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <Eigen/QR>

#include "kinegraph/mechanics/screw/kinematics.hpp"
#include "kinegraph/mechanics/screw/robots_test.hpp"

namespace kinegraph::build::dynamics_test {
namespace {

using screw::Motion;
using screw::RandomRobot;
using screw::Surroundings;
using screw::Tree;
using screw::Vector6d;

/// M a + h = τ by the bodies' Jacobians, which share nothing with the elimination.
struct Reference {
  Eigen::MatrixXd M;
  Eigen::VectorXd h;

  Reference(const std::shared_ptr<const Tree>& tree, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
            const Surroundings& surroundings)
      : M(Eigen::MatrixXd::Zero(tree->freedoms(), tree->freedoms())), h(Eigen::VectorXd::Zero(tree->freedoms())) {
    Motion motion(tree);
    motion.set(q.data(), v.data(), surroundings);
    screw::Poses poses(tree->bodies().size());
    screw::body_poses(*tree, q.data(), poses);
    std::vector<Vector6d> rate(poses.size());
    Eigen::MatrixXd J;
    for (std::size_t i = 0; i < poses.size(); ++i) {
      const screw::Body& body = tree->bodies()[i];
      const auto& m = motion.body(static_cast<int>(i));
      rate[i] = m.c + m.X_PB.twist_back(body.parent < 0 ? surroundings.base_acceleration : rate[body.parent]);
      screw::body_jacobian(*tree, q.data(), poses, static_cast<int>(i), J);
      M += J.transpose() * body.inertia * J;
      h += J.transpose() * (body.inertia * rate[i] + m.b);
    }
    for (const screw::Coordinate& c : tree->coordinates()) {
      for (int k = 0; k < c.freedoms; ++k) M(c.v + k, c.v + k) += c.dynamics[k].armature;
    }
    for (int k = 0; k < tree->freedoms(); ++k) h[k] -= motion.joint_force()[k];
  }
};

double relative(const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
  return (a - b).cwiseAbs().maxCoeff() / std::max(1e-300, b.cwiseAbs().maxCoeff());
}

Surroundings busy(RandomRobot& r, const std::vector<Vector6d>& loads) {
  Surroundings s;
  s.gravity = r.vector() * 9;
  s.base_twist << r.vector(), r.vector();
  s.base_acceleration << r.vector(), r.vector();
  s.loads = loads.data();
  return s;
}

class RandomTrees : public testing::TestWithParam<int> {
 protected:
  RandomTrees() : r_(GetParam()) {
    r_.grow(screw::all_moving_types());
    for (Joint& joint : r_.robot.joints) {
      JointDynamics d;
      d.damping = 0.3;
      d.stiffness = freedoms(joint.type) == 1 ? 0.7 : 0;
      d.armature = joint.type == JointType::prismatic ? 0.4 : 0;
      joint.dynamics.assign(freedoms(joint.type), d);
    }
    r_.robot.joints.back().mimic = Mimic{JointIndex(0), -1.5, 0.2};
    if (GetParam() % 2) r_.robot.base = Robot::Base::floating;
    tree_ = *Tree::make(r_.robot);
    for (std::size_t i = 0; i < tree_->bodies().size(); ++i) {
      Vector6d load;
      load << r_.vector(), r_.vector();
      loads_.push_back(load);
    }
    surroundings_ = busy(r_, loads_);
    q_ = r_.position(*tree_);
    v_ = r_.velocity(*tree_);
    a_ = r_.velocity(*tree_);
    const Reference reference(tree_, q_, v_, surroundings_);
    tau_ = reference.M * a_ + reference.h;
    M_ = reference.M;
  }

  RandomRobot r_;
  std::shared_ptr<const Tree> tree_;
  std::vector<Vector6d> loads_;
  Surroundings surroundings_;
  Eigen::VectorXd q_, v_, a_, tau_;
  Eigen::MatrixXd M_;
};

TEST_P(RandomTrees, EveryOrderAnswersEveryQuestion) {
  const int coordinates = static_cast<int>(tree_->coordinates().size());
  std::vector<std::vector<Given>> questions{std::vector<Given>(coordinates, Given::acceleration),
                                            given_forward(*tree_)};
  for (int mask = 0; mask < 4; ++mask) {
    std::vector<Given> given;
    for (int c = 0; c < coordinates; ++c) given.push_back(r_.number() > 0 ? Given::torque : Given::acceleration);
    questions.push_back(given);
  }
  for (const std::vector<Given>& given : questions) {
    const ScrewProblem problem = screw_problem(tree_, given);
    for (const char* name : {"rnea", "crba", "aba", "colamd", "amd", "metis", "natural"}) {
      Dynamics dynamics(tree_, given, *screw_order(problem, name));
      Eigen::VectorXd a = a_, tau = tau_;
      for (int c = 0; c < coordinates; ++c) {
        const screw::Coordinate& coordinate = tree_->coordinates()[c];
        (given[c] == Given::torque ? a : tau).segment(coordinate.v, coordinate.freedoms).setConstant(99);
      }
      const Dynamics::Outcome outcome = dynamics.solve(q_.data(), v_.data(), a.data(), tau.data(), surroundings_);
      ASSERT_TRUE(outcome.ok) << name << ": " << outcome.message;
      EXPECT_LT(relative(a, a_), 1e-9) << name;
      EXPECT_LT(relative(tau, tau_), 1e-9) << name;
    }
  }
}

TEST_P(RandomTrees, TheLastBlockOfCrbaIsTheMassMatrix) {
  const std::vector<Given> given = given_forward(*tree_);
  Dynamics dynamics(tree_, given, *screw_order(screw_problem(tree_, given), "crba"));
  EXPECT_LT((dynamics.mass_matrix(q_.data()) - M_).norm() / M_.norm(), 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomTrees, testing::Range(1, 7));

/// min ‖F‖ of a loop that ties what is tied already, and the motion that it leaves.
TEST(Dynamics, ClosedLoopsMoveAsTheirConstraintsSay) {
  RandomRobot r(21);
  r.grow({JointType::ball, JointType::revolute, JointType::revolute, JointType::universal, JointType::revolute}, true);
  r.joint(JointType::cylindrical, 5, 0).closes_loop = true;
  // The loop is closed where it is: its frame on the far side is put there.
  auto open = *Tree::make(r.robot);
  const Eigen::VectorXd q = r.position(*open);
  screw::Poses poses(open->bodies().size());
  screw::body_poses(*open, q.data(), poses);
  const screw::Loop& loop = open->loops()[0];
  const auto X_WM = poses[loop.a] * loop.X_AF * screw::joint_transform(loop.via, q.data());
  // X_WM is aligned; undo the alignment on the ground side by taking the drawn frame
  const screw::Transform<double> A =
      screw::Transform<double>(r.robot.joints.back().X_CM).inverse() * open->links()[0].X_BL.inverse() * loop.X_BM;
  const screw::Transform<double> X_CM = open->links()[0].X_BL.inverse() * X_WM * A.inverse();
  r.robot.joints.back().X_CM = SE3(SO3(X_CM.R), X_CM.p);
  const auto tree = *Tree::make(r.robot);
  double closure[6];
  screw::closure(*tree, q.data(), poses, closure);
  ASSERT_LT(Eigen::Map<Vector6d>(closure).norm(), 1e-12);

  Eigen::MatrixXd J;
  screw::closure_jacobian(*tree, q.data(), poses, J);
  const Eigen::VectorXd any = r.velocity(*tree);
  const Eigen::VectorXd v = any - J.completeOrthogonalDecomposition().solve(J * any);
  ASSERT_LT((J * v).norm(), 1e-12);

  Eigen::VectorXd tau = r.velocity(*tree), a = Eigen::VectorXd::Zero(tree->freedoms());
  Surroundings surroundings;
  Dynamics dynamics(tree, given_forward(*tree));
  const Dynamics::Outcome outcome = dynamics.solve(q.data(), v.data(), a.data(), tau.data(), surroundings);
  ASSERT_TRUE(outcome.ok) << outcome.message;
  EXPECT_LT(outcome.inconsistency, 1e-9);

  // [M Jᵀ; J 0] with the rate of J v by differences
  const Reference reference(tree, q, v, surroundings);
  const double step = 1e-6;
  const auto velocity_at = [&](double t) -> Eigen::VectorXd {
    Eigen::VectorXd d = t * v, moved = q;
    tree->retract(q.data(), d.data(), moved.data());
    screw::Poses p(poses.size());
    screw::body_poses(*tree, moved.data(), p);
    Eigen::MatrixXd Jt;
    screw::closure_jacobian(*tree, moved.data(), p, Jt);
    return Jt * v;
  };
  const Eigen::VectorXd rate = (velocity_at(step) - velocity_at(-step)) / (2 * step);
  EXPECT_LT((J * a + rate).norm(), 1e-6);
  const Eigen::VectorXd force = tau - reference.M * a - reference.h;  // = −Jᵀ λ
  const Eigen::VectorXd lambda = J.transpose().completeOrthogonalDecomposition().solve(force);
  EXPECT_LT((J.transpose() * lambda - force).norm(), 1e-9);
}

/// A planar four-bar: with the planar factor and by least norm the wrench in the plane is the same, as is the motion.
TEST(Dynamics, ThePlanarFactorSaysWhatTheRankFinds) {
  Robot robot;
  const auto link = [&](const char* name) {
    Link l;
    l.name = name;
    l.inertia = {1.2, Vector3d(0.4, 0.1, 0), Vector3d(0.02, 0.03, 0.05).asDiagonal()};
    robot.links.push_back(l);
  };
  for (const char* name : {"ground", "crank", "coupler", "rocker"}) link(name);
  const auto joint = [&](const char* name, int parent, int child, const Vector3d& at, double turn) {
    Joint j;
    j.name = name;
    j.type = JointType::revolute;
    j.axis = Vector3d::UnitZ();
    j.parent = LinkIndex(parent);
    j.child = LinkIndex(child);
    j.X_PF = SE3(SO3::exp(Vector3d(0, 0, turn)), at);
    robot.joints.push_back(j);
  };
  joint("A", 0, 1, Vector3d::Zero(), 1.1);
  joint("B", 1, 2, Vector3d(0.5, 0, 0), -0.8);
  joint("C", 2, 3, Vector3d(0.9, 0, 0), -1.6);
  joint("D", 3, 0, Vector3d(0.7, 0, 0), 0);
  robot.joints.back().closes_loop = true;
  robot.X_WL.clear();
  // where the rocker ends is where the ground's side of D stands
  auto tree = *screw::Tree::make(robot);
  screw::Poses poses(3);
  const Eigen::VectorXd q = Eigen::VectorXd::Zero(4);
  screw::body_poses(*tree, q.data(), poses);
  const screw::Transform<double> D = poses[2] * tree->loops()[0].X_AF;
  robot.joints.back().X_CM = SE3(SO3(D.R), D.p);
  tree = *screw::Tree::make(robot);

  Surroundings surroundings;
  surroundings.gravity = Vector3d(0, -9.81, 0);
  const Eigen::VectorXd v = Eigen::VectorXd::Zero(4);
  Eigen::VectorXd a = v, a_planar = v, tau = v;
  Dynamics by_rank(tree, given_forward(*tree)), by_factor(screw_problem(tree, given_forward(*tree), true));
  const auto free = by_rank.solve(q.data(), v.data(), a.data(), tau.data(), surroundings);
  const auto planar = by_factor.solve(q.data(), v.data(), a_planar.data(), tau.data(), surroundings);
  ASSERT_TRUE(free.ok && planar.ok);
  EXPECT_EQ(free.undetermined, 3);
  EXPECT_EQ(planar.undetermined, 0);
  EXPECT_GT(a.norm(), 1);
  EXPECT_LT(relative(a_planar, a), 1e-11);
  EXPECT_LT((by_rank.wrench(3) - by_factor.wrench(3)).norm(), 1e-9);
}

/// A hinge between two links that do not move against each other ties nothing: all goes on as without it.
TEST(Dynamics, LoopsWhoseEndsAreOneBodyChangeNothing) {
  for (const int body : {0, 1}) {  // on the ground, on the first body
    for (const JointType type : {JointType::revolute, JointType::fixed, JointType::ball}) {
      RandomRobot r(71);
      r.grow({JointType::revolute, JointType::fixed, JointType::revolute}, true);
      const int welded = r.link("welded");
      r.joint(JointType::fixed, body, welded).X_PF = SE3();
      r.robot.joints.back().X_CM = SE3();
      const auto alone = *Tree::make(r.robot);
      Joint& hinge = r.joint(type, body, welded);
      hinge.closes_loop = true;
      hinge.X_CM = hinge.X_PF;
      const auto tree = *Tree::make(r.robot);
      const Eigen::VectorXd q = tree->start_position(), v = Eigen::VectorXd::Zero(tree->freedoms());
      Eigen::VectorXd a = v, tau = v, expected = Eigen::VectorXd::Zero(alone->freedoms()), none = expected;
      Dynamics with(tree, given_forward(*tree)), without(alone, given_forward(*alone));
      ASSERT_TRUE(with.solve(q.data(), v.data(), a.data(), tau.data(), {}).ok);
      ASSERT_TRUE(without.solve(q.data(), none.data(), expected.data(), none.data(), {}).ok);
      EXPECT_LT((a.head(expected.size()) - expected).norm(), 1e-10) << to_string(type) << body;
      EXPECT_LT(a.tail(a.size() - expected.size()).norm(), 1e-10);
    }
  }
}

TEST(Dynamics, HasNoMassMatrixWhereNothingMoves) {
  RandomRobot r(81);
  r.grow({JointType::fixed}, true);
  const auto tree = *Tree::make(r.robot);
  Dynamics dynamics(tree, given_forward(*tree), *screw_order(screw_problem(tree, given_forward(*tree)), "crba"));
  EXPECT_TRUE(dynamics.solve(nullptr, nullptr, nullptr, nullptr, {}).ok);
  EXPECT_EQ(dynamics.mass_matrix(nullptr).size(), 0);
}

TEST(Dynamics, NamesWhatHasNoAnswer) {
  RandomRobot r(31);
  r.grow({JointType::revolute, JointType::revolute}, true);
  r.robot.links[2].inertia = {};
  const auto tree = *Tree::make(r.robot);
  Eigen::VectorXd q = r.position(*tree), v = r.velocity(*tree), a = v, tau = v;
  Dynamics forward(tree, given_forward(*tree));
  const Dynamics::Outcome outcome = forward.solve(q.data(), v.data(), a.data(), tau.data(), {});
  EXPECT_FALSE(outcome.ok);
  EXPECT_EQ(outcome.message, "the acceleration of joint 'j2' is not determined: nothing that it moves has inertia");

  Dynamics neither(tree, {Given::torque, Given::neither});
  EXPECT_EQ(neither.solve(q.data(), v.data(), a.data(), tau.data(), {}).message,
            "joint 'j2': neither its torque nor its acceleration is known");
}

TEST(ScrewOrder, RefusesWhatIsNoOrder) {
  RandomRobot r(51);
  r.grow({JointType::revolute, JointType::revolute}, true);
  const auto tree = *Tree::make(r.robot);
  const ScrewProblem problem = screw_problem(tree, given_forward(*tree));
  EXPECT_EQ(screw_order(problem, "abba").failure().to_string(), "error: unknown ordering 'abba'; did you mean 'aba'?");
  const auto custom = screw_order(problem, "custom", {"F1", "F2", "V1", "V22", "a1", "a1"});
  EXPECT_EQ(custom.failure().to_string(),
            "error: order: 'V22' is no variable; did you mean 'V2'?\n"
            "error: order: 'a1' is named twice\n"
            "error: order: 'V2' is missing\n"
            "error: order: 'a2' is missing");
}

}  // namespace
}  // namespace kinegraph::build::dynamics_test
