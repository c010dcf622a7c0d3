#include "kinegraph/report/sketch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kinegraph::report {
namespace {

constexpr double kRadius = 19, kDot = 5.5, kFont = 15, kSmallFont = 13;

struct Box {
  double left, right, top, bottom;
  bool meets(const Box& o, double gap) const {
    return left < o.right + gap && o.left < right + gap && top < o.bottom + gap && o.top < bottom + gap;
  }
  bool contains(Spot p) const { return p.x > left && p.x < right && p.y > top && p.y < bottom; }
};

Box box_of(const SketchNode& n) {
  return {n.at.x - n.half_width, n.at.x + n.half_width, n.at.y - n.half_height, n.at.y + n.half_height};
}

Box box_of(const SketchText& t) {
  const double half = width(t.text) * t.size / 2;
  return {t.at.x - half, t.at.x + half, t.at.y - 0.8 * t.size, t.at.y + 0.25 * t.size};
}

Spot mix(Spot a, Spot b, double t) { return {a.x + (b.x - a.x) * t, a.y + (b.y - a.y) * t}; }

/// The two parts of a curve, before and after t.
std::pair<Bezier, Bezier> split(const Bezier& c, double t) {
  const Spot ab = mix(c[0], c[1], t), bc = mix(c[1], c[2], t), cd = mix(c[2], c[3], t);
  const Spot abc = mix(ab, bc, t), bcd = mix(bc, cd, t), middle = mix(abc, bcd, t);
  return {{c[0], ab, abc, middle}, {middle, bcd, cd, c[3]}};
}

bool overlap(const SketchNode& a, const SketchNode& b) {
  if (a.round() && b.round()) {
    return std::hypot(a.at.x - b.at.x, a.at.y - b.at.y) < a.half_width + b.half_width + 1;
  }
  return box_of(a).meets(box_of(b), 1);
}

}  // namespace

bool SketchNode::round() const {
  return shape == Shape::variable || shape == Shape::factor || shape == Shape::created || shape == Shape::shaded;
}

double SketchNode::distance(Spot p) const {
  if (round()) return std::hypot(p.x - at.x, p.y - at.y) - half_width;
  const double dx = std::abs(p.x - at.x) - half_width, dy = std::abs(p.y - at.y) - half_height;
  if (dx < 0 && dy < 0) return std::max(dx, dy);
  return std::hypot(std::max(dx, 0.0), std::max(dy, 0.0));
}

Spot at(const Bezier& c, double t) {
  const double s = 1 - t;
  const double a = s * s * s, b = 3 * s * s * t, d = 3 * s * t * t, e = t * t * t;
  return {a * c[0].x + b * c[1].x + d * c[2].x + e * c[3].x, a * c[0].y + b * c[1].y + d * c[2].y + e * c[3].y};
}

bool straight(const Bezier& c) {
  const double dx = c[3].x - c[0].x, dy = c[3].y - c[0].y, length = std::hypot(dx, dy);
  const auto off = [&](Spot p) { return std::abs((p.x - c[0].x) * dy - (p.y - c[0].y) * dx); };
  return off(c[1]) + off(c[2]) < 0.1 * (length + 1);
}

Bezier between(const Bezier& curve, const SketchNode& from, const SketchNode& to, double gap) {
  constexpr int kSteps = 400;
  int first = 0, last = kSteps;
  while (first < kSteps / 2 && from.distance(at(curve, double(first) / kSteps)) < 0) ++first;
  while (last > kSteps / 2 && to.distance(at(curve, double(last) / kSteps)) < gap) --last;
  const double t0 = double(first) / kSteps, t1 = double(last) / kSteps;
  return split(split(curve, t1).first, t0 / t1).second;
}

int Sketch::find(const std::string& name) const {
  const auto found = std::find_if(nodes.begin(), nodes.end(), [&](const SketchNode& n) { return n.name == name; });
  return found == nodes.end() ? -1 : static_cast<int>(found - nodes.begin());
}

void measure(SketchNode& node) {
  using Shape = SketchNode::Shape;
  double text = 0;
  for (const Label& l : node.labels) text += width(l);
  switch (node.shape) {
    case Shape::factor:
    case Shape::created:
      node.half_width = node.half_height = kDot;
      break;
    case Shape::variable:
    case Shape::shaded:
      node.half_width = node.half_height = std::max(kRadius, text * kFont / 2 + 5);
      break;
    case Shape::known:
      node.half_width = node.half_height = std::max(kRadius - 3, text * kFont / 2 + 3);
      break;
    case Shape::clique:
    case Shape::separator: {
      const double font = node.shape == Shape::clique ? kFont : kSmallFont;
      const double gaps = 0.5 * (static_cast<double>(node.labels.size()) - 1) + (node.bar > 0 ? 0.6 : 0);
      node.half_width = std::max(16.0, (text + gaps) * font / 2 + 9);
      node.half_height = font * 0.95;
      break;
    }
  }
}

std::vector<std::string> collisions(const Sketch& sketch) {
  std::vector<std::string> found;
  const auto& nodes = sketch.nodes;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (std::size_t j = i + 1; j < nodes.size(); ++j) {
      if (overlap(nodes[i], nodes[j])) found.push_back(fmt::format("{} overlaps {}", nodes[i].name, nodes[j].name));
    }
    for (const SketchText& text : sketch.texts) {
      if (box_of(nodes[i]).meets(box_of(text), 0)) {
        found.push_back(fmt::format("{} overlaps the text {}", nodes[i].name, text.text));
      }
    }
  }
  for (std::size_t i = 0; i < sketch.texts.size(); ++i) {
    for (std::size_t j = i + 1; j < sketch.texts.size(); ++j) {
      if (box_of(sketch.texts[i]).meets(box_of(sketch.texts[j]), 0)) {
        found.push_back(fmt::format("the texts {} and {} overlap", sketch.texts[i].text, sketch.texts[j].text));
      }
    }
  }
  constexpr int kSamples = 300;
  for (const SketchEdge& e : sketch.edges) {
    const auto passes = [&](auto&& inside) {
      for (int k = 0; k <= kSamples; ++k) {
        if (inside(at(e.curve, double(k) / kSamples))) return true;
      }
      return false;
    };
    const std::string name = fmt::format("{} - {}", nodes[e.from].name, nodes[e.to].name);
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      if (static_cast<int>(n) == e.from || static_cast<int>(n) == e.to) continue;
      if (passes([&](Spot p) { return nodes[n].distance(p) < 1.5; })) {
        found.push_back(fmt::format("the edge {} passes through {}", name, nodes[n].name));
      }
    }
    for (const SketchText& text : sketch.texts) {
      if (passes([&](Spot p) { return box_of(text).contains(p); })) {
        found.push_back(fmt::format("the edge {} passes through the text {}", name, text.text));
      }
    }
  }
  return found;
}

}  // namespace kinegraph::report
