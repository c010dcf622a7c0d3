#pragma once

// Mechanisms built by hand, for the tests of mechanics/ and factor/ (files are io's business).

#include <memory>
#include <stdexcept>
#include <string>

#include "kinegraph/expr/expression.hpp"
#include "kinegraph/model/model.hpp"

namespace kinegraph::natural {

inline PointIndex add_point(Model& model, const std::string& name, double x, double y, bool fixed = false) {
  Point p;
  p.name = name;
  p.position = {x, y};
  p.fixed = fixed;
  model.points.push_back(p);
  return PointIndex(static_cast<int>(model.points.size()) - 1);
}

/// A body whose frame and local points are as drawn; a slender bar if it has two points.
inline PlanarBody& add_body(Model& model, const std::vector<PointIndex>& points, double mass) {
  PlanarBody body;
  body.name = "body" + std::to_string(model.bodies.size());
  body.points = points;
  const auto at = [&](int k) { return model.points[points[k].value].position; };
  const Vector2d d = at(1) - at(0);
  body.length = d.norm();
  for (std::size_t k = 0; k < points.size(); ++k) {
    const Vector2d r = at(k) - at(0);
    body.local.push_back({r.dot(d) / body.length, (d.x() * r.y() - d.y() * r.x()) / body.length});
  }
  body.mass = mass;
  body.inertia = mass * body.length * body.length / 3;
  body.cog = {body.length / 2, 0};
  model.bodies.push_back(body);
  return model.bodies.back();
}

inline RelativeIndex add_relative(Model& model, const std::string& name, RelativeCoordinate::Type type,
                                  const std::vector<PointIndex>& points) {
  RelativeCoordinate r;
  r.name = name;
  r.type = type;
  r.points = points;
  model.relative.push_back(r);
  return RelativeIndex(static_cast<int>(model.relative.size()) - 1);
}

inline Law law_of_t(const std::string& formula) {
  auto expression = Expression::parse(formula, {});
  if (!expression) throw std::invalid_argument(expression.failure().to_string());
  return Law(std::make_shared<const Expression>(*std::move(expression)));
}

/// The four-bar of 000, figure 6: bars 1, 2 and √13 m of 1, 2 and 4 kg between A (0, 0) and B (4, 0).
inline Model fourbar() {
  Model model;
  const PointIndex a = add_point(model, "A", 0, 0, true), p1 = add_point(model, "P1", 1, 0);
  const PointIndex p2 = add_point(model, "P2", 1, 2), b = add_point(model, "B", 4, 0, true);
  add_body(model, {a, p1}, 1.0);
  add_body(model, {p1, p2}, 2.0);
  add_body(model, {p2, b}, 4.0);
  return model;
}

/// The same with its crank angle as a coordinate, and a motor on it.
inline Model fourbar_with_motor() {
  Model model = fourbar();
  Motor motor;
  motor.name = "crank";
  motor.coordinate =
      add_relative(model, "theta", RelativeCoordinate::Type::absolute_angle, {PointIndex(0), PointIndex(1)});
  motor.torque = law_of_t("3*sin(t)");
  model.motors.push_back(motor);
  return model;
}

/// Not a useful machine: one of every constraint and force, sharing points so that their derivatives meet in the same
/// entries, with fixed points among them.
inline Model zoo() {
  using Type = RelativeCoordinate::Type;
  Model m = fourbar_with_motor();
  const PointIndex a(0), p1(1), p2(2), b(3);
  const PointIndex c = add_point(m, "C", 1.7, 1.2), d = add_point(m, "D", 2.4, 2.6), s = add_point(m, "S", 0.5, -0.4);
  PlanarBody& plate = add_body(m, {p2, c, d, a}, 3.0);  // a is fixed: its rows have no column of their own
  plate.cog = {0.3, -0.2};
  plate.inertia = 1.4;
  add_body(m, {a, b}, 1.0);  // both ends fixed: no constraint
  m.sliders.push_back({"rail", s, a, b, {}});
  m.sliders.push_back({"", d, p1, c, {}});
  add_relative(m, "knee", Type::relative_angle, {a, p1, p1, p2});  // P1 is read twice
  add_relative(m, "twist", Type::relative_angle, {p2, c, d, s});
  add_relative(m, "stroke", Type::relative_position, {a, b, s});
  add_relative(m, "reach", Type::relative_position, {p2, c, d});
  m.drivers.push_back({"crank", {CoordinateRef::What::relative, 0}, law_of_t("0.3*t + sin(2*t)"), {}});
  m.drivers.push_back({"lift", {CoordinateRef::What::point_y, d.value}, law_of_t("2 + t^3"), {}});
  m.springs.push_back({"tie", c, s, 120.0, 0.7, 4.0, {}});
  m.springs.push_back({"anchor", b, d, 80.0, 1.1, 2.5, {}});
  m.springs.push_back({"inner", c, d, 50.0, 0.2, 0.0, {}});
  m.coordinate_springs.push_back({"coil", RelativeIndex(1), 9.0, 0.4, 0.6, {}});
  m.loads.push_back({"push", s, law_of_t("5*cos(t)"), Law(-2.0), {}});
  m.loads.push_back({"steady", d, Law(1.5), Law(-0.5), {}});
  m.torques.push_back({"fan", BodyIndex(1), law_of_t("2*t + 1"), {}});
  m.torques.push_back({"brake", BodyIndex(0), Law(-0.7), {}});
  m.motors.push_back({"piston", RelativeIndex(3), Law(0.0), 1, 0, {}});
  return m;
}

}  // namespace kinegraph::natural
