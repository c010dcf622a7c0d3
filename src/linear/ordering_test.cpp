#include "kinegraph/linear/ordering.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace kinegraph::linear::ordering_test {
namespace {

bool is_permutation_of(std::vector<int> order, int n) {
  std::sort(order.begin(), order.end());
  return order == natural_order(n);
}

/// A hub joined to n leaves. Eliminating the hub first would join all leaves.
Adjacency star(int leaves) {
  RowStructure rows;
  for (int i = 1; i <= leaves; ++i) rows.add(std::array{0, i});
  return column_graph(rows, leaves + 1);
}

int step_of(const std::vector<int>& order, int node) { return inverse_order(order)[node]; }

TEST(Ordering, AmdAndColamdLeaveTheHubOfAStarToTheEnd) {
  const Adjacency graph = star(20);
  for (const auto& order : {amd_order(graph), colamd_order(graph), metis_order(graph)}) {
    ASSERT_TRUE(is_permutation_of(order, 21));
    EXPECT_GE(step_of(order, 0), 19);  // the last leaf and the hub may change places
  }
}

TEST(Ordering, ColamdReadsRows) {
  // Column 0 is in every row, columns 1..n in one each.
  RowStructure rows;
  for (int i = 1; i <= 30; ++i) rows.add(std::array{i, 0, 0});
  const auto order = colamd_order(rows, 31);
  ASSERT_TRUE(is_permutation_of(order, 31));
  EXPECT_GE(step_of(order, 0), 29);
}

TEST(Ordering, EmptyAndEdgelessGraphs) {
  EXPECT_TRUE(amd_order({}).empty());
  EXPECT_TRUE(metis_order({}).empty());
  EXPECT_TRUE(colamd_order(Adjacency{}).empty());
  const Adjacency lonely{{0, 0, 0}, {}};
  for (const auto& order : {amd_order(lonely), metis_order(lonely), colamd_order(lonely)}) {
    EXPECT_TRUE(is_permutation_of(order, 2));
  }
}

TEST(Ordering, UserOrderIsChecked) {
  EXPECT_EQ(*user_order({2, 0, 1}, 3), (std::vector{2, 0, 1}));
  EXPECT_EQ(user_order({0, 1}, 3).failure().to_string(),
            "error: ordering: must name each of the 3 unknowns once, names 2");
  EXPECT_EQ(user_order({0, 1, 1}, 3).failure().to_string(), "error: ordering: names unknown 1 twice");
  EXPECT_EQ(user_order({0, 1, 3}, 3).failure().to_string(), "error: ordering: must be from 0 to 2, is 3");
}

TEST(Ordering, NamesGoBothWays) {
  for (auto m : {OrderingMethod::natural, OrderingMethod::colamd, OrderingMethod::amd, OrderingMethod::metis,
                 OrderingMethod::user}) {
    EXPECT_EQ(*ordering_method(std::string(name(m))), m);
  }
  EXPECT_EQ(ordering_method("colmad").failure().to_string(),
            "error: ordering: unknown method 'colmad'; did you mean 'colamd'?");
}

}  // namespace
}  // namespace kinegraph::linear::ordering_test
