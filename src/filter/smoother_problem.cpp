#include "kinegraph/filter/smoother_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "kinegraph/filter/kalman.hpp"

namespace kinegraph::filter {
namespace {

constexpr double kSameTime = 1e-9;  // of the step
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace

Result<std::monostate> SmootherProblem::check(const StateSpace& space, const Belief& prior,
                                              const std::vector<Measurement>& measurements,
                                              const SmootherOptions& options, const std::vector<TimedState>& initial) {
  if (!(options.step > 0) || !std::isfinite(options.step)) {
    return Failure::bad_input(fmt::format("step: must be > 0 and finite, is {}", options.step));
  }
  if (options.max_iterations < 1) return Failure::bad_input("max_iterations: must be at least 1");
  if (!(options.tolerance > 0)) return Failure::bad_input("tolerance: must be > 0");
  if (auto fault = SmootherRows::check(space, prior); !fault) return fault;
  for (std::size_t i = 0; i < measurements.size(); ++i) {
    const Measurement& m = measurements[i];
    if (auto fault = filter::check(space.sensors(), m); !fault) {
      return Failure::bad_input(fmt::format("measurement {}: {}", i + 1, fault.failure().diagnostics[0].message));
    }
    if (m.t < prior.t - kSameTime * options.step) {
      return Failure::bad_input(
          fmt::format("measurement {}: at t = {} s, before the start of the estimation at {} s", i + 1, m.t, prior.t));
    }
  }
  for (std::size_t i = 0; i < initial.size(); ++i) {
    if (initial[i].x.size() != space.stored() || !initial[i].x.allFinite() || !std::isfinite(initial[i].t) ||
        (i > 0 && initial[i].t < initial[i - 1].t)) {
      return Failure::bad_input(
          fmt::format("initial state {}: sizes, finite numbers and order in time do not fit", i + 1));
    }
  }
  return std::monostate{};
}

SmootherProblem::SmootherProblem(StateSpace& space, const Belief& prior, const std::vector<Measurement>& measurements,
                                 const SmootherOptions& options)
    : space_(&space),
      measurements_(&measurements),
      options_(&options),
      rows_(space, prior),
      n_(space.tangent()),
      stored_(space.stored()) {
  order_.resize(measurements.size());
  std::iota(order_.begin(), order_.end(), 0);
  std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) { return measurements[a].t < measurements[b].t; });
  place_knots(prior.t);
  x_.resize(t_.size() * stored_);
  trial_.resize(x_.size());
  roots_.resize((t_.size() - 1) * (n_ * (n_ + 1) / 2));
  chart_.resize(t_.size());
  arrival_chart_.resize(t_.size());
  chart_[0] = prior.chart;
  chain_.reset(n_, knots());
  H_.resize(kMostRows * n_);
  row_.resize(n_);
  next_.resize(stored_);
}

void SmootherProblem::place_knots(double start) {
  t_ = {start};
  first_ = {0};
  knot_of_.resize(order_.size());
  double latest = start;
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const double t = (*measurements_)[order_[i]].t;
    if (t > latest + kSameTime * options_->step) {
      const int parts = static_cast<int>(std::max(1.0, std::ceil((t - latest) / options_->step - kSameTime)));
      for (int p = 1; p <= parts; ++p) {
        t_.push_back(p == parts ? t : latest + (t - latest) * p / parts);
        first_.push_back(static_cast<int>(i));
      }
      latest = t;
    }
    knot_of_[order_[i]] = knots() - 1;
  }
  first_.push_back(static_cast<int>(order_.size()));
}

Failure SmootherProblem::stuck(const char* what, int k) const {
  return Failure::no_answer(fmt::format("{} at t = {} s", what, t_[k]));
}

bool SmootherProblem::add_readings(int k, const WidenedLoss& loss, double& cost) {
  chain_.clear(k);
  std::array<double, kMostRows> e;
  for (int i = first_[k]; i < first_[k + 1]; ++i) {
    const Measurement& m = (*measurements_)[order_[i]];
    if (!rows_.reading(t_[k], x(k), chart_[k], m, e.data(), H_.data())) return false;
    for (std::size_t c = 0; c < space_->sensors()[m.sensor].channels.size(); ++c) {
      if (std::isnan(e[c])) continue;
      const double s = e[c] * e[c], root = std::sqrt(loss.weight(s));
      cost += 0.5 * loss.rho(s);
      for (int j = 0; j < n_; ++j) row_[j] = root * H_[c * n_ + j];
      chain_.add(k, row_.data(), root * e[c]);
    }
  }
  return true;
}

