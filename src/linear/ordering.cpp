#include "kinegraph/linear/ordering.hpp"

#include <fmt/format.h>
#include <metis.h>
#include <suitesparse/amd.h>
#include <suitesparse/colamd.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <stdexcept>

namespace kinegraph::linear {

namespace {

constexpr std::array<std::pair<OrderingMethod, std::string_view>, 5> kNames{{
    {OrderingMethod::natural, "natural"},
    {OrderingMethod::colamd, "colamd"},
    {OrderingMethod::amd, "amd"},
    {OrderingMethod::metis, "metis"},
    {OrderingMethod::user, "user"},
}};

}  // namespace

std::string_view name(OrderingMethod method) {
  for (const auto& [m, text] : kNames) {
    if (m == method) return text;
  }
  throw std::logic_error("OrderingMethod without a name");
}

Result<OrderingMethod> ordering_method(const std::string& wanted) {
  std::vector<std::string> candidates;
  for (const auto& [method, text] : kNames) {
    if (text == wanted) return method;
    candidates.emplace_back(text);
  }
  return Failure::bad_input(fmt::format("ordering: unknown method '{}'{}", wanted, did_you_mean(wanted, candidates)));
}

void RowStructure::add(std::span<const int> columns) {
  column.insert(column.end(), columns.begin(), columns.end());
  start.push_back(static_cast<int>(column.size()));
}

std::vector<int> natural_order(int nodes) {
  std::vector<int> order(nodes);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// AMD and METIS want at least one edge; without edges every order is as good.
std::vector<int> amd_order(const Adjacency& graph) {
  if (graph.neighbour.empty()) return natural_order(graph.size());
  std::vector<int> order(graph.size());
  const int status =
      ::amd_order(graph.size(), graph.start.data(), graph.neighbour.data(), order.data(), nullptr, nullptr);
  if (status != AMD_OK && status != AMD_OK_BUT_JUMBLED) throw std::logic_error("AMD rejects the graph");
  return order;
}

std::vector<int> metis_order(const Adjacency& graph, std::span<const int> weight) {
  if (graph.neighbour.empty()) return natural_order(graph.size());
  idx_t nodes = graph.size();
  std::vector<idx_t> start(graph.start.begin(), graph.start.end());
  std::vector<idx_t> neighbour(graph.neighbour.begin(), graph.neighbour.end());
  std::vector<idx_t> weights(weight.begin(), weight.end());
  std::vector<idx_t> order(nodes), position(nodes);
  const int status = METIS_NodeND(&nodes, start.data(), neighbour.data(), weights.empty() ? nullptr : weights.data(),
                                  nullptr, order.data(), position.data());
  if (status != METIS_OK) throw std::logic_error("METIS rejects the graph");
  return {order.begin(), order.end()};
}

std::vector<int> colamd_order(const RowStructure& rows, int columns) {
  if (columns == 0) return {};
  // COLAMD reads A by columns, without duplicates.
  std::vector<int> start(columns + 1, 0), last(columns, -1);
  std::vector<std::vector<int>> row_of(columns);
  for (int r = 0; r < rows.rows(); ++r) {
    for (int c : rows.of(r)) {
      if (last[c] != r) row_of[c].push_back(r);
      last[c] = r;
    }
  }
  for (int c = 0; c < columns; ++c) start[c + 1] = start[c] + static_cast<int>(row_of[c].size());
  std::vector<int> work(colamd_recommended(start[columns], rows.rows(), columns));
  for (int c = 0; c < columns; ++c) std::copy(row_of[c].begin(), row_of[c].end(), work.begin() + start[c]);
  std::array<int, COLAMD_STATS> stats{};
  if (!colamd(rows.rows(), columns, static_cast<int>(work.size()), work.data(), start.data(), nullptr, stats.data())) {
    throw std::logic_error("COLAMD rejects the rows");
  }
  start.resize(columns);
  return start;
}

std::vector<int> colamd_order(const Adjacency& graph) {
  RowStructure incidence;
  for (int i = 0; i < graph.size(); ++i) {
    for (int j : graph.of(i)) {
      if (i < j) incidence.add(std::array{i, j});
    }
  }
  return colamd_order(incidence, graph.size());
}

Result<std::vector<int>> user_order(std::vector<int> order, int nodes) {
  if (static_cast<int>(order.size()) != nodes) {
    return Failure::bad_input(
        fmt::format("ordering: must name each of the {} unknowns once, names {}", nodes, order.size()));
  }
  std::vector<char> seen(nodes, 0);
  for (int node : order) {
    if (node < 0 || node >= nodes) {
      return Failure::bad_input(fmt::format("ordering: must be from 0 to {}, is {}", nodes - 1, node));
    }
    if (seen[node]) return Failure::bad_input(fmt::format("ordering: names unknown {} twice", node));
    seen[node] = 1;
  }
  return order;
}

std::vector<int> inverse_order(std::span<const int> order) {
  std::vector<int> position(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) position[order[k]] = static_cast<int>(k);
  return position;
}

Adjacency column_graph(const RowStructure& rows, int columns) {
  std::vector<std::vector<int>> neighbours(columns);
  for (int r = 0; r < rows.rows(); ++r) {
    for (int i : rows.of(r)) {
      for (int j : rows.of(r)) {
        if (i != j) neighbours[i].push_back(j);
      }
    }
  }
  Adjacency graph;
  for (auto& list : neighbours) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    graph.neighbour.insert(graph.neighbour.end(), list.begin(), list.end());
    graph.start.push_back(static_cast<int>(graph.neighbour.size()));
  }
  return graph;
}

}  // namespace kinegraph::linear
