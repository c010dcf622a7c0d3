#include "kinegraph/linear/last_front.hpp"

#include <gtest/gtest.h>

#include "kinegraph/linear/allocations_test.hpp"
#include "kinegraph/linear/block_systems_test.hpp"

namespace kinegraph::linear::last_front_test {
namespace {

using test::BlockSystem;
using test::Tree;

/// Of all solutions of A x = b the one that is shortest on level 1, then on level 2, from the null space.
Eigen::VectorXd shortest(const BlockSystem& system) {
  const Eigen::MatrixXd a = system.dense();
  Eigen::JacobiSVD<Eigen::MatrixXd> svd(a, Eigen::ComputeFullU | Eigen::ComputeFullV);
  svd.setThreshold(1e-10);
  Eigen::VectorXd x = svd.solve(system.right_side());
  Eigen::MatrixXd null = svd.matrixV().rightCols(a.cols() - svd.rank());
  const auto columns = system.offsets(system.structure.column_size);
  for (const int level : {1, 2}) {
    std::vector<int> chosen;
    for (std::size_t c = 0; c + 1 < columns.size(); ++c) {
      for (int i = columns[c]; i < columns[c + 1] && system.structure.level[c] == level; ++i) chosen.push_back(i);
    }
    if (chosen.empty() || null.cols() == 0) continue;
    const Eigen::MatrixXd part = null(chosen, Eigen::all);
    Eigen::JacobiSVD<Eigen::MatrixXd> inner(part, Eigen::ComputeFullU | Eigen::ComputeFullV);
    inner.setThreshold(1e-9);
    const Eigen::VectorXd selected = x(chosen);
    x -= null * inner.solve(selected);
    null = (null * inner.matrixV().rightCols(part.cols() - inner.rank())).eval();
  }
  return x;
}

struct Solved {
  std::shared_ptr<const BlockPlan> plan;
  BlockElimination elimination;
  BlockElimination::Outcome outcome;
  Eigen::VectorXd x;

  Solved(const BlockSystem& system, const std::vector<std::vector<int>>& order)
      : plan(std::make_shared<const BlockPlan>(system.structure, order)), elimination(plan) {
    system.write(*plan, elimination);
    outcome = elimination.run();
    x = system.solution(*plan, elimination);
  }
};

void expect_shortest(const BlockSystem& system, const std::vector<std::vector<int>>& order) {
  const Solved solved(system, order);
  ASSERT_TRUE(solved.outcome.ok) << solved.outcome.column;
  EXPECT_LT(solved.outcome.inconsistency, 1e-11);
  const Eigen::VectorXd expected = shortest(system);
  EXPECT_LT((solved.x - expected).norm(), 1e-9 * expected.norm());
}

TEST(LastFront, APlanarLoopLeavesThreeWrenchComponentsOpen) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    const Tree tree = test::planar_loop(2, seed, seed % 2 == 0);
    const Solved solved(tree.system, tree.aba());
    EXPECT_EQ(solved.outcome.size, 7);
    EXPECT_EQ(solved.outcome.rank, 4);  // Fx, Fy, Mz and the joint's acceleration
    expect_shortest(tree.system, tree.aba());
    expect_shortest(tree.system, tree.crba());
    expect_shortest(tree.system, tree.random_order(seed, 1));
    expect_shortest(tree.system, tree.random_order(seed, 3));
  }
}

TEST(LastFront, ASpatialLoopIsRegular) {
  for (unsigned seed = 0; seed < 5; ++seed) {
    std::vector<test::Link> links(8);
    for (int i = 0; i < 8; ++i) links[i].parent = i == 4 ? -1 : i - 1;
    Tree tree(links, seed);
    tree.close(3, 7, tree.links[1].x, tree.links[2].x, {0, 1, 2});
    const Solved solved(tree.system, tree.aba());
    EXPECT_EQ(solved.outcome.rank, 9);
    expect_shortest(tree.system, tree.aba());
  }
}

