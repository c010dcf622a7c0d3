#include <algorithm>
#include <cmath>
#include <limits>

#include "kinegraph/filter/natural_plant.hpp"

namespace kinegraph::filter {
namespace {

constexpr double kMostSpread = 20;      // of dependent coordinates, in their lengths, per length of an independent one
constexpr double kLeastOverlap = 0.25;  // of a chart's tangent with that of another state, squared
constexpr double kLostOverlap = 1e-3;   // below: it says nothing about directions there
constexpr double kCorrectedReach = 0.25;  // how far coordinates go between two corrections, in their lengths
constexpr int kMostReaches = 100;         // in one retraction
constexpr int kMostCorrections = 40;      // Newton steps
constexpr double kSlow = 0.25;            // a contraction that calls for a fresh factorisation
constexpr double kNearRounding = 50;      // misses below this many roundings are good enough if they fall no more

// G = L Lᵀ in place, lower triangle. False if G is not positive definite.
bool cholesky(double* G, int f) {
  for (int j = 0; j < f; ++j) {
    double pivot = G[j * f + j];
    for (int k = 0; k < j; ++k) pivot -= G[j * f + k] * G[j * f + k];
    if (!(pivot > 0) || !std::isfinite(pivot)) return false;
    const double root = std::sqrt(pivot);
    G[j * f + j] = root;
    for (int i = j + 1; i < f; ++i) {
      double sum = G[i * f + j];
      for (int k = 0; k < j; ++k) sum -= G[i * f + k] * G[j * f + k];
      G[i * f + j] = sum / root;
    }
  }
  return true;
}

// x ← L⁻¹ x
void forward(const double* L, int f, double* x) {
  for (int i = 0; i < f; ++i) {
    for (int k = 0; k < i; ++k) x[i] -= L[i * f + k] * x[k];
    x[i] /= L[i * f + i];
  }
}

// x ← L⁻ᵀ x
void backward(const double* L, int f, double* x) {
  for (int i = f - 1; i >= 0; --i) {
    for (int k = i + 1; k < f; ++k) x[i] -= L[k * f + i] * x[k];
    x[i] /= L[i * f + i];
  }
}

}  // namespace

bool NaturalPlant::fits(const Chart& chart) const {
  if (options_.chart == ChartKind::independent) {
    return chart.rows.size() == 0 && static_cast<int>(chart.columns.size()) == freedoms_;
  }
  return chart.columns.empty() && chart.rows.rows() == freedoms_ && chart.rows.cols() == n_;
}

// out = C d   (f × width)
void NaturalPlant::components(const Chart& chart, const double* d, int width, double* out) const {
  for (int i = 0; i < freedoms_; ++i) {
    double* sum = out + i * width;
    if (!chart.columns.empty()) {
      std::copy_n(d + chart.columns[i] * width, width, sum);
      continue;
    }
    std::fill_n(sum, width, 0.0);
    for (int c = 0; c < n_; ++c) {
      const double factor = chart.rows(i, c);
      for (int j = 0; j < width; ++j) sum[j] += factor * d[c * width + j];
    }
  }
}

// N_ at here_, with Φ_q N = 0 and C N = 1. With K = N (Nᵀ M N)⁻¹ Nᵀ, which the augmented system gives:
//
//     N = K Cᵀ (C K Cᵀ)⁻¹
//
// gram_ keeps the Cholesky factor of C K Cᵀ, and X_ K Cᵀ.
bool NaturalPlant::tangent_here(const Chart& chart) {
  const int f = freedoms_;
  if (f == 0) return true;
  const bool picks = static_cast<int>(chart.columns.size()) == f;
  if (!picks && (!chart.columns.empty() || chart.rows.rows() != f || chart.rows.cols() != n_)) return false;
  std::fill(X_.begin(), X_.begin() + static_cast<std::size_t>(n_ + m_) * f, 0.0);
  for (int i = 0; i < f; ++i) {
    if (picks) {
      X_[chart.columns[i] * f + i] = 1;
    } else {
      for (int c = 0; c < n_; ++c) X_[c * f + i] = chart.rows(i, c);
    }
  }
  here_.saddle.solve(X_.data(), f, false);
  components(chart, X_.data(), f, gram_.data());
  if (!cholesky(gram_.data(), f)) return false;
  for (int i = 0; i < n_; ++i) {
    double* row = &N_[i * f];
    std::copy_n(&X_[i * f], f, row);
    forward(gram_.data(), f, row);
    backward(gram_.data(), f, row);
  }
  return true;
}

// D_ with Φ_q D = −Φ̇_q N and C D = 0: what keeps Φ̇ = 0 while z changes.
bool NaturalPlant::change_of_tangent(double t, const double* q, const double* v, const Chart& chart) {
  const int f = freedoms_;
  if (f == 0) return true;
  system_->velocity(q, v, t, nullptr, acc_q_.data(), nullptr);
  std::fill(X_.begin(), X_.begin() + static_cast<std::size_t>(n_ + m_) * f, 0.0);
  const auto pattern = system_->jacobian_pattern();
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    for (int j = 0; j < f; ++j) X_[(n_ + pattern[i].row) * f + j] -= acc_q_[i] * N_[pattern[i].column * f + j];
  }
  here_.saddle.solve(X_.data(), f, false);
  double* held = small_.data();
  components(chart, X_.data(), f, held);
  for (int i = 0; i < n_; ++i) {
    for (int j = 0; j < f; ++j) {
      double sum = X_[i * f + j];
      for (int k = 0; k < f; ++k) sum -= N_[i * f + k] * held[k * f + j];
      D_[i * f + j] = sum;
    }
  }
  return true;
}

