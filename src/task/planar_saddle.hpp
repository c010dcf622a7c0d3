#pragma once

#include <vector>

#include "kinegraph/codegen/scalar.hpp"
#include "kinegraph/filter/natural_packet.hpp"

// Parts of planar_trace.cpp: numbers with their rates, and the augmented system of a planar machine, as expressions.
namespace kinegraph::task {

using codegen::Scalar;
using filter::SaddlePlan;
using Scalars = std::vector<Scalar>;

inline constexpr double kFirm =
    1e-3;  // pivots of M alone that large, against the diagonal: it needs no help of Φ_qᵀ W Φ_q

/// A quantity and its rate.
struct Rate {
  Scalar x, d;
  Rate(double value = 0) : x(value) {}
  Rate(Scalar value, Scalar rate) : x(std::move(value)), d(std::move(rate)) {}
  friend Rate operator+(const Rate& a, const Rate& b) { return {a.x + b.x, a.d + b.d}; }
  friend Rate operator-(const Rate& a, const Rate& b) { return {a.x - b.x, a.d - b.d}; }
  friend Rate operator*(const Rate& a, const Rate& b) { return {a.x * b.x, a.d * b.x + a.x * b.d}; }
  friend Rate operator*(double s, const Rate& b) { return {Scalar(s) * b.x, Scalar(s) * b.d}; }
  friend Rate operator-(const Rate& a) { return {-a.x, -a.d}; }
  friend Rate sin(const Rate& a) { return {sin(a.x), cos(a.x) * a.d}; }
  friend Rate cos(const Rate& a) { return {cos(a.x), -(sin(a.x) * a.d)}; }
};

/// Whether M is firm without the constraints: its elimination, in numbers.
inline bool firm(const SaddlePlan& plan) {
  std::vector<double> lower(plan.base.begin(), plan.base.end());
  const int* target = plan.target.first;
  for (int k = 0; k < plan.columns.count; ++k) {
    const SaddlePlan::Column& c = plan.columns[k];
    const double pivot = lower[c.diagonal];
    const bool coordinate = plan.sign[k] > 0;
    if (coordinate && !(pivot > kFirm * plan.inertia[c.variable])) return false;
    for (int a = c.begin; a < c.end; ++a) {
      for (int b = a; b < c.end; ++b, ++target) {
        if (coordinate) lower[*target] -= lower[a] * lower[b] / pivot;
      }
    }
  }
  return true;
}

/// The augmented system [M Φ_qᵀ; Φ_q 0], eliminated as natural_packet_saddle.inl does.
class TracedSaddle {
 public:
  TracedSaddle(const filter::PacketProgram& p, Scalar& good)
      : phi(p.places + 1), plan_(p.saddle), n_(p.n), bare_(firm(p.saddle)), good_(good) {}

  Scalars phi;  // Φ_q, to be filled

  void factor() {
    for (const SaddlePlan::Pair& p : plan_.pairs) pair_inverse_.push_back(Scalar(1) / phi[p.pivot]);
    Scalars reduced;
    for (const int source : plan_.reduced_source) reduced.push_back(source < 0 ? Scalar(0) : phi[source]);
    for (const auto& f : plan_.fills) reduced[f.to] -= phi[f.value] * phi[f.other] * pair_inverse_[f.pair];
    for (const double x : plan_.base) lower_.emplace_back(x);
    for (int i = 0; i < plan_.scatter.count; ++i) lower_[plan_.scatter[i]] = reduced[i];
    for (const auto& p : plan_.products) {
      if (!bare_) lower_[p.to] += Scalar(p.weight) * reduced[p.a] * reduced[p.b];
    }
    const int* target = plan_.target.first;
    for (int k = 0; k < plan_.columns.count; ++k) {
      const SaddlePlan::Column& c = plan_.columns[k];
      const Scalar pivot = lower_[c.diagonal];
      inverse_.push_back(Scalar(1) / pivot);
      require(Scalar(plan_.sign[k]) * pivot - Scalar(plan_.least[k]));
      for (int a = c.begin; a < c.end; ++a) {
        const Scalar l = lower_[a] * inverse_[k];
        for (int b = a; b < c.end; ++b) lower_[*target++] -= l * lower_[b];
        lower_[a] = l;
      }
    }
  }

  /// x: n + m numbers; of the answer only the coordinates are right.
  void solve(Scalars& x) const {
    substitute_pairs(x);
    for (int k = 0; k < plan_.columns.count; ++k) {
      const SaddlePlan::Column& c = plan_.columns[k];
      for (int a = c.begin; a < c.end; ++a) x[plan_.place_variable[a]] -= lower_[a] * x[c.variable];
      x[c.variable] *= inverse_[k];
    }
    for (int k = plan_.columns.count - 1; k >= 0; --k) {
      const SaddlePlan::Column& c = plan_.columns[k];
      for (int a = c.end - 1; a >= c.begin; --a) x[c.variable] -= lower_[a] * x[plan_.place_variable[a]];
    }
    for (int p = 0; p < plan_.pairs.count; ++p) {
      const SaddlePlan::Pair& pair = plan_.pairs[p];
      Scalar sum = x[n_ + pair.row];
      for (int e = pair.begin; e < pair.end; ++e) {
        sum -= phi[plan_.pair_entry[e].value] * pair_inverse_[p] * x[plan_.pair_entry[e].coordinate];
      }
      x[pair.coordinate] = sum;
    }
  }

  /// Smaller than all before; > 0 is right.
  void require(const Scalar& x) { good_ = min(good_, x); }

 private:
  void substitute_pairs(Scalars& x) const {
    for (int p = 0; p < plan_.pairs.count; ++p) {
      const SaddlePlan::Pair& pair = plan_.pairs[p];
      const Scalar f = x[pair.coordinate] * pair_inverse_[p];
      x[n_ + pair.row] *= pair_inverse_[p];
      for (int e = pair.begin; e < pair.end; ++e) {
        x[plan_.pair_entry[e].coordinate] -= phi[plan_.pair_entry[e].value] * f;
      }
    }
    for (const SaddlePlan::Coupling& c : plan_.couplings) {
      x[n_ + c.row] -= phi[c.value] * x[n_ + plan_.pairs[c.pair].row];
    }
  }

  const SaddlePlan& plan_;
  int n_;
  bool bare_;
  Scalar& good_;
  Scalars pair_inverse_, lower_, inverse_;
};

}  // namespace kinegraph::task
