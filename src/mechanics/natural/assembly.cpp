#include <cmath>
#include <initializer_list>
#include <utility>

#include "kinegraph/mechanics/natural/body_mass.hpp"
#include "kinegraph/mechanics/natural/implementation.hpp"
#include "kinegraph/mechanics/natural/pattern.hpp"

namespace kinegraph::natural {
namespace {

class Assembly {
 public:
  Assembly(const Model& model, System::Implementation& system) : model_(model), s_(system) {}

  void run() {
    coordinates();
    for (const PlanarBody& body : model_.bodies) rigidity(body);
    sliders();
    relative_coordinates();
    drivers();
    s_.constant_force.assign(s_.n, 0.0);
    s_.weight.assign(s_.n, 0.0);
    masses();
    springs();
    loads();
    motors();
    place_constraints();
    place_forces();
  }

 private:
  // ---- coordinates
  void coordinates() {
    for (const Point& p : model_.points) {
      s_.point_index.push_back(p.fixed ? -1 : s_.n);
      if (p.fixed) continue;
      s_.coordinate_names.insert(s_.coordinate_names.end(), {p.name + ".x", p.name + ".y"});
      s_.n += 2;
    }
    s_.first_relative = s_.n;
    for (const RelativeCoordinate& r : model_.relative) s_.coordinate_names.push_back(r.name);
    s_.n += static_cast<int>(model_.relative.size());
    s_.typical_length = typical_length();
    guess();
  }

  double typical_length() const {
    double sum = 0;
    for (const PlanarBody& body : model_.bodies) sum += body.length;
    if (sum > 0) return sum / static_cast<double>(model_.bodies.size());
    for (const Point& p : model_.points) sum = std::max(sum, (p.position - model_.points.front().position).norm());
    return sum > 0 ? sum : 1.0;
  }

  void guess() {
    s_.guess.resize(s_.n);
    for (std::size_t i = 0; i < model_.points.size(); ++i)
      if (s_.point_index[i] >= 0) s_.guess.segment<2>(s_.point_index[i]) = model_.points[i].position;
    for (std::size_t i = 0; i < model_.relative.size(); ++i)
      s_.guess[s_.first_relative + i] = drawn(model_.relative[i]);
  }

  double drawn(const RelativeCoordinate& r) const {
    const auto at = [&](int k) { return model_.points[r.points[k].value].position; };
    const Vector2d a = at(1) - at(0);
    if (r.type == RelativeCoordinate::Type::absolute_angle) return std::atan2(a.y(), a.x());
    if (r.type == RelativeCoordinate::Type::relative_position) return (at(2) - at(0)).dot(a) / distance(r);
    const Vector2d b = at(3) - at(2);
    return std::atan2(a.x() * b.y() - a.y() * b.x(), a.dot(b));
  }

  /// The constant length of the line on which a relative position is measured: the body's, or between fixed points.
  double distance(const RelativeCoordinate& r) const {
    for (const PlanarBody& body : model_.bodies) {
      const Vector2d *a = nullptr, *b = nullptr;
      for (std::size_t k = 0; k < body.points.size(); ++k) {
        if (body.points[k] == r.points[0]) a = &body.local[k];
        if (body.points[k] == r.points[1]) b = &body.local[k];
      }
      if (a && b) return (*b - *a).norm();
    }
    return (model_.points[r.points[1].value].position - model_.points[r.points[0].value].position).norm();
  }

  // ---- operands
  Operand x(PointIndex p) const { return axis(p, 0); }
  Operand y(PointIndex p) const { return axis(p, 1); }
  Operand axis(PointIndex p, int k) const {
    const int first = s_.point_index[p.value];
    return {first < 0 ? -1 : first + k, model_.points[p.value].position[k]};
  }
  Operand relative(int i) const { return {s_.first_relative + i, 0.0}; }
  Operand coordinate(const CoordinateRef& c) const {
    if (c.what == CoordinateRef::What::relative) return relative(c.index);
    return axis(PointIndex(c.index), c.what == CoordinateRef::What::point_x ? 0 : 1);
  }
  const std::string& name(PointIndex p) const { return model_.points[p.value].name; }

