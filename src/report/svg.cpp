#include <fmt/format.h>

#include <algorithm>

#include "kinegraph/base/names.hpp"
#include "kinegraph/report/write_sketch.hpp"

namespace kinegraph::report {
namespace {

using Mark = SketchNode::Shape;

constexpr double kMargin = 28, kTextFont = 15, kKeyFont = 13, kLine = 19, kKeyLine = 24, kLargest = 4000;

const char* const kStyle =
    "<style>"
    "text{font-family:'DejaVu Sans','Segoe UI','Helvetica Neue',Arial,sans-serif;fill:#1f2430;text-anchor:middle}"
    ".title{font-size:17px;font-weight:600;text-anchor:start}"
    ".fact{font-size:13px;text-anchor:start;fill:#4a5160}"
    ".name{fill:#6b7280}"
    ".step{font-size:9px;fill:#b4471f}"
    ".edge{fill:none;stroke:#5b6474;stroke-width:1.3}"
    ".arrow{fill:none;stroke:#2b5c8a;stroke-width:1.3}"
    ".fresh{fill:none;stroke:#d9731a;stroke-width:1.3}"
    ".tip{fill:#2b5c8a}"
    "</style>\n";

std::string label_text(const Label& l, double font) {
  if (l.index.empty()) return xml_escape(l.symbol);
  return fmt::format("{}<tspan dy=\"{:.1f}\" font-size=\"{:.1f}\">{}</tspan><tspan dy=\"{:.1f}\">\u200b</tspan>",
                     xml_escape(l.symbol), 0.25 * font, 0.7 * font, xml_escape(l.index), -0.25 * font);
}

const char* fill_of(Mark shape) {
  switch (shape) {
    case Mark::variable:
      return "#ffffff";
    case Mark::known:
    case Mark::shaded:
      return "#d5d9e0";
    case Mark::factor:
      return "#1f2430";
    case Mark::created:
      return "#d9731a";
    case Mark::clique:
      return "#eef3fa";
    case Mark::separator:
      return "#ffffff";
  }
  return "#ffffff";
}

std::string outline(const SketchNode& n) {
  const char* stroke = n.shape == Mark::created ? "#a8540c" : n.shape == Mark::separator ? "#9aa2b1" : "#1f2430";
  if (n.round()) {
    return fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" fill=\"{}\" stroke=\"{}\" stroke-width=\"1.3\"/>", n.at.x,
        n.at.y, n.half_width, fill_of(n.shape), stroke);
  }
  const double corner = n.shape == Mark::clique ? 8 : n.shape == Mark::separator ? 2 : 0;
  return fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"{:.0f}\" fill=\"{}\" stroke=\"{}\" "
      "stroke-width=\"1.3\"/>",
      n.at.x - n.half_width, n.at.y - n.half_height, 2 * n.half_width, 2 * n.half_height, corner, fill_of(n.shape),
      stroke);
}

std::string node_text(const SketchNode& n) {
  if (n.labels.empty()) return "";
  const double font = n.shape == Mark::separator ? kKeyFont : kTextFont;
  std::string text;
  for (std::size_t i = 0; i < n.labels.size(); ++i) {
    if (static_cast<int>(i) == n.bar) text += " |";
    if (i > 0) text += " ";
    text += label_text(n.labels[i], font);
  }
  const double lift = n.step > 0 ? 1 : 5;
  std::string out = fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{:.0f}\" xml:space=\"preserve\">{}</text>",
                                n.at.x, n.at.y + lift, font, text);
  if (n.step > 0) {
    out += fmt::format("<text class=\"step\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", n.at.x, n.at.y + 14, n.step);
  }
  return out;
}

std::string edge_path(const Sketch& sketch, const SketchEdge& e) {
  const Bezier c = between(e.curve, sketch.nodes[e.from], sketch.nodes[e.to], e.arrow ? 1.5 : 0);
  const char* kind = e.arrow ? "arrow" : e.fresh ? "fresh" : "edge";
  const std::string end = e.arrow ? " marker-end=\"url(#tip)\"" : "";
  if (straight(c)) {
    return fmt::format("<path class=\"{}\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\"{}/>\n", kind, c[0].x, c[0].y, c[3].x,
                       c[3].y, end);
  }
  return fmt::format("<path class=\"{}\" d=\"M{:.1f} {:.1f}C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}\"{}/>\n", kind,
                     c[0].x, c[0].y, c[1].x, c[1].y, c[2].x, c[2].y, c[3].x, c[3].y, end);
}

struct Extent {
  double left = 1e9, right = -1e9, top = 1e9, bottom = -1e9;
  void add(double x, double y) {
    left = std::min(left, x), right = std::max(right, x);
    top = std::min(top, y), bottom = std::max(bottom, y);
  }
};

Extent extent_of(const Sketch& sketch) {
  Extent e;
  for (const SketchNode& n : sketch.nodes) {
    e.add(n.at.x - n.half_width, n.at.y - n.half_height);
    e.add(n.at.x + n.half_width, n.at.y + n.half_height);
  }
  for (const SketchEdge& edge : sketch.edges) {
    for (int k = 0; k <= 20; ++k) {
      const Spot p = at(edge.curve, k / 20.0);
      e.add(p.x, p.y);
    }
  }
  for (const SketchText& t : sketch.texts) {
    e.add(t.at.x - width(t.text) * t.size / 2, t.at.y - t.size);
    e.add(t.at.x + width(t.text) * t.size / 2, t.at.y + 0.3 * t.size);
  }
  if (e.left > e.right) e = {0, 0, 0, 0};
  return e;
}

