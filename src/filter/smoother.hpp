#pragma once

#include <array>
#include <string>
#include <vector>

#include "kinegraph/base/progress.hpp"
#include "kinegraph/filter/estimator.hpp"
#include "kinegraph/graph/noise.hpp"

namespace kinegraph::filter {

/// A state at a time, to start from.
struct TimedState {
  double t = 0;
  VectorXd x;
};

struct SmootherOptions {
  double step = 0.01;        ///< the longest interval between knots, s
  Loss loss = Loss::none();  ///< of every channel of every reading
  int max_iterations = 100;  ///< of all stages together
  double tolerance = 1e-3;   ///< converged: root mean square of the next step, in posterior standard deviations
  int threads = 1;           ///< does not change the results, not even in the last bit
  bool covariances = true;   ///< false: P of the knots and sd of the readings stay empty (NaN)
  Progress progress = {};    ///< told now and then
};

/// What a reading says against the smoothed motion. NaN where a channel was not given.
struct SmoothedReading {
  int knot = 0;
  std::array<double, kMostRows> e = {};       ///< y − h(x)
  std::array<double, kMostRows> weight = {};  ///< 1: fully believed; towards 0: an outlier
  /// Expected: σ² + (1 − 2 w) h P hᵀ, for a reading of weight w has pulled the state towards itself.
  std::array<double, kMostRows> sd = {};
};

struct Smoothed {
  std::vector<Belief> knots;              ///< by time
  std::vector<SmoothedReading> readings;  ///< in the order of the measurements given
  double cost = 0;                        ///< ½ Σ ρ
  /// ln p(readings | prior, model), to compare hypotheses (branches) on the same readings: Laplace's approximation
  ///
  ///     −cost − ½ Σ ln 2π σ² − ½ ln det P₀ − ½ Σ ln det Q − ½ ln det Λ      Λ: information of all knots
  ///
  /// exact for linear systems. With a robust loss its normalisation is that of the normal distribution.
  double log_evidence = 0;
  int iterations = 0;
  bool converged = false;
  std::string why_not;  ///< if it did not converge
};

/// The most probable motion given all readings: Gauss-Newton steps, damped where they fail (Levenberg-Marquardt), on
/// the manifold, each by elimination in time (linear::TimeChain). Knots are the times of the prior and of the
/// measurements (nearer than 1e-9 of the step: one knot) and enough in between. Time and memory grow linearly with the
/// knots.
///
/// A loss is applied per channel, not per reading: noises of channels are independent, and a spike in one axis says
/// nothing against the others. Losses that forget outliers altogether (cauchy, tukey, geman_mcclure) have many minima:
/// they are approached from Huber's convex one over ever narrower versions of themselves.
///
/// `initial`: a motion to start from, increasing in time (a filter's pass, a guess); knots between its states are
/// reached from the state before. Empty: a pass of the fixed-lag smoother, or, where that has no answer, the motion
/// from the prior's mean. Fails on input that does not fit (bad_input), where nothing determines some direction of the
/// state, which is named (no_answer), or when stopped.
Result<Smoothed> smooth(StateSpace& space, const Belief& prior, const std::vector<Measurement>& measurements,
                        const SmootherOptions& options = {}, const std::vector<TimedState>& initial = {});

}  // namespace kinegraph::filter
