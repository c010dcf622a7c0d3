#include "kinegraph/filter/particle_moments.hpp"

#include <algorithm>
#include <limits>

namespace kinegraph::filter {
namespace {

constexpr int kEnough = 1000;  // states to find the middle of all of them

}  // namespace

// δᵢ of all states (of every n-th one) about one of them, their mean and variances.
bool ParticleMoments::about(const States& states, int reference, int every, Chart& chart) {
  StateSpace& space = *states.spaces[0];
  const int stored = space.stored(), d = space.tangent();
  const double *centre = states.x + static_cast<std::ptrdiff_t>(reference) * stored, *w = states.w;
  if (!space.choose(states.t, centre, chart)) return false;
  delta_.resize(d, states.n);
  sums_.resize(states.team.parts());
  states.team.share(states.n, [&](int part, int first, int last) {
    Sums& sums = sums_[part];
    sums.mean.setZero(d);
    sums.weight = 0;
    for (int i = first; i < last; i += every) {
      if (w[i] <= 0) continue;
      states.spaces[part]->local(centre, chart, states.x + static_cast<std::ptrdiff_t>(i) * stored,
                                 delta_.col(i).data());
      for (int k = 0; k < d; ++k) sums.mean[k] += w[i] * delta_(k, i);
      sums.weight += w[i];
    }
  });
  mean_.setZero(d);
  weight_ = 0;
  for (const Sums& sums : sums_) mean_ += sums.mean, weight_ += sums.weight;
  if (!(weight_ > 0)) return false;
  mean_ /= weight_;
  states.team.share(states.n, [&](int part, int first, int last) {
    VectorXd& variance = sums_[part].variance;
    variance.setZero(d);
    for (int i = first; i < last; i += every) {
      if (w[i] <= 0) continue;
      const double share = w[i] / weight_;
      for (int k = 0; k < d; ++k) variance[k] += share * (delta_(k, i) - mean_[k]) * (delta_(k, i) - mean_[k]);
    }
  });
  variance_.setZero(d);
  for (const Sums& sums : sums_) variance_ += sums.variance;
  return true;
}

int ParticleMoments::nearest(const States& states, int every) {
  states.team.share(states.n, [&](int part, int first, int last) {
    Sums& sums = sums_[part];
    sums.distance = std::numeric_limits<double>::infinity();
    for (int i = first; i < last; i += every) {
      if (states.w[i] <= 0) continue;
      double distance = 0;
      for (Eigen::Index k = 0; k < mean_.size(); ++k) {
        const double d = delta_(k, i) - mean_[k];
        if (variance_[k] > 0) distance += d * d / variance_[k];
      }
      if (distance < sums.distance) sums.nearest = i, sums.distance = distance;
    }
  });
  int best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (const Sums& sums : sums_) {
    if (sums.distance < least) best = sums.nearest, least = sums.distance;
  }
  return best;
}

// P = Σ w (δ − δ̄)(δ − δ̄)ᵀ
void ParticleMoments::spread(const States& states, MatrixXd& P) {
  const Eigen::Index d = mean_.size();
  states.team.share(states.n, [&](int part, int first, int last) {
    MatrixXd& sum = sums_[part].P;
    sum.setZero(d, d);
    for (int i = first; i < last; ++i) {
      if (states.w[i] <= 0) continue;
      const double share = states.w[i] / weight_;
      for (Eigen::Index c = 0; c < d; ++c) {
        for (Eigen::Index r = c; r < d; ++r) {
          sum(r, c) += share * (delta_(r, i) - mean_[r]) * (delta_(c, i) - mean_[c]);
        }
      }
    }
  });
  P.setZero(d, d);
  for (const Sums& sums : sums_) P += sums.P;
  for (Eigen::Index c = 0; c < d; ++c) {
    for (Eigen::Index r = c + 1; r < d; ++r) P(c, r) = P(r, c);
  }
}

bool ParticleMoments::compute(const Team& team, const std::vector<StateSpace*>& spaces, double t, const double* x,
                              const double* w, int n, Belief& out) {
  StateSpace& space = *spaces[0];
  const States states{team, spaces, t, x, w, n};
  const int heaviest = static_cast<int>(std::max_element(w, w + n) - w);
  // Which state is near the mean, some hundreds of them tell well enough.
  int every = std::max(1, n / kEnough);
  if (!about(states, heaviest, every, out.chart)) {
    if (every == 1 || !about(states, heaviest, every = 1, out.chart)) return false;
  }
  const int reference = nearest(states, every);
  if ((reference != heaviest || every > 1) && !about(states, reference, 1, out.chart)) return false;
  spread(states, out.P);
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
