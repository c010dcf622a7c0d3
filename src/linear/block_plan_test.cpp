#include "kinegraph/linear/block_plan.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "kinegraph/linear/allocations_test.hpp"
#include "kinegraph/linear/block_systems_test.hpp"

namespace kinegraph::linear::block_plan_test {
namespace {

using test::BlockSystem;
using test::chain;
using test::Link;
using test::Matrix6;
using test::mixed_tree;
using test::Tree;

struct Solved {
  std::shared_ptr<const BlockPlan> plan;
  BlockElimination elimination;
  BlockElimination::Outcome outcome;

  Solved(const BlockSystem& system, const std::vector<std::vector<int>>& order)
      : plan(std::make_shared<const BlockPlan>(system.structure, order)), elimination(plan) {
    system.write(*plan, elimination);
    outcome = elimination.run();
  }
};

void expect_solution(const BlockSystem& system, const std::vector<std::vector<int>>& order, double tolerance = 1e-10) {
  Solved solved(system, order);
  ASSERT_TRUE(solved.outcome.ok) << "column " << solved.outcome.column;
  const Eigen::VectorXd expected = system.dense().fullPivLu().solve(system.right_side());
  const Eigen::VectorXd found = system.solution(*solved.plan, solved.elimination);
  EXPECT_LT((found - expected).lpNorm<Eigen::Infinity>(), tolerance * (1 + expected.lpNorm<Eigen::Infinity>()));
}

TEST(BlockPlan, ClassicalOrdersOfAChain) {
  for (int n : {1, 2, 3, 7}) {
    const Tree forward(chain(n), n);
    std::vector<Link> driven = chain(n);
    for (Link& link : driven) link.driven = true;
    const Tree inverse(driven, n + 100);
    expect_solution(inverse.system, inverse.rnea());
    expect_solution(forward.system, forward.aba());
    expect_solution(forward.system, forward.crba());
    expect_solution(forward.system, forward.crba(false));
    expect_solution(forward.system, forward.rnea());
    expect_solution(inverse.system, inverse.aba());
  }
}

TEST(BlockPlan, TreesWithJointsOfAllSorts) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const Tree tree(mixed_tree(8, seed), seed);
    expect_solution(tree.system, tree.aba());
    expect_solution(tree.system, tree.crba());
    expect_solution(tree.system, tree.crba(false));
  }
}

TEST(BlockPlan, HybridMasks) {
  for (unsigned mask = 0; mask < 32; ++mask) {
    std::vector<Link> links = mixed_tree(5, mask);
    for (int i = 0; i < 5; ++i) links[i].driven = mask >> i & 1;
    const Tree tree(links, mask);
    expect_solution(tree.system, tree.aba());
    expect_solution(tree.system, tree.crba());
    expect_solution(tree.system, tree.rnea());
    expect_solution(tree.system, tree.random_order(mask, 1));
  }
}

TEST(BlockPlan, AnyOrderAndAnyGroups) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::vector<Link> links = mixed_tree(5, seed);
    links[seed % 5].driven = true;
    const Tree tree(links, seed);
    expect_solution(tree.system, tree.random_order(seed, 1));
    expect_solution(tree.system, tree.random_order(seed + 1000, 3));
  }
}

// Eliminated outwards, the pivot of joint 1 is its own link's inertia alone: none.
TEST(BlockPlan, APivotBlockThatVanishesThoughTheSystemIsRegular) {
  std::vector<Link> links = chain(3);
  Tree random(links, 5);
  random.links[0].g.setZero();
  const Tree tree(random.links, 6, true);
  std::vector<std::vector<int>> outward;
  for (int i = 0; i < 3; ++i) {
    for (const int column : {tree.wrench[i], tree.acceleration[i], tree.joint[i]}) outward.push_back({column});
  }
  expect_solution(tree.system, outward);

  // the same elimination, once with numbers that need care and once with others
  const Tree regular(chain(3), 7);
  Solved solved(tree.system, outward);
  regular.system.write(*solved.plan, solved.elimination);
  ASSERT_TRUE(solved.elimination.run().ok);
  const Eigen::VectorXd expected = regular.system.dense().fullPivLu().solve(regular.system.right_side());
  EXPECT_LT((regular.system.solution(*solved.plan, solved.elimination) - expected).norm(), 1e-9 * expected.norm());
}

TEST(BlockPlan, AVanishingPivotIsNamed) {
  for (const bool composite : {false, true}) {
    Tree random(chain(4), 11);
    // link 3 (and what it carries) has no inertia about its axis: a point mass on it
    random.links[3].g = test::inertia(2, {0, 0, 0.4}, {0, 0, 0});
    if (composite) {
      random.links[2].g = test::inertia(1, {0, 0, 0}, {0, 0, 0});
      random.links[3].axes = {5};
      random.links[3].x = test::adjoint(Eigen::AngleAxisd(0.7, Eigen::Vector3d(0.1, 0.9, 0.3).normalized()).matrix(),
                                        Eigen::Vector3d::Zero());
      random.links[3].g = test::inertia(2, {0, 0, 0}, {0, 0, 0});
    }
    const Tree tree(random.links, 12, true);
    const int expected = tree.joint[composite ? 2 : 3];
    Solved aba(tree.system, tree.aba());
    EXPECT_FALSE(aba.outcome.ok);
    EXPECT_EQ(aba.outcome.column, expected);
    Solved crba(tree.system, tree.crba());
    EXPECT_FALSE(crba.outcome.ok) << composite;
    std::vector<std::vector<int>> order = tree.random_order(3, 1);
    EXPECT_FALSE(Solved(tree.system, order).outcome.ok) << composite;
  }
}