// After tangent_here() of the chart. Independent coordinates serve until others run away from them; a chart on the
// manifold until its directions turn from those of the tangent: the pivots of C K Cᵀ are squares of cosines, in the
// mass' norm.
bool NaturalPlant::serves(const Chart& chart) const {
  const int f = freedoms_;
  if (chart.columns.empty()) {
    for (int i = 0; i < f; ++i) {
      if (!(gram_[i * f + i] * gram_[i * f + i] >= kLeastOverlap)) return false;
    }
    return true;
  }
  for (int i = 0; i < n_; ++i) {
    for (int j = 0; j < f; ++j) {
      if (!(std::abs(N_[i * f + j]) * length_[chart.columns[j]] <= kMostSpread * length_[i])) return false;
    }
  }
  return true;
}

// At here_; N_ is the tangent in the chart afterwards.
bool NaturalPlant::choose_here(double t, const double* q, Chart& chart) {
  if (freedoms_ == 0) {
    chart.columns.clear();
    chart.rows.resize(0, 0);
    return true;
  }
  if (fits(chart) && tangent_here(chart) && serves(chart)) return true;
  if (options_.chart == ChartKind::manifold) return orthonormal_here(t, q, chart);
  chart.rows.resize(0, 0);
  chart.columns = choice_.choose(q, t);
  return fits(chart) && tangent_here(chart);
}

// C = Nᵀ M with Nᵀ M N = 1: from the old chart as far as it says something, else from independent coordinates.
// K Cᵀ L⁻ᵀ is such an N, with C K Cᵀ = L Lᵀ.
bool NaturalPlant::orthonormal_here(double t, const double* q, Chart& chart) {
  const int f = freedoms_;
  bool turned = fits(chart) && tangent_here(chart);
  for (int i = 0; i < f && turned; ++i) turned = gram_[i * f + i] * gram_[i * f + i] > kLostOverlap;
  if (!turned) {
    chart.rows.resize(0, 0);
    chart.columns = choice_.choose(q, t);
    if (static_cast<int>(chart.columns.size()) != f || !tangent_here(chart)) return false;
    chart.columns.clear();
  }
  for (int i = 0; i < n_; ++i) {  // X_ still holds K Cᵀ
    std::copy_n(&X_[i * f], f, &N_[i * f]);
    forward(gram_.data(), f, &N_[i * f]);
  }
  chart.rows.setZero(f, n_);
  const auto pattern = system_->mass_pattern();
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    for (int j = 0; j < f; ++j)
      chart.rows(j, pattern[i].column) += N_[pattern[i].row * f + j] * system_->mass_values()[i];
  }
  return true;
}

