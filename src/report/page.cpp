#include "kinegraph/report/page.hpp"

#include <cmath>
#include <stdexcept>

namespace kinegraph::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kBegin = "<script id=\"kinegraph-data\" type=\"application/json\">", kEnd = "</script>";
constexpr int kFormat = 1;  ///< of the data, docs/report.md

const char* text_of(Page::Status status) {
  switch (status) {
    case Page::Status::good:
      return "good";
    case Page::Status::warning:
      return "warning";
    case Page::Status::bad:
      return "bad";
  }
  return "";
}

const char* text_of(SketchNode::Shape shape) {
  using Shape = SketchNode::Shape;
  switch (shape) {
    case Shape::variable:
      return "variable";
    case Shape::known:
      return "known";
    case Shape::factor:
      return "factor";
    case Shape::created:
      return "created";
    case Shape::clique:
      return "clique";
    case Shape::separator:
      return "separator";
    case Shape::shaded:
      return "shaded";
  }
  return "";
}

Json rounded(double value) { return std::round(value * 10) / 10; }

Json pairs(const std::vector<std::pair<std::string, std::string>>& list) {
  Json json = Json::array();
  for (const auto& [label, value] : list) json.push_back({label, value});
  return json;
}

Json data_of(const Page& page) {
  Json json{{"format", kFormat},       {"verb", page.verb},
            {"model", page.model},     {"file", page.file},
            {"version", page.version}, {"command", page.command},
            {"verdict", page.verdict}, {"status", text_of(page.status)}};
  json["warnings"] = page.warnings;
  json["facts"] = pairs(page.facts);
  json["inputs"] = pairs(page.inputs);
  json["time"] = {{"name", page.time_name}, {"unit", page.time_unit}};
  const std::pair<const char*, const Json*> sections[] = {
      {"scene", &page.scene},   {"view", &page.view},         {"series", &page.series},
      {"timing", &page.timing}, {"branches", &page.branches}, {"parameters", &page.parameters}};
  for (const auto& [name, section] : sections) {
    if (!section->is_null()) json[name] = *section;
  }
  json["graphs"] = page.graphs;
  json["tables"] = page.tables;
  return json;
}

/// JSON that may stand inside a page: no text of a file can end the block, for there is no '<' in it.
std::string embeddable(const Json& json) {
  const std::string plain = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string text;
  text.reserve(plain.size());
  for (const char c : plain) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace

Json table(const std::string& title, const std::string& note, const std::vector<std::string>& heads,
           const std::vector<int>& time_columns, Json rows) {
  return {{"title", title}, {"note", note}, {"heads", heads}, {"times", time_columns}, {"rows", std::move(rows)}};
}

Json graph_section(const Sketch& sketch) {
  Json json{{"title", sketch.title}, {"facts", sketch.facts}, {"legend", sketch.legend}};
  json["nodes"] = Json::array();
  for (const SketchNode& n : sketch.nodes) {
    Json node{{"shape", text_of(n.shape)},  {"name", n.name},
              {"x", rounded(n.at.x)},       {"y", rounded(n.at.y)},
              {"w", rounded(n.half_width)}, {"h", rounded(n.half_height)}};
    Json labels = Json::array();
    for (const Label& l : n.labels) labels.push_back({l.symbol, l.index});
    node["labels"] = std::move(labels);
    if (n.bar >= 0) node["bar"] = n.bar;
    if (n.step > 0) node["step"] = n.step;
    if (!n.note.empty()) node["note"] = n.note;
    json["nodes"].push_back(std::move(node));
  }
  json["edges"] = Json::array();
  for (const SketchEdge& e : sketch.edges) {
    const Bezier part = between(e.curve, sketch.nodes[e.from], sketch.nodes[e.to], e.arrow ? 2 : 0);
    Json points = Json::array();
    for (const Spot& p : part) points.push_back(rounded(p.x)), points.push_back(rounded(p.y));
    json["edges"].push_back({{"kind", e.fresh   ? "fresh"
                                      : e.arrow ? "arrow"
                                                : "line"},
                             {"from", e.from},
                             {"to", e.to},
                             {"curve", std::move(points)}});
  }
  json["texts"] = Json::array();
  for (const SketchText& t : sketch.texts) {
    json["texts"].push_back({{"text", t.text}, {"x", rounded(t.at.x)}, {"y", rounded(t.at.y)}, {"size", t.size}});
  }
  return json;
}

std::string html(const Page& page) {
  const std::string_view whole = page_template();
  const std::size_t begin = whole.find(kBegin);
  const std::size_t end = begin == std::string_view::npos ? begin : whole.find(kEnd, begin);
  if (end == std::string_view::npos) throw std::logic_error("the template of the report has no place for data");
  std::string text(whole.substr(0, begin + kBegin.size()));
  text += embeddable(data_of(page));
  text += whole.substr(end);
  return text;
}

}  // namespace kinegraph::report
