#include "kinegraph/filter/particle_moments.hpp"

#include <algorithm>
#include <limits>

namespace kinegraph::filter {

// δᵢ of all states about one of them, their mean and variances.
bool ParticleMoments::about(StateSpace& space, double t, const double* x, const double* w, int n, int reference,
                            Chart& chart) {
  const int stored = space.stored();
  const double* centre = x + static_cast<std::ptrdiff_t>(reference) * stored;
  if (!space.choose(t, centre, chart)) return false;
  delta_.resize(space.tangent(), n);
  mean_.setZero(space.tangent());
  variance_.setZero(space.tangent());
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    if (w[i] <= 0) continue;
    space.local(centre, chart, x + static_cast<std::ptrdiff_t>(i) * stored, delta_.col(i).data());
    mean_ += w[i] * delta_.col(i);
    sum += w[i];
  }
  mean_ /= sum;
  for (int i = 0; i < n; ++i) {
    if (w[i] > 0) variance_ += w[i] / sum * (delta_.col(i) - mean_).cwiseAbs2();
  }
  return true;
}

int ParticleMoments::nearest(const double* w, int n) const {
  int best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < n; ++i) {
    if (w[i] <= 0) continue;
    double distance = 0;
    for (Eigen::Index k = 0; k < mean_.size(); ++k) {
      const double d = delta_(k, i) - mean_[k];
      if (variance_[k] > 0) distance += d * d / variance_[k];
    }
    if (distance < least) best = i, least = distance;
  }
  return best;
}

bool ParticleMoments::compute(StateSpace& space, double t, const double* x, const double* w, int n, Belief& out) {
  const int heaviest = static_cast<int>(std::max_element(w, w + n) - w);
  if (!about(space, t, x, w, n, heaviest, out.chart)) return false;
  const int reference = nearest(w, n);
  if (reference != heaviest && !about(space, t, x, w, n, reference, out.chart)) return false;

  // P = Σ w (δ − δ̄)(δ − δ̄)ᵀ
  const int d = space.tangent();
  out.P.setZero(d, d);
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += w[i];
  for (int i = 0; i < n; ++i) {
    if (w[i] <= 0) continue;
    delta_.col(i) -= mean_;
    for (int c = 0; c < d; ++c) {
      for (int r = c; r < d; ++r) out.P(r, c) += w[i] / sum * delta_(r, i) * delta_(c, i);
    }
  }
  for (int c = 0; c < d; ++c) {
    for (int r = c + 1; r < d; ++r) out.P(c, r) = out.P(r, c);
  }
  const double* centre = x + static_cast<std::ptrdiff_t>(reference) * space.stored();
  out.x.resize(space.stored());
  if (!space.retract(t, centre, out.chart, mean_.data(), out.x.data())) {
    // The states are spread so wide that their mean is none: then the nearest one stands for it.
    std::copy(centre, centre + space.stored(), out.x.data());
    out.P += mean_ * mean_.transpose();
  }
  chart_ = out.chart;
  if (space.choose(t, out.x.data(), chart_) && !(chart_ == out.chart) &&
      space.transition(t, out.x.data(), out.chart, chart_, T_)) {
    out.P = T_ * out.P * T_.transpose();
    out.chart = chart_;
  }
  return true;
}

}  // namespace kinegraph::filter
