#include "kinegraph/task/graph.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <sstream>

#include "graph_options.hpp"
#include "kinegraph/base/names.hpp"
#include "kinegraph/build/screw_incidence.hpp"
#include "kinegraph/io/output.hpp"
#include "kinegraph/linear/ordering.hpp"
#include "kinegraph/report/equations.hpp"
#include "kinegraph/report/instant_sketch.hpp"
#include "kinegraph/report/motion_graph.hpp"
#include "kinegraph/report/trajectory_sketch.hpp"
#include "kinegraph/report/write_sketch.hpp"
#include "kinegraph/task/graph_chain.hpp"
#include "memory.hpp"
#include "outputs.hpp"
#include "progress_bar.hpp"

namespace kinegraph::cli {
namespace {

constexpr std::size_t kMostDrawn = 6000;  // nodes and edges of a picture

class GraphVerb final : public Verb {
 public:
  std::string_view name() const override { return "graph"; }
  std::string_view purpose() const override { return "draws the factor graph, its elimination, and what orders cost"; }
  std::string_view teaching() const override { return kGraphTeaching; }
  void declare(CLI::App& app) override {
    options_.declare(app);
    common_.declare(app, false);
  }
  Done run() override;

 private:
  Done instant(const Model& model);
  Done compare(const Model& model, const build::ScrewProblem& problem);
  Done trajectory(const Model& model);
  Done write(const std::string& content, const linear::EliminationGame* game, const Model& model);
  /// The summary for machines and the report with its pictures.
  Result<Outputs> open_outputs(const Model& model);
  Result<std::string> draw(const report::Sketch& sketch) const;
  bool summary_only() const { return common_.embedding && common_.embedding->summary_only; }
  bool wants_page() const { return !common_.report.empty() || (common_.embedding && common_.embedding->keep_page); }
  Done check_after(int steps, linear::EliminationGame& game, const std::vector<std::vector<int>>& order) const;