bool NaturalPlant::choose(double t, const double* x, Chart& chart) { return at(here_, x) && choose_here(t, x, chart); }

bool NaturalPlant::lift(double t, const double* x, const Chart& chart, Eigen::MatrixXd& N, Eigen::MatrixXd& D) {
  if (!at(here_, x) || !tangent_here(chart) || !change_of_tangent(t, x, x + n_, chart)) return false;
  using Rows = Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
  N = Rows(N_.data(), n_, freedoms_);
  D = Rows(D_.data(), n_, freedoms_);
  return true;
}

// Of angles the shorter way round. (On the manifold angles do not count: they have no mass.)
void NaturalPlant::local(const double* x, const Chart& chart, const double* other, double* delta) const {
  for (int level = 0; level < 2; ++level, x += n_, other += n_, delta += freedoms_) {
    const auto difference = [&](int c) {
      const double d = other[c] - x[c];
      return level == 0 && circular_[c] && std::abs(d) > M_PI ? std::remainder(d, 2 * M_PI) : d;
    };
    for (int i = 0; i < freedoms_; ++i) {
      delta[i] = 0;
      if (!chart.columns.empty()) delta[i] = difference(chart.columns[i]);
      for (int c = 0; chart.columns.empty() && c < n_; ++c) delta[i] += chart.rows(i, c) * difference(c);
    }
  }
}

/// As above, number by number of the chart.
void NaturalPlant::local_many(const double* x, const Chart& chart, Many many, const double* others,
                              double* delta) const {
  if (chart.columns.empty()) return Plant::local_many(x, chart, many, others, delta);
  for (int i = 0; i < freedoms_; ++i) {
    const int c = chart.columns[i];
    const double q = x[c], v = x[n_ + c];
    const bool turns = circular_[c];
    const double* other = others + c;
    double* to = delta + i;
    for (int s = 0; s < many.count; ++s, other += many.stride, to += many.delta_stride) {
      const double d = other[0] - q;
      to[0] = turns && std::abs(d) > M_PI ? std::remainder(d, 2 * M_PI) : d;
      to[freedoms_] = other[n_] - v;
    }
  }
}

double NaturalPlant::farthest(const double* d) const {
  double most = 0;
  for (int i = 0; i < n_; ++i) most = std::max(most, std::abs(d[i]) / length_[i]);
  return most;
}

// C (q − q₀) is brought to δz in steps that keep the branch, then C (v − v₀) to δż. With the components along C held,
// Newton's corrections do not change what was asked for.
bool NaturalPlant::retract(double t, const double* x, const Chart& chart, const double* delta, double* out) {
  const int f = freedoms_;
  double *q = q_.data(), *v = v_.data();
  std::copy(x, x + n_, q);
  std::copy(x + n_, x + 2 * n_, v);
  if (!at(here_, q) || !tangent_here(chart)) return false;
  double* step = small_.data();
  const auto move = [&](const double* along, double* to) {  // to += N along; rhs_ keeps it
    for (int i = 0; i < n_; ++i) {
      double sum = 0;
      for (int j = 0; j < f; ++j) sum += N_[i * f + j] * along[j];
      to[i] += rhs_[i] = sum;
    }
  };
  std::fill(r_.begin(), r_.end(), 0.0);
  move(delta, r_.data());
  const double reaches = std::ceil(farthest(r_.data()) / kCorrectedReach);
  if (!(reaches <= kMostReaches)) return false;
  const int steps = std::max(1, static_cast<int>(reaches));
  for (int k = 1; k <= steps; ++k) {
    if (k > 1 && (!at(here_, q) || !tangent_here(chart))) return false;
    for (int c = 0; c < n_; ++c) r_[c] = q[c] - x[c];
    components(chart, r_.data(), 1, step);
    for (int j = 0; j < f; ++j) step[j] = delta[j] * k / steps - step[j];
    move(step, q);
    if (!(farthest(rhs_.data()) <= 4 * kCorrectedReach)) return false;  // a dead point: the others run away
    if (k == steps) move(delta + f, v);
    std::copy(q, q + n_, r_.begin());
    if (!settle(here_, t, q, v, &chart, {})) return false;
    for (int c = 0; c < n_; ++c) r_[c] -= q[c];
    if (!(farthest(r_.data()) <= kCorrectedReach)) return false;  // another branch
  }
  if (steps > 1 && !system_->proper(q)) return false;
  std::copy(q, q + n_, out);
  std::copy(v, v + n_, out + n_);
  return true;
}

