#include "kinegraph/model/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "kinegraph/base/names.hpp"
#include "kinegraph/model/source.hpp"

namespace kinegraph {
namespace {

constexpr double kRounding = 1e-9;  // of a quantity's size: what a file of eight digits can be wrong by

/// The rules, one method per kind of element. Comparisons are written so that what is not a number passes: the finite
/// check, or the fault that caused it, reports it.
class Rules {
 public:
  explicit Rules(const Model& model) : model_(model) {
    double size = 0;
    for (const Point& p : model.points) {
      if (p.position.allFinite()) size = std::max(size, p.position.lpNorm<Eigen::Infinity>());
    }
    coincidence_ = 1e-12 * size;
    bodies_of_.resize(model.points.size());
    for (std::size_t i = 0; i < model.bodies.size(); ++i) {
      for (const PointIndex p : model.bodies[i].points) {
        if (p.valid()) bodies_of_[p.value].push_back(static_cast<int>(i));
      }
    }
  }

  std::vector<Diagnostic> run() {
    points();
    bodies();
    for (const RelativeCoordinate& r : model_.relative) relative(r);
    for (const Slider& s : model_.sliders) slider(s);
    drivers();
    for (int i = 0; i < static_cast<int>(model_.springs.size()); ++i) spring(i);
    for (int i = 0; i < static_cast<int>(model_.coordinate_springs.size()); ++i) coordinate_spring(i);
    for (int i = 0; i < static_cast<int>(model_.motors.size()); ++i) motor(i);
    for (int i = 0; i < static_cast<int>(model_.frictions.size()); ++i) friction(i);
    loads();
    initial();
    return std::move(found_);
  }

 private:
  void points() {
    const std::vector<Point>& points = model_.points;
    if (points.empty()) return;
    if (std::all_of(points.begin(), points.end(), [](const Point& p) { return p.fixed; })) {
      error(points.front().where, "no moving point: all points are fixed");
    }
    if (std::none_of(points.begin(), points.end(), [](const Point& p) { return p.fixed; })) {
      warning(points.front().where, "no fixed point: the mechanism floats freely");
    }
    std::set<PointIndex> held;  // by something other than a body
    for (const Slider& slider : model_.sliders) held.insert({slider.point, slider.a, slider.b});
    for (const Spring& spring : model_.springs) held.insert({spring.a, spring.b});
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (!bodies_of_[i].empty() || held.contains(PointIndex(static_cast<int>(i)))) continue;
      warning(points[i].where, fmt::format("point {} belongs to no body", quote(points[i].name)));
    }
  }

  void bodies() {
    for (int i = 0; i < static_cast<int>(model_.bodies.size()); ++i) body(i);
    const bool massless = std::all_of(model_.bodies.begin(), model_.bodies.end(),
                                      [](const PlanarBody& b) { return b.mass == 0 && b.inertia == 0; });
    if (massless && !model_.bodies.empty()) {
      warning(model_.bodies.front().where, "no body has a mass: the mechanism has kinematics but no dynamics");
    }
  }

  void body(int i) {
    const PlanarBody& b = model_.bodies[i];
    if (twice(b.points, b.where, "body " + quote(b.name))) return;
    body_shape(i);
    at_least_zero(b.mass, b.name + ".mass", field(Section::planar_bodies, i, "mass"));
    // The inertia about the centre of mass, I₀ − m |cog|², cannot be negative.
    const double least = b.mass * b.cog.squaredNorm();
    if (b.inertia < least - kRounding * std::max(least, std::abs(b.inertia)) && !(b.mass < 0)) {
      set_error(b.name + ".I0", field(Section::planar_bodies, i, "I0"),
                fmt::format("{}.I0: must be >= mass*|cog|^2 = {:.6g}, is {:.6g}", b.name, least, b.inertia));
    }
    const bool still = !b.points.empty() && std::all_of(b.points.begin(), b.points.end(), [&](PointIndex p) {
      return p.valid() && model_.points[p.value].fixed;
    });
    if (still) warning(b.where, fmt::format("body {} cannot move: all its points are fixed", quote(b.name)));
  }

  void body_shape(int i) {
    const PlanarBody& b = model_.bodies[i];
    std::vector<PointIndex> order;
    for (const PointIndex p : b.points) {
      if (p.valid() && position(p).allFinite()) order.push_back(p);
    }
    std::sort(order.begin(), order.end(), [&](PointIndex p, PointIndex q) {
      return std::pair(position(p).x(), position(p).y()) < std::pair(position(q).x(), position(q).y());
    });
    for (std::size_t k = 1; k < order.size(); ++k) {
      if (!coincide(order[k - 1], order[k])) continue;
      const auto [p, q] = std::minmax(order[k - 1], order[k]);
      return error(b.where, fmt::format("body {} has zero length: points {} and {} coincide", quote(b.name),
                                        quote(model_.points[p.value].name), quote(model_.points[q.value].name)));
    }
    if (b.length <= 0) {
      set_error(b.name + ".length", field(Section::planar_bodies, i, "length"),
                fmt::format("{}.length: must be > 0, is {}", b.name, b.length));
    }
  }

