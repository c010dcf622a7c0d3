#include <nlohmann/json.hpp>

#include "kinegraph/report/write_sketch.hpp"

namespace kinegraph::report {
namespace {

const char* kind_of(SketchNode::Shape shape) {
  using Shape = SketchNode::Shape;
  switch (shape) {
    case Shape::variable:
      return "variable";
    case Shape::known:
    case Shape::shaded:
      return "known";
    case Shape::factor:
      return "factor";
    case Shape::created:
      return "new_factor";
    case Shape::clique:
      return "clique";
    case Shape::separator:
      return "separator";
  }
  return "";
}

}  // namespace

std::string json(const Sketch& sketch) {
  nlohmann::ordered_json j;
  j["title"] = sketch.title;
  j["facts"] = sketch.facts;
  j["nodes"] = nlohmann::ordered_json::array();
  for (const SketchNode& n : sketch.nodes) {
    nlohmann::ordered_json node{{"name", n.name}, {"kind", kind_of(n.shape)}, {"x", n.at.x}, {"y", n.at.y}};
    if (n.step > 0) node["step"] = n.step;
    if (!n.note.empty()) node["note"] = n.note;
    if (!n.labels.empty()) {
      node["labels"] = nlohmann::ordered_json::array();
      for (const Label& l : n.labels) node["labels"].push_back(l.text());
    }
    if (n.bar >= 0) node["frontal"] = n.bar;
    j["nodes"].push_back(std::move(node));
  }
  j["edges"] = nlohmann::ordered_json::array();
  for (const SketchEdge& e : sketch.edges) {
    j["edges"].push_back({{"from", sketch.nodes[e.from].name}, {"to", sketch.nodes[e.to].name}, {"directed", e.arrow}});
  }
  return j.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace kinegraph::report
