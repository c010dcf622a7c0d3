#include "kinegraph/filter/natural_saddle.hpp"

#include <algorithm>
#include <cmath>

#include "kinegraph/filter/natural_dense.hpp"

namespace kinegraph::filter {

void NaturalSaddle::reduce() {
  for (std::size_t p = 0; p < pairs_.size(); ++p) pair_inverse_[p] = 1 / phi_[pairs_[p].pivot];
  for (std::size_t i = 0; i < reduced_.size(); ++i) reduced_[i] = reduced_source_[i] < 0 ? 0 : phi_[reduced_source_[i]];
  for (const Fill& f : fills_) reduced_[f.to] -= phi_[f.value] * phi_[f.other] * pair_inverse_[f.pair];
}

// With a right-hand side x (null: none), which goes through the forward substitution on the way: one pass instead of
// two, and the latencies of the one hide in those of the other.
bool NaturalSaddle::eliminate(double* x) {
  reduce();
  for (double inverse : pair_inverse_) {
    if (!std::isfinite(inverse)) return false;
  }
  if (x) substitute_pairs<1>(x, 1);
  singular_ = false;
  load();
  if (dense_) {
    if (eliminate_dense(x)) return true;
    load();
  }
  return eliminate_sparse(x);
}

void NaturalSaddle::load() {
  double* lower = lower_.data();
  const double* reduced = reduced_.data();
  std::copy(base_.begin(), base_.end(), lower);
  for (std::size_t i = 0; i < reduced_.size(); ++i) lower[scatter_[i]] = reduced[i];
  for (const Product& p : products_) lower[p.to] += p.weight * reduced[p.a] * reduced[p.b];
}

// A multiplier without a pivot is passed over: it is zero, and its row says nothing that the others do not.
bool NaturalSaddle::eliminate_sparse(double* x) {
  double *lower = lower_.data(), *inverses = inverse_.data();
  const int *target = target_.data(), *variable = place_variable_.data();
  for (std::size_t k = 0; k < columns_.size(); ++k) {
    const Column& c = columns_[k];
    const double pivot = lower[c.diagonal], known = x ? x[c.variable] : 0;
    const bool passed_over = !(pivot * sign_[k] > least_[k]);
    if (passed_over && (sign_[k] > 0 || !std::isfinite(pivot))) return false;
    singular_ |= passed_over;
    const double inverse = passed_over ? 0 : 1 / pivot;
    *inverses++ = inverse;
    for (int a = c.begin; a < c.end; ++a) {
      const double l = lower[a] * inverse;
      for (int b = a; b < c.end; ++b) lower[*target++] -= l * lower[b];
      lower[a] = l;
      if (x) x[variable[a]] -= l * known;
    }
    if (x) x[c.variable] = known * inverse;
  }
  return true;
}

template <class F>
bool NaturalSaddle::with_dense(const F& f) const {
  switch (columns_.size()) {
    case 0:
      return true;
    case 1:
      return f(NaturalDense<1>());
    case 2:
      return f(NaturalDense<2>());
    case 3:
      return f(NaturalDense<3>());
    case 4:
      return f(NaturalDense<4>());
    case 5:
      return f(NaturalDense<5>());
    case 6:
      return f(NaturalDense<6>());
    case 7:
      return f(NaturalDense<7>());
    default:
      return f(NaturalDense<8>());
  }
}

bool NaturalSaddle::eliminate_dense(double* x) {
  double y[kNaturalMostDense];
  const int count = static_cast<int>(columns_.size());
  for (int k = 0; x && k < count; ++k) y[k] = x[columns_[k].variable];
  const bool good = with_dense([&](auto dense) {
    return x ? dense.template factor<true>(lower_.data(), inverse_.data(), sign_.data(), least_.data(), y)
             : dense.template factor<false>(lower_.data(), inverse_.data(), sign_.data(), least_.data(), nullptr);
  });
  for (int k = 0; x && good && k < count; ++k) x[columns_[k].variable] = y[k];
  return good;
}

void NaturalSaddle::substitute_dense(double* x, bool forward) const {
  double y[kNaturalMostDense];
  const int count = static_cast<int>(columns_.size());
  for (int k = 0; k < count; ++k) y[k] = x[columns_[k].variable];
  with_dense([&](auto dense) {
    if (forward) dense.forward(lower_.data(), inverse_.data(), y);
    dense.backward(lower_.data(), y);
    return true;
  });
  for (int k = 0; k < count; ++k) x[columns_[k].variable] = y[k];
}

bool NaturalSaddle::factor() { return eliminate(nullptr); }

bool NaturalSaddle::factor_and_solve(double* x) {
  if (!eliminate(x)) return false;
  if (dense_) {
    substitute_dense(x, false);
  } else {
    back_substitute<1>(x, 1);
  }
  restore_pairs<1>(x, 1, false);
  return true;
}

// With g θ + Φ_p p = c and g λ + Σ Φ_r,θ λ_r = f:  f_p −= Φ_p f / g,  c_r −= Φ_r,θ c / g.
template <int Width>
void NaturalSaddle::substitute_pairs(double* X, int width) {
  const int w = Width > 0 ? Width : width;
  const double* phi = phi_.data();
  for (const Pair& pair : pairs_) {
    const double inverse = pair_inverse_[&pair - pairs_.data()];
    double *x = X + pair.coordinate * w, *y = X + (n_ + pair.row) * w;
    for (int j = 0; j < w; ++j) x[j] *= inverse, y[j] *= inverse;
    for (const PairEntry *e = pair_entry_.data() + pair.begin, *end = pair_entry_.data() + pair.end; e != end; ++e) {
      const double factor = phi[e->value];
      double* to = X + e->coordinate * w;
      for (int j = 0; j < w; ++j) to[j] -= factor * x[j];
    }
  }
  for (const Coupling& c : couplings_) {
    double *to = X + (n_ + c.row) * w, *y = X + (n_ + pairs_[c.pair].row) * w;
    for (int j = 0; j < w; ++j) to[j] -= phi[c.value] * y[j];
  }
}

// g θ = c − Φ_p p,   g λ = f − Σ Φ_r,θ λ_r. On entry f / g and c / g are in their places.
template <int Width>
void NaturalSaddle::restore_pairs(double* X, int width, bool multipliers) {
  const int w = Width > 0 ? Width : width;
  const double* phi = phi_.data();
  for (const Pair& pair : pairs_) {
    const double inverse = pair_inverse_[&pair - pairs_.data()];
    double *x = X + pair.coordinate * w, *y = X + (n_ + pair.row) * w;
    for (int j = 0; j < w; ++j) std::swap(x[j], y[j]);
    for (const PairEntry *e = pair_entry_.data() + pair.begin, *end = pair_entry_.data() + pair.end; e != end; ++e) {
      const double factor = phi[e->value] * inverse;
      const double* from = X + e->coordinate * w;
      for (int j = 0; j < w; ++j) x[j] -= factor * from[j];
    }
  }
  if (!multipliers) return;
  for (const Coupling& c : couplings_) {
    const double factor = phi[c.value] * pair_inverse_[c.pair];
    double *to = X + (n_ + pairs_[c.pair].row) * w, *from = X + (n_ + c.row) * w;
    for (int j = 0; j < w; ++j) to[j] -= factor * from[j];
  }
}

template <int Width>
void NaturalSaddle::forward_substitute(double* X, int width) const {
  const int w = Width > 0 ? Width : width, count = static_cast<int>(columns_.size());
  const double* lower = lower_.data();
  const int* variable = place_variable_.data();
  for (int k = 0; k < count; ++k) {
    const Column& c = columns_[k];
    double* from = X + c.variable * w;
    double known[Width > 0 ? Width : 1];
    if constexpr (Width > 0) std::copy_n(from, Width, known);
    const double* source = Width > 0 ? known : from;
    for (int a = c.begin; a < c.end; ++a) {
      const double l = lower[a];
      double* to = X + variable[a] * w;
      for (int j = 0; j < w; ++j) to[j] -= l * source[j];
    }
    for (int j = 0; j < w; ++j) from[j] = source[j] * inverse_[k];
  }
}

template <int Width>
void NaturalSaddle::back_substitute(double* X, int width) const {
  const int w = Width > 0 ? Width : width, count = static_cast<int>(columns_.size());
  const double* lower = lower_.data();
  const int* variable = place_variable_.data();
  for (int k = count - 1; k >= 0; --k) {
    const Column& c = columns_[k];
    double* to = X + c.variable * w;
    double known[Width > 0 ? Width : 1];
    if constexpr (Width > 0) std::copy_n(to, Width, known);
    double* sum = Width > 0 ? known : to;
    for (int a = c.end - 1; a >= c.begin; --a) {  // what was found last comes last
      const double l = lower[a];
      const double* from = X + variable[a] * w;
      for (int j = 0; j < w; ++j) sum[j] -= l * from[j];
    }
    if constexpr (Width > 0) std::copy_n(known, Width, to);
  }
}

template <int Width>
void NaturalSaddle::substitute(double* X, int width, bool multipliers) {
  const int w = Width > 0 ? Width : width;
  substitute_pairs<Width>(X, width);
  if (multipliers) {
    if (shift_.size() < static_cast<std::size_t>(m_) * w) shift_.resize(static_cast<std::size_t>(m_) * w);
    for (int i = 0; i < m_ * w; ++i) shift_[i] = weight_[i / w] * X[n_ * w + i];
  }
  if (Width == 1 && dense_) {
    substitute_dense(X, true);
  } else {
    forward_substitute<Width>(X, width);
    back_substitute<Width>(X, width);
  }
  if (multipliers) {
    for (int i = 0; i < m_ * w; ++i) X[n_ * w + i] += shift_[i];
    for (int r : left_out_) std::fill_n(X + (n_ + r) * w, w, 0.0);
  }
  restore_pairs<Width>(X, width, multipliers);
}

void NaturalSaddle::solve(double* X, int width, bool multipliers) {
  switch (width) {
    case 1:
      return substitute<1>(X, width, multipliers);
    case 2:
      return substitute<2>(X, width, multipliers);
    case 3:
      return substitute<3>(X, width, multipliers);
    case 4:
      return substitute<4>(X, width, multipliers);
    default:
      return substitute<0>(X, width, multipliers);
  }
}

}  // namespace kinegraph::filter
