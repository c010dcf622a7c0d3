#include <fmt/format.h>

#include "kinegraph/report/write_sketch.hpp"

namespace kinegraph::report {
namespace {

using Mark = SketchNode::Shape;

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) out += c;
  }
  return out + "\"";
}

std::string text_of(const SketchNode& n) {
  std::string text;
  for (std::size_t i = 0; i < n.labels.size(); ++i) {
    if (static_cast<int>(i) == n.bar) text += " |";
    if (i > 0) text += " ";
    text += n.labels[i].subscripted();
  }
  return n.step > 0 ? fmt::format("{} ({})", text, n.step) : text;
}

std::string style_of(Mark shape) {
  switch (shape) {
    case Mark::variable:
      return "shape=circle";
    case Mark::known:
      return "shape=square, style=filled, fillcolor=lightgrey";
    case Mark::shaded:
      return "shape=circle, style=filled, fillcolor=lightgrey";
    case Mark::factor:
      return "shape=point, width=0.12";
    case Mark::created:
      return "shape=point, width=0.12, color=darkorange";
    case Mark::clique:
      return "shape=box, style=rounded";
    case Mark::separator:
      return "shape=box, color=grey";
  }
  return "";
}

}  // namespace

std::string dot(const Sketch& sketch) {
  std::string out = fmt::format("// {}\n", sketch.title);
  for (const std::string& fact : sketch.facts) out += fmt::format("// {}\n", fact);
  out +=
      "// dot lays it out anew; neato -n2 keeps the places given here\ndigraph kinegraph {\n  node "
      "[fixedsize=false];\n";
  for (const SketchNode& n : sketch.nodes) {
    out += fmt::format("  {} [label={}, {}, pos=\"{:.1f},{:.1f}\"];\n", quoted(n.name), quoted(text_of(n)),
                       style_of(n.shape), n.at.x, -n.at.y);
  }
  for (const SketchEdge& e : sketch.edges) {
    out += fmt::format("  {} -> {}{};\n", quoted(sketch.nodes[e.from].name), quoted(sketch.nodes[e.to].name),
                       e.arrow   ? ""
                       : e.fresh ? " [dir=none, color=darkorange]"
                                 : " [dir=none]");
  }
  return out + "}\n";
}

}  // namespace kinegraph::report