  void relative(const RelativeCoordinate& r) {
    const std::string what = "relative coordinate " + quote(r.name);
    for (std::size_t k = 0; k + 1 < r.points.size(); k += 2) line(r.points[k], r.points[k + 1], r.where, what);
    if (r.type != RelativeCoordinate::Type::relative_position || r.points.size() != 3) return;
    if (r.points[2] == r.points[0] || r.points[2] == r.points[1]) {
      error(r.where, what + ": the point is one of the two that define its line");
    } else if (r.points[0].valid() && r.points[1].valid() && !rigid(r.points[0], r.points[1])) {
      error(r.where, what + ": the points of its line must belong to one body or be fixed");
    }
  }

  void slider(const Slider& s) {
    const std::string what = "slider " + quote(s.name);
    line(s.a, s.b, s.where, what);
    if (s.point.valid() && (s.point == s.a || s.point == s.b)) {
      error(s.where, what + ": the point is one of the two that define its line");
    }
  }

  void drivers() {
    for (const Driver& d : model_.drivers) {
      if (d.coordinate.index < 0) continue;
      const std::string name = quote(model_.name_of(d.coordinate));
      if (!driven_.emplace(d.coordinate.what, d.coordinate.index).second) {
        error(d.where, "coordinate " + name + " has two drivers");
      }
      if (on_fixed_point(d.coordinate)) error(d.where, "driver of " + name + ": the point is fixed");
    }
  }

  void spring(int i) {
    const Spring& s = model_.springs[i];
    if (s.a.valid() && s.a == s.b)
      error(s.where, fmt::format("spring {}: both ends are the same point", quote(s.name)));
    const int springs = model_.source ? static_cast<int>(model_.source->of(Section::springs).size()) : i + 1;
    const Section section = i < springs ? Section::springs : Section::dampers;
    spring_numbers(s, section, i < springs ? i : i - springs);
    if (i < springs) at_least_zero(s.rest, s.name + ".rest", field(section, i, "rest"));
  }

  void coordinate_spring(int i) {
    const int springs = model_.source ? static_cast<int>(model_.source->of(Section::coordinate_springs).size()) : i + 1;
    const bool first = i < springs;
    spring_numbers(model_.coordinate_springs[i], first ? Section::coordinate_springs : Section::coordinate_dampers,
                   first ? i : i - springs);
  }

  template <class SpringType>
  void spring_numbers(const SpringType& s, Section section, int i) {
    // Negative values have their uses (a buckled strut, a driven oscillator), so they are not refused.
    for (const auto& [key, value] : {std::pair("stiffness", s.stiffness), std::pair("damping", s.damping)}) {
      if (value < 0)
        warning(or_else(field(section, i, key), s.where), fmt::format("{}.{} is negative: {}", s.name, key, value));
    }
  }

  void motor(int i) {
    const Motor& m = model_.motors[i];
    at_least_zero(m.inertia, m.name + ".inertia", field(Section::motors, i, "inertia"));
  }

  void friction(int i) {
    JointDynamics d = model_.frictions[i].dynamics;
    const auto numbers = friction_numbers(d);
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      const std::string key(kFrictionKeys[k]), name = model_.frictions[i].name + "." + key;
      const Location where = field(Section::joint_friction, i, key.c_str());
      if (key != "stribeck_speed") {
        at_least_zero(*numbers[k], name, where);
      } else if (*numbers[k] <= 0) {
        set_error(name, where, fmt::format("{}: must be > 0, is {}", name, *numbers[k]));
      }
    }
  }

  void loads() {
    for (const PointLoad& load : model_.loads) {
      if (load.point.valid() && model_.points[load.point.value].fixed) {
        warning(load.where, fmt::format("load {} has no effect: point {} is fixed", quote(load.name),
                                        quote(model_.points[load.point.value].name)));
      }
    }
  }

  void initial() {
    for (const InitialValue& value : model_.initial) {
      const std::string name = quote(model_.name_of(value.coordinate));
      if (on_fixed_point(value.coordinate)) error(value.where, "initial value of " + name + ": the point is fixed");
      const bool driven = driven_.contains({value.coordinate.what, value.coordinate.index});
      if (driven) error(value.where, "initial value of " + name + ": a driver prescribes it");
    }
  }

  // ---- what the rules share ---------------------------------------------------------------------------------

  const Vector2d& position(PointIndex p) const { return model_.points[p.value].position; }
  bool coincide(PointIndex a, PointIndex b) const { return (position(a) - position(b)).norm() <= coincidence_; }

  void line(PointIndex a, PointIndex b, const Location& where, const std::string& what) {
    if (!a.valid() || !b.valid() || !coincide(a, b)) return;
    error(where, fmt::format("{}: points {} and {} coincide and give no direction", what,
                             quote(model_.points[a.value].name), quote(model_.points[b.value].name)));
  }