Result<std::monostate> SmootherProblem::linearise(const WidenedLoss& loss, double share) {
  cost_ = 0.5 * rows_.prior_misfit(x(0));
  log_volume_ = 0;
  for (int k = 0; k < knots(); ++k) {
    if (options_->progress && k % 1024 == 0 && !options_->progress(share)) return Failure::interrupted();
    if (!space_->choose(t_[k], x(k), chart_[k])) return stuck("no coordinates of the motion", k);
    if (k == 0 && !rows_.prior(x(0), chart_[0], chain_, log_volume_)) return stuck("the prior has no answer", 0);
    if (!add_readings(k, loss, cost_)) return stuck("a sensor has no answer", k);
    if (k == 0) continue;
    double* rows = chain_.link(k - 1);
    if (!rows_.advance(t_[k - 1], t_[k] - t_[k - 1], 1, x(k - 1), chart_[k - 1], chart_[k], link_) ||
        !rows_.link(t_[k], x(k), chart_[k], link_, rows, log_volume_)) {
      return stuck("the motion stops", k - 1);
    }
    arrival_chart_[k] = link_.chart;
    double* L = root(k - 1);
    for (int i = 0; i < n_; ++i) {
      cost_ += 0.5 * rows[i * (2 * n_ + 1) + 2 * n_] * rows[i * (2 * n_ + 1) + 2 * n_];
      for (int j = 0; j <= i; ++j) *L++ = link_.L(i, j);
    }
  }
  return std::monostate{};
}

// The noise of the steps stays that of the last linearise(): what is compared is one and the same cost.
double SmootherProblem::trial_cost(const WidenedLoss& loss) {
  constexpr double none = std::numeric_limits<double>::infinity();
  double cost = 0.5 * rows_.prior_misfit(trial(0));
  std::array<double, kMostRows> e;
  for (int k = 0; k < knots(); ++k) {
    for (int i = first_[k]; i < first_[k + 1]; ++i) {
      const Measurement& m = (*measurements_)[order_[i]];
      if (!rows_.reading(t_[k], trial(k), chart_[k], m, e.data(), nullptr)) return none;
      for (std::size_t c = 0; c < space_->sensors()[m.sensor].channels.size(); ++c) {
        if (!std::isnan(e[c])) cost += 0.5 * loss.rho(e[c] * e[c]);
      }
    }
    if (k + 1 == knots()) break;
    if (!space_->advance(t_[k], t_[k + 1] - t_[k], trial(k), next_.data())) return none;
    cost += 0.5 * rows_.misfit(next_.data(), arrival_chart_[k + 1], trial(k + 1), root(k));
  }
  return std::isfinite(cost) ? cost : none;
}

bool SmootherProblem::move(const WidenedLoss& loss) {
  for (int k = 0; k < knots(); ++k) {
    if (!space_->retract(t_[k], x(k), chart_[k], chain_.solution(k), trial(k))) return false;
  }
  if (!(trial_cost(loss) < cost_)) return false;
  std::swap(x_, trial_);
  return true;
}

std::string SmootherProblem::undetermined() const {
  const linear::TimeChainReport& report = chain_.report();
  int largest = 0;
  chain_.undetermined_direction().cwiseAbs().maxCoeff(&largest);
  return fmt::format("{} at t = {} s cannot be determined: neither the prior nor any reading says anything of it",
                     space_->tangent_name(chart_[report.knot], largest), t_[report.knot]);
}

Result<std::monostate> SmootherProblem::finish(const WidenedLoss& loss, int branch, Smoothed& out) {
  out.cost = cost_;
  out.knots.resize(knots());
  for (int k = 0; k < knots(); ++k) {
    out.knots[k] = {t_[k], Eigen::Map<VectorXd>(x(k), stored_), chart_[k], {}, branch};
  }
  if (options_->covariances) {
    chain_.covariances([&](int k, const MatrixXd& P, const MatrixXd&) { out.knots[k].P = P; });
  }
  out.log_evidence = -cost_ + log_volume_ - chain_.log_determinant() +
                     0.5 * (n_ - rows_.prior_rank()) * std::log(2 * std::numbers::pi);
  out.readings.resize(measurements_->size());
  for (std::size_t i = 0; i < measurements_->size(); ++i) {
    const Measurement& m = (*measurements_)[i];
    SmoothedReading& r = out.readings[i];
    const int k = r.knot = knot_of_[i];
    for (auto* numbers : {&r.e, &r.weight, &r.sd}) numbers->fill(kNaN);
    if (!rows_.reading(t_[k], x(k), chart_[k], m, r.e.data(), H_.data())) return stuck("a sensor has no answer", k);
    const auto& channels = space_->sensors()[m.sensor].channels;
    for (std::size_t c = 0; c < channels.size(); ++c) {
      if (std::isnan(r.e[c])) continue;
      const double sigma = channels[c].noise;
      r.weight[c] = loss.weight(r.e[c] * r.e[c]);
      r.e[c] *= sigma;
      out.log_evidence -= 0.5 * std::log(2 * std::numbers::pi) + std::log(sigma);
      if (!options_->covariances) continue;
      const Eigen::Map<const VectorXd> h(H_.data() + c * n_, n_);
      const double spread = h.dot(out.knots[k].P * h);  // in units of σ²
      r.sd[c] = sigma * std::sqrt(std::max(0.0, 1 + (1 - 2 * r.weight[c]) * spread));
    }
  }
  return std::monostate{};
}

}  // namespace kinegraph::filter
