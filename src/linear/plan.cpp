#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kinegraph/linear/assembly_tree.hpp"
#include "kinegraph/linear/ldlt.hpp"
#include "kinegraph/linear/matching.hpp"
#include "kinegraph/linear/pivoting.hpp"

namespace kinegraph::linear {

// From a pattern and representative values to a fixed list of dense fronts:
//
//   1. matching:   rows with a weak diagonal are paired with the row they will be pivoted against        matching.cpp
//   2. ordering:   on the graph in which each pair is one node, so that no ordering can part it          ordering.cpp
//   3. tree:       elimination tree, columns of like structure merged to fronts assembly_tree.cpp
//   4. pivots:     one elimination of the representative values with threshold pivoting                  pivoting.cpp
//   5. layout:     where each entry of K, each panel of L and each update goes                           below
namespace {

/// K's graph with the rows of a pair as one node.
struct CompressedGraph {
  Adjacency graph;
  std::vector<int> node_of;                // per row of K
  std::vector<int> first_row, second_row;  // per node; second −1 for a single
  std::vector<int> weight;

  CompressedGraph(const SymmetricPattern& pattern, std::span<const int> partner) : node_of(pattern.size(), -1) {
    for (int i = 0; i < pattern.size(); ++i) {
      if (partner[i] < i) continue;
      node_of[i] = node_of[partner[i]] = static_cast<int>(weight.size());
      first_row.push_back(i);
      second_row.push_back(partner[i] == i ? -1 : partner[i]);
      weight.push_back(partner[i] == i ? 1 : 2);
    }
    std::vector<std::vector<int>> neighbours(weight.size());
    for (int j = 0; j < pattern.size(); ++j) {
      for (int k = pattern.start[j]; k < pattern.start[j + 1]; ++k) {
        const int a = node_of[pattern.row[k]], b = node_of[j];
        if (a == b) continue;
        neighbours[a].push_back(b);
        neighbours[b].push_back(a);
      }
    }
    for (auto& list : neighbours) {
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
      graph.neighbour.insert(graph.neighbour.end(), list.begin(), list.end());
      graph.start.push_back(static_cast<int>(graph.neighbour.size()));
    }
  }

  /// Nodes in the order in which the first of their rows appears.
  std::vector<int> nodes_in(std::span<const int> row_order) const {
    std::vector<int> nodes;
    std::vector<char> seen(weight.size(), 0);
    for (int row : row_order) {
      if (std::exchange(seen[node_of[row]], 1) == 0) nodes.push_back(node_of[row]);
    }
    return nodes;
  }

  RowStructure compressed(const RowStructure& rows) const {
    RowStructure out = rows;
    for (int& c : out.column) c = node_of[c];
    return out;
  }
};

std::vector<int> elimination_order(const CompressedGraph& c, const PlanOptions& options) {
  switch (options.ordering) {
    case OrderingMethod::natural:
      return c.nodes_in(natural_order(static_cast<int>(c.node_of.size())));
    case OrderingMethod::colamd:
      return options.rows.empty() ? colamd_order(c.graph)
                                  : colamd_order(c.compressed(options.rows), static_cast<int>(c.weight.size()));
    case OrderingMethod::amd:
      return amd_order(c.graph);
    case OrderingMethod::metis:
      return metis_order(c.graph, c.weight);
    case OrderingMethod::user:
      return c.nodes_in(options.user_order);
  }
  return {};
}

std::vector<ProposedFront> propose(const CompressedGraph& c, const AssemblyTree& tree) {
  std::vector<ProposedFront> fronts(tree.nodes.size());
  for (std::size_t f = 0; f < fronts.size(); ++f) {
    fronts[f].parent = tree.nodes[f].parent;
    for (int node : tree.nodes[f].members) {
      fronts[f].rows.push_back(c.first_row[node]);
      if (c.second_row[node] >= 0) fronts[f].rows.push_back(c.second_row[node]);
    }
  }
  return fronts;
}

/// Work space for updates that live from their front to their parent's: first fit among the gaps.
class WorkSpace {
 public:
  std::int64_t take(std::int64_t size) {
    if (size == 0) return 0;
    std::int64_t at = 0;
    auto next = used_.begin();
    for (; next != used_.end() && next->first - at < size; ++next) at = next->second;
    used_.insert(next, {at, at + size});
    end_ = std::max(end_, at + size);
    return at;
  }
  void release(std::int64_t at, std::int64_t size) {
    if (size == 0) return;
    used_.erase(std::find(used_.begin(), used_.end(), std::pair{at, at + size}));
  }
  std::int64_t end() const { return end_; }

