#include "kinegraph/model/planar_robot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <numbers>
#include <set>

#include "kinegraph/base/names.hpp"
#include "kinegraph/model/planar_robot_forces.hpp"

namespace kinegraph {
namespace {

constexpr int kWorld = PlanarJoints::kWorld;

/// A pose in the plane: the angle of its x axis, and where it is.
struct Placed {
  double angle = 0;
  Vector2d at = Vector2d::Zero();
};

SE3 in_space(const Placed& placed) { return SE3(SO3::exp({0, 0, placed.angle}), {placed.at.x(), placed.at.y(), 0}); }

double angle_of(const Vector2d& v) { return std::atan2(v.y(), v.x()); }
double wrapped(double angle) { return std::remainder(angle, 2 * std::numbers::pi); }

/// A line of two points, as a direction in a link or in the world.
struct Line {
  int link = kWorld;
  double angle = 0;
};

/// A joint between two nodes (links, or the world) before it is known which is the parent. Its q is as seen from a.
struct Connection {
  int a = kWorld, b = kWorld;
  JointType type = JointType::revolute;
  int point = -1;  // of the hinge
  Placed on_a, on_b;
  double q = 0;         // as drawn
  int coordinate = -1;  // that measures it
  std::string name;
  Location where;
};

class Converter {
 public:
  Converter(const Model& model, PlanarForces forces) : model_(model), forces_(forces), bodies_of_(model.points.size()) {
    for (int i = 0; i < static_cast<int>(model.bodies.size()); ++i) {
      for (const PointIndex p : model.bodies[i].points) bodies_of_[p.value].push_back(i);
    }
    for (const RelativeCoordinate& r : model.relative) lines_.push_back(lines_of(r));
  }

  Result<Robot> run() {
    for (const PlanarBody& body : model_.bodies) link(body);
    for (const Slider& slider : model_.sliders) block(slider);
    fixed_bodies();
    sliding();
    for (int p = 0; p < static_cast<int>(model_.points.size()); ++p) hinges(p);
    name_connections();
    span();
    joints();
    add_planar_forces(model_, forces_, joints_, robot_, found_);
    if (!found_.empty()) return failure();
    robot_.gravity = {model_.gravity.x(), model_.gravity.y(), 0};
    return std::move(robot_);
  }

 private:
  // ---- links ------------------------------------------------------------------------------------------------

  void link(const PlanarBody& body) {
    Link link;
    link.name = body.name;
    link.where = link.inertia_where = body.where;
    link.has_inertia = true;
    // A flat body: Ixx + Iyy = Izz = I₀ − m |cog|²
    const double Izz = std::max(0.0, body.inertia - body.mass * body.cog.squaredNorm());
    link.inertia = {body.mass, {body.cog.x(), body.cog.y(), 0}, Vector3d(Izz / 2, Izz / 2, Izz).asDiagonal()};
    const Vector2d origin = position(body.points[0]);
    drawn_.push_back({angle_of(position(body.points[1]) - origin), origin});
    robot_.links.push_back(std::move(link));
    robot_.X_WL.push_back(in_space(drawn_.back()));
  }

  /// The massless link of a slider: at its point, x along its line.
  void block(const Slider& slider) {
    Link link;
    link.name = slider.name;
    link.where = link.inertia_where = slider.where;
    const Vector2d a = position(slider.a), along = (position(slider.b) - a).normalized();
    drawn_.push_back({angle_of(along), a + along * along.dot(position(slider.point) - a)});
    robot_.links.push_back(std::move(link));
    robot_.X_WL.push_back(in_space(drawn_.back()));
  }

  // ---- connections ------------------------------------------------------------------------------------------

  /// A body with two fixed points does not move: it is part of the world.
  void fixed_bodies() {
    for (int i = 0; i < static_cast<int>(model_.bodies.size()); ++i) {
      const PlanarBody& body = model_.bodies[i];
      const auto fixed = [&](PointIndex p) { return model_.points[p.value].fixed; };
      if (std::count_if(body.points.begin(), body.points.end(), fixed) < 2) continue;
      still_.insert(i);
      connections_.push_back({kWorld, i, JointType::fixed, -1, drawn_[i], {}, 0, -1, body.name + "_fixed", body.where});
    }
  }

  void sliding() {
    for (int i = 0; i < static_cast<int>(model_.sliders.size()); ++i) {
      const Slider& slider = model_.sliders[i];
      if (bodies_of_[slider.point.value].empty()) {
        error(slider.where, fmt::format("slider {}: its point belongs to no body", quote(slider.name)));
        continue;
      }
      const std::optional<Line> line = line_of(slider.a, slider.b);
      if (!line) {
        error(slider.where, fmt::format("slider {}: the two points of its line belong to no common body, so that no "
                                        "prismatic joint can stand for it",
                                        quote(slider.name)));
        continue;
      }
      const int block = static_cast<int>(model_.bodies.size()) + i;
      const Vector2d from = position(slider.a);
      connections_.push_back({line->link,
                              block,
                              JointType::prismatic,
                              -1,
                              {line->angle, local(line->link, slider.a)},
                              {},
                              (drawn_[block].at - from).norm() * sign(drawn_[block], from),
                              -1,
                              slider.name,
                              slider.where});
      for (int c = 0; c < static_cast<int>(model_.relative.size()); ++c) {
        const RelativeCoordinate& r = model_.relative[c];
        const bool same = r.type == RelativeCoordinate::Type::relative_position && r.points[0] == slider.a &&
                          r.points[1] == slider.b && r.points[2] == slider.point;
        if (same && connections_.back().coordinate < 0) connections_.back().coordinate = c;
      }
    }
  }

