#include "experiments/pictures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "bench/clock.hpp"
#include "kinegraph/base/names.hpp"
#include "kinegraph/build/screw_incidence.hpp"
#include "kinegraph/report/equations.hpp"
#include "kinegraph/report/instant_sketch.hpp"
#include "kinegraph/report/write_sketch.hpp"
#include "kinegraph/task/graph.hpp"
#include "kinegraph/task/graph_chain.hpp"

namespace kinegraph::experiments {
namespace {

using bench::require;

/// A head that both pictures of this file share.
std::string open_svg(double width, double height, const std::string& title) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\" fill=\"#222\">\n<rect width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" fill=\"white\"/>\n<text x=\"16\" y=\"26\" font-size=\"16\" font-weight=\"bold\">{2}</text>\n",
      width, height, xml_escape(title));
}

/// A square per block that may hold numbers: rows are factors, columns unknowns (001, Figs. 4b, 6b, 9b).
std::string pattern(const build::ScrewProblem& problem, const std::string& title) {
  constexpr double kCell = 26, kLeft = 190, kTop = 70;
  const std::vector<int> unknown = problem.unknown();
  std::string out = open_svg(std::max(kLeft + kCell * static_cast<double>(unknown.size()) + 20, 420.0),
                             kTop + kCell * static_cast<double>(problem.factors.size()) + 20, title);
  for (std::size_t c = 0; c < unknown.size(); ++c) {
    out += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"middle\">{}</text>\n",
                       kLeft + kCell * (static_cast<double>(c) + 0.5), kTop - 8,
                       report::label(problem.variables[unknown[c]]).subscripted());
  }
  for (std::size_t r = 0; r < problem.factors.size(); ++r) {
    const build::ScrewProblem::Factor& factor = problem.factors[r];
    const double y = kTop + kCell * static_cast<double>(r);
    out += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"end\">{}</text>\n", kLeft - 8, y + 18,
                       xml_escape(factor.name));
    for (std::size_t c = 0; c < unknown.size(); ++c) {
      const auto& list = factor.variables;
      const bool holds = std::find(list.begin(), list.end(), unknown[c]) != list.end();
      out +=
          fmt::format("<rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"{}\" height=\"{}\" fill=\"{}\" stroke=\"#d5d9e0\"/>\n",
                      kLeft + kCell * static_cast<double>(c), y, kCell, kCell, holds ? "#2b5c8a" : "none");
    }
  }
  return out + "</svg>\n";
}

}  // namespace

InstantPicture instant_picture(const Model& model, const InstantQuestion& question) {
  const auto tree = require(task::tree_of(model), "tree");
  const auto given = require(task::given_of(*tree, question.problem, question.known), "known");
  const build::ScrewProblem problem = build::screw_problem(tree, given, question.planar_loops);
  const build::ScrewOrder order = require(build::screw_order(problem, question.ordering, question.custom), "order");
  const report::Skeleton skeleton = report::skeleton(*tree);
  const linear::Incidence incidence = build::incidence(problem);
  InstantPicture picture;
  picture.game = linear::play(incidence, order);
  const linear::EliminationGame game = linear::play(incidence, order, question.steps);
  report::Sketch sketch = report::instant_sketch(problem, skeleton, game, question.steps == 0);
  sketch.title = question.title;
  if (question.steps < 0) sketch.facts = report::facts(game);
  picture.svg = report::svg(sketch);
  picture.pattern = pattern(problem, question.title);
  picture.equations = require(report::equations(problem, skeleton, order), "equations");
  return picture;
}

std::string motion_picture(const Model& model, const std::string& formulation, bool bayes, const std::string& title) {
  constexpr int kKnots = 3;
  const report::TrajectoryGraph graph =
      formulation == "screw"
          ? report::trajectory_graph(*require(task::tree_of(model), "tree"), kKnots)
          : report::trajectory_graph(*require(task::motion_chain(model, formulation, "trapezoidal"), "graph"), kKnots);
  const auto game = linear::play(report::incidence(graph, bayes), report::time_order(graph), bayes ? -1 : 0);
  report::Sketch sketch = report::trajectory_sketch(graph, game, bayes);
  sketch.title = title;
  return report::svg(sketch);
}