/// One of each shape that the picture has, with what it means.
std::vector<std::pair<SketchNode, std::string>> key_of(const Sketch& sketch) {
  static const std::pair<Mark, const char*> kMeaning[] = {{Mark::variable, "unknown"},
                                                          {Mark::known, "known"},
                                                          {Mark::shaded, "known"},
                                                          {Mark::factor, "factor: an equation"},
                                                          {Mark::created, "factor made by the elimination"}};
  std::vector<std::pair<SketchNode, std::string>> key;
  for (const auto& [shape, meaning] : kMeaning) {
    const bool there = std::any_of(sketch.nodes.begin(), sketch.nodes.end(),
                                   [shape = shape](const SketchNode& n) { return n.shape == shape; });
    if (!there) continue;
    SketchNode node;
    node.shape = shape;
    node.half_width = node.half_height = shape == Mark::factor || shape == Mark::created ? 5 : 8;
    key.emplace_back(node, meaning);
  }
  return key;
}

double key_width(const std::string& meaning) { return 15 + width(meaning) * 13 + 26; }

/// The same in rows that fit.
std::vector<std::vector<std::pair<SketchNode, std::string>>> key_rows(const Sketch& sketch, double room) {
  std::vector<std::vector<std::pair<SketchNode, std::string>>> rows;
  double x = 0;
  for (auto& item : key_of(sketch)) {
    if (rows.empty() || x + key_width(item.second) > room + 26) {
      rows.emplace_back();
      x = 0;
    }
    x += key_width(item.second);
    rows.back().push_back(std::move(item));
  }
  return rows;
}

/// The words of a line broken where they no longer fit.
std::vector<std::string> broken(const std::string& line, double font, double room) {
  std::vector<std::string> lines(1);
  std::size_t begin = 0;
  while (begin <= line.size()) {
    const std::size_t end = std::min(line.find(' ', begin), line.size());
    const std::string word = line.substr(begin, end - begin);
    if (!lines.back().empty() && width(lines.back() + " " + word) * font > room) lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + word;
    begin = end + 1;
  }
  return lines;
}

}  // namespace

std::string svg(const Sketch& sketch) {
  Extent e = extent_of(sketch);
  const double room = std::max(e.right - e.left, 420.0);
  const double middle = (e.left + e.right) / 2;
  e.left = middle - room / 2, e.right = middle + room / 2;

  const auto lines_of = [&](const std::vector<std::string>& texts) {
    std::vector<std::string> all;
    for (const std::string& text : texts) {
      for (std::string& line : broken(text, 13, room)) all.push_back(std::move(line));
    }
    return all;
  };
  const auto title = broken(sketch.title, 17, room), facts = lines_of(sketch.facts), legend = lines_of(sketch.legend);
  const double head = kMargin + 23 * static_cast<double>(title.size()) + kLine * static_cast<double>(facts.size()) + 22;
  const auto key = key_rows(sketch, room);
  const double foot =
      30 + kKeyLine * static_cast<double>(key.size()) + kLine * static_cast<double>(legend.size()) + kMargin;
  const double x0 = e.left - kMargin, y0 = e.top - head;
  const double w = room + 2 * kMargin, h = e.bottom - e.top + head + foot;
  const double scale = std::min(1.0, kLargest / std::max(w, h));

  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.0f}\" height=\"{:.0f}\" viewBox=\"{:.1f} {:.1f} {:.1f} "
      "{:.1f}\">\n<title>{}</title>\n",
      w * scale, h * scale, x0, y0, w, h, xml_escape(sketch.title));
  out += kStyle;
  out +=
      "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7.5\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" "
      "orient=\"auto\"><path class=\"tip\" d=\"M0 0.6L8 4L0 7.4z\"/></marker></defs>\n";
  out += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"#ffffff\"/>\n", x0, y0,
                     w, h);
  double y = y0 + kMargin;
  const auto line = [&](const char* kind, const std::string& text, double step) {
    y += step;
    out += fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", kind, e.left, y, xml_escape(text));
  };
  for (const std::string& text : title) line("title", text, 20);
  y += 3;
  for (const std::string& text : facts) line("fact", text, kLine);

  for (const SketchEdge& edge : sketch.edges) out += edge_path(sketch, edge);
  for (const SketchNode& n : sketch.nodes) {
    out += fmt::format("<g>{}{}{}</g>\n", n.note.empty() ? "" : "<title>" + xml_escape(n.note) + "</title>", outline(n),
                       node_text(n));
  }
  for (const SketchText& t : sketch.texts) {
    out += fmt::format("<text class=\"name\" x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{:.0f}\">{}</text>\n", t.at.x,
                       t.at.y, t.size, xml_escape(t.text));
  }

  y = e.bottom + 30 - kKeyLine;
  for (const auto& row : key) {
    y += kKeyLine;
    double x = e.left + 8;
    for (auto [node, meaning] : row) {
      node.at = {x, y};
      out += outline(node);
      out += fmt::format("<text class=\"fact\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x + 15, y + 5, meaning);
      x += key_width(meaning);
    }
  }
  y += key.empty() ? kKeyLine : 10;
  for (const std::string& text : legend) line("fact", text, kLine);
  return out + "</svg>\n";
}

}  // namespace kinegraph::report
