#include "kinegraph/filter/kalman.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kinegraph/base/chi_squared.hpp"
#include "kinegraph/base/numbers.hpp"
#include "kinegraph/base/time_text.hpp"
#include "kinegraph/filter/square_root.hpp"

namespace kinegraph::filter {

namespace {

constexpr double kLargest = std::numeric_limits<double>::max();
constexpr double kHopeless = 60;  // NIS of a reading with which nothing can be compared

struct KalmanSnapshot final : Snapshot {
  GaussianState state;
};

// ln N(e; 0, R) at a given NIS: for readings of which no more is known.
double log_likelihood_of_noise(const LinearReading& reading, double nis) {
  double sum = nis;
  for (int i = 0; i < reading.rows; ++i) sum += std::log(2 * M_PI * reading.R(i, i));
  return -0.5 * sum;
}

Result<std::monostate> check(const KalmanOptions& o) {
  if (!(o.step > 0)) return Failure::bad_input(fmt::format("step must be positive, not {:g} s", o.step));
  if (!(o.gate >= 0 && o.gate < 1)) {
    return Failure::bad_input(fmt::format("gate is a probability below 1 (0: off), not {:g}", o.gate));
  }
  if (!(o.huber >= 0)) return Failure::bad_input(fmt::format("huber must not be negative, as {:g}", o.huber));
  if (!(o.noise_factor > 0)) {
    return Failure::bad_input(fmt::format("noise factor: must be > 0, is {:g}", o.noise_factor));
  }
  if (o.iterations < 1) return Failure::bad_input(fmt::format("iterations must be at least 1, not {}", o.iterations));
  return std::monostate();
}

}  // namespace

Failure too_late(const SensorInfo& sensor, const Measurement& m, double now, double lag) {
  const std::string kept = lag > 0 ? fmt::format("readings are kept for {:g} s", lag) : "none are kept";
  return Failure::no_answer(fmt::format("the reading of '{}' at t = {} s came {:.3g} s late; {}", sensor.name,
                                        time_text(m.t), now - m.t, kept));
}

Result<std::monostate> check(const std::vector<SensorInfo>& sensors, const Measurement& m) {
  if (m.sensor < 0 || m.sensor >= static_cast<int>(sensors.size())) {
    return Failure::bad_input(fmt::format("there is no sensor {}", m.sensor));
  }
  const SensorInfo& sensor = sensors[m.sensor];
  if (!std::isfinite(m.t)) {
    return Failure::bad_input(fmt::format("a reading of '{}' has no finite time", sensor.name));
  }
  for (std::size_t i = 0; i < sensor.channels.size(); ++i) {
    if (std::isinf(m.y[i])) {
      return Failure::bad_input(
          fmt::format("the reading of '{}' at t = {} s is infinite", sensor.channels[i].name, time_text(m.t)));
    }
  }
  return std::monostate();
}

Kalman::Kalman(std::unique_ptr<StateSpace> space, KalmanOptions options) : space_(std::move(space)), options_(options) {
  H_.resize(sensors().size());
  if (!(options_.gate > 0 && options_.gate < 1)) return;
  for (int rows = 1; rows <= kMostRows; ++rows) gates_[rows] = chi_squared_quantile(options_.gate, rows);
}

Result<std::monostate> Kalman::start(const Belief& belief) {
  if (auto ok = check(options_); !ok) return ok;
  const int n = space_->tangent();
  if (belief.x.size() != space_->stored() || belief.P.rows() != n || belief.P.cols() != n) {
    return Failure::bad_input(fmt::format("a start has {} numbers and a covariance of {} × {}, not {} and {} × {}",
                                          space_->stored(), n, n, belief.x.size(), belief.P.rows(), belief.P.cols()));
  }
  next_.t = belief.t, next_.x = belief.x, next_.chart = belief.chart;
  if (!std::isfinite(belief.t) || !belief.x.allFinite()) return Failure::bad_input("the start is not finite");
  if (!square_root(belief.P, next_.S)) {
    return Failure::bad_input("the covariance of the start is not positive semidefinite");
  }
  const bool chosen = belief.chart.columns.empty() && belief.chart.rows.size() == 0
                          ? space_->choose(next_.t, next_.x.data(), next_.chart)
                          : settle();
  if (!chosen) return Failure::no_answer(fmt::format("there is no chart at the start, t = {} s", time_text(belief.t)));
  branch_ = belief.branch;
  now_ = next_;
  delta_.setZero(n);
  reading_.A.setZero(n, kMostRows);
  return std::monostate();
}

// The manifold: a chart is kept as long as it serves, then P goes over to the next one, T P Tᵀ.
bool Kalman::settle() {
  scratch_ = next_.chart;
  if (!space_->choose(next_.t, next_.x.data(), scratch_)) return false;
  if (scratch_ == next_.chart) return true;
  if (!space_->transition(next_.t, next_.x.data(), next_.chart, scratch_, T_)) return false;
  moved_.noalias() = T_ * next_.S;
  if (!moved_.allFinite()) return false;
  next_.S.swap(moved_);
  std::swap(next_.chart, scratch_);
  return true;
}

Result<std::monostate> Kalman::advance(double t) {
  if (!std::isfinite(t)) return Failure::bad_input("a time to go to must be finite");
  const double from = now_.t, gap = t - from;
  if (gap == 0) return std::monostate();
  if (gap < 0)
    return Failure::no_answer(fmt::format("t = {} s lies before the present, {} s", time_text(t), time_text(from)));
  const double steps = std::ceil(gap / options_.step * (1 - 1e-12));
  if (!(steps <= kMostSteps)) {
    return Failure::no_answer(fmt::format("from t = {} s to {} s there is no reading: {:g} steps would be needed",
                                          time_text(from), time_text(t), steps));
  }
  for (double i = 1; i <= steps; i += 1) {
    const double end = i < steps ? from + gap * (i / steps) : t;
    if (end > now_.t) {
      if (!step(end - now_.t)) {
        return Failure::no_answer(fmt::format("the motion cannot be followed beyond t = {} s", time_text(now_.t)));
      }
      next_.t = end;
      std::swap(now_, next_);
      stale_ = true;
    }
  }
  return std::monostate();
}

Result<std::monostate> Kalman::push(const Measurement& m) {
  if (auto ok = filter::check(sensors(), m); !ok) return ok;
  if (m.t < now_.t) return too_late(sensors()[m.sensor], m, now_.t, 0);
  if (auto ok = advance(m.t); !ok) return ok;
  update(m);
  return std::monostate();
}

void Kalman::given(const Measurement& m, LinearReading& reading) const {
  const auto& channels = sensors()[m.sensor].channels;
  reading.rows = 0;
  reading.R.setZero();
  for (int i = 0; i < static_cast<int>(channels.size()); ++i) {
    if (std::isnan(m.y[i])) continue;
    const double sd = options_.noise_factor * channels[i].noise;
    reading.R(reading.rows, reading.rows) = sd * sd;
    reading.channel[reading.rows++] = i;
  }
}

// h(x ⊕ δ') ≈ h(x ⊕ δ) + H (δ' − δ): e = y − h(x ⊕ δ) + H δ is what speaks of δ'.
bool Kalman::linearise(const Measurement& m, const VectorXd& delta, LinearReading& reading) {
  const double* x = now_.x.data();
  const bool corrected = !delta.isZero(0);
  if (corrected) {
    at_.resize(size());
    if (!space_->retract(now_.t, x, now_.chart, delta.data(), at_.data())) return false;
    x = at_.data();
  }
  given(m, reading);
  std::array<double, kMostRows> y, e;
  MatrixXd& H = H_[m.sensor];
  if (!space_->predict(m.t, x, now_.chart, m.sensor, y.data(), H)) return false;
  innovation(sensors()[m.sensor], m.y.data(), y.data(), e.data());
  for (int i = 0; i < reading.rows; ++i) {
    const auto row = H.row(reading.channel[i]);
    reading.e[i] = e[reading.channel[i]];
    if (corrected) reading.e[i] += row.dot(delta);
    reading.A.col(i).noalias() = now_.S.transpose() * row.transpose();
    if (!std::isfinite(reading.e[i])) return false;
  }
  return reading.A.leftCols(reading.rows).allFinite();
}

void Kalman::update(const Measurement& m) {
  log_likelihood_ = nis_ = 0;
  given(m, reading_);
  if (reading_.rows == 0) return;
  Innovation told{m.t, m.sensor, {}, {}, kLargest, reading_.rows, true};
  told.e.fill(kNan), told.sd.fill(kNan);
  told.accepted = correct(m, told);
  if (on_innovation) on_innovation(told);
}

// A reading that would take the machine to where it cannot be (its loops do not close) is taken as noisier, until the
// state that it leads to exists.
bool Kalman::correct(const Measurement& m, Innovation& told) {
  delta_.setZero();
  log_likelihood_ = log_likelihood_of_noise(reading_, nis_ = kHopeless);
  if (!expect(m, delta_, reading_)) return false;
  std::array<double, kMostRows> inflate;
  inflate.fill(1);
  bool robust = false;
  for (int i = 0; i < reading_.rows; ++i) {
    const double e = reading_.e[i], sd = reading_.sd(i);
    told.e[reading_.channel[i]] = e, told.sd[reading_.channel[i]] = sd;
    if (options_.huber > 0 && std::abs(e) > options_.huber * sd) {
      inflate[i] = std::abs(e) / (options_.huber * sd);
      robust = true;
    }
  }
  if (!update_.compare(reading_)) return false;
  told.nis = nis_ = update_.nis();
  log_likelihood_ = update_.log_likelihood();
  if (options_.gate > 0 && told.nis > gates_[told.rows]) {
    log_likelihood_ += 0.5 * (told.nis - gates_[told.rows]);
    return false;
  }
  if (robust) {
    if (!update_.compare(reading_, inflate.data())) return false;
    log_likelihood_ = update_.log_likelihood();
  }
  for (int attempt = 0; attempt < 8; ++attempt) {
    if (correct_with(m, inflate.data())) {
      // What a wide belief expects of a curved sensor is not what its mean expects: ln p(y) about the corrected state.
      if (linearisations() > 1 && attempt == 0) {
        log_likelihood_ = update_.log_likelihood();
        if (!robust) told.nis = nis_ = update_.nis();
      }
      return true;
    }
    for (double& i : inflate) i *= 4;
    delta_.setZero();
    if (!expect(m, delta_, reading_) || !update_.compare(reading_, inflate.data())) return false;
  }
  return false;
}

// update_ holds the first comparison.
bool Kalman::correct_with(const Measurement& m, const double* inflate) {
  for (int i = 0; i < linearisations(); ++i) {
    if (i > 0) {
      last_ = delta_;
      if (!expect(m, delta_, reading_) || !update_.compare(reading_, inflate)) return false;
    }
    update_.apply(now_.S, next_.S, delta_);
    if (i > 0 && (delta_ - last_).norm() <= 1e-12 * delta_.norm()) break;
  }
  next_.t = now_.t;
  next_.x.resize(size());
  next_.chart = now_.chart;
  if (!delta_.allFinite() || !next_.S.allFinite()) return false;
  if (!space_->retract(now_.t, now_.x.data(), now_.chart, delta_.data(), next_.x.data())) return false;
  if (!next_.x.allFinite() || !settle()) return false;
  std::swap(now_, next_);
  stale_ = true;
  return true;
}

const Belief& Kalman::belief() const {
  if (stale_) {
    belief_.t = now_.t, belief_.x = now_.x, belief_.chart = now_.chart, belief_.branch = branch_;
    covariance(now_.S, belief_.P);
    stale_ = false;
  }
  return belief_;
}

std::unique_ptr<Snapshot> Kalman::snapshot() const { return std::make_unique<KalmanSnapshot>(); }
void Kalman::save(Snapshot& snapshot) const { static_cast<KalmanSnapshot&>(snapshot).state = now_; }
void Kalman::restore(const Snapshot& snapshot) {
  now_ = static_cast<const KalmanSnapshot&>(snapshot).state;
  stale_ = true;
}

// Another belief in this one's chart, about this one's state.
bool Kalman::express(const Kalman& other, VectorXd& delta, MatrixXd& S) {
  const GaussianState& o = other.now_;
  if (o.t != now_.t || o.x.size() != now_.x.size()) return false;
  delta.resize(tangent());
  space_->local(now_.x.data(), now_.chart, o.x.data(), delta.data());
  if (o.chart == now_.chart) {
    S = o.S;
  } else {
    if (!space_->transition(o.t, o.x.data(), o.chart, now_.chart, T_)) return false;
    S.noalias() = T_ * o.S;
  }
  return delta.allFinite() && S.allFinite();
}

// δᵀ (P + P')⁻¹ δ
double Kalman::distance(const Kalman& other) {
  constexpr double none = std::numeric_limits<double>::infinity();
  if (!express(other, last_, moved_)) return none;
  const int n = tangent();
  work_.resize(2 * n, n);
  work_ << now_.S.transpose(), moved_.transpose();
  compress(work_, moved_);
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    double r = last_[i];
    for (int k = 0; k < i; ++k) r -= moved_(i, k) * last_[k];
    if (r == 0) {
      last_[i] = 0;
      continue;
    }
    if (moved_(i, i) == 0) return none;
    last_[i] = r / moved_(i, i);
    sum += last_[i] * last_[i];
  }
  return std::isfinite(sum) ? sum : none;
}

