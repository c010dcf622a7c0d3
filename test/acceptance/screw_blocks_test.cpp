// What stands in the blocks while the dynamics graph is eliminated, and that the order of elimination does not matter.
// References are computed here, by other means: M(q) from the Jacobians of the bodies, articulated inertias by the
// textbook recursion, hybrid dynamics by dense algebra on M(q).
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <random>
#include <string>
#include <vector>

#include "kinegraph/build/dynamics.hpp"
#include "kinegraph/mechanics/screw/kinematics.hpp"
#include "test/acceptance/golden.hpp"

namespace kinegraph::acceptance::screw_blocks_test {
namespace {

using build::Dynamics;
using build::Given;
using build::ScrewProblem;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using screw::Matrix6d;
using screw::Tree;
using screw::Vector6d;

struct Case {
  std::string name;
  Robot::Base base = Robot::Base::fixed;
};

class ScrewBlocks : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    tree_ = own_tree(GetParam().name, GetParam().base);
    q_ = tree_->start_position();
    tree_->retract(q_.data(), random(tree_->freedoms()).data(), q_.data());
    v_ = random(tree_->freedoms());
  }
  VectorXd random(int size) {
    VectorXd x(size);
    for (double& e : x) e = uniform_(generator_);
    return x;
  }
  std::vector<Given> all(Given given) const { return {tree_->coordinates().size(), given}; }
  std::vector<Given> random_mask() {
    std::vector<Given> mask;
    for (std::size_t i = 0; i < tree_->coordinates().size(); ++i) {
      mask.push_back(uniform_(generator_) < 0 ? Given::torque : Given::acceleration);
    }
    return mask;
  }
  Dynamics dynamics(const std::vector<Given>& given, const std::string& order) const {
    const auto found = build::screw_order(build::screw_problem(tree_, given), order);
    if (!found) throw std::runtime_error(found.failure().to_string());
    return Dynamics(tree_, given, *found);
  }

  std::shared_ptr<const Tree> tree_;
  VectorXd q_, v_;
  std::mt19937 generator_{7};
  std::uniform_real_distribution<double> uniform_{-1, 1};
};

/// M = Σ Jᵀ G J + armature
MatrixXd mass_matrix(const Tree& tree, const VectorXd& q) {
  screw::Poses poses(tree.bodies().size());
  screw::body_poses(tree, q.data(), poses);
  MatrixXd M = MatrixXd::Zero(tree.freedoms(), tree.freedoms()), J;
  for (std::size_t i = 0; i < tree.bodies().size(); ++i) {
    screw::body_jacobian(tree, q.data(), poses, static_cast<int>(i), J);
    M += J.transpose() * tree.bodies()[i].inertia * J;
  }
  for (const screw::Coordinate& c : tree.coordinates()) {
    for (std::size_t k = 0; k < c.dynamics.size(); ++k) {
      const int at = c.v + static_cast<int>(k);
      M(at, at) += c.dynamics[k].armature;
    }
  }
  return M;
}

/// I(i) = G(i) + Σ X(k)ᵀ (I(k) − U D⁻¹ Uᵀ) X(k) over the children k; a child with its acceleration given: no U D⁻¹ Uᵀ.
std::vector<Matrix6d> articulated_inertias(const Tree& tree, const VectorXd& q, const std::vector<Given>& given) {
  std::vector<Matrix6d> inertia;
  for (const screw::Body& body : tree.bodies()) inertia.push_back(body.inertia);
  for (int i = static_cast<int>(tree.bodies().size()) - 1; i >= 0; --i) {
    const screw::Body& body = tree.bodies()[i];
    if (body.parent < 0) continue;
    Matrix6d S_all;
    const auto X_FM = screw::joint_transform(body.joint, q.data(), &S_all);
    Matrix6d I = inertia[i];
    if (given[body.joint.coordinate] == Given::torque) {
      const MatrixXd S = S_all.leftCols(body.joint.freedoms);
      const MatrixXd U = I * S;
      MatrixXd D = S.transpose() * U;
      const auto& dynamics = tree.coordinates()[body.joint.coordinate].dynamics;
      for (std::size_t k = 0; k < dynamics.size(); ++k) {
        D(static_cast<int>(k), static_cast<int>(k)) += dynamics[k].armature;
      }
      I -= U * D.inverse() * U.transpose();
    }
    const Matrix6d X = (body.X_PF * X_FM).inverse().Ad();
    inertia[body.parent] += X.transpose() * I * X;
  }
  return inertia;
}

MatrixXd block(Dynamics& dynamics, ScrewProblem::Equation equation, int row_owner, ScrewProblem::What what,
               int column_owner) {
  const int row = dynamics.row_of(equation, row_owner), column = dynamics.column_of(what, column_owner);
  const auto& structure = dynamics.plan().structure();
  const int rows = structure.row_size[row], columns = structure.column_size[column];
  const std::vector<double> numbers = dynamics.elimination().block(row, column);
  if (numbers.empty()) return MatrixXd::Zero(rows, columns);
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<const RowMajor>(numbers.data(), rows, columns);
}

double difference(const MatrixXd& found, const MatrixXd& expected) {
  return (found - expected).cwiseAbs().maxCoeff() / expected.cwiseAbs().maxCoeff();
}

