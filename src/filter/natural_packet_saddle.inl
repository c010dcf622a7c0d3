// The augmented systems of a packet of states, factorised as NaturalSaddle does, one to a lane. See
// natural_packet_number.inl.

#include "kinegraph/filter/natural_dense.hpp"
#include "kinegraph/filter/natural_packet_number.inl"

namespace kinegraph::filter {
namespace {

struct PacketSaddle {
  const SaddlePlan& plan;
  int n;
  Packet *phi, *pair_inverse, *reduced, *lower, *inverse;  // phi: Φ_q, to be filled

  /// With a right-hand side x (null: none), which goes through the forward substitution on the way. Lanes that are not
  /// good hold nothing.
  Mask factor(Packet* x) const {
    reduce();
    if (x) substitute_pairs(x);
    load();
    return plan.dense ? eliminate_dense(x) : eliminate_sparse(x);
  }
  /// After factor(x).
  void finish(Packet* x) const {
    if (plan.dense) {
      substitute_dense(x, false);
    } else {
      back_substitute(x);
    }
    restore_pairs(x);
  }
  void solve(Packet* x) const {
    substitute_pairs(x);
    if (plan.dense) {
      substitute_dense(x, true);
    } else {
      forward_substitute(x);
      back_substitute(x);
    }
    restore_pairs(x);
  }

 private:
  void reduce() const {
    for (int p = 0; p < plan.pairs.count; ++p) pair_inverse[p] = 1.0 / phi[plan.pairs[p].pivot];
    for (int i = 0; i < plan.reduced_source.count; ++i) {
      const int source = plan.reduced_source[i];
      reduced[i] = source < 0 ? Packet(0.0) : phi[source];
    }
    for (const SaddlePlan::Fill& f : plan.fills) reduced[f.to] -= phi[f.value] * phi[f.other] * pair_inverse[f.pair];
  }

  void load() const {
    for (int i = 0; i < plan.base.count; ++i) lower[i] = Packet(plan.base[i]);
    for (int i = 0; i < plan.scatter.count; ++i) lower[plan.scatter[i]] = reduced[i];
    for (const SaddlePlan::Product& p : plan.products) lower[p.to] += p.weight * reduced[p.a] * reduced[p.b];
  }

  template <class F>
  KINEGRAPH_INLINE void with_dense(const F& f) const {
    switch (plan.columns.count) {
      case 0:
        return;
      case 1:
        return f(NaturalDense<1, Packet, Mask>());
      case 2:
        return f(NaturalDense<2, Packet, Mask>());
      case 3:
        return f(NaturalDense<3, Packet, Mask>());
      case 4:
        return f(NaturalDense<4, Packet, Mask>());
      case 5:
        return f(NaturalDense<5, Packet, Mask>());
      case 6:
        return f(NaturalDense<6, Packet, Mask>());
      case 7:
        return f(NaturalDense<7, Packet, Mask>());
      default:
        return f(NaturalDense<8, Packet, Mask>());
    }
  }

  Mask eliminate_dense(Packet* x) const {
    Packet y[kNaturalMostDense];
    const int count = plan.columns.count;
    for (int k = 0; x && k < count; ++k) y[k] = x[plan.columns[k].variable];
    Mask good(true);
    with_dense([&](auto dense) {
      good = x ? dense.template factor<true>(lower, inverse, plan.sign.first, plan.least.first, y)
               : dense.template factor<false>(lower, inverse, plan.sign.first, plan.least.first, nullptr);
    });
    for (int k = 0; x && k < count; ++k) x[plan.columns[k].variable] = y[k];
    return good;
  }

  void substitute_dense(Packet* x, bool forward) const {
    Packet y[kNaturalMostDense];
    const int count = plan.columns.count;
    for (int k = 0; k < count; ++k) y[k] = x[plan.columns[k].variable];
    with_dense([&](auto dense) {
      if (forward) dense.forward(lower, inverse, y);
      dense.backward(lower, y);
    });
    for (int k = 0; k < count; ++k) x[plan.columns[k].variable] = y[k];
  }

  Mask eliminate_sparse(Packet* x) const {
    Mask good(true);
    const int* target = plan.target.first;
    for (int k = 0; k < plan.columns.count; ++k) {
      const SaddlePlan::Column& c = plan.columns[k];
      const Packet pivot = lower[c.diagonal], reciprocal = 1.0 / pivot;
      good = good & (plan.sign[k] * pivot > Packet(plan.least[k]));
      inverse[k] = reciprocal;
      const Packet known = x ? x[c.variable] : Packet(0.0);
      for (int a = c.begin; a < c.end; ++a) {
        const Packet l = lower[a] * reciprocal;
        for (int b = a; b < c.end; ++b) lower[*target++] -= l * lower[b];
        lower[a] = l;
        if (x) x[plan.place_variable[a]] -= l * known;
      }
      if (x) x[c.variable] = known * reciprocal;
    }
    return good;
  }

  void forward_substitute(Packet* x) const {
    for (int k = 0; k < plan.columns.count; ++k) {
      const SaddlePlan::Column& c = plan.columns[k];
      const Packet known = x[c.variable];
      for (int a = c.begin; a < c.end; ++a) x[plan.place_variable[a]] -= lower[a] * known;
      x[c.variable] = known * inverse[k];
    }
  }

  void back_substitute(Packet* x) const {
    for (int k = plan.columns.count - 1; k >= 0; --k) {
      const SaddlePlan::Column& c = plan.columns[k];
      Packet sum = x[c.variable];
      for (int a = c.end - 1; a >= c.begin; --a) sum -= lower[a] * x[plan.place_variable[a]];
      x[c.variable] = sum;
    }
  }

  // With g θ + Φ_p p = c and g λ + Σ Φ_r,θ λ_r = f:  f_p −= Φ_p f / g,  c_r −= Φ_r,θ c / g.
  void substitute_pairs(Packet* x) const {
    for (int p = 0; p < plan.pairs.count; ++p) {
      const SaddlePlan::Pair& pair = plan.pairs[p];
      const Packet f = x[pair.coordinate] * pair_inverse[p];
      x[pair.coordinate] = f;
      x[n + pair.row] = x[n + pair.row] * pair_inverse[p];
      for (int e = pair.begin; e < pair.end; ++e) {
        x[plan.pair_entry[e].coordinate] -= phi[plan.pair_entry[e].value] * f;
      }
    }
    for (const SaddlePlan::Coupling& c : plan.couplings) {
      x[n + c.row] -= phi[c.value] * x[n + plan.pairs[c.pair].row];
    }
  }

  // g θ = c − Φ_p p; the multipliers are not wanted.
  void restore_pairs(Packet* x) const {
    for (int p = 0; p < plan.pairs.count; ++p) {
      const SaddlePlan::Pair& pair = plan.pairs[p];
      Packet sum = x[n + pair.row];
      for (int e = pair.begin; e < pair.end; ++e) {
        sum -= phi[plan.pair_entry[e].value] * pair_inverse[p] * x[plan.pair_entry[e].coordinate];
      }
      x[pair.coordinate] = sum;
    }
  }
};

}  // namespace
}  // namespace kinegraph::filter
