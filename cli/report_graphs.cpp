#include <fmt/format.h>

#include "kinegraph/build/screw_incidence.hpp"
#include "kinegraph/build/screw_problem.hpp"
#include "kinegraph/report/instant_sketch.hpp"
#include "kinegraph/report/motion_graph.hpp"
#include "kinegraph/task/graph.hpp"
#include "kinegraph/task/graph_chain.hpp"
#include "report_page.hpp"

namespace kinegraph::cli {
namespace {

constexpr int kKnots = 5;
constexpr std::size_t kMostUnasked = 400;  ///< nodes of a graph that is drawn unasked

}  // namespace

std::optional<report::TrajectoryGraph> motion_picture(const Model& model, const std::string& formulation,
                                                      const std::string& integrator) {
  std::optional<report::TrajectoryGraph> graph;
  if (model.spatial() || formulation == "screw") {
    const auto tree = task::tree_of(model);
    if (tree) graph = report::trajectory_graph(**tree, kKnots);
  } else if (formulation == "natural" || formulation == "independent") {
    const bool known = integrator == "euler" || integrator == "hermite-simpson";
    const auto chain = task::motion_chain(model, formulation, known ? integrator : "trapezoidal");
    if (chain) graph = report::trajectory_graph(**chain, kKnots);
  }
  if (graph && graph->variables.size() + graph->factors.size() > kMostUnasked) graph.reset();
  return graph;
}

std::vector<nlohmann::ordered_json> instant_pictures(const Model& model, const std::string& problem,
                                                     const std::vector<std::string>& known,
                                                     const std::string& ordering) {
  std::vector<nlohmann::ordered_json> pictures;
  const auto tree = task::tree_of(model);
  if (!tree) return pictures;
  const auto given = task::given_of(**tree, problem, known);
  if (!given) return pictures;
  const build::ScrewProblem graph = build::screw_problem(*tree, *given, false);
  if (graph.variables.size() + graph.factors.size() > kMostUnasked) return pictures;
  const std::string name = ordering.empty() || ordering == "best" ? (problem == "inverse" ? "rnea" : "aba") : ordering;
  const auto order = build::screw_order(graph, name, {});
  if (!order) return pictures;
  const report::Skeleton skeleton = report::skeleton(**tree);
  const linear::EliminationGame played = linear::play(build::incidence(graph), *order);
  const linear::EliminationGame start = linear::play(played.incidence, *order, 0);
  std::vector<std::string> variables, factors;
  for (const auto& v : graph.variables) variables.push_back(report::label(v).subscripted());
  for (const auto& f : graph.factors) factors.push_back(f.name);

  report::Sketch sketch = report::instant_sketch(graph, skeleton, start, true);
  sketch.title = fmt::format("Factor graph of {} dynamics, at one instant", problem);
  pictures.push_back(report::graph_section(sketch));
  sketch = report::instant_sketch(graph, skeleton, played, false);
  sketch.title = fmt::format("Its elimination: what is computed from what, ordering {}", name);
  sketch.facts = report::facts(played);
  pictures.push_back(report::elimination_graph(sketch, played, variables, factors));
  return pictures;
}

}  // namespace kinegraph::cli
