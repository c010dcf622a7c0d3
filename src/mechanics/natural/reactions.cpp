#include "kinegraph/mechanics/natural/reactions.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "kinegraph/mechanics/natural/body_mass.hpp"
#include "kinegraph/mechanics/natural/implementation.hpp"

namespace kinegraph::natural {
namespace {

// Where numbers are added to the output; −1: nowhere.

/// sign · λ Φ_qᵀ of one row, fixed points included.
template <class C>
struct Share {
  C equation;
  std::array<Operand, C::kCoordinates> operands;
  int row;
  double sign;
  std::array<int, C::kCoordinates> places;
};

template <class Lists>
struct SharesOf;
template <class... C>
struct SharesOf<std::tuple<std::vector<PlacedConstraint<C>>...>> {
  using Lists = std::tuple<std::vector<Share<C>>...>;
};

/// M_b q̈ of one body, on its first two points.
struct Inertia {
  Eigen::Matrix4d mass;
  std::array<Operand, 4> operands;
  std::array<int, 4> places;
};

/// −Q_b of a torque on a body.
struct Torque {
  BodyTorqueForce equation;
  std::array<Operand, 4> operands;
  std::array<int, 4> places;
};

template <class Places>
bool anywhere(const Places& places) {
  return std::any_of(places.begin(), places.end(), [](int place) { return place >= 0; });
}

}  // namespace

struct Reactions::Implementation {
  std::vector<std::string> names;
  std::vector<double> constant;  ///< −Q_b of the weights
  std::vector<Inertia> inertias;
  std::vector<Torque> torques;
  SharesOf<Constraints>::Lists shares;
};

namespace {

class Builder {
 public:
  Builder(const Model& model, const System& system, Reactions::Implementation& out)
      : model_(model), system_(system), out_(out), all_free_(assemble(all_free(model))) {}

  void run() {
    number_rows();
    name_forces();
    bodies();
    torques();
    share_rows();
  }

 private:
  /// The constraints of a system do not know which fixed point a constant came from. Of the same model with every point
  /// free they do: the operand 2p + k is x or y of point p, and the rows are the same, in the same order, but for those
  /// among fixed points only, which the system leaves out.
  static Model all_free(Model model) {
    for (Point& p : model.points) p.fixed = false;
    return model;
  }
  int point_of(const Operand& free) const { return free.index < all_free_->first_relative ? free.index / 2 : -1; }
  Operand operand(const Operand& free) const {
    using What = CoordinateRef::What;
    const int p = point_of(free), k = free.index % 2;
    if (p < 0) return {system_.index_of({What::relative, free.index - all_free_->first_relative}), 0.0};
    return {system_.index_of({k == 0 ? What::point_x : What::point_y, p}), model_.points[p].position[k]};
  }
  template <std::size_t n>
  std::array<Operand, n> operands(const std::array<Operand, n>& free) const {
    std::array<Operand, n> real;
    std::transform(free.begin(), free.end(), real.begin(), [this](const Operand& o) { return operand(o); });
    return real;
  }
  std::array<Operand, 4> basis(const PlanarBody& body) const {
    const int p0 = 2 * body.points[0].value, p1 = 2 * body.points[1].value;
    return operands(std::array<Operand, 4>{{{p0, 0}, {p0 + 1, 0}, {p1, 0}, {p1 + 1, 0}}});
  }

  /// row_[r]: the row of λ that the row r of the free system is; −1: left out.
  void number_rows() {
    row_.assign(all_free_->constraint_names.size(), -1);
    for_each(all_free_->constraints, [&](const auto& c) {
      const auto moves = [this](const Operand& o) { return operand(o).moves(); };
      if (std::any_of(c.operands.begin(), c.operands.end(), moves)) row_[c.row] = 0;
    });
    int next = 0;
    for (int& row : row_)
      if (row >= 0) row = next++;
    if (next != system_.constraints()) throw std::logic_error("reactions: the system is of another model");
  }

  // ---- names
  int add(const std::string& name) {
    out_.names.insert(out_.names.end(), {name + ".fx", name + ".fy"});
    return static_cast<int>(out_.names.size()) - 2;
  }

  void name_forces() {
    for (const PlanarBody& body : model_.bodies) place_.emplace_back(body.points.size(), -1);
    line_place_.assign(model_.sliders.size(), -1);
    for (int p = 0; p < static_cast<int>(model_.points.size()); ++p) name_forces_at(PointIndex(p));
  }