bool NaturalPlant::shift(double t, double* x, const double* dq, const double* dv) {
  if (!at(here_, x)) return false;
  std::copy(x, x + n_, q_.begin());
  std::copy(x + n_, x + 2 * n_, v_.begin());
  for (int i = 0; dq && i < n_; ++i) q_[i] += dq[i];
  for (int i = 0; dv && i < n_; ++i) v_[i] += dv[i];
  if (!settle(here_, t, q_.data(), v_.data(), nullptr, {})) return false;
  if (dq && farthest(dq) > kCorrectedReach && !system_->proper(q_.data())) return false;
  std::copy(q_.begin(), q_.end(), x);
  std::copy(v_.begin(), v_.end(), x + n_);
  return true;
}

// x += d with Φ_q d = −rows, the smallest in the norm of the mass; d −= N C d where components are held.
void NaturalPlant::correct(Pose& pose, const double* rows, double* x, const Chart* held, double* impulse) {
  std::fill(rhs_.begin(), rhs_.begin() + n_, 0.0);
  for (int r = 0; r < m_; ++r) rhs_[n_ + r] = -rows[r];
  pose.saddle.solve(rhs_.data(), 1, impulse != nullptr);
  for (int r = 0; impulse && r < m_; ++r) impulse[r] += rhs_[n_ + r];
  if (held) {
    const int f = freedoms_;
    double* along = small_.data() + f;
    components(*held, rhs_.data(), 1, along);
    for (int i = 0; i < n_; ++i) {
      for (int j = 0; j < f; ++j) rhs_[i] -= N_[i * f + j] * along[j];
    }
  }
  for (int i = 0; i < n_; ++i) x[i] += rhs_[i];
}

bool NaturalPlant::settle_again(Pose& pose, const double* q, const Chart* held) {
  return at(pose, q) && (!held || tangent_here(*held));
}

// Newton steps onto Φ = 0 with the factorisation at hand, which is renewed only if they converge slowly; then onto
// Φ̇ = 0.
bool NaturalPlant::settle(Pose& pose, double t, double* q, double* v, const Chart* held, Impulse impulse) {
  double before = std::numeric_limits<double>::infinity(), contraction = 1;
  for (int k = 0; k < kMostCorrections; ++k) {
    system_->closure(q, v, t, phi_.data(), rate_.data());
    const double now = miss(phi_.data());
    if (k > 0) contraction = std::max(now, 1.0) / before;  // below one it says nothing
    if (now <= 1 || (now > kSlow * before && now <= kNearRounding)) {
      return settle_rate(pose, t, q, v, held, contraction, impulse.velocity);
    }
    if (!std::isfinite(now)) return false;
    if (now > kSlow * before && !settle_again(pose, q, held)) return false;
    before = now;
    correct(pose, phi_.data(), q, held, impulse.position);
  }
  return false;
}

// rate_ holds Φ̇. A correction that is sure to be good, by what the positions have shown, is not looked at again.
bool NaturalPlant::settle_rate(Pose& pose, double t, double* q, double* v, const Chart* held, double contraction,
                               double* impulse) {
  double before = std::numeric_limits<double>::infinity();
  for (int k = 0; k < kMostCorrections; ++k) {
    double speed = 0.1 * size_;
    for (int i = 0; i < n_; ++i) speed = std::max(speed, std::abs(v[i]));
    const double now = miss(rate_.data()) * size_ / speed;
    if (now <= 1 || (now > kSlow * before && now <= kNearRounding)) return true;
    if (!std::isfinite(now)) return false;
    if (now > kSlow * before && !settle_again(pose, q, held)) return false;
    before = now;
    correct(pose, rate_.data(), v, held, impulse);
    if (contraction * now <= 1) return true;
    system_->closure(q, v, t, phi_.data(), rate_.data());
  }
  return false;
}

}  // namespace kinegraph::filter
