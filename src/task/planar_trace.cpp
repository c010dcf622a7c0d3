#include "kinegraph/task/planar_trace.hpp"

#include <algorithm>
#include <array>

#include "kinegraph/mechanics/natural/implementation.hpp"
#include "kinegraph/mechanics/sensor/list.hpp"
#include "kinegraph/task/planar_saddle.hpp"

namespace kinegraph::task {
namespace {

using codegen::Program;
using codegen::Signed;
using filter::PacketConstraint;
using filter::PacketProgram;

class PlanarTracer {
 public:
  PlanarTracer(const Model& model, const natural::System& system, const PacketProgram& packets,
               const std::vector<int>& independent)
      : model_(model), system_(system), p_(packets), n_(packets.n), m_(packets.m), independent_(independent) {
    const auto& loads =
        std::get<std::vector<natural::PlacedForce<natural::PointLoadForce>>>(system.implementation().forces);
    has_law_ = system.motors() > 0 || !loads.empty() || p_.torques.count > 0 || p_.drivers.count > 0;
  }

  bool has_law() const { return has_law_; }

  Program rates() {
    begin("accelerations", true);
    const Scalars unknown = p_.forces.count > 0 ? input("unknown", p_.forces.count) : Scalars();
    TracedSaddle saddle(p_, good_);
    Scalars x = accelerations(saddle, unknown);
    return end({{"a", Scalars(x.begin(), x.begin() + n_)}});
  }

  // Φ_q d = −Φ, the smallest in the norm of the mass; the same for v and Φ̇. `held`: C d = 0 besides.
  Program correct(bool held) {
    begin("onto the constraints", true);
    TracedSaddle saddle(p_, good_);
    slope(saddle);
    Scalars miss(m_), rate(m_);
    close(miss, rate);
    saddle.factor();
    Scalar off(0);
    for (int r = 0; r < m_; ++r) {
      if (p_.sharpness[r] > 0) off = max(off, Scalar(p_.sharpness[r]) * abs(miss[r]));
    }
    const std::vector<Scalars> N = held ? tangent(saddle) : std::vector<Scalars>();
    const auto moved = [&](const Scalars& rows, const Scalars& from) {
      Scalars d(n_ + m_), to(n_);
      for (int r = 0; r < m_; ++r) d[n_ + r] = -rows[r];
      saddle.solve(d);
      if (held) hold(N, d);
      for (int i = 0; i < n_; ++i) to[i] = from[i] + d[i];
      return to;
    };
    return end({{"q_next", moved(miss, q_)}, {"v_next", moved(rate, v_)}, {"off", {off}}});
  }

  // q + N δz, v + N δż; how far q goes, in the coordinates' lengths
  Program depart() {
    begin("along the tangent", false);
    const int f = static_cast<int>(independent_.size());
    const Scalars delta = input("delta", 2 * f);
    TracedSaddle saddle(p_, good_);
    slope(saddle);
    saddle.factor();
    const std::vector<Scalars> N = tangent(saddle);
    Scalars q(n_), v(n_);
    Scalar far(0);
    for (int i = 0; i < n_; ++i) {
      Scalar dq, dv;
      for (int j = 0; j < f; ++j) dq += N[j][i] * delta[j], dv += N[j][i] * delta[f + j];
      q[i] = q_[i] + dq, v[i] = v_[i] + dv;
      far = max(far, abs(dq) * Scalar(1 / p_.length[i]));
    }
    return end({{"q_next", q}, {"v_next", v}, {"far", {far}}});
  }

  Program directions() {
    begin("answers to noises", false);
    return end({{"d", noise_directions()}});
  }

  PlanarPrograms::Sense sense(int sensor) {
    PlanarPrograms::Sense traced;
    begin("what a sensor reads", false);
    Scalars y;
    traced.traced = read(sensor, y);
    if (!traced.traced) return traced;
    traced.read = end({{"y", y}});
    begin("what a sensor reads, and how it answers to noises", false);
    const Scalars d = noise_directions();
    read(sensor, y);
    Scalars along;
    const Scalars nothing(n_);
    for (int j = 0; j < p_.noises.count; ++j) {
      const Scalars direction(d.begin() + j * n_, d.begin() + (j + 1) * n_);
      append(changes(y, nothing, direction), along);
      append(changes(y, direction, nothing), along);
    }
    traced.respond = end({{"y", y}, {"along", along}});
    begin("what a sensor reads, and how it changes along the chart", false);
    read(sensor, y);
    const auto [N, D] = tangent_and_change();
    const int f = static_cast<int>(independent_.size());
    const Scalars still(n_);
    along.clear();
    for (int j = 0; j < f; ++j) append(changes(y, N[j], D[j]), along);
    for (int j = 0; j < f; ++j) append(changes(y, still, N[j]), along);
    traced.along = end({{"y", y}, {"along", along}});
    return traced;
  }