  void name_forces_at(PointIndex p) {
    const Point& point = model_.points[p.value];
    std::vector<std::pair<int, int>> held;  // body, number of the point in it
    for (int b = 0; b < static_cast<int>(model_.bodies.size()); ++b)
      if (const int k = number_in(b, p); k >= 0) held.push_back({b, k});
    std::vector<int> lines;
    for (int i = 0; i < static_cast<int>(model_.sliders.size()); ++i)
      if (model_.sliders[i].point == p && row_[slider_row(i)] >= 0) lines.push_back(i);

    const std::size_t first = point.fixed ? 0 : 1;
    const bool alone = lines.empty() && held.size() == first + 1;
    for (std::size_t i = first; i < held.size(); ++i) {
      const auto [b, k] = held[i];
      place_[b][k] = add(alone ? point.name : point.name + "." + model_.bodies[b].name);
    }
    for (const int i : lines) line_place_[i] = add(lines.size() == 1 ? point.name : point.name + "." + line_name(i));
  }

  std::string line_name(int slider) const {
    const Slider& s = model_.sliders[slider];
    if (!s.name.empty()) return s.name;
    return model_.points[s.a.value].name + "-" + model_.points[s.b.value].name;
  }

  int number_in(int body, PointIndex p) const {
    const std::vector<PointIndex>& points = model_.bodies[body].points;
    const auto found = std::find(points.begin(), points.end(), p);
    return found == points.end() ? -1 : static_cast<int>(found - points.begin());
  }

  int place(int body, PointIndex p, int axis) const {
    const int k = body < 0 ? -1 : number_in(body, p);
    return k < 0 || place_[body][k] < 0 ? -1 : place_[body][k] + axis;
  }

  // ---- masses, weights, torques
  std::array<int, 4> basis_places(int b) const {
    const PointIndex p0 = model_.bodies[b].points[0], p1 = model_.bodies[b].points[1];
    return {place(b, p0, 0), place(b, p0, 1), place(b, p1, 0), place(b, p1, 1)};
  }

  void bodies() {
    out_.constant.assign(out_.names.size(), 0.0);
    for (int b = 0; b < static_cast<int>(model_.bodies.size()); ++b) {
      const PlanarBody& body = model_.bodies[b];
      const std::array<int, 4> places = basis_places(b);
      if (!anywhere(places)) continue;
      const Eigen::Vector4d weight = body_weight(body, model_.gravity);
      for (int i = 0; i < 4; ++i)
        if (places[i] >= 0) out_.constant[places[i]] -= weight[i];
      out_.inertias.push_back({body_mass(body), basis(body), places});
    }
  }

  void torques() {
    for (const BodyTorque& torque : model_.torques) {
      const PlanarBody& body = model_.bodies[torque.body.value];
      const std::array<int, 4> places = basis_places(torque.body.value);
      if (anywhere(places)) out_.torques.push_back({BodyTorqueForce{torque.torque, body.length}, basis(body), places});
    }
  }

  // ---- constraints
  int slider_row(int slider) const {  ///< of the free system: sliders follow the rigidity of the bodies
    int row = slider;
    for (const PlanarBody& body : model_.bodies) row += 2 * static_cast<int>(body.points.size()) - 3;
    return row;
  }

  /// The first body that holds both points; −1: the ground, or two pins that no body joins.
  int body_of(PointIndex a, PointIndex b) const {
    for (int i = 0; i < static_cast<int>(model_.bodies.size()); ++i)
      if (number_in(i, a) >= 0 && number_in(i, b) >= 0) return i;
    return -1;
  }

  /// For each row of the free system, the body on which each of its operands acts. What acts on the point of a slider
  /// or of a relative position acts on the first body there, whose force is not told if the point moves, and on the
  /// ground if it is fixed: nothing to add.
  std::vector<std::vector<int>> owners() const {
    using Type = RelativeCoordinate::Type;
    std::vector<std::vector<int>> rows;
    for (int b = 0; b < static_cast<int>(model_.bodies.size()); ++b) {
      rows.emplace_back(ConstantDistance::kCoordinates, b);
      rows.resize(rows.size() + 2 * (model_.bodies[b].points.size() - 2),
                  std::vector<int>(RigidPoint::kCoordinates, b));
    }
    for (const Slider& s : model_.sliders) {
      const int line = body_of(s.a, s.b);
      rows.push_back({-1, -1, line, line, line, line});
    }
    for (const RelativeCoordinate& r : model_.relative) {
      const int a = body_of(r.points[0], r.points[1]);
      if (r.type == Type::relative_angle) {
        const int b = body_of(r.points[2], r.points[3]);
        rows.push_back({a, a, a, a, b, b, b, b, -1});
      } else {
        rows.push_back({a, a, a, a, -1, -1, -1});
      }
    }
    rows.resize(rows.size() + model_.drivers.size(), std::vector<int>(DriverConstraint::kCoordinates, -1));
    return rows;
  }

