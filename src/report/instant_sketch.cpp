#include "kinegraph/report/instant_sketch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace kinegraph::report {
namespace {

using What = build::ScrewProblem::What;
using Equation = build::ScrewProblem::Equation;
using Mark = SketchNode::Shape;

constexpr double kColumn = 132, kLane = 92, kLaneGap = 76;

class InstantPainter {
 public:
  InstantPainter(const build::ScrewProblem& problem, const Skeleton& skeleton, const linear::EliminationGame& game,
                 bool show_known)
      : problem_(problem), skeleton_(skeleton), game_(game), show_known_(show_known), cells_(cells(skeleton)) {
    find_rows();
  }

  Sketch paint() {
    node_of_.assign(problem_.variables.size(), -1);
    for (std::size_t v = 0; v < problem_.variables.size(); ++v) add_variable(static_cast<int>(v));
    for (std::size_t f = 0; f < game_.factors.size(); ++f) {
      if (!game_.used[f]) add_factor(static_cast<int>(f));
    }
    for (const auto& [child, parent] : game_.edges()) {
      sketch_.edges.push_back({node_of_[parent], node_of_[child], true, false, {}});
    }
    add_names();
    add_legend();
    route(sketch_);
    return std::move(sketch_);
  }

 private:
  static int row_of(What what) {
    switch (what) {
      case What::torque:
        return 0;
      case What::wrench:
        return 1;
      case What::twist_acceleration:
        return 2;
      case What::acceleration:
        return 3;
    }
    return 0;
  }

  bool shown(const build::ScrewProblem::Variable& v) const { return !v.known || show_known_; }

  /// Rows of which nothing is shown take no room.
  void find_rows() {
    std::set<int> used;
    for (const auto& v : problem_.variables) {
      if (shown(v)) used.insert(row_of(v.what));
    }
    double y = 0;
    for (int r = 0; r < 4; ++r) {
      row_[r] = used.contains(r) || r == 1 || r == 2 ? y : (r == 0 ? -0.55 * kLane : y - 0.45 * kLane);
      if (used.contains(r) || r == 1 || r == 2) y += kLane;
    }
    lane_height_ = y - kLane + kLaneGap + 36;
  }

  Spot place(const Cell& cell, double column_offset, double row) const {
    return {cell.column * kColumn + column_offset * kColumn, cell.lane * lane_height_ + row};
  }

  /// The cell of a body or loop; the ground stands left of the first body.
  Cell cell(int owner) const {
    if (owner >= 0) return cells_[owner];
    for (int i = 0; i < skeleton_.bodies(); ++i) {
      if (skeleton_.parent[i] < 0) return {0, cells_[i].lane};
    }
    return {0, 0};
  }

  Spot variable_place(const build::ScrewProblem::Variable& v) const {
    const bool coordinate = v.what == What::torque || v.what == What::acceleration;
    const Cell at = cell(coordinate ? skeleton_.home(v.owner) : v.owner);
    return place(at, v.what == What::acceleration ? -0.5 : 0, row_[row_of(v.what)]);
  }

  void add_variable(int index) {
    const auto& v = problem_.variables[index];
    if (!shown(v)) return;
    SketchNode node;
    node.shape = v.known ? Mark::known : Mark::variable;
    node.name = v.name;
    node.labels = {label(v)};
    node.step = game_.position[index] + 1;
    node.note = fmt::format("{} of {}, {} number{}{}", kind(v.what), v.label, v.size, v.size == 1 ? "" : "s",
                            v.known ? ", known" : "");
    node.at = variable_place(v);
    measure(node);
    node_of_[index] = static_cast<int>(sketch_.nodes.size());
    sketch_.nodes.push_back(std::move(node));
  }

  static const char* kind(What what) {
    switch (what) {
      case What::torque:
        return "torque";
      case What::wrench:
        return "wrench through the joint";
      case What::twist_acceleration:
        return "twist acceleration";
      case What::acceleration:
        return "acceleration";
    }
    return "";
  }

  Spot factor_place(int index) const {
    if (index < static_cast<int>(problem_.factors.size())) {
      const auto& f = problem_.factors[index];
      switch (f.equation) {
        case Equation::acceleration:
          return place(cell(f.owner), -0.5, row_[2]);
        case Equation::wrench:
          return place(cell(f.owner), 0.5, row_[1]);
        case Equation::torque: {
          const Cell at = cell(skeleton_.home(f.owner));
          return place(at, 0, row_[0] < 0 ? row_[0] : (row_[0] + row_[1]) / 2);
        }
        case Equation::loop_acceleration:
          return place(cell(skeleton_.bodies() + f.owner), 0, row_[2]);
        case Equation::planar:
          return place(cell(skeleton_.bodies() + f.owner), 0.3, (row_[1] + row_[2]) / 2);
      }
    }
    Spot sum;
    const auto& variables = game_.factors[index].variables;
    for (const int v : variables) {
      const Spot p = variable_place(problem_.variables[v]);
      sum.x += p.x / static_cast<double>(variables.size());
      sum.y += p.y / static_cast<double>(variables.size());
    }
    return sum;
  }