 private:
  struct Output {
    std::string name;
    Scalars values;
  };
  codegen::ExpressionGraph& graph() { return *program_.graph; }

  Scalars input(const std::string& name, int count) {
    codegen::Array array{name, "", {}, {}};
    Scalars list;
    for (int i = 0; i < count; ++i) {
      array.values.push_back(graph().input());
      list.emplace_back(graph(), array.values.back());
    }
    program_.inputs.push_back(std::move(array));
    return list;
  }

  void begin(const char* purpose, bool law) {
    program_ = {};
    program_.graph = std::make_shared<codegen::ExpressionGraph>();
    program_.purpose = purpose;
    good_ = Scalar(1);
    q_ = input("q", n_);
    v_ = input("v", n_);
    for (const double c : p_.constants) q_.emplace_back(c), v_.emplace_back(0);
    const std::vector<double>& constant = system_.implementation().constant_force;
    force_.assign(constant.begin(), constant.end());
    torque_.clear();
    driver_.clear();
    if (!law || !has_law_) return;
    const Scalars all = input("law", n_ + p_.torques.count + 3 * p_.drivers.count);
    force_.assign(all.begin(), all.begin() + n_);
    torque_.assign(all.begin() + n_, all.begin() + n_ + p_.torques.count);
    driver_.assign(all.begin() + n_ + p_.torques.count, all.end());
  }

  Program end(const std::vector<Output>& outputs) {
    for (const Output& output : outputs) {
      codegen::Array array{output.name, "", {}, {}};
      for (const Scalar& s : output.values) array.values.push_back(s.in(graph()));
      program_.outputs.push_back(std::move(array));
    }
    program_.outputs.push_back({"good", "", {}, {good_.in(graph())}});
    program_.pivot = graph().one();
    return codegen::simplified(program_);
  }

  template <class E>
  auto position(const int (&slot)[E::kCoordinates]) const {
    std::array<Scalar, E::kCoordinates> x;
    for (int k = 0; k < E::kCoordinates; ++k) x[k] = q_[slot[k]];
    return x;
  }
  template <class E>
  auto motion(const int (&slot)[E::kCoordinates]) const {
    std::array<Rate, E::kCoordinates> x;
    for (int k = 0; k < E::kCoordinates; ++k) x[k] = Rate(q_[slot[k]], v_[slot[k]]);
    return x;
  }
  template <class F>
  void each_constraint(const F& f) const {
    for (const auto& c : p_.distances) f(c);
    for (const auto& c : p_.rigid_points) f(c);
    for (const auto& c : p_.sliders) f(c);
    for (const auto& c : p_.angles) f(c);
    for (const auto& c : p_.relative_angles) f(c);
    for (const auto& c : p_.relative_positions) f(c);
  }

  // Φ_q
  void slope(TracedSaddle& saddle) const {
    each_constraint([&]<class E>(const PacketConstraint<E>& c) {
      const auto g = c.equation.gradient(position<E>(c.slot));
      for (int k = 0; k < E::kCoordinates; ++k) saddle.phi[c.place[k]] = Scalar(0);
      for (int k = 0; k < E::kCoordinates; ++k) saddle.phi[c.place[k]] += g[k];
    });
    for (const filter::PacketDriver& d : p_.drivers) saddle.phi[d.place] = Scalar(1);
  }

  // Φ and Φ̇
  void close(Scalars& miss, Scalars& rate) const {
    each_constraint([&]<class E>(const PacketConstraint<E>& c) {
      const Rate value = c.equation.phi(motion<E>(c.slot), 0.0);
      miss[c.row] = value.x, rate[c.row] = value.d;
    });
    for (int i = 0; i < p_.drivers.count; ++i) {
      miss[p_.drivers[i].row] = q_[p_.drivers[i].slot] - driver_[3 * i];
      rate[p_.drivers[i].row] = v_[p_.drivers[i].slot] - driver_[3 * i + 1];
    }
  }

