#pragma once

#include <span>
#include <vector>

#include "kinegraph/linear/ordering.hpp"

namespace kinegraph::linear {

/// The tree of fronts that an elimination order makes of a graph: each node is a set of graph nodes worth eliminating
/// together, in one dense block, and passes its update to its parent.
struct AssemblyTree {
  struct Node {
    std::vector<int> members;  ///< graph nodes, in elimination order
    int parent = -1;
  };
  std::vector<Node> nodes;  ///< in postorder: the subtree of a node stands right before it
};

/// `weight[i]` is the number of unknowns that graph node i stands for.
AssemblyTree assembly_tree(const Adjacency& graph, std::span<const int> weight, std::span<const int> order);

}  // namespace kinegraph::linear