  // ---- constraints
  /// A constraint among fixed points only says nothing about the motion: it is left out.
  template <class C>
  void add(C equation, std::array<Operand, C::kCoordinates> operands, std::string name) {
    if (std::none_of(operands.begin(), operands.end(), [](const Operand& o) { return o.moves(); })) return;
    PlacedConstraint<C> placed{};
    placed.equation = std::move(equation);
    placed.operands = operands;
    placed.row = static_cast<int>(s_.constraint_names.size());
    std::get<std::vector<PlacedConstraint<C>>>(s_.constraints).push_back(std::move(placed));
    s_.constraint_names.push_back(std::move(name));
  }

  void rigidity(const PlanarBody& body) {
    const PointIndex p0 = body.points[0], p1 = body.points[1];
    add(ConstantDistance{body.length}, {x(p0), y(p0), x(p1), y(p1)}, "distance " + name(p0) + "-" + name(p1));
    for (std::size_t k = 2; k < body.points.size(); ++k) {
      const PointIndex p = body.points[k];
      const double along = body.local[k].x() / body.length, across = body.local[k].y() / body.length;
      const std::string on = " on " + body.name;
      add(RigidPoint{along, across}, {x(p), x(p0), x(p1), y(p0), y(p1)}, "rigid " + name(p) + ".x" + on);
      add(RigidPoint{along, -across}, {y(p), y(p0), y(p1), x(p0), x(p1)}, "rigid " + name(p) + ".y" + on);
    }
  }

  void sliders() {
    for (const Slider& s : model_.sliders) {
      const std::string shown = s.name.empty() ? name(s.point) + " on " + name(s.a) + "-" + name(s.b) : s.name;
      add(SliderConstraint{}, {x(s.point), y(s.point), x(s.a), y(s.a), x(s.b), y(s.b)}, "slider " + shown);
    }
  }

  void relative_coordinates() {
    for (std::size_t i = 0; i < model_.relative.size(); ++i) {
      const RelativeCoordinate& r = model_.relative[i];
      const auto& p = r.points;
      const Operand self = relative(static_cast<int>(i));
      switch (r.type) {
        case RelativeCoordinate::Type::absolute_angle:
          add(AbsoluteAngle{}, {x(p[0]), y(p[0]), x(p[1]), y(p[1]), self}, "angle " + r.name);
          break;
        case RelativeCoordinate::Type::relative_angle:
          add(RelativeAngle{}, {x(p[0]), y(p[0]), x(p[1]), y(p[1]), x(p[2]), y(p[2]), x(p[3]), y(p[3]), self},
              "relative angle " + r.name);
          break;
        case RelativeCoordinate::Type::relative_position:
          add(RelativePosition{distance(r)}, {x(p[0]), y(p[0]), x(p[1]), y(p[1]), x(p[2]), y(p[2]), self},
              "relative position " + r.name);
          break;
      }
    }
  }

  void drivers() {
    for (const Driver& d : model_.drivers) add(DriverConstraint{d.law}, {coordinate(d.coordinate)}, "driver " + d.name);
  }

  // ---- masses and forces
  void masses() {
    PatternBuilder builder;
    std::vector<std::pair<Entry, double>> parts;
    for (const PlanarBody& body : model_.bodies) {
      const PointIndex p0 = body.points[0], p1 = body.points[1];
      const std::array<Operand, 4> at{x(p0), y(p0), x(p1), y(p1)};
      const Eigen::Matrix4d M = body_mass(body);
      const Eigen::Vector4d Q = body_weight(body, model_.gravity);
      for (int i = 0; i < 4; ++i) {
        weigh(at[i], Q[i]);
        for (int j = 0; j < 4; ++j) {
          if (M(i, j) == 0 || !at[i].moves() || !at[j].moves()) continue;
          builder.add(at[i].index, at[j].index);
          parts.push_back({{at[i].index, at[j].index}, M(i, j)});
        }
      }
    }
    s_.mass = builder.finish();
    s_.mass_values.assign(s_.mass.size(), 0.0);
    for (const auto& [e, value] : parts) s_.mass_values[PatternBuilder::find(s_.mass, e.row, e.column)] += value;
  }

  void weigh(const Operand& at, double force) {
    if (at.moves()) {
      s_.weight[at.index] += force;
      s_.constant_force[at.index] += force;
    } else {
      s_.fixed_potential -= force * at.constant;
    }
  }

  template <class F>
  void add(F equation, std::array<Operand, F::kCoordinates> operands) {
    if (std::none_of(operands.begin(), operands.end(), [](const Operand& o) { return o.moves(); })) return;
    PlacedForce<F> placed{};
    placed.equation = std::move(equation);
    placed.operands = operands;
    std::get<std::vector<PlacedForce<F>>>(s_.forces).push_back(std::move(placed));
  }