  // M a + Φ_qᵀ λ = Q,   Φ_q a = −Φ̇_q v
  Scalars accelerations(TracedSaddle& saddle, const Scalars& unknown) {
    Scalars x(n_ + m_ + 1);
    for (int i = 0; i < n_; ++i) x[i] = force_[i];
    slope(saddle);
    each_constraint([&]<class E>(const PacketConstraint<E>& c) {
      const auto g = c.equation.gradient(motion<E>(c.slot));
      for (int k = 0; k < E::kCoordinates; ++k) x[n_ + c.row] -= g[k].d * v_[c.slot[k]];
    });
    for (int i = 0; i < p_.drivers.count; ++i) x[n_ + p_.drivers[i].row] = driver_[3 * i + 2];
    const auto push = [&]<class E>(const filter::PacketForce<E>& f) {
      std::array<Scalar, E::kCoordinates> v;
      for (int k = 0; k < E::kCoordinates; ++k) v[k] = v_[f.slot[k]];
      const auto local = f.equation.force(position<E>(f.slot), v, 0.0);
      for (int k = 0; k < E::kCoordinates; ++k) x[f.target[k]] += local[k];
    };
    for (const auto& f : p_.springs) push(f);
    for (const auto& f : p_.coordinate_springs) push(f);
    for (int i = 0; i < p_.torques.count; ++i) {
      const auto p = position<natural::BodyTorqueForce>(p_.torques[i].slot);
      const Scalar fx = -(torque_[i] * (p[3] - p[1])), fy = torque_[i] * (p[2] - p[0]);
      const Scalar local[4] = {-fx, -fy, fx, fy};
      for (int k = 0; k < 4; ++k) x[p_.torques[i].target[k]] += local[k];
    }
    for (std::size_t k = 0; k < unknown.size(); ++k) x[p_.forces[static_cast<int>(k)]] += unknown[k];
    saddle.factor();
    saddle.solve(x);
    return x;
  }

  // d = K e_c, of accelerations over its own component: see Plant::noise_directions()
  Scalars noise_directions() {
    TracedSaddle saddle(p_, good_);
    slope(saddle);
    saddle.factor();
    Scalars all;
    for (const filter::PacketNoise& noise : p_.noises) {
      Scalars d(n_ + m_);
      d[noise.column] = Scalar(1);
      saddle.solve(d);
      const Scalar own = d[noise.column];
      saddle.require(own * Scalar(p_.saddle.inertia[noise.column]) - Scalar(1e-12));
      const Scalar factor = noise.acceleration ? Scalar(1) / own : Scalar(1);
      for (int i = 0; i < n_; ++i) all.push_back(i == noise.column && noise.acceleration ? Scalar(1) : factor * d[i]);
    }
    return all;
  }

  static void append(const Scalars& list, Scalars& to) { to.insert(to.end(), list.begin(), list.end()); }

  // ∂y along (dq, dv)
  Scalars changes(const Scalars& y, const Scalars& dq, const Scalars& dv) {
    std::vector<Signed> outputs, seeds(graph().inputs());
    for (const Scalar& s : y) outputs.push_back(s.in(graph()));
    for (int i = 0; i < n_; ++i) {
      seeds[graph().node(q_[i].in(graph()).node()).input] = dq[i].in(graph());
      seeds[graph().node(v_[i].in(graph()).node()).input] = dv[i].in(graph());
    }
    Scalars list;
    for (const Signed s : differentiate(graph(), outputs, seeds)) list.emplace_back(graph(), s);
    return list;
  }

  // N = K Cᵀ (C K Cᵀ)⁻¹, column by column: Φ_q N = 0, C N = 1
  std::vector<Scalars> tangent(TracedSaddle& saddle) {
    const int f = static_cast<int>(independent_.size());
    std::vector<Scalars> N(f, Scalars(n_ + m_));
    for (int j = 0; j < f; ++j) {
      N[j][independent_[j]] = Scalar(1);
      saddle.solve(N[j]);
      N[j].resize(n_);
    }
    for (int k = 0; k < f; ++k) {  // Gauss and Jordan: C K Cᵀ is positive definite
      const Scalar pivot = N[k][independent_[k]];
      saddle.require(pivot * Scalar(p_.saddle.inertia[independent_[k]]) - Scalar(1e-12));
      const Scalar inverse = Scalar(1) / pivot;
      for (int i = 0; i < n_; ++i) N[k][i] *= inverse;
      N[k][independent_[k]] = Scalar(1);
      for (int j = 0; j < f; ++j) {
        if (j == k) continue;
        const Scalar factor = N[j][independent_[k]];
        for (int i = 0; i < n_; ++i) N[j][i] -= factor * N[k][i];
        N[j][independent_[k]] = Scalar(0);
      }
    }
    return N;
  }
  // d −= N C d
  void hold(const std::vector<Scalars>& N, Scalars& d) const {
    for (std::size_t j = 0; j < N.size(); ++j) {
      const Scalar along = d[independent_[j]];
      for (int i = 0; i < n_; ++i) d[i] -= N[j][i] * along;
      d[independent_[j]] = Scalar(0);
    }
  }
  // D: Φ_q D = −Φ̇_q N, C D = 0
  std::pair<std::vector<Scalars>, std::vector<Scalars>> tangent_and_change() {
    TracedSaddle saddle(p_, good_);
    slope(saddle);
    saddle.factor();
    std::vector<Scalars> N = tangent(saddle), D;
    for (const Scalars& column : N) {
      Scalars x(n_ + m_);
      each_constraint([&]<class E>(const PacketConstraint<E>& c) {
        const auto g = c.equation.gradient(motion<E>(c.slot));
        for (int k = 0; k < E::kCoordinates; ++k) {
          if (c.slot[k] < n_) x[n_ + c.row] -= g[k].d * column[c.slot[k]];
        }
      });
      saddle.solve(x);
      hold(N, x);
      D.emplace_back(x.begin(), x.begin() + n_);
    }
    return {N, D};
  }

