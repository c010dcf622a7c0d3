#include "kinegraph/task/planar_trace.hpp"

#include <algorithm>
#include <array>

#include "kinegraph/mechanics/sensor/list.hpp"
#include "kinegraph/task/planar_equations.hpp"

namespace kinegraph::task {
namespace {

class PlanarTracer : public PlanarEquations {
 public:
  PlanarTracer(const Model& model, const natural::System& system, const PacketProgram& packets,
               const std::vector<int>& independent)
      : PlanarEquations(system, packets, independent), model_(model) {}

  Program rates() {
    begin("accelerations", 1);
    return end({{"a", first(accelerations(unknown_forces()))}});
  }

  // x⁺ = x + h Σ bⱼ kⱼ,  kⱼ = f(x + h Σ aⱼₗ kₗ), onto the constraints
  Program step() {
    const filter::PacketTableau& method = p_.tableau;
    begin("a step", method.stages + 1);
    const Scalar h = input("h", 1)[0];
    const Scalars unknown = unknown_forces(), q = q_, v = v_;
    std::vector<Scalars> rate_q, rate_v;
    const auto combine = [&](const double* factor, int count) {
      q_ = q, v_ = v;
      for (int j = 0; j < count; ++j) {
        if (factor[j] != 0) go(Scalar(factor[j]) * h, rate_q[j], rate_v[j]);
      }
    };
    for (int j = 0; j < method.stages; ++j) {
      combine(method.a[j], j);
      at(j);
      rate_q.push_back(velocities());
      rate_v.push_back(first(accelerations(unknown)));
    }
    combine(method.b, method.stages);
    at(method.stages);
    return end_settled(false);
  }

  Program correct(bool held) {
    begin("onto the constraints", 1);
    return end_settled(held);
  }

  // q + N δz, v + N δż, onto the constraints; how far q goes, in the coordinates' lengths
  Program retract() {
    begin("to a point of the chart", 1);
    const int f = static_cast<int>(independent_.size());
    const Scalars delta = input("delta", 2 * f);
    TracedSaddle saddle(p_, good_);
    slope(saddle);
    saddle.factor();
    const std::vector<Scalars> N = tangent(saddle);
    Scalars dq(n_), dv(n_);
    for (int i = 0; i < n_; ++i) {
      for (int j = 0; j < f; ++j) dq[i] += N[j][i] * delta[j], dv[i] += N[j][i] * delta[f + j];
    }
    go(Scalar(1), dq, dv);
    const Scalars left = positions();
    const Scalar off = settle(true);
    // far along the tangent, or far back from it: another branch
    Scalars back(n_);
    for (int i = 0; i < n_; ++i) back[i] = q_[i] - left[i];
    return end(
        {{"q_next", positions()}, {"v_next", velocities()}, {"off", {off}}, {"far", {max(reach(dq), reach(back))}}});
  }

  // (q, v) + (kick_q, kick_v) d of each noise, onto the constraints
  Program kick() {
    begin("kicked by noises", 1);
    const int noises = p_.noises.count;
    const Scalars d = input("d", n_ * noises), kick = input("kick", 2 * noises);
    Scalars dq(n_), dv(n_);
    for (int j = 0; j < noises; ++j) {
      for (int i = 0; i < n_; ++i) dv[i] += kick[2 * j] * d[j * n_ + i], dq[i] += kick[2 * j + 1] * d[j * n_ + i];
    }
    go(Scalar(1), dq, dv);
    const Scalar off = settle(false);
    return end({{"q_next", positions()}, {"v_next", velocities()}, {"off", {off}}, {"far", {reach(dq)}}});
  }

  Program directions() {
    begin("answers to noises", 0);
    return end({{"d", noise_directions()}});
  }

  PlanarPrograms::Sense sense(int sensor) {
    PlanarPrograms::Sense traced;
    begin("what a sensor reads", 0);
    Scalars y;
    traced.traced = read(sensor, y);
    if (!traced.traced) return traced;
    traced.read = end({{"y", y}});
    begin("what a sensor reads, and how it answers to noises", 0);
    const Scalars d = noise_directions();
    read(sensor, y);
    Scalars along;
    const Scalars nothing(n_);
    for (int j = 0; j < p_.noises.count; ++j) {
      const Scalars direction(d.begin() + j * n_, d.begin() + (j + 1) * n_);
      append(changes(y, nothing, direction), along);
      append(changes(y, direction, nothing), along);
    }
    traced.respond = end({{"y", y}, {"along", along}, {"d", d}});
    begin("what a sensor reads, and how it changes along the chart", 0);
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
  Scalars unknown_forces() { return p_.forces.count > 0 ? input("unknown", p_.forces.count) : Scalars(); }
  Scalars first(const Scalars& x) const { return {x.begin(), x.begin() + n_}; }
  Scalar reach(const Scalars& d) const {
    Scalar far(0);
    for (int i = 0; i < n_; ++i) far = max(far, abs(d[i]) * Scalar(1 / p_.length[i]));
    return far;
  }
  Program end_settled(bool held) {
    const Scalar off = settle(held);
    return end({{"q_next", positions()}, {"v_next", velocities()}, {"off", {off}}});
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
};

}  // namespace

Result<PlanarPrograms> trace_planar(const Model& model, const natural::System& system,
                                    const filter::PacketProgram& packets, const std::vector<int>& independent) {
  PlanarTracer tracer(model, system, packets, independent);
  PlanarPrograms all;
  all.has_law = tracer.has_law();
  all.rates = tracer.rates();
  all.step = tracer.step();
  all.correct = tracer.correct(false);
  all.hold = tracer.correct(true);
  all.retract = tracer.retract();
  all.kick = tracer.kick();
  all.directions = tracer.directions();
  for (std::size_t s = 0; s < model.sensors.size(); ++s) all.sensors.push_back(tracer.sense(static_cast<int>(s)));
  for (const codegen::Program* program :
       {&all.step, &all.correct, &all.hold, &all.retract, &all.kick, &all.directions}) {
    if (auto fine = program->check_constants(); !fine) return fine.failure();
  }
  return all;
}

}  // namespace kinegraph::task