 private:
  std::vector<std::pair<std::int64_t, std::int64_t>> used_;  // [from, to), sorted
  std::int64_t end_ = 0;
};

/// Multiplications and additions to eliminate p of m rows: Σ over pivots of (r + r (r+1)) with r rows left.
double front_flops(const Front& f) {
  double flops = 0;
  for (int k = 0; k < f.pivots; ++k) {
    const double r = f.size - k - 1;
    flops += r + r * (r + 1);
  }
  return flops;
}

Failure bad_pattern(const std::string& why) { return Failure::bad_input("linear system: " + why); }

}  // namespace

Result<Plan> Plan::make(SymmetricPattern pattern, std::span<const double> values, PlanOptions options) {
  const int n = pattern.size();
  if (static_cast<int>(pattern.start.size()) != n + 1 || pattern.start.front() != 0 ||
      pattern.start.back() != pattern.entries() || !std::is_sorted(pattern.start.begin(), pattern.start.end())) {
    return bad_pattern(
        fmt::format("column starts must be {} increasing numbers from 0 to {}", n + 1, pattern.entries()));
  }
  for (int row : pattern.row) {
    if (row < 0 || row >= n) return bad_pattern(fmt::format("rows must be from 0 to {}, one is {}", n - 1, row));
  }
  if (static_cast<int>(values.size()) != pattern.entries()) {
    return bad_pattern(fmt::format("must have {} values, has {}", pattern.entries(), values.size()));
  }
  if (std::any_of(options.rows.column.begin(), options.rows.column.end(), [&](int c) { return c < 0 || c >= n; })) {
    return bad_pattern(fmt::format("columns of the row structure must be from 0 to {}", n - 1));
  }
  if (!(options.pivot_threshold > 0 && options.pivot_threshold <= 0.5)) {
    return bad_pattern(fmt::format("pivot_threshold: must be in (0, 0.5], is {}", options.pivot_threshold));
  }
  if (options.ordering == OrderingMethod::user) {
    if (auto order = user_order(options.user_order, n); !order) return order.failure();
  }
  Plan plan;
  plan.pattern_ = std::move(pattern);
  plan.options_ = std::move(options);
  plan.choose(values);
  return plan;
}

void Plan::refresh(std::span<const double> values) { choose(values); }

void Plan::choose(std::span<const double> values) {
  const Pairing pairing = pair_pivots(pattern_, values);
  const CompressedGraph compressed(pattern_, pairing.partner);
  const AssemblyTree tree = assembly_tree(compressed.graph, compressed.weight, elimination_order(compressed, options_));
  const std::vector<ProposedFront> proposed = propose(compressed, tree);
  const Pivoting pivoting =
      choose_pivots(pattern_, values, pairing.scale, pairing.partner, proposed, options_.pivot_threshold);

  cost_ = {};
  cost_.delayed = pivoting.delayed;
  definite_ = pivoting.definite;
  lay_out_order(pivoting, pairing.scale);
  lay_out_fronts(proposed, pivoting);
  lay_out_entries();
  ++version_;
}

void Plan::lay_out_order(const Pivoting& pivoting, std::span<const double> scale) {
  order_.clear();
  pivot_.clear();
  chosen_.clear();
  scale_.clear();
  front_of_.clear();
  for (std::size_t f = 0; f < pivoting.fronts.size(); ++f) {
    const PivotedFront& front = pivoting.fronts[f];
    order_.insert(order_.end(), front.pivots.begin(), front.pivots.end());
    pivot_.insert(pivot_.end(), front.kinds.begin(), front.kinds.end());
    chosen_.insert(chosen_.end(), front.sizes.begin(), front.sizes.end());
    front_of_.insert(front_of_.end(), front.pivots.size(), static_cast<int>(f));
  }
  position_ = inverse_order(order_);
  for (int row : order_) scale_.push_back(scale[row]);
  cost_.pairs = static_cast<int>(std::count(pivot_.begin(), pivot_.end(), PivotKind::pair_first));
}

void Plan::lay_out_fronts(std::span<const ProposedFront> proposed, const Pivoting& pivoting) {
  fronts_.assign(proposed.size(), {});
  front_rows_.clear();
  factor_size_ = 0;
  WorkSpace space;
  int first = 0;
  for (std::size_t f = 0; f < fronts_.size(); ++f) {
    const PivotedFront& pivoted = pivoting.fronts[f];
    Front& front = fronts_[f];
    front.first_pivot = first;
    front.pivots = static_cast<int>(pivoted.pivots.size());
    front.size = front.pivots + static_cast<int>(pivoted.border.size());
    front.rows = static_cast<std::int64_t>(front_rows_.size());
    for (int k = 0; k < front.pivots; ++k) front_rows_.push_back(first + k);
    for (int row : pivoted.border) front_rows_.push_back(position_[row]);
    std::sort(front_rows_.begin() + front.rows + front.pivots, front_rows_.end());
    first += front.pivots;

    front.panel = factor_size_;
    factor_size_ += std::int64_t{front.size} * front.pivots;
    front.schur = space.take(std::int64_t{front.border()} * front.border());
    for (int c = front.first_child; c >= 0; c = fronts_[c].next_sibling) {
      space.release(fronts_[c].schur, std::int64_t{fronts_[c].border()} * fronts_[c].border());
    }
    front.parent = proposed[f].parent;
    if (front.parent >= 0) {
      front.next_sibling = fronts_[front.parent].first_child;
      fronts_[front.parent].first_child = static_cast<int>(f);
    }
    cost_.flops += front_flops(front);
    cost_.largest_front = std::max(cost_.largest_front, front.size);
  }
  work_size_ = space.end();
  cost_.fronts = static_cast<int>(fronts_.size());
  cost_.fill = factor_size_ + size();

  relative_.clear();
  std::vector<int> place(size(), -1);
  for (const Front& parent : fronts_) {
    const auto rows = front_rows(parent);
    for (std::size_t i = 0; i < rows.size(); ++i) place[rows[i]] = static_cast<int>(i);
    for (int c = parent.first_child; c >= 0; c = fronts_[c].next_sibling) {
      fronts_[c].relative = static_cast<std::int64_t>(relative_.size());
      for (int row : front_rows(fronts_[c]).subspan(fronts_[c].pivots)) relative_.push_back(place[row]);
    }
  }
}

/// Entry (i, j) of K belongs to the front that eliminates the earlier of the two, in that pivot's column.
void Plan::lay_out_entries() {
  target_.resize(pattern_.entries());
  std::vector<std::vector<std::pair<int, int>>> waiting(fronts_.size());  // (entry, later position)
  const auto earlier = [&](int i, int j) { return std::min(position_[i], position_[j]); };
  for (int j = 0; j < size(); ++j) {
    for (int k = pattern_.start[j]; k < pattern_.start[j + 1]; ++k) {
      const int i = pattern_.row[k], column = earlier(i, j);
      const Front& front = fronts_[front_of_[column]];
      target_[k] = front.panel + std::int64_t{column - front.first_pivot} * front.size;
      waiting[front_of_[column]].emplace_back(k, std::max(position_[i], position_[j]));
    }
  }
  std::vector<int> place(size(), -1);
  for (std::size_t f = 0; f < fronts_.size(); ++f) {
    const auto rows = front_rows(fronts_[f]);
    for (std::size_t i = 0; i < rows.size(); ++i) place[rows[i]] = static_cast<int>(i);
    for (const auto& [entry, later] : waiting[f]) target_[entry] += place[later];
  }
}

}  // namespace kinegraph::linear
