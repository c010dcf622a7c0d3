#include <algorithm>
#include <cmath>

#include "kinegraph/filter/natural_plant.hpp"

namespace kinegraph::filter {
namespace {

// to += M d   (n × width each)
void multiply_mass(const natural::System& system, const double* d, int width, int stride, double* to) {
  const auto pattern = system.mass_pattern();
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const double *from = d + pattern[i].column * width, value = system.mass_values()[i];
    double* sum = to + pattern[i].row * stride;
    for (int j = 0; j < width; ++j) sum[j] += value * from[j];
  }
}

// X ← A⁻¹ X with A (f × f) near one, X f × width: the few freedoms of a machine. False if A is singular.
bool solve_small(double* A, double* X, int f, int width) {
  for (int k = 0; k < f; ++k) {
    int pivot = k;
    for (int i = k + 1; i < f; ++i) pivot = std::abs(A[i * f + k]) > std::abs(A[pivot * f + k]) ? i : pivot;
    if (!(std::abs(A[pivot * f + k]) > 0)) return false;
    if (pivot != k) {
      std::swap_ranges(A + k * f, A + (k + 1) * f, A + pivot * f);
      std::swap_ranges(X + k * width, X + (k + 1) * width, X + pivot * width);
    }
    const double inverse = 1 / A[k * f + k];
    for (int i = k + 1; i < f; ++i) {
      const double l = A[i * f + k] * inverse;
      for (int j = k; j < f; ++j) A[i * f + j] -= l * A[k * f + j];
      for (int j = 0; j < width; ++j) X[i * width + j] -= l * X[k * width + j];
    }
  }
  for (int k = f - 1; k >= 0; --k) {
    for (int i = k + 1; i < f; ++i) {
      for (int j = 0; j < width; ++j) X[k * width + j] -= A[k * f + i] * X[i * width + j];
    }
    for (int j = 0; j < width; ++j) X[k * width + j] /= A[k * f + k];
  }
  return true;
}

bool finite(const double* x, int n) {
  return std::all_of(x, x + n, [](double value) { return std::isfinite(value); });
}

}  // namespace

// kᵢ = f(t + cᵢ h, x + h Σⱼ aᵢⱼ kⱼ),   x⁺ = x + h Σᵢ bᵢ kᵢ, then onto the constraints with the last factorisation.
bool NaturalPlant::stages(double t, double h, const double* x, const double* force, double* next, bool derivatives) {
  const step::Tableau& tableau = options_.integrator;
  const int stride = n_ + m_;
  stage_.known = false;
  for (int s = 0; s < tableau.stages; ++s) {
    double *q = &stage_q_[s * n_], *v = &stage_v_[s * n_];
    for (int i = 0; i < n_; ++i) q[i] = x[i], v[i] = x[n_ + i];
    for (int j = 0; j < s; ++j) {
      const double step = h * tableau.a[s][j];
      if (step == 0) continue;
      const double *rate_q = &stage_v_[j * n_], *rate_v = &stage_a_[j * stride];
      for (int i = 0; i < n_; ++i) q[i] += step * rate_q[i], v[i] += step * rate_v[i];
    }
    if (!solve_rate(stage_, t + tableau.c[s] * h, q, v, force, derivatives, &stage_a_[s * stride])) return false;
    if (derivatives) differentiate_stage(t + tableau.c[s] * h, h, s);
  }
  for (int i = 0; i < 2 * n_; ++i) next[i] = x[i];
  for (int s = 0; s < tableau.stages; ++s) {
    const double step = h * tableau.b[s], *rate_q = &stage_v_[s * n_], *rate_v = &stage_a_[s * stride];
    if (step == 0) continue;
    for (int i = 0; i < n_; ++i) next[i] += step * rate_q[i], next[n_ + i] += step * rate_v[i];
  }
  return true;
}

bool NaturalPlant::advance(double t, double h, const double* x, const double* force, double* next) {
  return stages(t, h, x, force, next, false) && settle(stage_, t + h, next, next + n_, nullptr, {}) &&
         finite(next, 2 * n_);
}

// The stage's state and rate along every column: δq_s = δq + h Σ a δv_j, δv_s = δv + h Σ a δa_j.
void NaturalPlant::differentiate_stage(double t, double h, int stage) {
  const step::Tableau& tableau = options_.integrator;
  const int width = 2 * freedoms_ + forces(), size = n_ * width;
  double *dq = dstage_q_.data(), *dv = &dstage_v_[stage * size];
  std::copy_n(dq_.data(), size, dq);
  std::copy_n(dv_.data(), size, dv);
  for (int j = 0; j < stage; ++j) {
    const double step = h * tableau.a[stage][j];
    if (step == 0) continue;
    const double *rate_q = &dstage_v_[j * size], *rate_v = &dstage_a_[j * size];
    for (int i = 0; i < size; ++i) dq[i] += step * rate_q[i], dv[i] += step * rate_v[i];
  }
  const double* a = &stage_a_[stage * (n_ + m_)];
  respond(stage_, t, &stage_q_[stage * n_], &stage_v_[stage * n_], a, a + n_, dq, dv, width, X_.data());
  std::copy_n(X_.data(), size, &dstage_a_[stage * size]);
}

