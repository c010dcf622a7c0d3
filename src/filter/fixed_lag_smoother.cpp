#include "kinegraph/filter/fixed_lag_smoother.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <limits>

#include "kinegraph/base/numbers.hpp"
#include "kinegraph/base/time_text.hpp"
#include "kinegraph/filter/kalman.hpp"

namespace kinegraph::filter {
namespace {

constexpr double kReweighed = 0.01;  // a weight that changed by less stays

Result<std::monostate> check(const FixedLagSmootherOptions& o) {
  if (o.window < 2) return Failure::bad_input(fmt::format("window must be at least 2, not {}", o.window));
  if (!(o.step > 0)) return Failure::bad_input(fmt::format("step must be positive, not {:g} s", o.step));
  if (o.iterations < 1) return Failure::bad_input(fmt::format("iterations must be at least 1, not {}", o.iterations));
  if (!(o.relinearise >= 0)) {
    return Failure::bad_input(fmt::format("relinearise must not be negative, as {:g}", o.relinearise));
  }
  return std::monostate();
}

}  // namespace

Result<std::unique_ptr<FixedLagSmoother>> FixedLagSmoother::make(std::unique_ptr<StateSpace> space, const Belief& start,
                                                                 const FixedLagSmootherOptions& options) {
  if (auto ok = check(options); !ok) return ok.failure();
  if (auto ok = SmootherRows::check(*space, start); !ok) return ok.failure();
  std::unique_ptr<FixedLagSmoother> made(new FixedLagSmoother(std::move(space), start, options));
  Knot& first = made->knot(0);
  double volume = 0;
  if (!made->space_->choose(first.t, first.x.data(), first.chart) ||
      !made->rows_.prior(first.x.data(), first.chart, made->chain_, volume)) {
    return Failure::no_answer("there are no coordinates of the motion at the start");
  }
  if (auto ok = made->solve(); !ok) return ok.failure();
  return made;
}

FixedLagSmoother::FixedLagSmoother(std::unique_ptr<StateSpace> space, const Belief& start,
                                   const FixedLagSmootherOptions& options)
    : space_(std::move(space)),
      options_(options),
      convex_(convex(options.loss)),
      rows_(*space_, start),
      n_(space_->tangent()) {
  chain_.reset(n_, 0, options.window + 1);
  pool_.resize(options.window + 1);
  order_.reserve(pool_.size());
  for (int i = static_cast<int>(pool_.size()) - 1; i >= 0; --i) free_.push_back(i);
  belief_ = start;
  spread_.setZero(n_);
  moved_.resize(space_->stored());
  delta_.resize(n_);
  row_.resize(n_);
  insert_knot(0, start.t, start.x, start.chart);
}

int FixedLagSmoother::steps(double h) const {
  return static_cast<int>(std::max(1.0, std::ceil(h / options_.step - kSameTime)));
}

double FixedLagSmoother::same_time() const { return kSameTime * options_.step; }

Result<std::monostate> FixedLagSmoother::push(const Measurement& measurement) {
  if (auto ok = filter::check(space_->sensors(), measurement); !ok) return ok;
  const auto k = place(measurement);
  if (!k) return k.failure();
  const bool taken = take(*k, measurement);
  auto done = iterate();
  if (!done && taken) {  // without it, what was known before stands
    --knot(*k).readings;
    write_readings(*k);
    if (auto ok = solve(); !ok) return ok;
  }
  if (knots() <= options_.window) return done;
  relinearise_moved();
  drop_oldest();
  const auto ok = solve();
  return done ? ok : done;
}

Result<std::monostate> FixedLagSmoother::iterate() {
  for (int i = 0; i < options_.iterations; ++i) {
    if (i > 0) relinearise_moved();
    if (auto ok = solve(); !ok) return ok;
  }
  return std::monostate();
}

Result<std::monostate> FixedLagSmoother::advance(double time) {
  if (!std::isfinite(time)) return Failure::bad_input("a time to go to must be finite");
  if (std::abs(time - t()) <= same_time()) return std::monostate();
  if (time < t())
    return Failure::no_answer(fmt::format("t = {} s lies before the present, {} s", time_text(time), time_text(t())));
  if (auto ok = append(time); !ok) return ok;
  return solve();
}

Result<int> FixedLagSmoother::place(const Measurement& m) {
  if (m.t > t() + same_time()) {
    if (auto ok = append(m.t); !ok) return ok.failure();
    return knots() - 1;
  }
  int k = knots() - 1;
  while (k >= 0 && knot(k).t > m.t + same_time()) --k;
  if (k < 0) return too_late(space_->sensors()[m.sensor], m, t(), t() - knot(0).t);
  if (knot(k).t >= m.t - same_time()) return k;
  if (auto ok = split(k, m.t); !ok) return ok.failure();
  return k + 1;
}

void FixedLagSmoother::insert_knot(int k, double t, const VectorXd& x, const Chart& chart) {
  order_.insert(order_.begin() + k, free_.back());
  free_.pop_back();
  Knot& added = knot(k);
  added.t = t;
  added.x = x;
  added.chart = chart;
  added.readings = 0;
  chain_.insert(k);
}

void FixedLagSmoother::drop_oldest() {
  chain_.marginalise_first();
  free_.push_back(order_.front());
  order_.erase(order_.begin());
  frozen_ = true;
}

Result<std::monostate> FixedLagSmoother::append(double time) {
  const double from = t(), h = time - from;
  if (h > kMostSteps * options_.step) {
    return Failure::no_answer(fmt::format("from t = {} s to {} s there is no reading: {:g} steps would be needed",
                                          time_text(from), time_text(time), h / options_.step));
  }
  relinearise_moved();
  Knot& last = knot(knots() - 1);
  ++linearisations_;
  if (!rows_.advance(from, h, steps(h), last.x.data(), last.chart, last.chart, link_) || !link_.next.allFinite()) {
    return Failure::no_answer(fmt::format("the motion cannot be followed beyond t = {} s", time_text(from)));
  }
  if (knots() >= options_.window) drop_oldest();
  std::swap(last.link, link_);
  insert_knot(knots(), time, last.link.next, last.link.chart);
  if (write_link(knots() - 2)) return std::monostate();
  chain_.pop_back();
  free_.push_back(order_.back());
  order_.pop_back();
  return Failure::no_answer(fmt::format("the motion cannot be followed beyond t = {} s", time_text(from)));
}

// A knot at t, between k and k+1: the motion from the present estimate of k, x̄ ⊕ δ, to first order.
Result<std::monostate> FixedLagSmoother::split(int k, double time) {
  Knot &before = knot(k), &after = knot(k + 1);
  const auto stuck = [&] {
    return Failure::no_answer(fmt::format("the motion cannot be followed to t = {} s", time_text(time)));
  };
  const double h = time - before.t, rest = after.t - time;
  linearisations_ += 2;
  if (!rows_.advance(before.t, h, steps(h), before.x.data(), before.chart, before.chart, link_)) return stuck();
  delta_.noalias() = link_.F * Eigen::Map<const VectorXd>(chain_.solution(k), n_);
  chart_ = link_.chart;
  if (!space_->retract(time, link_.next.data(), chart_, delta_.data(), moved_.data()) || !moved_.allFinite() ||
      !rows_.advance(time, rest, steps(rest), moved_.data(), chart_, after.chart, second_)) {
    return stuck();
  }
  insert_knot(k + 1, time, moved_, chart_);
  std::swap(knot(k).link, link_);
  std::swap(knot(k + 1).link, second_);
  write_link(k);
  write_link(k + 1);
  return std::monostate();
}

bool FixedLagSmoother::write_link(int k) {
  double volume = 0;
  const Knot& next = knot(k + 1);
  return rows_.link(next.t, next.x.data(), next.chart, knot(k).link, chain_.link(k), volume);
}

void FixedLagSmoother::write_readings(int k) {
  chain_.clear(k);
  const Knot& at = knot(k);
  for (int i = 0; i < at.readings; ++i) {
    const Reading& r = at.reading[i];
    for (int c = 0; c < r.channels; ++c) {
      if (std::isnan(r.e[c]) || r.weight[c] == 0) continue;
      const double root = std::sqrt(r.weight[c]);
      for (int j = 0; j < n_; ++j) row_[j] = root * r.H[c * n_ + j];
      chain_.add(k, row_.data(), root * r.e[c]);
    }
  }
}

bool FixedLagSmoother::evaluate(double t, const VectorXd& x, const Chart& chart, const Measurement& m,
                                Reading& reading) {
  reading.measurement = m;
  reading.channels = static_cast<int>(space_->sensors()[m.sensor].channels.size());
  reading.H.resize(kMostRows * n_);
  if (!rows_.reading(t, x.data(), chart, m, reading.e.data(), reading.H.data())) return false;
  double sum = 0;
  for (int i = 0; i < reading.channels * n_; ++i) sum += reading.H[i];
  return std::isfinite(sum);
}

// A reading that the sensor's prediction cannot be compared with is not used.
bool FixedLagSmoother::take(int k, const Measurement& m) {
  Knot& at = knot(k);
  if (at.readings == static_cast<int>(at.reading.size())) {
    at.reading.emplace_back();
    at.spare.emplace_back();
  }
  Reading& r = at.reading[at.readings];
  r.weight.fill(1);
  if (evaluate(at.t, at.x, at.chart, m, r)) {
    if (on_innovation || options_.loss.shape() != Loss::Shape::none) judge(k, r);
    ++at.readings;
    write_readings(k);
    return true;
  }
  if (on_innovation) {
    Innovation told{.t = m.t, .sensor = m.sensor, .accepted = false};
    told.e.fill(std::numeric_limits<double>::quiet_NaN());
    told.sd = told.e;
    on_innovation(told);
  }
  return false;
}

// What the reading says against what is known without it: e − H δ of covariance 1 + H P Hᵀ (in units of the noise).
void FixedLagSmoother::judge(int k, Reading& r) {
  using Small = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, kMostRows, kMostRows>;
  using SmallVector = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, kMostRows, 1>;
  chain_.solve();
  bool known = true;
  if (k + 1 == knots()) {
    known = chain_.last_covariance(P_);
  } else {
    known = chain_.covariances([this](int, const MatrixXd& P, const MatrixXd&) { P_ = P; }, k);
  }
  Innovation told{.t = r.measurement.t, .sensor = r.measurement.sensor};
  told.e.fill(std::numeric_limits<double>::quiet_NaN());
  told.sd = told.e;
  const Eigen::Map<const VectorXd> delta(chain_.solution(k), n_);
  std::array<int, kMostRows> given;
  Small S(r.channels, r.channels);
  SmallVector e(r.channels);
  for (int c = 0; c < r.channels; ++c) {
    if (std::isnan(r.e[c])) continue;
    const Eigen::Map<const VectorXd> h(r.H.data() + c * n_, n_);
    const int row = told.rows++;
    given[row] = c;
    e[row] = r.e[c] - h.dot(delta);
    if (known) delta_.noalias() = P_ * h;
    for (int i = 0; i <= row && known; ++i) {
      const Eigen::Map<const VectorXd> other(r.H.data() + given[i] * n_, n_);
      S(row, i) = S(i, row) = other.dot(delta_) + (i == row);
    }
    const double sigma = space_->sensors()[r.measurement.sensor].channels[c].noise;
    told.e[c] = sigma * e[row];
    told.sd[c] = known ? sigma * std::sqrt(S(row, row)) : kInfinity;
    if (known) r.weight[c] = options_.loss.weight(e[row] * e[row] / S(row, row));
  }
  if (known && told.rows > 0) {
    const Small block = S.topLeftCorner(told.rows, told.rows);
    told.nis = block.llt().matrixL().solve(SmallVector(e.head(told.rows))).squaredNorm();
  }
  if (on_innovation) on_innovation(told);
}

// Weights for the next solution, from what the last one leaves of each reading.
void FixedLagSmoother::reweigh() {
  for (int k = 0; k < knots(); ++k) {
    Knot& at = knot(k);
    const Loss& loss = 2 * (knots() - k) > options_.window ? options_.loss : convex_;
    const Eigen::Map<const VectorXd> delta(chain_.solution(k), n_);
    bool changed = false;
    for (int i = 0; i < at.readings; ++i) {
      Reading& r = at.reading[i];
      for (int c = 0; c < r.channels; ++c) {
        if (std::isnan(r.e[c])) continue;
        const double e = r.e[c] - Eigen::Map<const VectorXd>(r.H.data() + c * n_, n_).dot(delta);
        const double weight = loss.weight(e * e);
        if (std::abs(weight - r.weight[c]) <= kReweighed) continue;
        r.weight[c] = weight;
        changed = true;
      }
    }
    if (changed) write_readings(k);
  }
}

void FixedLagSmoother::relinearise_moved() {
  for (int k = frozen_ ? 1 : 0; k < knots(); ++k) {
    const double* delta = chain_.solution(k);
    bool moved = false;
    for (int i = 0; i < n_; ++i) moved = moved || std::abs(delta[i]) > options_.relinearise * spread_[i];
    if (moved) relinearise(k);
  }
}

// All of it, or nothing where there is no answer at the new state.
bool FixedLagSmoother::relinearise(int k) {
  Knot& at = knot(k);
  const bool last = k + 1 == knots();
  if (last) {
    moved_ = belief_.x;
  } else if (!space_->retract(at.t, at.x.data(), at.chart, chain_.solution(k), moved_.data())) {
    return false;
  }
  chart_ = at.chart;
  if (!moved_.allFinite() || !space_->choose(at.t, moved_.data(), chart_)) return false;
  if (!last) {
    const Knot& next = knot(k + 1);
    const double h = next.t - at.t;
    ++linearisations_;
    if (!rows_.advance(at.t, h, steps(h), moved_.data(), chart_, next.chart, link_)) return false;
  }
  for (int i = 0; i < at.readings; ++i) {
    if (!evaluate(at.t, moved_, chart_, at.reading[i].measurement, at.spare[i])) return false;
    at.spare[i].weight = at.reading[i].weight;
  }
  std::swap(at.x, moved_);
  std::swap(at.chart, chart_);
  std::swap(at.reading, at.spare);
  chain_.forget_solution(k);
  write_readings(k);
  double volume = 0;
  if (k == 0 && !rows_.prior(at.x.data(), at.chart, chain_, volume)) return false;
  if (k > 0 && !write_link(k - 1)) return false;
  if (last) return true;
  std::swap(at.link, link_);
  return write_link(k);
}

Result<std::monostate> FixedLagSmoother::solve() {
  const int last = knots() - 1;
  const Knot& newest = knot(last);
  if (!chain_.solve().finite) return Failure::no_answer(fmt::format("nothing finite at t = {} s", time_text(newest.t)));
  if (!space_->retract(newest.t, newest.x.data(), newest.chart, chain_.solution(last), moved_.data())) {
    return Failure::no_answer(fmt::format("the estimate at t = {} s is no state", time_text(newest.t)));
  }
  belief_.t = newest.t;
  belief_.x = moved_;
  belief_.chart = newest.chart;
  if (!chain_.last_covariance(belief_.P)) belief_.P = VectorXd::Constant(n_, kInfinity).asDiagonal();
  for (int i = 0; i < n_; ++i) spread_[i] = std::isinf(belief_.P(i, i)) ? 0 : std::sqrt(belief_.P(i, i));
  if (options_.loss.shape() != Loss::Shape::none) reweigh();
  return std::monostate();
}

bool FixedLagSmoother::smoothed(int k, Belief& out, bool covariance) {
  const Knot& at = knot(k);
  out.t = at.t;
  out.chart = at.chart;
  out.branch = belief_.branch;
  out.x.resize(at.x.size());
  if (!space_->retract(at.t, at.x.data(), at.chart, chain_.solution(k), out.x.data())) return false;
  return !covariance || chain_.covariances([&out](int, const MatrixXd& P, const MatrixXd&) { out.P = P; }, k);
}

}  // namespace kinegraph::filter