  static double sign(const Placed& block, const Vector2d& from) {
    return (block.at - from).dot(Vector2d(std::cos(block.angle), std::sin(block.angle))) < 0 ? -1 : 1;
  }

  /// k nodes at a point, k − 1 hinges: first between those whose angle a coordinate measures, then from the first node
  /// (of a fixed point from the world).
  void hinges(int p) {
    std::vector<int> nodes = bodies_of_[p];
    for (std::size_t i = 0; i < model_.sliders.size(); ++i) {
      if (model_.sliders[i].point.value == p) nodes.push_back(static_cast<int>(model_.bodies.size() + i));
    }
    if (model_.points[p].fixed) {
      std::erase_if(nodes, [&](int n) { return still_.contains(n); });
      nodes.insert(nodes.begin(), kWorld);
    }
    if (nodes.size() < 2) return;
    std::vector<int> part(nodes.size());  // which nodes are connected already
    for (std::size_t i = 0; i < part.size(); ++i) part[i] = static_cast<int>(i);
    const auto connect = [&](std::size_t i, std::size_t j, int coordinate, double on_a, double on_b) {
      if (part[i] == part[j]) return;
      std::replace(part.begin(), part.end(), part[j], part[i]);
      hinge(p, nodes[i], nodes[j], coordinate, on_a, on_b);
    };
    for (int c = 0; c < static_cast<int>(model_.relative.size()); ++c) {
      if (measured_.contains(c)) continue;
      const auto& lines = lines_[c];
      if (!lines) continue;
      const auto i = std::find(nodes.begin(), nodes.end(), lines->first.link);
      const auto j = std::find(nodes.begin(), nodes.end(), lines->second.link);
      if (i == nodes.end() || j == nodes.end() || i == j) continue;
      connect(i - nodes.begin(), j - nodes.begin(), c, lines->first.angle, lines->second.angle);
    }
    for (std::size_t j = 1; j < nodes.size(); ++j) connect(0, j, -1, 0, 0);
  }

  void hinge(int p, int a, int b, int coordinate, double angle_on_a, double angle_on_b) {
    const PointIndex point(p);
    Connection c;
    c.a = a, c.b = b, c.point = p;
    c.on_a = {angle_on_a, local(a, point)}, c.on_b = {angle_on_b, local(b, point)};
    c.q = wrapped(drawn(b).angle + angle_on_b - drawn(a).angle - angle_on_a);
    c.coordinate = coordinate;
    c.where = model_.points[p].where;
    if (coordinate >= 0) measured_.insert(coordinate);
    connections_.push_back(std::move(c));
  }

  /// Of a coordinate that is the angle of a line against another: the second minus the first.
  std::optional<std::pair<Line, Line>> lines_of(const RelativeCoordinate& r) const {
    if (r.type == RelativeCoordinate::Type::relative_position) return std::nullopt;
    const bool absolute = r.type == RelativeCoordinate::Type::absolute_angle;
    const std::optional<Line> first = absolute ? Line{} : line_of(r.points[0], r.points[1]);
    const std::optional<Line> second = absolute ? line_of(r.points[0], r.points[1]) : line_of(r.points[2], r.points[3]);
    if (!first || !second) return std::nullopt;
    return std::pair(*first, *second);
  }

  std::optional<Line> line_of(PointIndex a, PointIndex b) const {
    if (model_.points[a.value].fixed && model_.points[b.value].fixed) {
      return Line{kWorld, angle_of(position(b) - position(a))};
    }
    for (const int body : bodies_of_[a.value]) {
      if (contains(body, b)) return Line{body, angle_of(local(body, b) - local(body, a))};
    }
    return std::nullopt;
  }

  void name_connections() {
    std::set<std::string> taken;
    for (Connection& c : connections_) {
      if (c.coordinate >= 0) taken.insert(c.name = model_.relative[c.coordinate].name);
    }
    for (Connection& c : connections_) {
      if (c.coordinate >= 0) continue;
      if (c.name.empty()) c.name = model_.points[c.point].name;
      const std::string stem = c.name;
      if (taken.contains(c.name)) c.name = stem + "_" + robot_.links[c.b == kWorld ? c.a : c.b].name;
      while (taken.contains(c.name)) c.name += "_";
      taken.insert(c.name);
    }
  }

  // ---- the tree and its joints ------------------------------------------------------------------------------

