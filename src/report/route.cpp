#include <algorithm>
#include <cmath>
#include <limits>

#include "kinegraph/report/sketch.hpp"

namespace kinegraph::report {
namespace {

constexpr double kClear = 5;      // how far an edge keeps from nodes that are not its own
constexpr int kSamples = 40;      // places on a curve that are looked at
constexpr int kManyEdges = 1200;  // beyond, edges no longer look at each other
constexpr int kMostEdges = 4000;  // beyond, all are straight: no picture shows them

/// Something that no edge but its own may touch.
struct Blocked {
  SketchNode shape;
  int node = -1;
};

class Router {
 public:
  explicit Router(Sketch& sketch) : sketch_(sketch) {
    for (std::size_t i = 0; i < sketch.nodes.size(); ++i) obstacles_.push_back({sketch.nodes[i], static_cast<int>(i)});
    for (const SketchText& text : sketch.texts) {
      SketchNode box;
      box.shape = SketchNode::Shape::separator;
      box.at = {text.at.x, text.at.y - 0.27 * text.size};
      box.half_width = width(text.text) * text.size / 2;
      box.half_height = 0.55 * text.size;
      obstacles_.push_back({box, -1});
    }
  }

  void run() {
    if (sketch_.edges.size() > kMostEdges) {
      for (SketchEdge& e : sketch_.edges) {
        e.curve = bent(sketch_.nodes[e.from].at, sketch_.nodes[e.to].at, 0, 1.0 / 3, 2.0 / 3);
      }
      return;
    }
    // Short edges first: they have the least choice.
    std::vector<std::pair<double, int>> by_length;
    for (std::size_t e = 0; e < sketch_.edges.size(); ++e) {
      const Spot a = sketch_.nodes[sketch_.edges[e].from].at, b = sketch_.nodes[sketch_.edges[e].to].at;
      by_length.emplace_back(std::hypot(a.x - b.x, a.y - b.y), static_cast<int>(e));
    }
    std::sort(by_length.begin(), by_length.end());
    for (const auto& [length, e] : by_length) {
      sketch_.edges[e].curve = best(sketch_.edges[e]);
      if (sketch_.edges.size() < kManyEdges) drawn_.push_back(draw(sketch_.edges[e].curve));
    }
  }

 private:
  using Samples = std::array<Spot, kSamples + 1>;

  struct Drawn {
    Samples samples;
    double left, right, top, bottom;
  };

  static Drawn draw(const Bezier& curve) {
    Drawn d{{}, curve[0].x, curve[0].x, curve[0].y, curve[0].y};
    for (int k = 0; k <= kSamples; ++k) {
      const Spot p = d.samples[k] = at(curve, double(k) / kSamples);
      d.left = std::min(d.left, p.x), d.right = std::max(d.right, p.x);
      d.top = std::min(d.top, p.y), d.bottom = std::max(d.bottom, p.y);
    }
    return d;
  }

  /// A curve that leaves the straight line by `height` between two shares of its length.
  static Bezier bent(Spot a, Spot b, double height, double from, double to) {
    const double dx = b.x - a.x, dy = b.y - a.y, length = std::max(1.0, std::hypot(dx, dy));
    const double nx = -dy / length * height, ny = dx / length * height;
    return {a, Spot{a.x + from * dx + nx, a.y + from * dy + ny}, Spot{a.x + to * dx + nx, a.y + to * dy + ny}, b};
  }

  Bezier best(const SketchEdge& edge) const {
    const Spot a = sketch_.nodes[edge.from].at, b = sketch_.nodes[edge.to].at;
    const Bezier line = bent(a, b, 0, 1.0 / 3, 2.0 / 3);
    Bezier found = line;
    double least = cost(edge, line, 0, std::numeric_limits<double>::infinity());
    if (least == 0) return found;
    const double length = std::hypot(a.x - b.x, a.y - b.y);
    for (const double height : {24., 36., 50., 66., 84., 104., 130., 160., 200., 250., 320., 400., 500., 620.}) {
      if (height > 1.4 * length + 40) break;
      if (least < 0.02 * height) break;  // nothing further out can be better
      for (const double side : {-1., 1.}) {
        for (const auto& [from, to] : {std::pair{0.3, 0.7}, {0.05, 0.95}, {0.0, 0.5}, {0.5, 1.0}, {-0.15, 1.15}}) {
          const Bezier curve = bent(a, b, side * height, from, to);
          const double c = cost(edge, curve, height, least);
          if (c < least) least = c, found = curve;
        }
        for (const double inset : {0.05, 0.4}) {  // first to one side, then to the other
          Bezier curve = bent(a, b, side * height, inset, 1 - inset);
          curve[2] = bent(a, b, -side * height, inset, 1 - inset)[2];
          const double c = cost(edge, curve, 1.5 * height, least);
          if (c < least) least = c, found = curve;
        }
      }
    }
    return found;
  }

  /// How bad a curve is; not worked out further once it is as bad as `bound`.
  double cost(const SketchEdge& edge, const Bezier& curve, double height, double bound) const {
    const Drawn drawn = draw(curve);
    const Samples& s = drawn.samples;
    double cost = 0.02 * height;
    for (const Blocked& o : obstacles_) {
      if (o.node == edge.from || o.node == edge.to) continue;
      const double w = o.shape.half_width + kClear, h = o.shape.half_height + kClear;
      if (o.shape.at.x < drawn.left - w || o.shape.at.x > drawn.right + w) continue;
      if (o.shape.at.y < drawn.top - h || o.shape.at.y > drawn.bottom + h) continue;
      double nearest = std::numeric_limits<double>::infinity();
      for (const Spot p : s) nearest = std::min(nearest, o.shape.distance(p));
      if (nearest < kClear) cost += 100 + 10 * (kClear - nearest);
      if (cost >= bound) return cost;
    }
    // A curve that runs back into its own node hides its arrow.
    for (const int end : {edge.from, edge.to}) {
      const SketchNode& node = sketch_.nodes[end];
      int changes = 0;
      for (int k = 1; k <= kSamples; ++k) changes += (node.distance(s[k]) < 0) != (node.distance(s[k - 1]) < 0);
      if (changes > 1) cost += 50;
    }
    for (const Drawn& other : drawn_) {
      if (cost >= bound) return cost;
      const bool apart =
          drawn.right < other.left || other.right < drawn.left || drawn.bottom < other.top || other.bottom < drawn.top;
      if (!apart) cost += 4 * shared_stretch(s, other.samples);
    }
    return cost;
  }

  /// How much two curves lie on top of each other, apart from where they meet in a node: shares of their length.
  static double shared_stretch(const Samples& a, const Samples& b) {
    int close = 0;
    for (int i = 4; i <= kSamples - 4; i += 2) {
      for (int j = 2; j <= kSamples - 2; ++j) {
        if (std::abs(a[i].x - b[j].x) < 4 && std::abs(a[i].y - b[j].y) < 4) {
          ++close;
          break;
        }
      }
    }
    return close <= 3 ? 0 : close / (0.5 * kSamples);
  }

  Sketch& sketch_;
  std::vector<Blocked> obstacles_;
  std::vector<Drawn> drawn_;
};

}  // namespace

void route(Sketch& sketch) { Router(sketch).run(); }

}  // namespace kinegraph::report
