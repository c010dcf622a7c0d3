#include "kinegraph/linear/symmetric.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <random>

#include "kinegraph/linear/assembly_tree.hpp"
#include "kinegraph/linear/systems_test.hpp"

namespace kinegraph::linear::symmetric_test {
namespace {

TEST(SymmetricPattern, MirroredAndRepeatedEntriesShareASlot) {
  const std::vector<Entry> entries{{2, 0}, {0, 2}, {1, 1}, {2, 0}, {1, 2}};
  std::vector<int> slot;
  const auto p = SymmetricPattern::from_entries(std::vector<RowKind>(3, RowKind::variable), entries, slot);
  EXPECT_EQ(slot[0], slot[1]);
  EXPECT_EQ(slot[0], slot[3]);
  EXPECT_NE(slot[2], slot[4]);
  EXPECT_EQ(p.entries(), 5);  // three on the diagonal, (2,0) and (2,1)
  for (int j = 0; j < 3; ++j) EXPECT_EQ(p.row[p.start[j]], j);
}

TEST(SymmetricPattern, MultipliesByBothTriangles) {
  std::mt19937 rng(1);
  const test::System s = test::random_kkt(10, 5, 2, rng);
  const Eigen::VectorXd x = test::random_vector(15, rng);
  Eigen::VectorXd y = Eigen::VectorXd::Ones(15);
  multiply_add(s.pattern, s.values, x.data(), y.data());
  EXPECT_LT((y - Eigen::VectorXd::Ones(15) - s.dense() * x).norm(), 1e-13);
}

TEST(AssemblyTree, HoldsEveryNodeOnceChildrenFirst) {
  std::mt19937 rng(2);
  RowStructure rows;
  for (int i = 0; i < 150; ++i) rows.add(std::array{int(rng() % 100), int(rng() % 100)});
  const Adjacency graph = column_graph(rows, 100);
  const std::vector<int> order = amd_order(graph);
  const AssemblyTree tree = assembly_tree(graph, std::vector<int>(100, 1), order);
  std::vector<int> front(100, -1);
  int held = 0;
  for (int f = 0; f < int(tree.nodes.size()); ++f) {
    EXPECT_TRUE(tree.nodes[f].parent == -1 || tree.nodes[f].parent > f);
    for (int node : tree.nodes[f].members) {
      EXPECT_EQ(std::exchange(front[node], f), -1);
      ++held;
    }
  }
  EXPECT_EQ(held, 100);
  // Neighbours lie on one path to the root.
  for (int i = 0; i < 100; ++i) {
    for (int j : graph.of(i)) {
      int low = std::min(front[i], front[j]);
      const int high = std::max(front[i], front[j]);
      while (low >= 0 && low < high) low = tree.nodes[low].parent;
      EXPECT_EQ(low, high);
    }
  }
}

}  // namespace
}  // namespace kinegraph::linear::symmetric_test