TEST(BlockPlan, TooFewRowsAreNamed) {
  BlockSystem system;
  const int row = system.add_row(1, Eigen::VectorXd::Ones(1));
  const int x = system.add_column(1, row), y = system.add_column(1, -1);
  system.add(row, x, BlockStructure::Form::identity, Eigen::MatrixXd::Ones(1, 1));
  system.add(row, y, BlockStructure::Form::dense, Eigen::MatrixXd::Ones(1, 1));
  Solved solved(system, {{x}, {y}});
  EXPECT_FALSE(solved.outcome.ok);
  EXPECT_EQ(solved.outcome.column, y);
}

TEST(BlockPlan, CrbaLeavesTheMassMatrix) {
  const Tree tree(mixed_tree(6, 4), 4);
  Solved solved(tree.system, tree.crba());
  ASSERT_TRUE(solved.elimination.run_until(solved.plan->steps() - 1).ok);
  const Eigen::MatrixXd expected = tree.mass_matrix();
  int row = 0;
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    int column = 0;
    for (std::size_t j = 0; j < tree.links.size(); ++j) {
      const int m = tree.links[i].freedoms, n = tree.links[j].freedoms;
      const std::vector<double> block = solved.elimination.block(tree.row_t[i], tree.joint[j]);
      Eigen::MatrixXd found = Eigen::MatrixXd::Zero(m, n);
      if (!block.empty()) {
        found = Eigen::Map<const Eigen::Matrix<double, -1, -1, Eigen::RowMajor>>(block.data(), m, n);
      }
      EXPECT_LT((found - expected.block(row, column, m, n)).norm(), 1e-11 * expected.norm()) << i << " " << j;
      column += n;
    }
    row += tree.links[i].freedoms;
  }
}

TEST(BlockPlan, AbaLeavesArticulatedInertias) {
  const Tree tree(chain(5), 8);
  std::vector<Matrix6> articulated;
  for (const Link& link : tree.links) articulated.push_back(link.g);
  for (int i = 4; i > 0; --i) {  // Iᴬ of the parent += Xᵀ (Iᴬ − U D⁻¹ Uᵀ) X
    const Matrix6& inertia = articulated[i];
    const Eigen::VectorXd u = inertia * tree.links[i].s;
    const Matrix6 rest = inertia - u * u.transpose() / tree.links[i].s.col(0).dot(u);
    articulated[i - 1] += tree.links[i].x.transpose() * rest * tree.links[i].x;
  }
  Solved solved(tree.system, tree.aba());
  for (int i = 4; i >= 0; --i) {
    ASSERT_TRUE(solved.elimination.run_until(3 * (4 - i)).ok);
    const std::vector<double> block = solved.elimination.block(tree.row_f[i], tree.acceleration[i]);
    ASSERT_EQ(block.size(), 36u);
    const Eigen::Map<const Eigen::Matrix<double, 6, 6, Eigen::RowMajor>> found(block.data());
    EXPECT_LT((found + articulated[i]).norm(), 1e-11 * articulated[i].norm()) << i;
  }
}

TEST(BlockPlan, InputsSurviveTheRun) {
  const Tree tree(chain(6), 9);
  Solved solved(tree.system, tree.aba());
  const Eigen::VectorXd first = tree.system.solution(*solved.plan, solved.elimination);
  ASSERT_TRUE(solved.elimination.run().ok);
  EXPECT_EQ(tree.system.solution(*solved.plan, solved.elimination), first);
}

TEST(BlockPlan, RunsAllocateNothing) {
  if (!test::allocations_are_counted()) GTEST_SKIP();
  const Tree tree(mixed_tree(8, 3), 3);
  for (const auto& order : {tree.aba(), tree.crba(), tree.random_order(5, 2)}) {
    Solved solved(tree.system, order);
    const long before = test::allocations();
    solved.elimination.run();
    solved.elimination.run_until(3);
    EXPECT_EQ(test::allocations(), before);
  }
}

TEST(BlockPlan, InverseDynamicsNeedsNoElimination) {
  std::vector<Link> links = chain(7);
  for (Link& link : links) link.driven = true;
  const Tree tree(links, 1);
  const BlockPlan plan(tree.system.structure, tree.rnea());
  EXPECT_EQ(plan.fill(), 0);
  EXPECT_EQ(plan.steps(), 21);
  // V̇: 6 products with an adjoint, F: 7 with an inertia and 6 with an adjoint, and sums
  EXPECT_LT(plan.flops(), 19 * 72 + 7 * 20);
}

TEST(BlockPlan, UnsoundStructuresAreRefused) {
  const Tree tree(chain(2), 1);
  const auto refused = [&](auto change) {
    BlockStructure s = tree.system.structure;
    std::vector<std::vector<int>> order = tree.aba();
    change(s, order);
    EXPECT_THROW(BlockPlan(s, order), std::invalid_argument);
  };
  refused([](auto& s, auto&) { s.entries.push_back(s.entries[0]); });
  refused([](auto& s, auto&) { s.entries[0].row = 99; });
  refused([](auto& s, auto&) { s.pivot_row[0] = s.pivot_row[1]; });
  refused([](auto&, auto& order) { order.pop_back(); });
  refused([](auto&, auto& order) { order.push_back(order[0]); });
  refused([](auto&, auto& order) { order.push_back({}); });
  refused([](auto& s, auto&) { s.level[0] = 1; });
  refused([](auto& s, auto&) { s.level.pop_back(); });
}

}  // namespace
}  // namespace kinegraph::linear::block_plan_test