bool NaturalPlant::advance(double t, double h, const double* x, const double* force, const Chart& chart, double* next,
                           Chart& next_chart, Eigen::MatrixXd& by_state, Eigen::MatrixXd& by_force) {
  const int f = freedoms_, width = 2 * f + forces();
  if (!at(here_, x) || !tangent_here(chart) || !change_of_tangent(t, x, x + n_, chart)) return false;
  std::fill_n(dq_.begin(), n_ * width, 0.0);
  std::fill_n(dv_.begin(), n_ * width, 0.0);
  for (int i = 0; i < n_; ++i) {
    for (int j = 0; j < f; ++j) {
      dq_[i * width + j] = dv_[i * width + f + j] = N_[i * f + j];
      dv_[i * width + j] = D_[i * f + j];
    }
  }
  std::fill(impulse_q_.begin(), impulse_q_.end(), 0.0);
  std::fill(impulse_v_.begin(), impulse_v_.end(), 0.0);
  if (!stages(t, h, x, force, next, true) ||
      !settle(stage_, t + h, next, next + n_, nullptr, {impulse_q_.data(), impulse_v_.data()}) ||
      !finite(next, 2 * n_) || !at(here_, next) || !choose_here(t + h, next, next_chart) ||
      !change_of_tangent(t + h, next, next + n_, next_chart)) {
    return false;
  }
  return differentiate_end(h, next_chart, by_state, by_force);
}

// The projection moves along M⁻¹ Φ_qᵀ of the last stage s until the constraints hold:
//
//     M (q⁺ − q̂) + Φ_q(q_s)ᵀ μ = 0,   Φ(q⁺) = 0          M (v⁺ − v̂) + Φ_q(q_s)ᵀ ν = 0,   Φ̇(q⁺, v⁺) = 0
//
// With δq⁺ = N δz⁺ and δv⁺ = D δz⁺ + N δż⁺ of the next chart, K of the last stage and H(μ) = Σ μ Φ_qq:
//
//     (C K M N) δz⁺ = C K (M δq̂ − H(μ) δq_s)
//     (C K M N) δż⁺ = C K (M δv̂ − H(ν) δq_s) − (C K M D) δz⁺
bool NaturalPlant::differentiate_end(double h, const Chart& chart, Eigen::MatrixXd& by_state,
                                     Eigen::MatrixXd& by_force) {
  const step::Tableau& tableau = options_.integrator;
  const int f = freedoms_, width = 2 * f + forces(), size = n_ * width, last = tableau.stages - 1;
  by_state.resize(2 * f, 2 * f);
  by_force.resize(2 * f, forces());
  if (f == 0) return true;
  for (int s = 0; s < tableau.stages; ++s) {  // δq̂ and δv̂
    const double step = h * tableau.b[s], *rate_q = &dstage_v_[s * size], *rate_v = &dstage_a_[s * size];
    for (int i = 0; i < size; ++i) dq_[i] += step * rate_q[i], dv_[i] += step * rate_v[i];
  }
  std::fill_n(X_.begin(), static_cast<std::size_t>(n_ + m_) * 2 * width, 0.0);
  multiply_mass(*system_, dq_.data(), width, 2 * width, X_.data());
  multiply_mass(*system_, dv_.data(), width, 2 * width, X_.data() + width);
  const auto pattern = system_->hessian_pattern();
  for (int level = 0; level < 2; ++level) {
    system_->hessian(&stage_q_[last * n_], 0, level == 0 ? impulse_q_.data() : impulse_v_.data(), hessian_.data());
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      const double* from = &dstage_q_[pattern[i].column * width];
      double* to = &X_[pattern[i].row * 2 * width + level * width];
      for (int j = 0; j < width; ++j) to[j] -= hessian_[i] * from[j];
    }
  }
  stage_.saddle.solve(X_.data(), 2 * width, false);
  double *right = small_.data(), *left = right + f * 2 * width, *matrix = left + 2 * f * f;
  components(chart, X_.data(), 2 * width, right);

  std::fill_n(X_.begin(), static_cast<std::size_t>(n_ + m_) * 2 * f, 0.0);
  multiply_mass(*system_, N_.data(), f, 2 * f, X_.data());
  multiply_mass(*system_, D_.data(), f, 2 * f, X_.data() + f);
  stage_.saddle.solve(X_.data(), 2 * f, false);
  components(chart, X_.data(), 2 * f, left);

  // right holds, row by row, [δz⁺ side | δż⁺ side]
  const auto take = [&] {
    for (int i = 0; i < f; ++i) std::copy_n(left + i * 2 * f, f, matrix + i * f);
  };
  take();
  if (!solve_small(matrix, right, f, 2 * width)) return false;
  for (int i = 0; i < f; ++i) std::copy_n(left + i * 2 * f + f, f, gram_.data() + i * f);
  take();
  if (!solve_small(matrix, gram_.data(), f, f)) return false;  // (C K M N)⁻¹ C K M D
  for (int j = 0; j < width; ++j) {
    for (int i = 0; i < f; ++i) {
      const double position = right[i * 2 * width + j];
      double rate = right[i * 2 * width + width + j];
      for (int k = 0; k < f; ++k) rate -= gram_[i * f + k] * right[k * 2 * width + j];
      (j < 2 * f ? by_state(i, j) : by_force(i, j - 2 * f)) = position;
      (j < 2 * f ? by_state(f + i, j) : by_force(f + i, j - 2 * f)) = rate;
    }
  }
  return by_state.allFinite() && by_force.allFinite();
}

}  // namespace kinegraph::filter