  bool rigid(PointIndex a, PointIndex b) const {
    if (model_.points[a.value].fixed && model_.points[b.value].fixed) return true;
    const std::vector<int>&of_a = bodies_of_[a.value], &of_b = bodies_of_[b.value];
    return std::find_first_of(of_a.begin(), of_a.end(), of_b.begin(), of_b.end()) != of_a.end();
  }

  bool twice(std::vector<PointIndex> points, const Location& where, const std::string& what) {
    std::sort(points.begin(), points.end());
    const auto same = std::adjacent_find(points.begin(), points.end(),
                                         [](PointIndex a, PointIndex b) { return a.valid() && a == b; });
    if (same == points.end()) return false;
    error(where, fmt::format("{}: point {} is named twice", what, quote(model_.points[same->value].name)));
    return true;
  }

  bool on_fixed_point(const CoordinateRef& c) const {
    return c.what != CoordinateRef::What::relative && model_.points[c.index].fixed;
  }

  Location field(Section section, int i, const char* key) const {
    if (!model_.source || i >= static_cast<int>(model_.source->of(section).size())) return {};
    const ElementSource& element = model_.source->of(section)[i];
    const Field* field = element.find(key);
    return field ? field->where : element.where;
  }

  static Location or_else(const Location& a, const Location& b) { return a.line > 0 ? a : b; }

  void at_least_zero(double value, const std::string& name, const Location& where) {
    if (value < 0) set_error(name, where, fmt::format("{}: must be >= 0, is {}", name, value));
  }

  /// About a number that the user may have set over the file's: then the file is not to blame.
  void set_error(const std::string& name, const Location& where, std::string message) {
    error(model_.settings.contains(name) ? Location{} : where, std::move(message));
  }

  void error(const Location& where, std::string message) {
    found_.push_back({Severity::error, where, std::move(message)});
  }
  void warning(const Location& where, std::string message) {
    found_.push_back({Severity::warning, where, std::move(message)});
  }

  const Model& model_;
  std::vector<Diagnostic> found_;
  std::vector<std::vector<int>> bodies_of_;               // per point
  std::set<std::pair<CoordinateRef::What, int>> driven_;  // coordinates
  double coincidence_ = 0;                                // points nearer than this are one place
};

void check_finite(const Model& model, std::vector<Diagnostic>& found) {
  const auto check = [&](std::initializer_list<double> values, const std::string& what, const Location& where) {
    if (std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); })) return;
    found.push_back({Severity::error, where, what + ": not a finite number"});
  };
  const auto named = [](const char* kind, const auto& element) {
    return std::string(kind) + " " + quote(element.name);
  };
  check({model.gravity.x(), model.gravity.y()}, "gravity", {});
  for (const Parameter& p : model.parameters) check({p.value}, named("parameter", p), p.where);
  for (const Point& p : model.points) {
    check({p.position.x(), p.position.y(), p.velocity.x(), p.velocity.y()}, named("point", p), p.where);
  }
  for (const PlanarBody& b : model.bodies) {
    check({b.length, b.mass, b.inertia, b.cog.x(), b.cog.y()}, named("body", b), b.where);
  }
  for (const Spring& s : model.springs) check({s.stiffness, s.rest, s.damping}, named("spring", s), s.where);
  for (const CoordinateSpring& s : model.coordinate_springs) {
    check({s.stiffness, s.rest, s.damping}, named("spring", s), s.where);
  }
  for (const Driver& d : model.drivers) check({d.law(0)}, named("driver", d), d.where);
  for (const Motor& m : model.motors) check({m.torque(0), m.gain, m.inertia}, named("motor", m), m.where);
  for (const JointFriction& f : model.frictions) {
    const JointDynamics& d = f.dynamics;
    check({d.damping, d.friction, d.stribeck, d.stribeck_speed, d.quadratic, d.load_friction},
          named("joint friction", f), f.where);
  }
  for (const PointLoad& l : model.loads) check({l.x(0), l.y(0)}, named("load", l), l.where);
  for (const BodyTorque& t : model.torques) check({t.torque(0)}, named("torque", t), t.where);
  for (const InitialValue& v : model.initial)
    check({v.value}, "initial value of " + model.name_of(v.coordinate), v.where);
}

}  // namespace

std::vector<Diagnostic> check_rules(const Model& model) {
  std::vector<Diagnostic> found = Rules(model).run();
  for (Diagnostic& fault : check_sensors(model)) found.push_back(std::move(fault));
  return found;
}

std::vector<Diagnostic> check_model(const Model& model) {
  std::vector<Diagnostic> found = check_rules(model);
  if (model.points.empty()) found.push_back({Severity::error, {model.file, 1, 1}, "the model has no points"});
  check_finite(model, found);
  return found;
}

}  // namespace kinegraph