// Unknown torques at all joints of a loop with known accelerations: as few as possible, before the wrench.
TEST(LastFront, FirstLevelOneThenLevelTwo) {
  for (unsigned seed = 0; seed < 5; ++seed) {
    const Tree forward = test::planar_loop(2, seed);
    std::vector<test::Link> links = forward.links;
    for (auto& link : links) link.driven = true;
    Tree tree(links, seed, true);
    for (const int column : tree.joint) tree.system.structure.level[column] = 1;
    tree.close(1, 3, tree.links[1].x, tree.links[2].x, {2});
    std::vector<std::vector<int>> order;
    for (int i = 3; i >= 0; --i) order.push_back({tree.wrench[i]});
    for (int i = 3; i >= 0; --i) order.push_back({tree.acceleration[i]});
    expect_shortest(tree.system, order);
  }
}

TEST(LastFront, RowsThatContradictAreNamed) {
  Tree tree = test::planar_loop(2, 3);
  const int row = static_cast<int>(tree.system.structure.row_size.size()) - 2;  // of the loop
  tree.system.right_sides[row][5] += 0.5;                                       // out of the plane
  for (const auto& order : {tree.aba(), tree.random_order(4, 1)}) {
    const Solved solved(tree.system, order);
    EXPECT_TRUE(solved.outcome.ok);
    EXPECT_GT(solved.outcome.inconsistency, 0.01);
  }
  EXPECT_EQ(Solved(tree.system, tree.aba()).outcome.worst_row, row);
}

TEST(LastFront, RowsThatAreLeftOverMustHold) {
  for (const double error : {0.0, 0.5}) {
    BlockSystem system;
    const Eigen::VectorXd one = Eigen::VectorXd::Ones(2);
    const int first = system.add_row(2, one), second = system.add_row(2, 3 * one + error * Eigen::VectorXd::Unit(2, 1));
    const int x = system.add_column(2, first);
    system.add(first, x, BlockStructure::Form::identity, Eigen::Matrix2d::Identity());
    system.add(second, x, BlockStructure::Form::dense, 3 * Eigen::Matrix2d::Identity());
    const Solved solved(system, {{x}});
    EXPECT_TRUE(solved.outcome.ok);
    EXPECT_NEAR(solved.outcome.inconsistency, error / (6 + error), 1e-12);
    EXPECT_EQ(solved.outcome.worst_row == second, error > 0);
    EXPECT_EQ(solved.x, one);
  }
}

TEST(LastFront, AllocatesNothing) {
  if (!test::allocations_are_counted()) GTEST_SKIP();
  const Tree tree = test::planar_loop(3, 5);
  Solved solved(tree.system, tree.aba());
  const long before = test::allocations();
  solved.elimination.run();
  EXPECT_EQ(test::allocations(), before);
}

TEST(LastFront, RandomMatricesOfAnyRank) {
  std::srand(7);
  for (int trial = 0; trial < 50; ++trial) {
    const int rows = 1 + trial % 7, columns = 1 + trial % 5, rank = std::min({rows, columns, 1 + trial % 3});
    const Eigen::MatrixXd k = Eigen::MatrixXd::Random(rows, rank) * Eigen::MatrixXd::Random(rank, columns);
    const Eigen::VectorXd b = k * Eigen::VectorXd::Random(columns);
    for (const int primary : {0, columns}) {
      linear::LastFront front({rows}, {columns}, primary);
      Eigen::Map<Eigen::MatrixXd>(front.matrix(), rows, columns) = k;
      Eigen::Map<Eigen::VectorXd>(front.matrix() + rows * columns, rows) = b;
      const double history = 1;
      front.solve(&history);
      EXPECT_EQ(front.rank(), rank);
      Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> reference(k);
      reference.setThreshold(1e-10);
      EXPECT_LT((Eigen::Map<const Eigen::VectorXd>(front.solution(), columns) - reference.solve(b)).norm(), 1e-9);
    }
  }
}

}  // namespace
}  // namespace kinegraph::linear::last_front_test
