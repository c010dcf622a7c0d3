// Generated programs against numeric elimination, on robots with random numbers: every joint type, loops, any order.
#include "kinegraph/build/dynamics.hpp"

#include <gtest/gtest.h>

#include "kinegraph/codegen/derivatives.hpp"
#include "kinegraph/codegen/generate.hpp"
#include "kinegraph/mechanics/screw/kinematics.hpp"
#include "kinegraph/mechanics/screw/robots_test.hpp"

namespace kinegraph::codegen::dynamics_test {
namespace {

using build::Given;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using screw::RandomRobot;
using TreePointer = std::shared_ptr<const screw::Tree>;

struct Case {
  std::string name;
  RandomRobot random;
  TreePointer tree;
};

Case tree_case(unsigned seed, bool chain, Robot::Base base) {
  Case c{"tree", RandomRobot(seed), nullptr};
  c.random.robot.base = base;
  c.random.grow(screw::all_moving_types(), chain);
  c.random.robot.joints[0].dynamics = {JointDynamics{}};
  c.random.robot.joints[0].dynamics[0].armature = 0.3;
  c.random.robot.joints[0].dynamics[0].damping = 0.2;
  c.random.robot.joints[1].dynamics = {JointDynamics{}};
  c.random.robot.joints[1].dynamics[0].stiffness = 2;
  c.random.robot.joints[1].dynamics[0].friction = 0.1;
  c.tree = *screw::Tree::make(c.random.robot);
  return c;
}

std::vector<Given> mask(const screw::Tree& tree, unsigned bits) {
  std::vector<Given> given;
  for (std::size_t c = 0; c < tree.coordinates().size(); ++c) {
    given.push_back((bits >> c) % 2 == 1 ? Given::acceleration : Given::torque);
  }
  return given;
}

/// Largest difference from numeric elimination over the largest number of it, over random states.
double difference(Case& c, const std::vector<Given>& given, const Program& program) {
  build::Dynamics numeric(c.tree, given);
  const int n = c.tree->freedoms();
  double worst = 0, largest = 0;
  for (int round = 0; round < 5; ++round) {
    const VectorXd q = c.random.position(*c.tree), v = c.random.velocity(*c.tree);
    VectorXd known = c.random.velocity(*c.tree), a = known, tau = known;
    screw::Surroundings surroundings;
    surroundings.gravity = c.tree->gravity();
    EXPECT_TRUE(numeric.solve(q.data(), v.data(), a.data(), tau.data(), surroundings).ok);
    const auto answer = evaluate(program, {q.data(), v.data(), known.data()});
    for (std::size_t k = 0; k < c.tree->coordinates().size(); ++k) {
      const screw::Coordinate& coordinate = c.tree->coordinates()[k];
      for (int i = coordinate.v; i < coordinate.v + coordinate.freedoms; ++i) {
        const double exact = given[k] == Given::torque ? a[i] : tau[i];
        worst = std::max(worst, std::abs(answer[0][i] - exact));
        largest = std::max(largest, std::abs(exact));
      }
    }
    EXPECT_GT(answer.back()[0], 0);
  }
  EXPECT_GT(n, 0);
  return worst / largest;
}

TEST(GeneratedDynamics, EqualsNumericEliminationForEveryJointType) {
  for (const bool chain : {false, true}) {
    for (const Robot::Base base : {Robot::Base::fixed, Robot::Base::floating}) {
      Case c = tree_case(3, chain, base);
      for (const unsigned bits : {0U, 0xffffU, 0x5555U}) {
        const std::vector<Given> given = mask(*c.tree, bits);
        Request request;
        request.problem = Problem::hybrid;
        request.given = given;
        request.ordering = "aba";
        const auto generated = generate(c.tree, request);
        ASSERT_TRUE(generated) << generated.failure().to_string();
        EXPECT_LT(difference(c, given, generated->program), 1e-11) << chain << " " << bits;
      }
    }
  }
}

TEST(GeneratedDynamics, AnyOrderGivesTheSame) {
  RandomRobot random(5);
  random.grow({JointType::revolute, JointType::revolute, JointType::prismatic, JointType::revolute});
  Case c{"arm", random, *screw::Tree::make(random.robot)};
  const std::vector<Given> given = build::given_forward(*c.tree);
  for (const std::string& name : build::screw_order_names()) {
    Request request;
    request.problem = Problem::forward;
    request.ordering = name;
    if (name == "custom") {
      request.custom = {"V2", "a1", "F4", "V4", "F1", "V1", "F3", "a4", "V3", "a2", "a3", "F2"};
    }
    const auto generated = generate(c.tree, request);
    ASSERT_TRUE(generated) << name << generated.failure().to_string();
    EXPECT_LT(difference(c, given, generated->program), 1e-11) << name;
  }
}

TEST(GeneratedDynamics, TheBestOrderIsNoWorseThanAnyNamed) {
  RandomRobot random(6);
  random.grow({JointType::revolute, JointType::revolute, JointType::revolute, JointType::revolute}, true);
  Case c{"arm", random, *screw::Tree::make(random.robot)};
  Request request;
  request.problem = Problem::forward;
  const auto best = generate(c.tree, request);
  ASSERT_TRUE(best);
  EXPECT_GT(best->searched, static_cast<int>(best->tried.size()));
  for (const auto& tried : best->tried) EXPECT_LE(best->program.cost().flops(), tried.flops) << tried.ordering;
  EXPECT_LT(difference(c, build::given_forward(*c.tree), best->program), 1e-11);
}

TEST(GeneratedDynamics, MassMatrix) {
  for (const Robot::Base base : {Robot::Base::fixed, Robot::Base::floating}) {
    Case c = tree_case(9, false, base);
    Request request;
    request.problem = Problem::mass_matrix;
    const auto generated = generate(c.tree, request);
    ASSERT_TRUE(generated);
    const auto problem = build::screw_problem(c.tree, build::given_forward(*c.tree));
    build::Dynamics numeric(problem, *build::screw_order(problem, "crba"));
    const VectorXd q = c.random.position(*c.tree);
    const MatrixXd M = numeric.mass_matrix(q.data());
    const auto answer = evaluate(generated->program, {q.data()});
    const Eigen::Map<const Eigen::Matrix<double, -1, -1, Eigen::RowMajor>> mine(answer[0].data(), M.rows(), M.cols());
    EXPECT_LT((M - mine).cwiseAbs().maxCoeff(), 1e-12 * M.cwiseAbs().maxCoeff());
  }
}

TEST(GeneratedDynamics, Kinematics) {
  Case c = tree_case(11, false, Robot::Base::floating);
  Request request;
  request.problem = Problem::kinematics;
  const auto generated = generate(c.tree, request);
  ASSERT_TRUE(generated);
  const VectorXd q = c.random.position(*c.tree);
  screw::Poses poses(c.tree->bodies().size());
  screw::body_poses(*c.tree, q.data(), poses);
  const std::vector<double> answer = evaluate(generated->program, {q.data()})[0];
  for (int l = 0; l < static_cast<int>(c.tree->links().size()); ++l) {
    const screw::Transform<double> X = screw::link_pose(*c.tree, poses, l);
    for (int k = 0; k < 9; ++k) EXPECT_NEAR(answer[12 * l + k], X.R(k / 3, k % 3), 1e-13);
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(answer[12 * l + 9 + k], X.p[k], 1e-13);
  }
}

/// Derivatives against central differences along the freedoms.
void check_derivatives(Case& c, const Program& program) {
  const screw::Tree& tree = *c.tree;
  const int n = tree.freedoms();
  const VectorXd q = c.random.position(tree), v = c.random.velocity(tree), known = c.random.velocity(tree);
  const auto answer = evaluate(program, {q.data(), v.data(), known.data()});
  ASSERT_EQ(answer.size(), 5U);
  const double h = 1e-6;
  for (int k = 0; k < n; ++k) {
    std::vector<std::vector<double>> ends[3];
    for (const double sign : {1.0, -1.0}) {
      VectorXd delta = VectorXd::Zero(n), moved = q;
      delta[k] = sign * h;
      tree.retract(q.data(), delta.data(), moved.data());
      const VectorXd v2 = v + delta, known2 = known + delta;
      ends[0].push_back(evaluate(program, {moved.data(), v.data(), known.data()})[0]);
      ends[1].push_back(evaluate(program, {q.data(), v2.data(), known.data()})[0]);
      ends[2].push_back(evaluate(program, {q.data(), v.data(), known2.data()})[0]);
    }
    double scale = 1;
    for (const double x : answer[0]) scale = std::max(scale, std::abs(x));
    for (int i = 0; i < n; ++i) {
      for (int what = 0; what < 3; ++what) {
        const double slope = (ends[what][0][i] - ends[what][1][i]) / (2 * h);
        EXPECT_NEAR(answer[1 + what][i * n + k], slope, 1e-7 * std::max(scale, std::abs(slope))) << what << i << k;
      }
    }
  }
}

TEST(GeneratedDynamics, DerivativesMatchDifferences) {
  for (const Problem problem : {Problem::inverse, Problem::forward, Problem::hybrid}) {
    RandomRobot random(13);
    random.robot.base = Robot::Base::floating;
    random.grow({JointType::revolute, JointType::prismatic, JointType::ball, JointType::revolute});
    Case c{"robot", random, *screw::Tree::make(random.robot)};
    Request request;
    request.problem = problem;
    if (problem == Problem::hybrid) request.given = mask(*c.tree, 0x5);
    if (problem == Problem::inverse) request.given = mask(*c.tree, 0xffff);
    request.ordering = problem == Problem::inverse ? "rnea" : "aba";
    request.options.derivatives = true;
    const auto generated = generate(c.tree, request);
    ASSERT_TRUE(generated);
    check_derivatives(c, generated->program);
  }
}

/// A planar loop of hinges; gravity in its plane. `start`: angles at which it is drawn, the closing hinge's last.
Case closed_chain(const std::vector<double>& lengths, double span, const std::vector<double>& start = {}) {
  Case c{"closed chain", RandomRobot(1), nullptr};
  Robot& robot = c.random.robot;
  robot.gravity = Vector3d(0, -9.81, 0);
  double before = 0;
  for (const double length : lengths) {
    Link link;
    link.name = "l" + std::to_string(robot.links.size() + 1);
    link.has_inertia = true;
    const double across = length * length / 12;
    link.inertia = {1, Vector3d(length / 2, 0, 0), Vector3d(across / 20, across, across).asDiagonal()};
    robot.links.push_back(link);
    Joint& joint = c.random.joint(JointType::revolute, static_cast<int>(robot.links.size()) - 2,
                                  static_cast<int>(robot.links.size()) - 1);
    joint.X_PF = SE3(SO3(), Vector3d(before, 0, 0));
    joint.X_CM = SE3();
    joint.axis = Vector3d::UnitZ();
    before = length;
  }
  Joint& closing = c.random.joint(JointType::revolute, -1, 2);
  closing.X_PF = SE3(SO3(), Vector3d(span, 0, 0));
  closing.X_CM = SE3(SO3(), Vector3d(before, 0, 0));
  closing.axis = Vector3d::UnitZ();
  closing.closes_loop = true;
  for (std::size_t j = 0; j < start.size(); ++j) robot.joints[j].initial_q = {start[j]};
  c.tree = *screw::Tree::make(robot);
  return c;
}

Case four_bar() { return closed_chain({0.2, 0.5, 0.4}, 0.45); }

/// q moved until the loops are closed, v projected to what they allow.
void close(const screw::Tree& tree, VectorXd& q, VectorXd& v) {
  screw::Poses poses(tree.bodies().size());
  VectorXd open(6 * tree.loops().size());
  MatrixXd J;
  for (int k = 0; k < 60; ++k) {
    screw::body_poses(tree, q.data(), poses);
    screw::closure(tree, q.data(), poses, open.data());
    screw::closure_jacobian(tree, q.data(), poses, J);
    const VectorXd step = -J.completeOrthogonalDecomposition().solve(open);
    tree.retract(q.data(), step.data(), q.data());
  }
  ASSERT_LT(open.norm(), 1e-12);
  v -= J.completeOrthogonalDecomposition().solve(J * v);
}

TEST(GeneratedDynamics, ClosedLoops) {
  Case c = four_bar();
  const int n = c.tree->freedoms();
  Request request;
  request.problem = Problem::forward;
  const auto generated = generate(c.tree, request);
  ASSERT_TRUE(generated) << generated.failure().to_string();
  build::Dynamics numeric(c.tree, build::given_forward(*c.tree));
  screw::Surroundings surroundings;
  surroundings.gravity = c.tree->gravity();
  for (int round = 0; round < 20; ++round) {
    VectorXd q = 0.4 * c.random.velocity(*c.tree), v = c.random.velocity(*c.tree), a = VectorXd::Zero(n);
    q[0] += 1.2;
    q[1] -= 1;
    q[2] += 1.8;
    VectorXd tau = c.random.velocity(*c.tree);
    close(*c.tree, q, v);
    const auto answer = evaluate(generated->program, {q.data(), v.data(), tau.data()});
    ASSERT_TRUE(numeric.solve(q.data(), v.data(), a.data(), tau.data(), surroundings).ok);
    const VectorXd mine = Eigen::Map<const VectorXd>(answer[0].data(), n);
    EXPECT_LT((mine - a).cwiseAbs().maxCoeff(), 1e-11 * a.cwiseAbs().maxCoeff() / std::min(1.0, answer[1][0]));
  }
}

/// Closed, every pivot of some orders vanishes that is healthy off the loop: for a parallelogram, α₂ = −α₁. Whether it
/// is drawn upright or not even closed, all orders have code.
TEST(GeneratedDynamics, PivotsAreThoseOfTheClosedLoop) {
  constexpr double kUp = M_PI / 2;
  for (const std::vector<double>& start :
       {std::vector{kUp, -kUp, -kUp, -kUp}, std::vector{kUp + 0.3, -kUp, -kUp, -kUp}}) {
    Case c = closed_chain({0.5, 1, 0.5}, 1, start);
    build::Dynamics numeric(c.tree, build::given_forward(*c.tree));
    screw::Surroundings surroundings;
    surroundings.gravity = c.tree->gravity();
    for (const std::string& name : {"best", "rnea", "crba", "aba", "colamd", "amd", "metis", "natural"}) {
      Request request;
      request.problem = Problem::forward;
      request.ordering = name;
      const auto generated = generate(c.tree, request);
      ASSERT_TRUE(generated) << name << ": " << generated.failure().to_string();
      for (const double crank : {kUp, 0.9, 2.0}) {
        const VectorXd q = Eigen::Vector4d(crank, -crank, crank - M_PI, crank - M_PI);
        VectorXd v = Eigen::Vector4d(0.5, -0.5, 0.5, 0.5), a = VectorXd::Zero(4);
        VectorXd tau = Eigen::Vector4d(0.1, 0.2, -0.3, 0.9);  // upright, too, it is pushed
        ASSERT_TRUE(numeric.solve(q.data(), v.data(), a.data(), tau.data(), surroundings).ok);
        ASSERT_GT(a.cwiseAbs().maxCoeff(), 0.1);
        const auto answer = evaluate(generated->program, {q.data(), v.data(), tau.data()});
        EXPECT_GT(answer.back()[0], 0.1) << name;
        for (int i = 0; i < 4; ++i) EXPECT_NEAR(answer[0][i], a[i], 1e-11 * a.cwiseAbs().maxCoeff()) << name;
      }
    }
  }
}

/// The cosine of a small angle is within 1e-9 of 1 where its sine is not of 0.
TEST(GeneratedDynamics, SmallAnglesOfFixedRotationsStay) {
  for (const double angle : {1e-3, 2e-5, 1e-7, 1e-9, 1e-10}) {
    RandomRobot random(8);
    random.grow(std::vector<JointType>(6, JointType::revolute), true);
    bool upright = false;
    for (Joint& joint : random.robot.joints) {
      joint.X_PF = SE3(SO3::exp(Vector3d(angle, -0.7 * angle, 1.5 * angle)), Vector3d(0.1, 0, 0.3));
      joint.X_CM = SE3();
      joint.axis = (upright = !upright) ? Vector3d::UnitZ() : Vector3d::UnitY();
    }
    Case c{"arm", random, *screw::Tree::make(random.robot)};
    for (const std::vector<Given>& given : {mask(*c.tree, 0xff), build::given_forward(*c.tree)}) {
      Request request;
      request.problem = Problem::hybrid;
      request.given = given;
      request.ordering = "aba";
      const auto generated = generate(c.tree, request);
      ASSERT_TRUE(generated);
      EXPECT_LT(difference(c, given, generated->program), 1e-12) << angle;
    }
  }
}

TEST(GeneratedDynamics, NumbersThatOverflowAreRefused) {
  RandomRobot random(2);
  random.grow({JointType::revolute, JointType::revolute}, true);
  random.robot.links[2].inertia.mass = 1e250;
  random.robot.links[2].inertia.com = Eigen::Vector3d(1e100, 0, 0);
  const auto tree = screw::Tree::make(random.robot);
  ASSERT_TRUE(tree);
  Request request;
  const auto generated = generate(*tree, request);
  ASSERT_FALSE(generated);
  EXPECT_NE(generated.failure().to_string().find("no finite numbers"), std::string::npos);
}

TEST(GeneratedDynamics, TheSearchStopsWhenInterrupted) {
  RandomRobot random(6);
  random.grow({JointType::revolute, JointType::revolute, JointType::revolute, JointType::revolute}, true);
  Request request;
  request.problem = Problem::forward;
  int asked = 0;
  request.progress = [&](double share) { return share <= 1 && ++asked < 20; };
  const auto generated = generate(*screw::Tree::make(random.robot), request);
  ASSERT_FALSE(generated);
  EXPECT_EQ(generated.failure().kind, Failure::Kind::interrupted);
  EXPECT_EQ(asked, 20);
}

TreePointer long_arm(int joints) {
  RandomRobot random(9);
  random.grow(std::vector<JointType>(joints, JointType::revolute), true);
  return *screw::Tree::make(random.robot);
}

/// One order of a long chain takes seconds: it is interrupted in its midst, not when it is done.
TEST(GeneratedDynamics, AnOrderStopsWhenInterrupted) {
  Request request;
  request.problem = Problem::forward;
  request.ordering = "crba";
  int asked = 0;
  request.progress = [&](double) { return ++asked < 200; };
  const auto generated = generate(long_arm(40), request);
  ASSERT_FALSE(generated);
  EXPECT_EQ(generated.failure().kind, Failure::Kind::interrupted);
  EXPECT_EQ(asked, 200);
}

/// Orders whose operations grow with the cube of the joints are not traced to their end.
TEST(GeneratedDynamics, OrdersThatTakeFarMoreAreGivenUp) {
  Request request;
  request.problem = Problem::forward;
  const auto generated = generate(long_arm(60), request);
  ASSERT_TRUE(generated) << generated.failure().to_string();
  int given_up = 0, aba = 0;
  for (const auto& tried : generated->tried) {
    if (tried.ordering == "aba") aba = tried.flops;
    given_up += tried.flops == Generated::Tried::kGivenUp;
  }
  EXPECT_GT(given_up, 0);
  EXPECT_GT(aba, 0);
  EXPECT_LE(generated->program.cost().flops(), aba);
}

TEST(GeneratedDynamics, WhatIsNotDeterminedIsRefused) {
  RandomRobot random(2);
  random.grow({JointType::revolute});
  random.robot.links[1].inertia = {};
  const TreePointer tree = *screw::Tree::make(random.robot);
  Request request;
  request.problem = Problem::forward;
  request.ordering = "aba";
  const auto generated = generate(tree, request);
  ASSERT_FALSE(generated);
  EXPECT_EQ(generated.failure().kind, Failure::Kind::no_answer);
}

}  // namespace
}  // namespace kinegraph::codegen::dynamics_test