// δ̄ = Σ wᵢ δᵢ,  P̄ = Σ wᵢ (Pᵢ + (δᵢ − δ̄)(δᵢ − δ̄)ᵀ), all in this one's chart, about its state (i = 0: δ = 0).
bool Kalman::mix(std::span<const Kalman* const> others, std::span<const double> weights, GaussianState& out) {
  const int n = tangent(), count = static_cast<int>(others.size());
  work_.resize((count + 1) * (n + 1), n);
  const double own = 1 - std::accumulate(weights.begin(), weights.end(), 0.0);
  work_.topRows(n) = std::sqrt(own) * now_.S.transpose();
  mean_.setZero(n);
  for (int i = 0; i < count; ++i) {
    if (!express(*others[i], last_, moved_)) return false;
    work_.middleRows((i + 1) * n, n) = std::sqrt(weights[i]) * moved_.transpose();
    work_.row((count + 1) * n + 1 + i) = last_.transpose();
    mean_ += weights[i] * last_;
  }
  work_.row((count + 1) * n) = -std::sqrt(own) * mean_.transpose();
  for (int i = 0; i < count; ++i) {
    auto row = work_.row((count + 1) * n + 1 + i);
    row = std::sqrt(weights[i]) * (row - mean_.transpose());
  }
  compress(work_, next_.S);
  next_.t = now_.t, next_.chart = now_.chart;
  next_.x.resize(size());
  if (!space_->retract(now_.t, now_.x.data(), now_.chart, mean_.data(), next_.x.data())) return false;
  if (!next_.x.allFinite() || !next_.S.allFinite() || !settle()) return false;
  out = next_;
  return true;
}

bool Kalman::merge(const Kalman& other, double weight) {
  const Kalman* others[] = {&other};
  if (!mix(others, {&weight, 1}, next_)) return false;
  std::swap(now_, next_);
  stale_ = true;
  return true;
}

}  // namespace kinegraph::filter