TEST_P(ScrewBlocks, LastBlockOfCrbaIsTheMassMatrix) {
  const MatrixXd expected = mass_matrix(*tree_, q_);
  Dynamics crba = dynamics(all(Given::torque), "crba");
  EXPECT_LT(difference(crba.mass_matrix(q_.data()), expected), 1e-10);

  const VectorXd zero = VectorXd::Zero(tree_->freedoms());
  crba.write(q_.data(), v_.data(), zero.data(), zero.data(), {});
  ASSERT_TRUE(crba.elimination().run_until(crba.plan().steps() - 1).ok);
  MatrixXd found(tree_->freedoms(), tree_->freedoms());
  const auto& coordinates = tree_->coordinates();
  for (int i = 0; i < static_cast<int>(coordinates.size()); ++i) {
    for (int j = 0; j < static_cast<int>(coordinates.size()); ++j) {
      found.block(coordinates[i].v, coordinates[j].v, coordinates[i].freedoms, coordinates[j].freedoms) =
          block(crba, ScrewProblem::Equation::torque, i, ScrewProblem::What::acceleration, j);
    }
  }
  EXPECT_LT(difference(found, expected), 1e-10);
}

/// The step of the order that eliminates F or V̇ of a body.
int step_of(const Dynamics& dynamics, int body) {
  const int F = dynamics.problem().find(ScrewProblem::What::wrench, body);
  const int V = dynamics.problem().find(ScrewProblem::What::twist_acceleration, body);
  const auto& order = dynamics.order();
  for (std::size_t step = 0; step < order.size(); ++step) {
    for (const int variable : order[step]) {
      if (variable == F || variable == V) return static_cast<int>(step);
    }
  }
  throw std::runtime_error("a body is missing in the order");
}

TEST_P(ScrewBlocks, AbaMeetsTheArticulatedInertias) {
  std::vector<std::vector<Given>> masks = {all(Given::torque), random_mask(), random_mask()};
  for (const std::vector<Given>& given : masks) {
    const auto expected = articulated_inertias(*tree_, q_, given);
    Dynamics aba = dynamics(given, "aba");
    const VectorXd zero = VectorXd::Zero(tree_->freedoms());
    for (int body = 0; body < static_cast<int>(tree_->bodies().size()); ++body) {
      aba.write(q_.data(), v_.data(), zero.data(), zero.data(), {});
      ASSERT_TRUE(aba.elimination().run_until(step_of(aba, body)).ok);
      const MatrixXd found =
          block(aba, ScrewProblem::Equation::wrench, body, ScrewProblem::What::twist_acceleration, body);
      EXPECT_LT(difference(found, -expected[body]), 1e-10) << tree_->bodies()[body].name;
    }
  }
}

struct Answer {
  VectorXd a, tau;
};

TEST_P(ScrewBlocks, EveryOrderGivesTheHybridAnswer) {
  const int n = tree_->freedoms();
  const MatrixXd M = mass_matrix(*tree_, q_);
  Dynamics inverse(tree_, all(Given::acceleration));
  const screw::Surroundings surroundings;
  VectorXd bias = VectorXd::Zero(n), rest = VectorXd::Zero(n);
  ASSERT_TRUE(inverse.solve(q_.data(), v_.data(), rest.data(), bias.data(), surroundings).ok);

  for (int trial = 0; trial < 6; ++trial) {
    const std::vector<Given> given = random_mask();
    // Known numbers at random, unknown ones far off: who reads them is found out.
    Answer expected{random(n), random(n)};
    VectorXd free = VectorXd::Zero(n);
    for (std::size_t c = 0; c < given.size(); ++c) {
      const screw::Coordinate& coordinate = tree_->coordinates()[c];
      for (int k = 0; k < coordinate.freedoms; ++k) free[coordinate.v + k] = given[c] == Given::torque;
    }
    // M a + bias = tau; rows and columns of the free joints solved, the rest read off.
    const VectorXd held = (free.array() > 0).select(0, expected.a);
    const VectorXd right = expected.tau - bias - M * held;
    const MatrixXd system =
        free.asDiagonal() * M * free.asDiagonal() + MatrixXd((VectorXd::Ones(n) - free).asDiagonal());
    expected.a = held + system.fullPivLu().solve(free.asDiagonal() * right);
    const VectorXd torque = M * expected.a + bias;
    const Answer given_numbers{expected.a, expected.tau};
    expected.tau = torque;

    for (const std::string& name : build::screw_order_names()) {
      if (name == "custom") continue;
      SCOPED_TRACE(name);
      Answer found{(free.array() > 0).select(777, given_numbers.a), (free.array() > 0).select(given_numbers.tau, 777)};
      Dynamics hybrid = dynamics(given, name);
      const auto outcome = hybrid.solve(q_.data(), v_.data(), found.a.data(), found.tau.data(), surroundings);
      ASSERT_TRUE(outcome.ok) << outcome.message;
      EXPECT_LT(difference(found.a, expected.a), 1e-9);
      EXPECT_LT(difference(found.tau, expected.tau), 1e-9);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Robots, ScrewBlocks,
                         testing::Values(Case{"three_r"}, Case{"arm7"}, Case{"quadruped", Robot::Base::floating}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace kinegraph::acceptance::screw_blocks_test
