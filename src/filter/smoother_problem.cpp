#include "kinegraph/filter/smoother_problem.hpp"

#include <fmt/format.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <numeric>

#include "kinegraph/base/numbers.hpp"
#include "kinegraph/filter/kalman.hpp"

namespace kinegraph::filter {
namespace {

constexpr int kFewKnots = 32;           // fewer are not worth a thread
constexpr int kKnotsPerTelling = 8192;  // knots between two tellings of progress

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
    : space_(&space), measurements_(&measurements), options_(&options), n_(space.tangent()), stored_(space.stored()) {
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
  knot_cost_.resize(t_.size());
  knot_volume_.resize(t_.size());
  const int threads = std::min({options.threads, knots() / kFewKnots, tbb::info::default_concurrency()});
  if (threads > 1) arena_ = std::make_unique<tbb::task_arena>(threads);
  workers_.push_back(std::make_unique<Worker>(nullptr, space, prior));
  for (int i = 1; i < threads; ++i) workers_.push_back(std::make_unique<Worker>(space.clone(), space, prior));
}

SmootherProblem::Worker::Worker(std::unique_ptr<StateSpace> clone, StateSpace& shared, const Belief& prior)
    : own(std::move(clone)), space(own ? own.get() : &shared), rows(*space, prior) {
  H.resize(kMostRows * space->tangent());
  row.resize(space->tangent() + 1);
  next.resize(space->stored());
  delta.resize(space->tangent());
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

// ---- work on all knots -------------------------------------------------------------------------------------------

template <class Work>
void SmootherProblem::share_out(int first, int last, const Work& work) {
  const auto one = [&](int i) {
    Worker& w = *workers_[i];
    const std::int64_t count = last - first, all = static_cast<std::int64_t>(workers_.size());
    const int end = first + static_cast<int>(count * (i + 1) / all);
    for (int k = first + static_cast<int>(count * i / all); k < end && !w.why; ++k) {
      w.why = work(w, k);
      if (w.why) w.stuck = k;
    }
  };
  for (auto& w : workers_) w->why = nullptr;
  if (arena_) {
    arena_->execute([&] { tbb::parallel_for(0, static_cast<int>(workers_.size()), one, tbb::simple_partitioner()); });
  } else {
    one(0);
  }
}

const SmootherProblem::Worker* SmootherProblem::stuck() const {
  for (const auto& w : workers_) {
    if (w->why) return w.get();
  }
  return nullptr;
}

/// The coordinates of knot k, and the rows of what is known of it alone.
const char* SmootherProblem::place(Worker& w, int k, const WidenedLoss& loss) {
  knot_cost_[k] = knot_volume_[k] = 0;
  if (!w.space->choose(t_[k], x(k), chart_[k])) return "no coordinates of the motion";
  if (k == 0) {
    if (!w.rows.prior(x(0), chart_[0], chain_, knot_volume_[0])) return "the prior has no answer";
    knot_cost_[0] = 0.5 * w.rows.prior_misfit(x(0));
  }
  chain_.clear(k);
  std::array<double, kMostRows> e;
  for (int i = first_[k]; i < first_[k + 1]; ++i) {
    const Measurement& m = (*measurements_)[order_[i]];
    if (!w.rows.reading(t_[k], x(k), chart_[k], m, e.data(), w.H.data())) return "a sensor has no answer";
    for (std::size_t c = 0; c < w.space->sensors()[m.sensor].channels.size(); ++c) {
      if (std::isnan(e[c])) continue;
      const double s = e[c] * e[c], root = std::sqrt(loss.weight(s));
      knot_cost_[k] += 0.5 * loss.rho(s);
      for (int j = 0; j < n_; ++j) w.row[j] = root * w.H[c * n_ + j];
      w.row[n_] = root * e[c];
      chain_.add_in_place(k, w.row.data());
    }
  }
  return nullptr;
}

/// The rows between knots k − 1 and k.
const char* SmootherProblem::tie(Worker& w, int k) {
  double* rows = chain_.link(k - 1);
  if (!w.rows.advance(t_[k - 1], t_[k] - t_[k - 1], 1, x(k - 1), chart_[k - 1], chart_[k], w.link) ||
      !w.rows.link(t_[k], x(k), chart_[k], w.link, rows, knot_volume_[k])) {
    return "the motion stops";
  }
  arrival_chart_[k] = w.link.chart;
  double* L = root(k - 1);
  for (int i = 0; i < n_; ++i) {
    const double e = rows[i * (2 * n_ + 1) + 2 * n_];
    knot_cost_[k] += 0.5 * e * e;
    for (int j = 0; j <= i; ++j) *L++ = w.link.L(i, j);
  }
  return nullptr;
}

Result<std::monostate> SmootherProblem::linearise(const WidenedLoss& loss, double share) {
  chain_.touch(0);
  for (int first = 0; first < knots(); first += kKnotsPerTelling) {
    if (options_->progress && !options_->progress(share)) return Failure::interrupted();
    const int last = std::min(first + kKnotsPerTelling, knots());
    share_out(first, last, [&](Worker& w, int k) { return place(w, k, loss); });
    if (const Worker* w = stuck()) return stuck(w->why, w->stuck);
    share_out(std::max(first, 1), last, [&](Worker& w, int k) { return tie(w, k); });
    if (const Worker* w = stuck()) return stuck(w->why, w->stuck - 1);
  }
  cost_ = std::accumulate(knot_cost_.begin(), knot_cost_.end(), 0.0);
  log_volume_ = std::accumulate(knot_volume_.begin(), knot_volume_.end(), 0.0);
  return std::monostate{};
}

// The noise of the steps stays that of the last linearise(): what is compared is one and the same cost.
const char* SmootherProblem::try_out(Worker& w, int k, const WidenedLoss& loss) {
  double cost = k == 0 ? 0.5 * w.rows.prior_misfit(trial(0)) : 0;
  std::array<double, kMostRows> e;
  for (int i = first_[k]; i < first_[k + 1]; ++i) {
    const Measurement& m = (*measurements_)[order_[i]];
    if (!w.rows.reading(t_[k], trial(k), chart_[k], m, e.data(), nullptr)) return "a sensor has no answer";
    for (std::size_t c = 0; c < w.space->sensors()[m.sensor].channels.size(); ++c) {
      if (!std::isnan(e[c])) cost += 0.5 * loss.rho(e[c] * e[c]);
    }
  }
  if (k + 1 < knots()) {
    if (!w.space->advance(t_[k], t_[k + 1] - t_[k], trial(k), w.next.data())) return "the motion stops";
    cost += 0.5 * w.rows.misfit(w.next.data(), arrival_chart_[k + 1], trial(k + 1), root(k));
  }
  knot_cost_[k] = cost;
  return nullptr;
}

double SmootherProblem::try_step(const WidenedLoss& loss, double share) {
  constexpr double none = std::numeric_limits<double>::infinity();
  share_out(0, knots(), [&](Worker& w, int k) {
    w.delta = share * Eigen::Map<const VectorXd>(chain_.solution(k), n_);
    return w.space->retract(t_[k], x(k), chart_[k], w.delta.data(), trial(k)) ? nullptr : "no step";
  });
  if (stuck()) return none;
  share_out(0, knots(), [&](Worker& w, int k) { return try_out(w, k, loss); });
  if (stuck()) return none;
  const double cost = std::accumulate(knot_cost_.begin(), knot_cost_.end(), 0.0);
  return std::isfinite(cost) ? cost : none;
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
                     0.5 * (n_ - workers_[0]->rows.prior_rank()) * std::log(2 * std::numbers::pi);
  out.readings.resize(measurements_->size());
  for (std::size_t i = 0; i < measurements_->size(); ++i) {
    const Measurement& m = (*measurements_)[i];
    SmoothedReading& r = out.readings[i];
    const int k = r.knot = knot_of_[i];
    for (auto* numbers : {&r.e, &r.weight, &r.sd}) numbers->fill(kNan);
    Worker& w = *workers_[0];
    if (!w.rows.reading(t_[k], x(k), chart_[k], m, r.e.data(), w.H.data())) return stuck("a sensor has no answer", k);
    const auto& channels = space_->sensors()[m.sensor].channels;
    for (std::size_t c = 0; c < channels.size(); ++c) {
      if (std::isnan(r.e[c])) continue;
      const double sigma = channels[c].noise;
      r.weight[c] = loss.weight(r.e[c] * r.e[c]);
      r.e[c] *= sigma;
      out.log_evidence -= 0.5 * std::log(2 * std::numbers::pi) + std::log(sigma);
      if (!options_->covariances) continue;
      const Eigen::Map<const VectorXd> h(w.H.data() + c * n_, n_);
      const double spread = h.dot(out.knots[k].P * h);  // in units of σ²
      r.sd[c] = sigma * std::sqrt(std::max(0.0, 1 + (1 - 2 * r.weight[c]) * spread));
    }
  }
  return std::monostate{};
}

}  // namespace kinegraph::filter
