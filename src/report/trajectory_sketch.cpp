#include "kinegraph/report/trajectory_sketch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kinegraph::report {
namespace {

using Mark = SketchNode::Shape;

constexpr double kHalfStep = 210, kRow = 70;

class TrajectoryPainter {
 public:
  TrajectoryPainter(const TrajectoryGraph& graph, const linear::EliminationGame& game, bool bayes)
      : graph_(graph), game_(game), bayes_(bayes) {
    const bool middles =
        std::any_of(graph.variables.begin(), graph.variables.end(), [](const auto& v) { return v.half_step % 2 == 1; });
    half_step_ = middles ? kHalfStep : 0.75 * kHalfStep;
  }

  Sketch paint() {
    for (std::size_t v = 0; v < graph_.variables.size(); ++v) add_variable(static_cast<int>(v));
    for (std::size_t f = 0; f < game_.factors.size(); ++f) {
      if (!game_.used[f] && !(bayes_ && all_known(game_.factors[f].variables))) add_factor(static_cast<int>(f));
    }
    for (const auto& [child, parent] : game_.edges()) sketch_.edges.push_back({parent, child, true, false, {}});
    for (int k = 0; k < graph_.knots; ++k) {
      sketch_.texts.push_back({fmt::format("knot {}", k), {2 * k * half_step_, -38}, 11});
    }
    sketch_.legend = {"the index behind the symbol is the knot; ½: the middle between two"};
    if (!game_.steps.empty())
      sketch_.legend.push_back("arrow: the variable at its tip is computed from that at its tail");
    route(sketch_);
    return std::move(sketch_);
  }

 private:
  /// Nothing is computed from such a factor.
  bool all_known(const std::vector<int>& variables) const {
    return std::all_of(variables.begin(), variables.end(), [&](int v) { return graph_.variables[v].known; });
  }

  Spot place(const TrajectoryGraph::Variable& v) const { return {v.half_step * half_step_, v.row * kRow}; }

  void add_variable(int index) {
    const auto& v = graph_.variables[index];
    SketchNode node;
    node.shape = !v.known ? Mark::variable : bayes_ ? Mark::shaded : Mark::known;
    node.name = v.name;
    node.labels = {v.label};
    node.step = bayes_ ? 0 : game_.position[index] + 1;
    node.note = fmt::format("{}: {} number{}{}", v.name, v.size, v.size == 1 ? "" : "s", v.known ? ", known" : "");
    node.at = place(v);
    measure(node);
    sketch_.nodes.push_back(std::move(node));
  }

  /// Beside the column of a knot, or between two; as high as its variables are on the average, where there is room.
  Spot factor_place(const std::vector<int>& variables) const {
    double left = 1e9, right = -1e9, y = 0;
    for (const int v : variables) {
      const Spot p = place(graph_.variables[v]);
      left = std::min(left, p.x), right = std::max(right, p.x);
      y += p.y / static_cast<double>(variables.size());
    }
    const double x = right > left ? (left + right) / 2 : left + 0.36 * half_step_;
    const bool on_middle = std::any_of(sketch_.nodes.begin(), sketch_.nodes.end(), [&](const SketchNode& n) {
      return n.half_width > 12 && std::abs(n.at.x - x) < 1;
    });
    return {on_middle ? x - 0.4 * half_step_ : x, y};
  }

  void add_factor(int index) {
    const bool given = index < static_cast<int>(graph_.factors.size());
    const auto& variables = given ? graph_.factors[index].variables : game_.factors[index].variables;
    SketchNode node;
    node.shape = given ? Mark::factor : Mark::created;
    node.name = given ? graph_.factors[index].name : fmt::format("new {}", index - graph_.factors.size() + 1);
    while (sketch_.find(node.name) >= 0) node.name += "'";
    node.note = fmt::format("{}: {} rows", node.name, game_.factors[index].rows);
    node.at = factor_place(variables);
    measure(node);
    const Spot wanted = node.at;
    for (int k = 0; !free(node); ++k) node.at.y = wanted.y + (k % 2 == 0 ? 1 : -1) * 12 * (k / 2 + 1);
    const int self = static_cast<int>(sketch_.nodes.size());
    sketch_.nodes.push_back(std::move(node));
    for (const int v : variables) sketch_.edges.push_back({self, v, false, !given, {}});
  }

  bool free(const SketchNode& node) const {
    return std::all_of(sketch_.nodes.begin(), sketch_.nodes.end(),
                       [&](const SketchNode& other) { return other.distance(node.at) > node.half_width + 14; });
  }

  const TrajectoryGraph& graph_;
  const linear::EliminationGame& game_;
  bool bayes_;
  double half_step_ = kHalfStep;
  Sketch sketch_;
};

}  // namespace

Sketch trajectory_sketch(const TrajectoryGraph& graph, const linear::EliminationGame& game, bool bayes) {
  return TrajectoryPainter(graph, game, bayes).paint();
}

}  // namespace kinegraph::report
