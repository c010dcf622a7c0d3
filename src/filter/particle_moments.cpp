#include "kinegraph/filter/particle_moments.hpp"

#include <algorithm>
#include <limits>

namespace kinegraph::filter {
namespace {

constexpr int kEnough = 1000;  // states to find the middle of all of them
constexpr int kTogether = 64;  // states whose δ are kept at once

/// see(i, δ of state i) of all states first … last − 1, or of every n-th of them, that weigh something.
template <class See>
void for_each(StateSpace& space, const double* centre, const Chart& chart, const double* x, const double* w, int first,
              int last, int every, MatrixXd& delta, const See& see) {
  const int stored = space.stored(), together = every == 1 ? kTogether : 1;
  delta.resize(space.tangent(), kTogether);
  for (int i = first; i < last; i += every == 1 ? kTogether : every) {
    const int count = std::min(together, last - i);
    space.local_many(centre, chart, count, x + static_cast<std::ptrdiff_t>(i) * stored, delta.data());
    for (int k = 0; k < count; ++k) {
      if (w[i + k] > 0) see(i + k, delta.col(k).data());
    }
  }
}

}  // namespace

// δᵢ of all states (of every n-th one) about one of them, reference r: their mean and covariance,
//
//     δ̄ = Σ w δ / Σ w,    P = Σ w δ δᵀ / Σ w − δ̄ δ̄ᵀ
//
// which loses no digits where r is as near to the mean as the others are.
bool ParticleMoments::about(const States& states, int reference, int every, Chart& chart) {
  StateSpace& space = *states.spaces[0];
  const int d = space.tangent();
  const double *centre = states.x + static_cast<std::ptrdiff_t>(reference) * space.stored(), *w = states.w;
  if (!space.choose(states.t, centre, chart)) return false;
  sums_.resize(states.team.parts());
  states.team.share(states.n, [&](int part, int first, int last) {
    Sums& sums = sums_[part];
    sums.mean.setZero(d);
    sums.P.setZero(d, d);
    sums.weight = 0;
    double *mean = sums.mean.data(), *P = sums.P.data();
    for_each(*states.spaces[part], centre, chart, states.x, w, first, last, every, sums.delta,
             [&](int i, const double* delta) {
               sums.weight += w[i];
               for (int c = 0; c < d; ++c) {
                 const double share = w[i] * delta[c];
                 mean[c] += share;
                 for (int r = c; r < d; ++r) P[c * d + r] += share * delta[r];
               }
             });
  });
  mean_.setZero(d);
  P_.setZero(d, d);
  double weight = 0;
  for (const Sums& sums : sums_) mean_ += sums.mean, P_ += sums.P, weight += sums.weight;
  if (!(weight > 0)) return false;
  mean_ /= weight;
  for (int c = 0; c < d; ++c) {
    for (int r = c; r < d; ++r) P_(c, r) = P_(r, c) = P_(r, c) / weight - mean_[r] * mean_[c];
  }
  return true;
}

/// Of the states (of every n-th one) that whose δ about the reference is nearest to the mean, in standard deviations.
int ParticleMoments::nearest(const States& states, int reference, int every, const Chart& chart) {
  const double* centre = states.x + static_cast<std::ptrdiff_t>(reference) * states.spaces[0]->stored();
  states.team.share(states.n, [&](int part, int first, int last) {
    Sums& sums = sums_[part];
    sums.distance = std::numeric_limits<double>::infinity();
    for_each(*states.spaces[part], centre, chart, states.x, states.w, first, last, every, sums.delta,
             [&](int i, const double* delta) {
               double distance = 0;
               for (Eigen::Index k = 0; k < mean_.size(); ++k) {
                 const double off = delta[k] - mean_[k];
                 if (P_(k, k) > 0) distance += off * off / P_(k, k);
               }
               if (distance < sums.distance) sums.nearest = i, sums.distance = distance;
             });
  });
  int best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (const Sums& sums : sums_) {
    if (sums.distance < least) best = sums.nearest, least = sums.distance;
  }
  return best;
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
  const int reference = nearest(states, heaviest, every, out.chart);
  if ((reference != heaviest || every > 1) && !about(states, reference, 1, out.chart)) return false;
  out.P = P_;
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