  /// Breadth first from the world: order_ holds the node from which each connection is passed, or closes_ that it is
  /// not. Parts that do not reach the world get a joint `base`.
  void span() {
    const int nodes = static_cast<int>(robot_.links.size());
    const auto number = [&](int node) { return node == kWorld ? nodes : node; };  // the world is the last
    std::vector<std::vector<int>> of_node(nodes + 1);
    for (int c = 0; c < static_cast<int>(connections_.size()); ++c) {
      for (const int n : {connections_[c].a, connections_[c].b}) of_node[number(n)].push_back(c);
    }
    parent_.assign(connections_.size(), nodes + 1);
    std::vector<bool> reached(nodes + 1);
    const auto spread = [&](int start) {
      std::deque<int> queue{start};
      reached[start] = true;
      for (; !queue.empty(); queue.pop_front()) {
        const int from = queue.front();
        for (const int c : of_node[from]) {
          const Connection& passed = connections_[c];
          const int to = number(number(passed.a) == from ? passed.b : passed.a);
          if (reached[to]) continue;
          reached[to] = true;
          parent_[c] = from == nodes ? kWorld : from;
          queue.push_back(to);
        }
      }
    };
    spread(nodes);
    for (int n = 0; n < nodes; ++n) {
      if (reached[n]) continue;
      base(n);
      spread(n);
    }
  }

  void base(int node) {
    Joint joint;
    joint.name = bases_++ == 0 ? "base" : fmt::format("base{}", bases_);
    joint.type = JointType::planar;
    joint.child = LinkIndex(node);
    joint.axis = Vector3d::UnitZ();
    joint.X_PF = robot_.X_WL[node];
    joint.passive = !model_.motors.empty();
    joint.where = robot_.links[node].where;
    robot_.joints.push_back(std::move(joint));
  }

  void joints() {
    for (std::size_t i = 0; i < connections_.size(); ++i) {
      const Connection& c = connections_[i];
      Joint joint;
      joint.name = c.name;
      joint.type = c.type;
      joint.where = c.where;
      joint.closes_loop = parent_[i] > static_cast<int>(robot_.links.size());
      const bool turned = joint.closes_loop ? c.b == kWorld : parent_[i] == c.b;  // b is the parent
      joint.parent = LinkIndex(turned ? c.b : c.a), joint.child = LinkIndex(turned ? c.a : c.b);
      joint.X_PF = in_space(turned ? c.on_b : c.on_a), joint.X_CM = in_space(turned ? c.on_a : c.on_b);
      joint.axis = c.type == JointType::prismatic ? Vector3d::UnitX() : Vector3d::UnitZ();
      if (turned) joint.axis = -joint.axis;
      joint.passive = !model_.motors.empty() && c.type != JointType::fixed;
      if (c.type != JointType::fixed) joint.initial_q = {c.q}, joint.initial_v = {0};
      const int index = static_cast<int>(robot_.joints.size());
      if (c.coordinate >= 0) joints_.of_coordinate[c.coordinate] = index;
      if (c.point >= 0) joints_.hinges.push_back({c.point, c.a, c.b, index});
      if (c.type == JointType::prismatic) joints_.of_slider[c.b - static_cast<int>(model_.bodies.size())] = index;
      robot_.joints.push_back(std::move(joint));
    }
  }

  // ---- what all share ---------------------------------------------------------------------------------------

  const Vector2d& position(PointIndex p) const { return model_.points[p.value].position; }
  Placed drawn(int node) const { return node == kWorld ? Placed{} : drawn_[node]; }

  bool contains(int body, PointIndex p) const {
    const std::vector<PointIndex>& points = model_.bodies[body].points;
    return std::find(points.begin(), points.end(), p) != points.end();
  }

  /// A point in a node's frame; in that of a slider's link it is the origin.
  Vector2d local(int node, PointIndex p) const {
    if (node == kWorld) return position(p);
    if (node >= static_cast<int>(model_.bodies.size())) return Vector2d::Zero();
    const PlanarBody& body = model_.bodies[node];
    return body.local[std::find(body.points.begin(), body.points.end(), p) - body.points.begin()];
  }

  Failure failure() {
    std::stable_sort(found_.begin(), found_.end(), [](const Diagnostic& a, const Diagnostic& b) {
      return std::pair(a.where.line, a.where.column) < std::pair(b.where.line, b.where.column);
    });
    return {Failure::Kind::bad_input, std::move(found_)};
  }
  void error(const Location& where, std::string message) {
    found_.push_back({Severity::error, where, std::move(message)});
  }

  const Model& model_;
  const PlanarForces forces_;
  std::vector<std::vector<int>> bodies_of_;                  // per point
  std::vector<std::optional<std::pair<Line, Line>>> lines_;  // per relative coordinate
  Robot robot_;
  std::vector<Placed> drawn_;  // per node
  std::set<int> still_;        // bodies that are part of the world
  std::vector<Connection> connections_;
  std::vector<int> parent_;  // per connection; beyond all links: it closes a loop
  std::set<int> measured_;   // relative coordinates that have a joint
  PlanarJoints joints_;
  int bases_ = 0;
  std::vector<Diagnostic> found_;
};

}  // namespace

Result<Robot> robot_of(const Model& model, PlanarForces forces) {
  if (model.spatial()) return model.robot;
  return Converter(model, forces).run();
}

}  // namespace kinegraph
