#include <fmt/format.h>

#include <algorithm>

#include "kinegraph/report/instant_sketch.hpp"

namespace kinegraph::report {
namespace {

using Mark = SketchNode::Shape;

constexpr double kLevel = 104, kGap = 22;
constexpr std::size_t kMostLabels = 9;

class CliquePainter {
 public:
  CliquePainter(const linear::EliminationGame& game, const std::vector<Label>& labels)
      : game_(game), labels_(labels), tree_(clique_tree(game)), children_(tree_.size()) {}

  Sketch paint() {
    std::vector<int> roots;
    for (std::size_t c = 0; c < tree_.size(); ++c) {
      add_clique(static_cast<int>(c));
      (tree_[c].parent < 0 ? roots : children_[tree_[c].parent]).push_back(static_cast<int>(c));
    }
    for (std::size_t c = 0; c < tree_.size(); ++c) add_separator(static_cast<int>(c));
    place();
    double left = 0;
    for (const int root : roots) {
      shift(root, left);
      left += span_[root] + kGap;
    }
    sketch_.legend = {
        "box: a clique, the variables that are eliminated there, then after | those that they are computed from",
        "small box: the separator, all that the part below needs from above; branches beside each other can be "
        "eliminated in parallel"};
    route(sketch_);
    return std::move(sketch_);
  }

 private:
  std::vector<Label> some(const std::vector<int>& variables) const {
    std::vector<Label> list;
    for (const int v : variables) {
      if (list.size() + 1 == kMostLabels && variables.size() > kMostLabels) {
        list.push_back({fmt::format("… ({} in all)", variables.size()), ""});
        break;
      }
      list.push_back(labels_[v]);
    }
    return list;
  }

  void add_clique(int c) {
    SketchNode node;
    node.shape = Mark::clique;
    node.labels = some(tree_[c].frontal);
    node.bar = tree_[c].parents.empty() ? -1 : static_cast<int>(node.labels.size());
    for (const Label& l : some(tree_[c].parents)) node.labels.push_back(l);
    node.name = fmt::format("clique {}", c + 1);
    int numbers = 0;
    for (const int v : tree_[c].frontal) numbers += game_.incidence.size[v];
    for (const int v : tree_[c].parents) numbers += game_.incidence.size[v];
    node.note = fmt::format("{} variables, {} numbers", tree_[c].frontal.size() + tree_[c].parents.size(), numbers);
    measure(node);
    sketch_.nodes.push_back(std::move(node));
  }

  void add_separator(int c) {
    separator_.push_back(-1);
    if (tree_[c].parent < 0) return;
    SketchNode node;
    node.shape = Mark::separator;
    node.labels = some(tree_[c].separator);
    node.name = fmt::format("separator {}", c + 1);
    measure(node);
    separator_.back() = static_cast<int>(sketch_.nodes.size());
    sketch_.nodes.push_back(std::move(node));
    sketch_.edges.push_back({tree_[c].parent, separator_.back(), false, false, {}});
    sketch_.edges.push_back({separator_.back(), c, false, false, {}});
  }

  /// From the leaves: how wide each part is; then, from the root, where it stands. Children come after their parents.
  void place() {
    const int n = static_cast<int>(tree_.size());
    span_.assign(n, 0);
    offset_.assign(n, 0);
    for (int c = n - 1; c >= 0; --c) {
      double own = 2 * sketch_.nodes[c].half_width;
      if (separator_[c] >= 0) own = std::max(own, 2 * sketch_.nodes[separator_[c]].half_width);
      double below = 0;
      for (const int child : children_[c]) below += span_[child] + (below > 0 ? kGap : 0);
      span_[c] = std::max(own, below);
      double x = (span_[c] - below) / 2;
      for (const int child : children_[c]) {
        offset_[child] = x;
        x += span_[child] + kGap;
      }
    }
  }

  void shift(int root, double left) {
    std::vector<std::pair<int, double>> waiting{{root, left}};  // clique, left edge of its part
    std::vector<double> level(tree_.size(), 0);
    while (!waiting.empty()) {
      const auto [c, x] = waiting.back();
      waiting.pop_back();
      const double y = tree_[c].parent < 0 ? 0 : level[c];
      sketch_.nodes[c].at = {x + span_[c] / 2, y};
      if (separator_[c] >= 0) sketch_.nodes[separator_[c]].at = {x + span_[c] / 2, y - kLevel / 2};
      for (const int child : children_[c]) {
        level[child] = y + kLevel;
        waiting.emplace_back(child, x + offset_[child]);
      }
    }
  }

  const linear::EliminationGame& game_;
  const std::vector<Label>& labels_;
  std::vector<linear::Clique> tree_;
  std::vector<std::vector<int>> children_;
  std::vector<int> separator_;
  std::vector<double> span_, offset_;
  Sketch sketch_;
};

}  // namespace

Sketch clique_sketch(const linear::EliminationGame& game, const std::vector<Label>& labels) {
  return CliquePainter(game, labels).paint();
}

}  // namespace kinegraph::report
