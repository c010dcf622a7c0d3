// (001, Figs. 1, 4 to 7, 9, 10, 12, Table III and Algorithm 1): dynamics as a graph, and its elimination in the orders
// of the classic algorithms. The paper draws its directed graphs and counts no edges; what it says of them is compared:
// Algorithm 1 has one line per unknown and one term per edge, CRBA has more edges than ABA, MD as many as CUSTOM.
#include <fmt/format.h>

#include <cmath>

#include "bench/clock.hpp"
#include "experiments/pictures.hpp"
#include "experiments/record.hpp"
#include "kinegraph/io/model_file.hpp"

using namespace kinegraph;
using namespace kinegraph::experiments;

namespace {

using Names = std::vector<std::string>;
const Names kHybrid = {"joint1.a"};
const Names kMinimumDegree = {"t1", "a2", "a3", "V3", "F1", "V1", "F2", "V2", "F3"};
const Names kCustom = {"t1", "a2", "a3", "F1", "V1", "V3", "F3", "V2", "F2"};

std::string joined(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
  return text;
}

void graph_and_matrix(Record& record, const Model& model, const std::string& result, const InstantQuestion& question) {
  const InstantPicture picture = instant_picture(model, question);
  const std::string file = "graph_" + question.problem;
  record.draw(result, file, picture.svg, "(a) the factor graph: squares are known, circles asked for");
  record.draw(result, file + "_matrix", picture.pattern,
              "(b) its matrix: factors × unknowns, blocks that hold numbers");
}

double edges(const InstantPicture& picture) { return static_cast<double>(picture.game.edges().size()); }

/// A directed graph, and how many edges it has; the paper's, where its text tells them.
InstantPicture eliminated(Record& record, const Model& model, const std::string& result, const std::string& label,
                          InstantQuestion question, double paper = NAN, const std::string& note = "") {
  question.steps = -1;
  const InstantPicture picture = instant_picture(model, question);
  record.draw(result, "dag_" + question.problem + "_" + label, picture.svg, label + ": small numbers are the steps");
  record.compare({result, "edges, " + label, "", paper, edges(picture), note});
  return picture;
}

}  // namespace

int main() {
  Record record("dynamics_graphs");
  const auto read = [](const std::string& path) { return bench::require(read_model(path), path.c_str()); };
  const Model arm = read(KINEGRAPH_SOURCE_DIR "/models/three_r.urdf");
  if (const std::string puma = shared_file("models/synthetic/puma560_corke.urdf"); !puma.empty()) {
    record.draw("001 Fig. 1", "graph_puma", instant_picture(read(puma), {"PUMA 560: dynamics factor graph"}).svg,
                "inverse dynamics: accelerations known");
  } else {
    record.missing("001 Fig. 1", "the robot's model is not here");
  }

  graph_and_matrix(record, arm, "001 Fig. 4", {"Inverse dynamics, three joints"});
  graph_and_matrix(record, arm, "001 Fig. 6", {"Forward dynamics, three joints", "forward", {}, "aba"});
  graph_and_matrix(record, arm, "001 Fig. 9", {"Hybrid dynamics, three joints", "hybrid", kHybrid, "aba"});

  const std::pair<int, const char*> steps[] = {
      {3, "(a) torques eliminated"}, {4, "(b) and the first wrench"}, {6, "(c) and all wrenches"}};
  for (const auto& [step, caption] : steps) {
    record.draw("001 Fig. 5", fmt::format("elimination_{}", step),
                instant_picture(arm, {fmt::format("After {} steps", step), "inverse", {}, "rnea", {}, step}).svg,
                caption);
  }
  const InstantPicture rnea = eliminated(record, arm, "001 Fig. 5", "RNEA", {"(d) RNEA"}, 10,
                                         "paper: unknowns on the right of the nine lines of its Algorithm 1");
  record.text(
      "001 Algorithm 1",
      "The back-substitution of the order τ₃ τ₂ τ₁ F₁ F₂ F₃ V̇₃ V̇₂ V̇₁, as printed by our program:", rnea.equations);
  // The paper's listing: three accelerations, three wrenches, three torques.
  record.compare({"001 Algorithm 1", "steps", "", 9, static_cast<double>(rnea.game.steps.size())});

  const InstantPicture crba =
      eliminated(record, arm, "001 Fig. 7", "CRBA", {"Forward dynamics: CRBA", "forward", {}, "crba"});
  const InstantPicture aba =
      eliminated(record, arm, "001 Fig. 7", "ABA", {"Forward dynamics: ABA", "forward", {}, "aba"});
  record.compare({"001 Fig. 7", "edges of CRBA over those of ABA", "", 1, edges(crba) / edges(aba),
                  "paper: “more edges in the CRBA DAG than in the ABA DAG”", "> "});

  Table orders("hybrid_orders",
               {"order", "unknowns in the order of their elimination", "edges", "fill", "widest clique"});
  std::vector<double> counts;
  for (const auto& [label, order] : {std::pair("MD", kMinimumDegree), std::pair("CUSTOM", kCustom)}) {
    const InstantPicture picture =
        eliminated(record, arm, "001 Fig. 10", label,
                   {fmt::format("Hybrid dynamics: {}", label), "hybrid", kHybrid, "custom", order});
    counts.push_back(edges(picture));
    orders.add({label, joined(order), std::to_string(picture.game.edges().size()), std::to_string(picture.game.fill()),
                std::to_string(picture.game.width())});
  }
  record.compare({"001 Fig. 10", "edges of CUSTOM over those of MD", "", 1, counts[1] / counts[0],
                  "paper: “both have the same number of directed edges”"});
  record.show("001 Table III", orders);

  const Model loop = read(KINEGRAPH_SOURCE_DIR "/models/five_bar.sdf");
  InstantQuestion question{"Five-bar: inverse dynamics with a planar factor"};
  question.planar_loops = true;
  record.draw("001 Fig. 12", "graph_five_bar", instant_picture(loop, question).svg,
              "the factor on the wrench of the loop says that it has no part across the plane");
}