std::string graph_picture(const report::TrajectoryGraph& graph, const std::vector<std::vector<int>>& order,
                          const std::string& title, const std::vector<ToldFactor>& told) {
  constexpr double kFont = 11, kAbove = -26;
  const auto game = linear::play(report::incidence(graph, true), order);
  report::Sketch sketch = report::trajectory_sketch(graph, game, !order.empty());
  sketch.title = title;
  for (report::SketchNode& node : sketch.nodes) {
    const auto found =
        std::find_if(told.begin(), told.end(), [&](const auto& t) { return node.name.starts_with(t.name); });
    if (found == told.end()) continue;
    if (found->above) node.at.y = kAbove;
    const double right = node.half_width + 4 + 0.5 * kFont * report::width(found->name);
    const report::Spot beside{node.at.x + right, node.at.y + 4}, over{node.at.x, node.at.y - 12};
    sketch.texts.push_back({found->name, found->above ? over : beside, kFont});
  }
  report::route(sketch);
  return report::svg(sketch);
}

namespace {

/// A plate's outline: its points around their middle, and back to the first.
void close(Linkage::Line& line) {
  double x = 0, y = 0;
  for (const auto& p : line) x += p.first, y += p.second;
  x /= static_cast<double>(line.size()), y /= static_cast<double>(line.size());
  const auto turn = [&](const auto& p) { return std::atan2(p.second - y, p.first - x); };
  std::sort(line.begin(), line.end(), [&](const auto& a, const auto& b) { return turn(a) < turn(b); });
  line.push_back(line.front());
}

}  // namespace

Linkage linkage(const Model& model, const Trajectory& motion, int sample) {
  const auto coordinate = [&](const std::string& point, const char* axis, double fixed) {
    const int series = motion.find(point + axis);
    return series < 0 ? fixed : motion.at(sample, series);
  };
  Linkage linkage;
  for (const PlanarBody& body : model.bodies) {
    Linkage::Line line;
    for (const PointIndex p : body.points) {
      const Point& point = model.points[static_cast<std::size_t>(p.value)];
      line.emplace_back(coordinate(point.name, ".x", point.position[0]),
                        coordinate(point.name, ".y", point.position[1]));
    }
    if (line.size() > 2) close(line);
    linkage.lines.push_back(std::move(line));
  }
  return linkage;
}

std::string linkage_picture(const std::vector<Linkage>& linkages, const std::string& title) {
  constexpr double kSize = 420, kEdge = 40;
  constexpr const char* kColours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7"};
  double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
  for (const Linkage& one : linkages) {
    for (const Linkage::Line& line : one.lines) {
      for (const auto& [x, y] : line) {
        low[0] = std::min(low[0], x), high[0] = std::max(high[0], x);
        low[1] = std::min(low[1], y), high[1] = std::max(high[1], y);
      }
    }
  }
  const double scale = kSize / std::max({high[0] - low[0], high[1] - low[1], 1e-9});
  const double opacity = std::clamp(8.0 / static_cast<double>(linkages.size()), 0.12, 1.0);
  std::string out =
      open_svg(scale * (high[0] - low[0]) + 2 * kEdge, scale * (high[1] - low[1]) + 2 * kEdge + 20, title);
  for (const Linkage& one : linkages) {
    for (const Linkage::Line& line : one.lines) {
      std::string points, pins;
      for (const auto& [x, y] : line) {
        const double px = kEdge + scale * (x - low[0]), py = kEdge + 20 + scale * (high[1] - y);
        points += fmt::format("{:.1f},{:.1f} ", px, py);
        pins += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\"/>", px, py);
      }
      out += fmt::format(
          "<g opacity=\"{:.2f}\"><polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"/>{}</g>\n",
          one.bold ? 1 : opacity, points, kColours[one.colour % 4], one.bold ? 4 : 2, pins);
    }
  }
  return out + "</svg>\n";
}

}  // namespace kinegraph::experiments
