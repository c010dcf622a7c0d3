#include "kinegraph/linear/assembly_tree.hpp"

#include <algorithm>
#include <numeric>

namespace kinegraph::linear {

// In the filled graph the parent of step k is its first later neighbour (the elimination tree, Liu 1990). Row k of L is
// the subtree that one reaches by climbing from k's earlier neighbours towards k: one walk gives the sizes of all
// columns of L. Columns of nearly the same structure are then merged, for dense blocks run faster than sparse ones.
namespace {

std::vector<int> elimination_tree(const Adjacency& graph, std::span<const int> order, std::span<const int> position) {
  const int n = graph.size();
  std::vector<int> parent(n, -1), ancestor(n, -1);
  for (int k = 0; k < n; ++k) {
    for (int neighbour : graph.of(order[k])) {
      for (int i = position[neighbour]; i >= 0 && i < k;) {
        const int next = ancestor[i];
        ancestor[i] = k;
        if (next < 0) parent[i] = k;
        i = next;
      }
    }
  }
  return parent;
}

/// Unknowns below the diagonal block of each column of L.
std::vector<int> border_sizes(const Adjacency& graph, std::span<const int> weight, std::span<const int> order,
                              std::span<const int> position, std::span<const int> parent) {
  const int n = graph.size();
  std::vector<int> border(n, 0), seen(n, -1);
  for (int k = 0; k < n; ++k) {
    seen[k] = k;
    for (int neighbour : graph.of(order[k])) {
      for (int i = position[neighbour]; i < k && seen[i] != k; i = parent[i]) {
        seen[i] = k;
        border[i] += weight[order[k]];
      }
    }
  }
  return border;
}

struct Merged {
  double width = 0, border = 0, zeros = 0;
};

/// What `child` and `parent` become in one block. Child columns gain the rows of the parent that they lacked.
Merged merge(const Merged& child, const Merged& parent) {
  const double gained = child.width * (parent.width + parent.border - child.border);
  return {child.width + parent.width, parent.border, child.zeros + parent.zeros + gained};
}

/// Zeros stored are the price of fewer, larger blocks; small blocks may waste more.
bool worthwhile(const Merged& m) {
  const double entries = m.width * (m.width + 1) / 2 + m.width * m.border;
  const double share = m.zeros / entries;
  return m.zeros <= 0 || (m.width <= 4 && share < 0.6) || (m.width <= 16 && share < 0.3) ||
         (m.width <= 48 && share < 0.1) || share < 0.03;
}

std::vector<int> postorder(std::span<const int> parent) {
  const int n = static_cast<int>(parent.size());
  std::vector<int> first_child(n, -1), sibling(n, -1), order;
  std::vector<int> stack;
  for (int k = n - 1; k >= 0; --k) {
    if (parent[k] < 0) {
      stack.push_back(k);
    } else {
      sibling[k] = first_child[parent[k]];
      first_child[parent[k]] = k;
    }
  }
  order.reserve(n);
  while (!stack.empty()) {
    const int k = stack.back();
    if (const int child = first_child[k]; child >= 0) {
      first_child[k] = sibling[child];
      stack.push_back(child);
    } else {
      stack.pop_back();
      order.push_back(k);
    }
  }
  return order;
}

}  // namespace

AssemblyTree assembly_tree(const Adjacency& graph, std::span<const int> weight, std::span<const int> order) {
  const int n = graph.size();
  const std::vector<int> position = inverse_order(order);
  const std::vector<int> parent = elimination_tree(graph, order, position);
  const std::vector<int> border = border_sizes(graph, weight, order, position, parent);

  // Children stand before parents, so each step k has taken in all it will when its own turn to merge comes.
  std::vector<Merged> block(n);
  std::vector<int> into(n, -1);  // the step that k was merged into
  for (int k = 0; k < n; ++k) block[k] = {double(weight[order[k]]), double(border[k]), 0};
  for (int k = 0; k < n; ++k) {
    if (parent[k] < 0) continue;
    const Merged m = merge(block[k], block[parent[k]]);
    if (!worthwhile(m)) continue;
    block[parent[k]] = m;
    into[k] = parent[k];
  }

  // Every merged step belongs to the topmost step of its block.
  std::vector<int> top(n), block_parent, block_of(n, -1), tops;
  for (int k = n - 1; k >= 0; --k) top[k] = into[k] < 0 ? k : top[into[k]];
  for (int k = 0; k < n; ++k) {
    if (top[k] != k) continue;
    block_of[k] = static_cast<int>(tops.size());
    tops.push_back(k);
  }
  for (int k : tops) block_parent.push_back(parent[k] < 0 ? -1 : block_of[top[parent[k]]]);

  const std::vector<int> post = postorder(block_parent);
  const std::vector<int> place = inverse_order(post);
  AssemblyTree tree;
  tree.nodes.resize(tops.size());
  for (std::size_t b = 0; b < tops.size(); ++b) {
    tree.nodes[place[b]].parent = block_parent[b] < 0 ? -1 : place[block_parent[b]];
  }
  for (int k = 0; k < n; ++k) tree.nodes[place[block_of[top[k]]]].members.push_back(order[k]);
  return tree;
}

}  // namespace kinegraph::linear
