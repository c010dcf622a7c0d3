#include <cmath>

#include "kinegraph/filter/fixed_lag_smoother.hpp"
#include "kinegraph/filter/smoother_problem.hpp"

// The motion from which a batch smoother starts.
namespace kinegraph::filter {
namespace {}  // namespace

// (To compare the costs of the two would mislead: a filter's path has jumps, which the first step takes away.)
Result<std::monostate> SmootherProblem::start(const Belief& prior, const std::vector<TimedState>& initial) {
  if (initial.empty() && filter_pass(prior)) return std::monostate{};
  return roll_out(prior, initial);
}

Result<std::monostate> SmootherProblem::roll_out(const Belief& prior, const std::vector<TimedState>& initial) {
  const double same = kSameTime * options_->step;
  std::size_t given = 0;
  double t = prior.t;  // of next
  VectorXd next = prior.x;
  for (int k = 0; k < knots(); ++k) {
    for (; given < initial.size() && initial[given].t <= t_[k] + same; ++given) {
      if (initial[given].t >= t - same) next = initial[given].x, t = initial[given].t;
    }
    const double h = t_[k] - t;
    const int parts = h > same ? static_cast<int>(std::max(1.0, std::ceil(h / options_->step - kSameTime))) : 0;
    for (int p = 0; p < parts; ++p) {
      if (!space_->advance(t + h * p / parts, h / parts, next.data(), x(k))) return stuck("the motion stops", k);
      std::copy_n(x(k), stored_, next.data());
    }
    t = t_[k];
    std::copy_n(next.data(), stored_, x(k));
    if (!next.allFinite()) return stuck("the motion stops", k);
  }
  return std::monostate{};
}

// The newest states of a fixed-lag smoother. (A plain extended filter loses its way where a sensor is blind for a while
// and then sees a curved relation again; the window is linearised anew there.)
bool SmootherProblem::filter_pass(const Belief& prior) {
  const auto pass = FixedLagSmoother::make(space_->clone(), prior, {.step = options_->step, .loss = options_->loss});
  if (!pass) return false;
  FixedLagSmoother& smoother = **pass;
  for (int k = 0; k < knots(); ++k) {
    if (k > 0 && !smoother.advance(t_[k])) return false;
    for (int i = first_[k]; i < first_[k + 1]; ++i) {
      if (!smoother.push((*measurements_)[order_[i]])) return false;
    }
    const Belief& now = smoother.belief();
    std::copy_n(now.x.data(), stored_, x(k));
    chart_[k] = now.chart;
  }
  return true;
}

}  // namespace kinegraph::filter
