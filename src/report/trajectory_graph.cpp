#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "kinegraph/report/trajectory_sketch.hpp"

namespace kinegraph::report {
namespace {

constexpr int kMostJoints = 4;

bool is_state(Kind kind) {
  return kind == Kind::position || kind == Kind::velocity || kind == Kind::independent_position ||
         kind == Kind::independent_velocity;
}

bool is_independent(Kind kind) {
  return kind == Kind::independent_position || kind == Kind::independent_velocity ||
         kind == Kind::independent_acceleration;
}

/// Writes a chain out. Variables without numbers are left out.
class ChainWriter {
 public:
  ChainWriter(const Chain& chain, int knots) : chain_(chain), knots_(knots) { graph_.knots = knots; }

  TrajectoryGraph run() {
    number_rows();
    for (int k = 0; k < knots_; ++k) {
      for (std::size_t v = 0; v < chain_.knot().size(); ++v) add_knot(static_cast<int>(v), k);
      if (k + 1 == knots_) break;
      for (std::size_t v = 0; v < chain_.middle().size(); ++v) add_middle(static_cast<int>(v), k);
    }
    for (int k = 0; k < knots_; ++k) {
      for (const ChainFactor& f : chain_.knot_factors()) add_factor(f, k);
      if (k + 1 == knots_) break;
      for (const ChainFactor& f : chain_.link_factors()) add_factor(f, k);
    }
    return std::move(graph_);
  }

 private:
  void number_rows() {
    for (const ChainVariable& v : chain_.knot()) {
      if (v.size > 0) row_.emplace(v.name, static_cast<int>(row_.size()));
    }
    for (const ChainVariable& v : chain_.middle()) {
      if (v.size > 0) row_.emplace(v.name, static_cast<int>(row_.size()));
    }
  }

  void add(const ChainVariable& v, const Key& key, bool known, std::map<std::pair<int, int>, int>& place, int index,
           int k, int half_step) {
    if (v.size == 0) return;
    Label l = label(key);
    if (key.element > 0) l = {v.kind == Kind::user ? v.name : l.symbol + "*", std::to_string(key.step)};
    if (v.kind == Kind::user && key.element == 0) l.symbol = v.name.substr(0, 1);
    place[{index, k}] = static_cast<int>(graph_.variables.size());
    graph_.variables.push_back({l, fmt::format("{} {}{}", v.name, k, key.half ? ".5" : ""), v.size, known,
                                row_.at(v.name), half_step, is_independent(v.kind)});
  }

  void add_knot(int index, int k) {
    const ChainVariable& v = chain_.knot()[index];
    add(v, knot_key(chain_, index, k), v.known || (k == 0 && is_state(v.kind)), knot_place_, index, k, 2 * k);
  }

  void add_middle(int index, int k) {
    const ChainVariable& v = chain_.middle()[index];
    add(v, middle_key(chain_, index, k), v.known, middle_place_, index, k, 2 * k + 1);
  }

  void add_factor(const ChainFactor& f, int k) {
    TrajectoryGraph::Factor factor{fmt::format("{} at {}", f.factor->name(), k), f.factor->rows(), {}};
    for (const ChainSlot& slot : f.slots) {
      const auto& place = slot.place == Place::middle ? middle_place_ : knot_place_;
      const auto found = place.find({slot.variable, k + (slot.place == Place::to ? 1 : 0)});
      if (found != place.end()) factor.variables.push_back(found->second);
    }
    if (factor.rows > 0 && !factor.variables.empty()) graph_.factors.push_back(std::move(factor));
  }

  const Chain& chain_;
  int knots_;
  std::map<std::string, int> row_;
  std::map<std::pair<int, int>, int> knot_place_, middle_place_;
  TrajectoryGraph graph_;
};

}  // namespace

TrajectoryGraph trajectory_graph(const Chain& chain, int knots) { return ChainWriter(chain, knots).run(); }

TrajectoryGraph trajectory_graph(const screw::Tree& tree, int knots) {
  struct Block {
    std::string index, name;
    int freedoms;
  };
  std::vector<Block> blocks;
  const auto& coordinates = tree.coordinates();
  if (static_cast<int>(coordinates.size()) <= kMostJoints) {
    for (std::size_t c = 0; c < coordinates.size(); ++c) {
      blocks.push_back({std::to_string(c + 1) + ",", coordinates[c].name, coordinates[c].freedoms});
    }
  } else {
    blocks.push_back({"", "all joints", tree.freedoms()});
  }

  static const char* const kSymbols[] = {"q", "v", "a", "τ"};
  TrajectoryGraph graph;
  graph.knots = knots;
  const int n = static_cast<int>(blocks.size());
  const auto variable = [&](int knot, int block, int what) { return (knot * n + block) * 4 + what; };
  for (int k = 0; k < knots; ++k) {
    for (int b = 0; b < n; ++b) {
      for (int what = 0; what < 4; ++what) {
        graph.variables.push_back({{kSymbols[what], blocks[b].index + std::to_string(k)},
                                   fmt::format("{} of {} at {}", kSymbols[what], blocks[b].name, k),
                                   blocks[b].freedoms,
                                   what == 3 || (k == 0 && what < 2),
                                   4 * b + what,
                                   2 * k,
                                   false});
      }
    }
  }
  for (int k = 0; k < knots; ++k) {
    TrajectoryGraph::Factor dynamics{fmt::format("dynamics at {}", k), tree.freedoms(), {}};
    for (int b = 0; b < n; ++b) {
      for (int what = 0; what < 4; ++what) dynamics.variables.push_back(variable(k, b, what));
    }
    graph.factors.push_back(std::move(dynamics));
    if (k + 1 == knots) break;
    for (int b = 0; b < n; ++b) {
      for (const int what : {0, 1}) {
        graph.factors.push_back(
            {fmt::format("trapezoidal {} of {} at {}", kSymbols[what], blocks[b].name, k),
             blocks[b].freedoms,
             {variable(k, b, what), variable(k, b, what + 1), variable(k + 1, b, what), variable(k + 1, b, what + 1)}});
      }
    }
  }
  return graph;
}

linear::Incidence incidence(const TrajectoryGraph& graph, bool with_known) {
  linear::Incidence result;
  for (const auto& v : graph.variables) result.size.push_back(v.size);
  for (const auto& f : graph.factors) {
    linear::Incidence::Factor factor{f.rows, {}};
    for (const int v : f.variables) {
      if (with_known || !graph.variables[v].known) factor.variables.push_back(v);
    }
    result.factors.push_back(std::move(factor));
  }
  return result;
}

std::vector<std::vector<int>> time_order(const TrajectoryGraph& graph) {
  std::vector<int> unknown;
  for (std::size_t v = 0; v < graph.variables.size(); ++v) {
    if (!graph.variables[v].known) unknown.push_back(static_cast<int>(v));
  }
  std::stable_sort(unknown.begin(), unknown.end(), [&](int a, int b) {
    const auto &x = graph.variables[a], &y = graph.variables[b];
    // the middle of an interval goes with the knot at its end
    const int when_x = (x.half_step + 1) / 2, when_y = (y.half_step + 1) / 2;
    if (when_x != when_y) return when_x > when_y;
    if (x.half_step != y.half_step) return x.half_step > y.half_step;
    if (x.independent != y.independent) return y.independent;
    return x.row > y.row;
  });
  std::vector<std::vector<int>> order;
  for (const int v : unknown) order.push_back({v});
  return order;
}

}  // namespace kinegraph::report