  void springs() {
    const double epsilon = 1e-9 * s_.typical_length;
    for (const Spring& s : model_.springs)
      add(SpringForce{s.stiffness, s.rest, s.damping, epsilon}, {x(s.a), y(s.a), x(s.b), y(s.b)});
    for (const CoordinateSpring& s : model_.coordinate_springs)
      add(CoordinateSpringForce{s.stiffness, s.rest, s.damping}, {relative(s.coordinate.value)});
  }

  void loads() {
    for (const PointLoad& load : model_.loads) {
      const std::array<Operand, 2> at{x(load.point), y(load.point)};
      if (!load.x.is_constant() || !load.y.is_constant()) {
        add(PointLoadForce{load.x, load.y}, at);
      } else if (at[0].moves()) {
        s_.constant_force[at[0].index] += load.x(0);
        s_.constant_force[at[1].index] += load.y(0);
      }
    }
    for (const BodyTorque& torque : model_.torques) {
      const PlanarBody& body = model_.bodies[torque.body.value];
      const PointIndex p0 = body.points[0], p1 = body.points[1];
      add(BodyTorqueForce{torque.torque, body.length}, {x(p0), y(p0), x(p1), y(p1)});
    }
  }

  void motors() {
    for (const Motor& motor : model_.motors) {
      s_.motor_coordinate.push_back(relative(motor.coordinate.value).index);
      s_.motor_law.push_back(motor.torque);
    }
  }

  // ---- patterns, and the place of every derivative in them
  void place_constraints() {
    PatternBuilder jacobian, hessian;
    for_each(s_.constraints, [&](auto& c) {
      for (const Operand& o : c.operands) jacobian.add(c.row, o.index);
      for (const Entry& e : c.equation.kHessian) {
        hessian.add(c.operands[e.row].index, c.operands[e.column].index);
        hessian.add(c.operands[e.column].index, c.operands[e.row].index);
      }
    });
    s_.jacobian = jacobian.finish();
    s_.hessian = hessian.finish();
    for_each(s_.constraints, [&](auto& c) {
      for (std::size_t k = 0; k < c.operands.size(); ++k) {
        c.columns[k] = PatternBuilder::find(s_.jacobian, c.row, c.operands[k].index);
        for (std::size_t l = 0; l < k; ++l) c.merged |= c.columns[k] >= 0 && c.columns[k] == c.columns[l];
      }
    });
  }

  void place_forces() {
    PatternBuilder force, stiffness;
    for_each(s_.forces, [&](auto& f) {
      for (const Entry& e : f.equation.kPattern) force.add(f.operands[e.row].index, f.operands[e.column].index);
    });
    s_.force = force.finish();
    stiffness.add(s_.hessian);
    stiffness.add(s_.force);
    s_.stiffness = stiffness.finish();
    for_each(s_.forces, [&](auto& f) {
      for (std::size_t k = 0; k < f.equation.kPattern.size(); ++k) {
        const Entry e = f.equation.kPattern[k];
        f.places[k] = PatternBuilder::find(s_.force, f.operands[e.row].index, f.operands[e.column].index);
        f.stiffness[k] = PatternBuilder::find(s_.stiffness, f.operands[e.row].index, f.operands[e.column].index);
      }
    });
    for_each(s_.constraints, [&](auto& c) {
      for (std::size_t k = 0; k < c.equation.kHessian.size(); ++k) {
        const int i = c.operands[c.equation.kHessian[k].row].index, j = c.operands[c.equation.kHessian[k].column].index;
        c.hessian[k] = mirror(s_.hessian, c.equation.kHessian[k], i, j);
        c.stiffness[k] = mirror(s_.stiffness, c.equation.kHessian[k], i, j);
      }
    });
  }

  /// An off-diagonal value stands for two, also when both of its coordinates are the same one of q.
  static Mirror mirror(const std::vector<Entry>& pattern, const Entry& local, int i, int j) {
    Mirror m{PatternBuilder::find(pattern, i, j), -1};
    if (local.row != local.column) m.upper = PatternBuilder::find(pattern, j, i);
    return m;
  }

  const Model& model_;
  System::Implementation& s_;
};

}  // namespace

std::shared_ptr<const System::Implementation> assemble(const Model& model) {
  auto system = std::make_shared<System::Implementation>();
  Assembly(model, *system).run();
  return system;
}

}  // namespace kinegraph::natural