  GraphOptions options_;
  std::vector<nlohmann::ordered_json> pictures_;  // of the report
};

/// A picture that nobody could read is refused before it is laid out.
Done check_size(const linear::EliminationGame& game, const std::string& format) {
  std::size_t nodes = game.incidence.size.size(), edges = game.edges().size();
  for (std::size_t f = 0; f < game.factors.size(); ++f) {
    if (!game.used[f]) ++nodes, edges += game.factors[f].variables.size();
  }
  if (format != "svg" || nodes + edges <= kMostDrawn) return std::monostate{};
  return Failure::no_answer(fmt::format(
      "the picture would have {} nodes and {} edges, more than the {} that can be drawn: take --format dot or "
      "json, another ordering, or --show tree",
      nodes, edges, kMostDrawn));
}

std::string title_of(const std::string& model, const GraphOptions& o, int steps) {
  const std::string problem = o.problem == "trajectory"
                                  ? fmt::format("motion, {} formulation, {} knots", o.formulation, o.knots_value)
                                  : o.problem + " dynamics";
  if (o.show == "factors" && o.after.empty()) return fmt::format("{}: {}, factor graph", model, problem);
  std::string title = fmt::format("{}: {}, ordering {}", model, problem, o.ordering);
  if (!o.after.empty()) return title + fmt::format(", after {} of {} steps", o.after_value, steps);
  return title + (o.show == "tree" ? ", clique tree" : o.show == "bayes" ? ", Bayes net" : ", eliminated");
}

Result<std::string> GraphVerb::draw(const report::Sketch& sketch) const {
  if (options_.format == "dot") return report::dot(sketch);
  if (options_.format == "json") return report::json(sketch);
  return report::svg(sketch);
}

Result<Outputs> GraphVerb::open_outputs(const Model& model) {
  Result<Outputs> outputs = Outputs::open(json_only(common_));
  if (!outputs) return outputs;
  if (ReportContent* report = outputs->show(model, command)) report->page.graphs = std::move(pictures_);
  return outputs;
}

Done GraphVerb::write(const std::string& content, const linear::EliminationGame* game, const Model& model) {
  std::string file = common_.out;
  const bool no_file = summary_only() || (file.empty() && !common_.report.empty());
  if (file.empty()) {
    const std::string stem = std::filesystem::path(common_.model).stem().string();
    const std::string what = options_.after.empty() ? options_.show : "after" + options_.after;
    file = options_.format != "svg" ? "-"
                                    : fmt::format("{}_{}_{}_{}.svg", stem, options_.problem, options_.ordering, what);
  }
  if (file == "-" && common_.json == "-") {
    return Failure::bad_input("out, json: only one of them can be standard output");
  }
  Result<Outputs> outputs = open_outputs(model);
  if (!outputs) return outputs.failure();
  if (!no_file) {
    Result<SideFile> side = SideFile::create(common_.embedding, file);
    if (!side) return side.failure();
    if (Done done = side->write(content); !done) return done;
  }

  Summary summary("graph", common_.model);
  summary.add("problem", options_.problem, "problem").add("ordering", options_.ordering, "ordering");
  if (game != nullptr) {
    summary.add("edges", game->edges().size(), "edges")
        .add("fill", game->fill(), "fill")
        .add("flops", game->flops(), "flops with dense fronts")
        .add("tree_width", game->width(), "tree width, in variables")
        .add("tree_width_numbers", game->width_in_numbers(), "tree width, in numbers");
  }
  if (file != "-" && !no_file) summary.add_text(fmt::format("  wrote {}\n", file));
  if (file == "-" && !no_file && common_.json.empty() && common_.report.empty()) return std::monostate{};
  return outputs->write(summary, nullptr, {});
}

Done GraphVerb::check_after(int steps, linear::EliminationGame& game,
                            const std::vector<std::vector<int>>& order) const {
  if (options_.after.empty()) return std::monostate{};
  if (options_.after_value > steps) {
    return Failure::bad_input(
        fmt::format("after: must be <= {}, the steps of this order, is {}", steps, options_.after));
  }
  game = linear::play(game.incidence, order, static_cast<int>(options_.after_value));
  return std::monostate{};
}

Done GraphVerb::compare(const Model& model, const build::ScrewProblem& problem) {
  const auto costs = task::compare_orderings(problem, options_.custom);
  if (!costs) return costs.failure();
  Result<Outputs> outputs = open_outputs(model);
  if (!outputs) return outputs.failure();
  if (ReportContent* report = outputs->report()) report->page.tables = {compare_table(*costs)};
  Summary summary("graph", common_.model);
  summary.add("problem", options_.problem, "problem").add("orderings", compare_json(*costs), "");
  summary.add_text(compare_text(*costs));
  return outputs->write(summary, nullptr, {});
}

Done GraphVerb::instant(const Model& model) {
  const auto tree = task::tree_of(model);
  if (!tree) return tree.failure();
  const auto given = task::given_of(**tree, options_.problem, options_.known);
  if (!given) return given.failure();
  const build::ScrewProblem problem = build::screw_problem(*tree, *given, options_.planar_loops);
  if (options_.compare) return compare(model, problem);

  if (options_.ordering.empty()) options_.ordering = options_.problem == "inverse" ? "rnea" : "aba";
  const auto order = build::screw_order(problem, options_.ordering, options_.custom);
  if (!order) return order.failure();
  const report::Skeleton skeleton = report::skeleton(**tree);
  linear::EliminationGame game = linear::play(build::incidence(problem), *order);
  const linear::EliminationGame whole = game;
  const int steps = static_cast<int>(order->size());
  if (Done done = check_after(steps, game, *order); !done) return done;

  if (options_.format == "text" && !summary_only()) {
    const auto text = report::equations(problem, skeleton, *order);
    if (!text) return text.failure();
    return write(fmt::format("{}\n{}\n", title_of(model.name, options_, steps), *text), &whole, model);
  }
  const bool tree_picture = options_.show == "tree";
  const bool factors = options_.show == "factors" && options_.after.empty();
  if (factors) game = linear::play(game.incidence, *order, 0);
  if (summary_only()) return write("", factors ? nullptr : &game, model);
  if (Done done = check_size(game, options_.format); !done && !tree_picture) return done;
  report::Sketch sketch;
  if (tree_picture) {
    std::vector<report::Label> labels;
    for (const auto& v : problem.variables) labels.push_back(report::label(v));
    sketch = report::clique_sketch(game, labels);
  } else {
    sketch = report::instant_sketch(problem, skeleton, game, factors && !options_.hide_known);
  }
  sketch.title = title_of(model.name, options_, steps);
  if (!factors) sketch.facts = report::facts(game);
  const auto drawn = draw(sketch);
  if (!drawn) return drawn.failure();
  std::vector<std::string> variables, equations;
  for (const auto& v : problem.variables) variables.push_back(report::label(v).subscripted());
  for (const auto& f : problem.factors) equations.push_back(f.name);
  if (wants_page()) pictures_ = {report::elimination_graph(sketch, whole, variables, equations)};
  return write(*drawn, factors ? nullptr : &game, model);
}

/// Orders of a motion: back in time, or by the structure alone.
std::vector<std::vector<int>> trajectory_order(const report::TrajectoryGraph& graph, const std::string& name) {
  const auto time = report::time_order(graph);
  if (name == "time") return time;
  std::vector<int> number(graph.variables.size(), -1), unknown;
  for (std::size_t v = 0; v < graph.variables.size(); ++v) {
    if (graph.variables[v].known) continue;
    number[v] = static_cast<int>(unknown.size());
    unknown.push_back(static_cast<int>(v));
  }
  linear::RowStructure rows;
  for (const auto& f : report::incidence(graph, false).factors) {
    std::vector<int> columns;
    for (const int v : f.variables) columns.push_back(number[v]);
    rows.add(columns);
  }
  const int n = static_cast<int>(unknown.size());
  const auto found = name == "colamd"  ? linear::colamd_order(rows, n)
                     : name == "amd"   ? linear::amd_order(linear::column_graph(rows, n))
                     : name == "metis" ? linear::metis_order(linear::column_graph(rows, n))
                                       : linear::natural_order(n);
  std::vector<std::vector<int>> order;
  for (const int k : found) order.push_back({unknown[k]});
  return order;
}

Done GraphVerb::trajectory(const Model& model) {
  if (Done done = options_.check_trajectory(model.spatial()); !done) return done;
  report::TrajectoryGraph graph;
  const int knots = static_cast<int>(options_.knots_value);
  if (options_.formulation == "screw") {
    const auto tree = task::tree_of(model);
    if (!tree) return tree.failure();
    graph = report::trajectory_graph(**tree, knots);
  } else {
    const auto chain = task::motion_chain(model, options_.formulation, options_.integrator);
    if (!chain) return chain.failure();
    graph = report::trajectory_graph(**chain, knots);
  }
  const bool bayes = options_.show == "bayes", tree_picture = options_.show == "tree";
  const auto order = trajectory_order(graph, options_.ordering);
  const int steps = static_cast<int>(order.size());
  const bool factors = options_.show == "factors" && options_.after.empty();
  linear::EliminationGame game = linear::play(report::incidence(graph, bayes), order, factors ? 0 : -1);
  if (Done done = check_after(steps, game, order); !done) return done;
  if (summary_only()) return write("", factors ? nullptr : &game, model);
  if (Done done = check_size(game, options_.format); !done) return done;
  report::Sketch sketch;
  if (tree_picture) {
    std::vector<report::Label> labels;
    for (const auto& v : graph.variables) labels.push_back(v.label);
    sketch = report::clique_sketch(game, labels);
  } else {
    sketch = report::trajectory_sketch(graph, game, bayes);
  }
  sketch.title = title_of(model.name, options_, steps);
  if (!factors) sketch.facts = report::facts(game);
  const auto drawn = draw(sketch);
  if (!drawn) return drawn.failure();
  if (wants_page()) pictures_ = {report::graph_section(sketch)};
  return write(*drawn, factors ? nullptr : &game, model);
}

Done GraphVerb::run() {
  OptionReader reader;
  common_.out = options_.out;
  common_.read(reader);
  options_.read(reader);
  if (!reader.ok()) return reader.failure();
  const Result<Model> model = common_.read_model();
  if (!model) return model.failure();
  return options_.problem == "trajectory" ? trajectory(*model) : instant(*model);
}

}  // namespace

std::unique_ptr<Verb> make_graph() { return std::make_unique<GraphVerb>(); }

}  // namespace kinegraph::cli
