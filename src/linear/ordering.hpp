#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "kinegraph/base/result.hpp"

namespace kinegraph::linear {

/// In which order unknowns are eliminated. `user` takes the caller's own order.
enum class OrderingMethod { natural, colamd, amd, metis, user };

std::string_view name(OrderingMethod);
Result<OrderingMethod> ordering_method(const std::string& name);

/// An undirected graph in compressed form: the neighbours of node i are neighbour[start[i] .. start[i+1]). Every edge
/// is stored from both ends; no self loops, no duplicates.
struct Adjacency {
  std::vector<int> start{0};
  std::vector<int> neighbour;

  int size() const { return static_cast<int>(start.size()) - 1; }
  std::span<const int> of(int node) const {
    return {neighbour.data() + start[node], static_cast<std::size_t>(start[node + 1] - start[node])};
  }
};

/// The rows of a rectangular sparse matrix, as lists of its columns.
struct RowStructure {
  std::vector<int> start{0};
  std::vector<int> column;

  int rows() const { return static_cast<int>(start.size()) - 1; }
  bool empty() const { return rows() == 0; }
  void add(std::span<const int> columns);
  std::span<const int> of(int row) const {
    return {column.data() + start[row], static_cast<std::size_t>(start[row + 1] - start[row])};
  }
};

/// Orders below are elimination orders: order[k] is the node eliminated in step k.
std::vector<int> natural_order(int nodes);
std::vector<int> amd_order(const Adjacency& graph);
/// Nested dissection; `weight` (may be empty) says how many unknowns each node stands for.
std::vector<int> metis_order(const Adjacency& graph, std::span<const int> weight = {});
/// COLAMD orders the columns of A so that AᵀA fills little, from the rows of A alone.
std::vector<int> colamd_order(const RowStructure& rows, int columns);
/// The same for a symmetric matrix: A is the incidence matrix of its graph, one row per edge (as SYMAMD does).
std::vector<int> colamd_order(const Adjacency& graph);

/// Checks that a caller's order names each of `nodes` nodes exactly once.
Result<std::vector<int>> user_order(std::vector<int> order, int nodes);

/// The inverse permutation: position[order[k]] = k.
std::vector<int> inverse_order(std::span<const int> order);

/// AᵀA's graph: columns that share a row are neighbours.
Adjacency column_graph(const RowStructure& rows, int columns);

}  // namespace kinegraph::linear