  void add_factor(int index) {
    const bool given = index < static_cast<int>(problem_.factors.size());
    SketchNode node;
    node.shape = given ? Mark::factor : Mark::created;
    node.name = given ? problem_.factors[index].name : fmt::format("new {}", index - problem_.factors.size() + 1);
    node.note =
        fmt::format("{}: {} row{}", node.name, game_.factors[index].rows, game_.factors[index].rows == 1 ? "" : "s");
    node.at = factor_place(index);
    measure(node);
    if (!given) node.at = free_place(node);
    const int self = static_cast<int>(sketch_.nodes.size());
    sketch_.nodes.push_back(std::move(node));
    const auto& variables = given ? problem_.factors[index].variables : game_.factors[index].variables;
    for (const int v : variables) {
      if (node_of_[v] >= 0) sketch_.edges.push_back({self, node_of_[v], false, !given, {}});
    }
  }

  /// The nearest place around a node's own at which it stands clear of all others, and of the lines between them if
  /// there is such a place.
  Spot free_place(const SketchNode& node) const {
    const auto lines = game_.edges();
    for (const double room : {14., 8., 0.}) {
      for (double radius = 0; radius < 300; radius += 8) {
        for (int k = 0; k < 16; ++k) {
          const double angle = k * M_PI / 8 + 0.3;
          const Spot p{node.at.x + radius * std::cos(angle), node.at.y + radius * std::sin(angle)};
          const bool clear = std::all_of(sketch_.nodes.begin(), sketch_.nodes.end(), [&](const SketchNode& other) {
            return other.distance(p) > node.half_width + 12;
          });
          const bool off_lines = room == 0 || std::all_of(lines.begin(), lines.end(), [&](const auto& e) {
                                   return line_distance(p, variable_place(problem_.variables[e.first]),
                                                        variable_place(problem_.variables[e.second])) > room;
                                 });
          if (clear && off_lines) return p;
        }
      }
    }
    return node.at;
  }

  static double line_distance(Spot p, Spot a, Spot b) {
    const double dx = b.x - a.x, dy = b.y - a.y, squared = std::max(1.0, dx * dx + dy * dy);
    const double t = std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / squared, 0.0, 1.0);
    return std::hypot(p.x - a.x - t * dx, p.y - a.y - t * dy);
  }

  /// Names of joints above their columns; where there are lanes beside the way that edges take from lane to lane.
  void add_names() {
    bool torques = false, equations = false;  // what stands above the wrenches
    for (const auto& v : problem_.variables) torques |= v.what == What::torque && shown(v);
    for (std::size_t f = 0; f < problem_.factors.size(); ++f) {
      equations |= problem_.factors[f].equation == Equation::torque && !game_.used[f];
    }
    const double top = torques || equations ? std::min(row_[0], row_[1]) : row_[1];
    const bool lanes = std::any_of(cells_.begin(), cells_.end(), [](const Cell& c) { return c.lane > 0; });
    const auto add = [&](int owner, std::string name) {
      if (width(name) * 11 > kColumn - 16) name = name.substr(0, 14) + "…";
      Spot at = place(cell(owner), 0, top - 32);
      if (lanes) at = {at.x + 14 + width(name) * 11 / 2, at.y + 8};
      sketch_.texts.push_back({std::move(name), at, 11});
    };
    for (int i = 0; i < skeleton_.bodies(); ++i) add(i, skeleton_.names[i]);
    for (std::size_t l = 0; l < skeleton_.loops.size(); ++l) {
      add(skeleton_.bodies() + static_cast<int>(l), skeleton_.loops[l].name);
    }
  }

  void add_legend() {
    sketch_.legend = {"τ torque, F wrench through a joint, V̇ twist acceleration of a body, θ̈ acceleration of a joint"};
    if (!game_.steps.empty()) {
      sketch_.legend.push_back(
          "small number: step of the elimination; arrow: the variable at its tip is computed from that at its tail");
    }
  }

  const build::ScrewProblem& problem_;
  const Skeleton& skeleton_;
  const linear::EliminationGame& game_;
  bool show_known_;
  std::vector<Cell> cells_;
  double row_[4] = {};
  double lane_height_ = 0;
  std::vector<int> node_of_;
  Sketch sketch_;
};

}  // namespace

std::vector<std::string> facts(const linear::EliminationGame& game) {
  const int width = game.width(), numbers = game.width_in_numbers();
  return {fmt::format("{} edges, {} of them fill, {:.0f} flops with dense fronts, tree width {} variables ({} numbers)",
                      game.edges().size(), game.fill(), game.flops(), width, numbers)};
}

Sketch instant_sketch(const build::ScrewProblem& problem, const Skeleton& skeleton, const linear::EliminationGame& game,
                      bool show_known) {
  return InstantPainter(problem, skeleton, game, show_known).paint();
}

}  // namespace kinegraph::report