  void share_rows() {
    const std::vector<std::vector<int>> owner = owners();
    const int first_slider = slider_row(0);
    for_each(all_free_->constraints, [&](const auto& c) {
      using C = typename std::decay_t<decltype(c)>::Equation;
      std::array<int, C::kCoordinates> places;
      for (int k = 0; k < C::kCoordinates; ++k) {
        const int p = point_of(c.operands[k]);
        places[k] = p < 0 ? -1 : place(owner.at(c.row).at(k), PointIndex(p), c.operands[k].index % 2);
      }
      share(c, 1.0, places);
      if constexpr (std::is_same_v<C, SliderConstraint>) {
        const int line = line_place_[c.row - first_slider];
        const bool fixed = model_.points[point_of(c.operands[0])].fixed;
        if (line >= 0) share(c, fixed ? 1.0 : -1.0, {line, line + 1, -1, -1, -1, -1});
      }
    });
  }

  template <class C>
  void share(const PlacedConstraint<C>& c, double sign, const std::array<int, C::kCoordinates>& places) {
    if (row_[c.row] < 0 || !anywhere(places)) return;
    std::get<std::vector<Share<C>>>(out_.shares)
        .push_back({c.equation, operands(c.operands), row_[c.row], sign, places});
  }

  const Model& model_;
  const System& system_;
  Reactions::Implementation& out_;
  std::shared_ptr<const System::Implementation> all_free_;
  std::vector<int> row_;
  std::vector<std::vector<int>> place_;  ///< of the force on each body at each of its points
  std::vector<int> line_place_;          ///< of the force of each slider
};

}  // namespace

Reactions::Reactions(const Model& model, std::shared_ptr<const System> system) {
  auto made = std::make_unique<Implementation>();
  Builder(model, *system, *made).run();
  self_ = std::move(made);
}
Reactions::~Reactions() = default;
Reactions::Reactions(Reactions&&) noexcept = default;
Reactions& Reactions::operator=(Reactions&&) noexcept = default;

const std::vector<std::string>& Reactions::names() const { return self_->names; }

namespace {

/// The numbers that forces depend on, as their scalar wants them: values, or values with a derivative.
struct Values {
  using Scalar = double;
  const double *q, *a, *lambda;
  double position(const Operand& o) const { return PositionReader{q}(o); }
  double acceleration(const Operand& o) const { return RateReader{a}(o); }
  double multiplier(int row) const { return lambda[row]; }
};
struct ValuesAlong {
  using Scalar = Taylor1;
  const double *q, *a, *lambda, *dq, *da, *dlambda;
  Taylor1 position(const Operand& o) const { return Taylor1Reader{q, dq}(o); }
  Taylor1 acceleration(const Operand& o) const { return {RateReader{a}(o), RateReader{da}(o)}; }
  Taylor1 multiplier(int row) const { return {lambda[row], dlambda[row]}; }
};

/// Calls add(place, number) for all that the forces are the sums of, but for the constant.
template <class From, class Add>
void sum(const Reactions::Implementation& self, const From& from, double t, const Add& add) {
  using T = typename From::Scalar;
  const auto positions = [&](const Operand& o) { return from.position(o); };
  for (const Inertia& body : self.inertias) {
    const auto acceleration = read(body.operands, [&](const Operand& o) { return from.acceleration(o); });
    for (int i = 0; i < 4; ++i) {
      if (body.places[i] < 0) continue;
      for (int j = 0; j < 4; ++j) add(body.places[i], body.mass(i, j) * acceleration[j]);
    }
  }
  for (const Torque& torque : self.torques) {
    const auto force = torque.equation.force(read(torque.operands, positions), {}, t);
    for (int i = 0; i < 4; ++i)
      if (torque.places[i] >= 0) add(torque.places[i], -force[i]);
  }
  for_each(self.shares, [&](const auto& share) {
    const auto g = share.equation.gradient(read(share.operands, positions));
    const T multiplier = share.sign * from.multiplier(share.row);
    for (std::size_t k = 0; k < g.size(); ++k)
      if (share.places[k] >= 0) add(share.places[k], multiplier * g[k]);
  });
}

template <class From>
auto one_force(const Reactions::Implementation& self, int place, const From& from, double t) {
  using T = typename From::Scalar;
  std::array<T, 2> force{T(self.constant[place]), T(self.constant[place + 1])};
  sum(self, from, t, [&](int at, const T& number) {
    if (at == place || at == place + 1) force[at - place] += number;
  });
  return force;
}

}  // namespace

void Reactions::evaluate(const double* q, const double* /*v*/, const double* a, const double* lambda,
                         const double* /*u*/, double t, double* out) const {
  std::copy(self_->constant.begin(), self_->constant.end(), out);
  sum(*self_, Values{q, a, lambda}, t, [out](int place, double number) { out[place] += number; });
}

std::array<double, 2> Reactions::at(int place, const double* q, const double* a, const double* lambda, double t) const {
  return one_force(*self_, place, Values{q, a, lambda}, t);
}

std::array<Taylor1, 2> Reactions::along(int place, const double* q, const double* a, const double* lambda, double t,
                                        const double* dq, const double* da, const double* dlambda) const {
  return one_force(*self_, place, ValuesAlong{q, a, lambda, dq, da, dlambda}, t);
}

}  // namespace kinegraph::natural
