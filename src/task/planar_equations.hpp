#pragma once

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kinegraph/codegen/program.hpp"
#include "kinegraph/mechanics/natural/implementation.hpp"
#include "kinegraph/task/planar_saddle.hpp"

// Part of planar_trace.cpp: the equations of a planar machine as expressions.
namespace kinegraph::task {

/// At (q_, v_) under force_, torque_, driver_, which begin() makes inputs of a new program; others may take their
/// places.
class PlanarEquations {
 public:
  using Program = codegen::Program;
  using Signed = codegen::Signed;
  using PacketProgram = filter::PacketProgram;
  template <class E>
  using PacketConstraint = filter::PacketConstraint<E>;

  PlanarEquations(const natural::System& system, const PacketProgram& packets, const std::vector<int>& independent)
      : system_(system), p_(packets), n_(packets.n), m_(packets.m), independent_(independent) {
    const auto& loads =
        std::get<std::vector<natural::PlacedForce<natural::PointLoadForce>>>(system.implementation().forces);
    has_law_ = system.motors() > 0 || !loads.empty() || p_.torques.count > 0 || p_.drivers.count > 0;
  }
  bool has_law() const { return has_law_; }

 protected:
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

  /// `times`: of how many times the laws are given; at() chooses one.
  void begin(const char* purpose, int times) {
    program_ = {};
    program_.graph = std::make_shared<codegen::ExpressionGraph>();
    program_.purpose = purpose;
    good_ = Scalar(1);
    q_ = input("q", n_);
    v_ = input("v", n_);
    for (const double c : p_.constants) q_.emplace_back(c), v_.emplace_back(0);
    law_ = has_law_ && times > 0 ? input("law", times * law_size()) : Scalars();
    at(0);
  }
  int law_size() const { return n_ + p_.torques.count + 3 * p_.drivers.count; }
  void at(int time) {
    const std::vector<double>& constant = system_.implementation().constant_force;
    force_.assign(constant.begin(), constant.end());
    torque_.clear();
    driver_.clear();
    if (law_.empty()) return;
    const auto from = law_.begin() + time * law_size();
    force_.assign(from, from + n_);
    torque_.assign(from + n_, from + n_ + p_.torques.count);
    driver_.assign(from + n_ + p_.torques.count, from + law_size());
  }
  Scalars positions() const { return {q_.begin(), q_.begin() + n_}; }
  Scalars velocities() const { return {v_.begin(), v_.begin() + n_}; }
  /// (q_, v_) += factor (dq, dv)
  void go(const Scalar& factor, const Scalars& dq, const Scalars& dv) {
    for (int i = 0; i < n_; ++i) q_[i] += factor * dq[i], v_[i] += factor * dv[i];
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

  /// One Newton step of q_ onto Φ = 0, the smallest in the norm of the mass, Φ_q d = −Φ; from there, with the same Φ_q,
  /// one of v_ onto Φ̇ = 0. `held`: the independent coordinates stay, C d = 0 besides. Returns how far off q_ still is.
  Scalar settle(bool held) {
    TracedSaddle saddle(p_, good_);
    slope(saddle);
    Scalars miss(m_), rate(m_);
    close(miss, rate);
    saddle.factor();
    const std::vector<Scalars> N = held ? tangent(saddle) : std::vector<Scalars>();
    const auto move = [&](const Scalars& rows, Scalars& x) {
      Scalars d(n_ + m_);
      for (int r = 0; r < m_; ++r) d[n_ + r] = -rows[r];
      saddle.solve(d);
      if (held) hold(N, d);
      for (int i = 0; i < n_; ++i) x[i] += d[i];
    };
    move(miss, q_);
    close(miss, rate);
    move(rate, v_);
    Scalar off(0);
    for (int r = 0; r < m_; ++r) {
      if (p_.sharpness[r] > 0) off = max(off, Scalar(p_.sharpness[r]) * abs(miss[r]));
    }
    return off;
  }

  // M a + Φ_qᵀ λ = Q,   Φ_q a = −Φ̇_q v
  Scalars accelerations(const Scalars& unknown) {
    TracedSaddle saddle(p_, good_);
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

  const natural::System& system_;
  const PacketProgram& p_;
  int n_, m_;
  const std::vector<int>& independent_;
  bool has_law_ = false;
  Program program_;
  Scalars q_, v_, law_, force_, torque_, driver_;
  Scalar good_;
};

}  // namespace kinegraph::task