  Scalar coordinate(CoordinateRef::What what, int index, double fixed, const Scalars& of, bool rate) const {
    const int at = system_.index_of({what, index});
    return at >= 0 ? of[at] : Scalar(rate ? 0 : fixed);
  }

  // As NaturalMachine has it: e = d / L, ω = (e × ḋ) / L.
  sensor::BodyState<Scalar> body(int index) const {
    using What = CoordinateRef::What;
    sensor::BodyState<Scalar> state;
    if (index < 0) return state;
    const PlanarBody& body = model_.bodies[index];
    const double k = 1 / body.length;
    Scalar x[2][2], v[2][2];
    for (int p = 0; p < 2; ++p) {
      const int point = body.points[p].value;
      for (int axis = 0; axis < 2; ++axis) {
        const What what = axis == 0 ? What::point_x : What::point_y;
        const double fixed = model_.points[point].position[axis];
        x[p][axis] = coordinate(what, point, fixed, q_, false);
        v[p][axis] = coordinate(what, point, fixed, v_, true);
      }
    }
    const Scalar ex = (x[1][0] - x[0][0]) * k, ey = (x[1][1] - x[0][1]) * k;
    for (int axis = 0; axis < 2; ++axis) state.p[axis] = x[0][axis], state.v[axis] = v[0][axis];
    state.R(0, 0) = ex, state.R(1, 0) = ey, state.R(0, 1) = -ey, state.R(1, 1) = ex;
    state.omega[2] = (ex * (v[1][1] - v[0][1]) - ey * (v[1][0] - v[0][0])) * k;
    return state;
  }

  template <class Kind>
  static constexpr bool traceable() {
    return std::is_same_v<Kind, sensor::Encoder> || std::is_same_v<Kind, sensor::Tachometer> ||
           std::is_same_v<Kind, sensor::Gyroscope> || std::is_same_v<Kind, sensor::Position>;
  }

  bool read(int index, Scalars& y) const {
    const Sensor& s = model_.sensors[index];
    const Eigen::Vector3d down(model_.gravity.x(), model_.gravity.y(), 0);
    const sensor::Mounting mounting{s.on.at, s.other.at, s.R_BS};
    return sensor::visit_sensor(s.type, [&](auto kind) {
      using Kind = decltype(kind);
      if constexpr (traceable<Kind>()) {
        sensor::View<Scalar> see(true, down, mounting);
        see.on = body(s.on.body);
        if (s.coordinate >= 0) {
          see.coordinate = coordinate(CoordinateRef::What::relative, s.coordinate, 0, q_, false);
          see.rate = coordinate(CoordinateRef::What::relative, s.coordinate, 0, v_, true);
        }
        std::array<Scalar, sensor::kMostRows> reading;
        Kind::read(see, reading.data());
        y.assign(reading.begin(), reading.begin() + Kind::kPlanar);
        return true;
      } else {
        return false;
      }
    });
  }

  const Model& model_;
  const natural::System& system_;
  const PacketProgram& p_;
  int n_, m_;
  const std::vector<int>& independent_;
  bool has_law_ = false;
  Program program_;
  Scalars q_, v_, force_, torque_, driver_;
  Scalar good_;
};

}  // namespace

Result<PlanarPrograms> trace_planar(const Model& model, const natural::System& system,
                                    const filter::PacketProgram& packets, const std::vector<int>& independent) {
  PlanarTracer tracer(model, system, packets, independent);
  PlanarPrograms all;
  all.has_law = tracer.has_law();
  all.rates = tracer.rates();
  all.correct = tracer.correct(false);
  all.hold = tracer.correct(true);
  all.depart = tracer.depart();
  all.directions = tracer.directions();
  for (std::size_t s = 0; s < model.sensors.size(); ++s) all.sensors.push_back(tracer.sense(static_cast<int>(s)));
  for (const codegen::Program* program : {&all.rates, &all.correct, &all.hold, &all.depart, &all.directions}) {
    if (auto fine = program->check_constants(); !fine) return fine.failure();
  }
  return all;
}

}  // namespace kinegraph::task
