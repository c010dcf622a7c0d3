#include "kinegraph/report/motion_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "kinegraph/report/page.hpp"

namespace kinegraph::report {
namespace {

using Json = nlohmann::ordered_json;

/// "position constraint at 2" is of knot 2; −1: a name without one.
int knot_of(const std::string& name) {
  const std::size_t at = name.rfind(' ');
  if (at == std::string::npos || at + 1 >= name.size() || name[at + 1] < '0' || name[at + 1] > '9') return -1;
  return std::atoi(name.c_str() + at + 1);
}

std::string kind_of(const std::string& name) {
  for (const char* kind : {"position constraint", "velocity constraint", "trapezoidal"}) {
    if (name.starts_with(kind)) return kind;
  }
  return "";
}

/// The pattern of factors by variables, in the order given.
Json before(const linear::EliminationGame& game, const std::vector<std::string>& variables,
            const std::vector<std::string>& factors) {
  Json json{{"title", "equations by unknowns, as the graph has them"}, {"rows", factors}, {"columns", variables}};
  Json cells = Json::array();
  for (std::size_t f = 0; f < game.incidence.factors.size(); ++f) {
    for (const int v : game.incidence.factors[f].variables) cells.push_back({f, v});
  }
  json["cells"] = std::move(cells);
  return json;
}

/// The pattern of the triangular factor: a row per unknown in the order of elimination.
Json after(const linear::EliminationGame& game, const std::vector<std::string>& variables) {
  std::vector<int> order, place(variables.size(), -1);
  for (const linear::EliminationStep& step : game.steps) {
    for (const int v : step.variables) place[v] = static_cast<int>(order.size()), order.push_back(v);
  }
  std::set<std::pair<int, int>> joined;  // that stand in an equation together
  for (const auto& factor : game.incidence.factors) {
    for (const int a : factor.variables) {
      for (const int b : factor.variables) joined.emplace(a, b);
    }
  }
  std::vector<std::string> names;
  Json cells = Json::array(), fill = Json::array();
  for (const int v : order) {
    names.push_back(variables[v]);
    cells.push_back({place[v], place[v]});
  }
  for (const auto& [child, parent] : game.edges()) {
    if (place[child] < 0 || place[parent] < 0) continue;
    (joined.contains({child, parent}) ? cells : fill).push_back({place[child], place[parent]});
  }
  return {{"title", fmt::format("after elimination, in its order: {} blocks, {} of them new (orange)",
                                cells.size() + fill.size(), fill.size())},
          {"rows", names},
          {"columns", names},
          {"cells", std::move(cells)},
          {"fill", std::move(fill)}};
}

}  // namespace

Json motion_graph(const TrajectoryGraph& graph, const Trajectory& trajectory, const Residuals& residuals) {
  const linear::EliminationGame game = linear::play(incidence(graph, false), time_order(graph), 0);
  Sketch sketch = trajectory_sketch(graph, game, false);
  sketch.title = fmt::format("Factor graph: {} of {} instants", graph.knots, trajectory.samples());
  sketch.legend.emplace_back("circles are unknown, squares known, dots are equations");
  const double from = trajectory.times().front(), length = trajectory.times().back() - from;
  const auto moment = [&](int knot) { return from + length * knot / std::max(1, graph.knots - 1); };
  for (SketchText& text : sketch.texts) {
    if (const int knot = knot_of(text.text); knot >= 0) text.text = fmt::format("t = {:.3g} s", moment(knot));
  }
  Json json = graph_section(sketch);
  for (Json& node : json["nodes"]) {
    const std::string name = node["name"];
    const std::string plain = name.substr(0, name.find_last_not_of('\'') + 1);  // the second of a name has a mark
    const int knot = knot_of(plain);
    if (knot < 0) continue;
    node["t"] = moment(knot);
    const std::string kind = kind_of(name);
    const double share = kind.empty() ? -1 : residuals.share(kind, moment(knot), trajectory);
    if (share >= 0) node["residual"] = share;
  }
  return json;
}

Json elimination_graph(const Sketch& sketch, const linear::EliminationGame& played,
                       const std::vector<std::string>& variables, const std::vector<std::string>& factors) {
  Json json = graph_section(sketch);
  if (variables.size() > 400) return json;
  json["sparsity"] = Json::array({before(played, variables, factors)});
  if (!played.steps.empty()) json["sparsity"].push_back(after(played, variables));
  return json;
}

}  // namespace kinegraph::report
