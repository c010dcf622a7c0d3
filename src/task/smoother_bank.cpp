#include "kinegraph/task/smoother_bank.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

namespace kinegraph::task {
namespace {

constexpr double kPrune = 1e-6;     // against the best hypothesis of the branch
constexpr double kAbandon = 1e-12;  // a branch, against the best one

}  // namespace

using filter::Belief, filter::FixedLagSmoother, filter::Innovation, filter::Measurement;

Result<std::unique_ptr<SmootherBank>> SmootherBank::make(const filter::StateSpace& space,
                                                         const std::vector<Belief>& starts, int branches,
                                                         const filter::FixedLagSmootherOptions& options) {
  auto bank = std::unique_ptr<SmootherBank>(new SmootherBank);
  bank->space_ = space.clone();
  bank->probability_.assign(branches, 0);
  bank->t_ = starts.front().t;
  for (const Belief& start : starts) {
    auto smoother = FixedLagSmoother::make(space.clone(), start, options);
    if (!smoother) return smoother.failure();
    bank->hypotheses_.push_back({*std::move(smoother), start.branch, 0, false});
  }
  if (auto weighed = bank->weigh(nullptr); !weighed) return weighed.failure();
  return bank;
}

// ln N(e; 0, H P Hᵀ + R) of what was given.
double SmootherBank::log_likelihood(const Belief& belief, const Measurement& m) {
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  const filter::SensorInfo& sensor = space_->sensors()[m.sensor];
  std::array<double, filter::kMostRows> predicted = {}, e = {};
  if (!belief.P.allFinite()) return 0;  // nothing could be expected yet
  if (!space_->predict(belief.t, belief.x.data(), belief.chart, m.sensor, predicted.data(), H_)) return kNone;
  filter::innovation(sensor, m.y.data(), predicted.data(), e.data());
  std::vector<int> given;
  for (std::size_t row = 0; row < sensor.channels.size(); ++row) {
    if (!std::isnan(e[row])) given.push_back(static_cast<int>(row));
  }
  const int n = static_cast<int>(given.size());
  Eigen::MatrixXd H(n, H_.cols());
  Eigen::VectorXd r(n), R(n);
  for (int i = 0; i < n; ++i) {
    H.row(i) = H_.row(given[i]);
    r[i] = e[given[i]];
    R[i] = std::pow(sensor.channels[given[i]].noise, 2);
  }
  const Eigen::MatrixXd S = H * belief.P * H.transpose() + Eigen::MatrixXd(R.asDiagonal());
  const Eigen::LLT<Eigen::MatrixXd> cholesky(S);
  if (cholesky.info() != Eigen::Success) return kNone;
  const Eigen::VectorXd white = cholesky.matrixL().solve(r);
  const double log_det = cholesky.matrixLLT().diagonal().array().log().sum();
  const double value = -0.5 * white.squaredNorm() - log_det;
  return std::isfinite(value) ? value : kNone;
}

Result<std::monostate> SmootherBank::advance(double t) {
  const Failure* why = nullptr;
  std::vector<Failure> failures;
  failures.reserve(hypotheses_.size());
  for (Hypothesis& h : hypotheses_) {
    if (h.smoother->t() >= t) continue;
    if (auto advanced = h.smoother->advance(t); !advanced) {
      h.lost = true;
      failures.push_back(advanced.failure());
      why = &failures.back();
    }
  }
  if (auto weighed = weigh(why); !weighed) return weighed;
  t_ = std::max(t_, t);
  return std::monostate{};
}

Result<std::monostate> SmootherBank::push(const Measurement& m) {
  if (hypotheses_.size() == 1) {
    hypotheses_[0].smoother->on_innovation = on_innovation;
    auto pushed = hypotheses_[0].smoother->push(m);
    t_ = hypotheses_[0].smoother->t();
    return pushed;
  }
  if (m.t > t_) {
    if (auto advanced = advance(m.t); !advanced) return advanced;
  }
  std::vector<Failure> failures;
  failures.reserve(hypotheses_.size());
  for (std::size_t i = 0; i < hypotheses_.size(); ++i) {
    Hypothesis& h = hypotheses_[i];
    const bool late = m.t < h.smoother->t();  // it is taken in, but decides nothing
    const double likely = late ? 0 : log_likelihood(h.smoother->belief(), m);
    h.smoother->on_innovation = i == best_ ? on_innovation : nullptr;
    if (auto pushed = h.smoother->push(m); !pushed) {
      h.lost = true;
      failures.push_back(pushed.failure());
    }
    h.log_weight += likely;
  }
  return weigh(failures.empty() ? nullptr : &failures.front());
}

/// Normalises, gives up what is hopeless, finds the best hypothesis of the best branch.
Result<std::monostate> SmootherBank::weigh(const Failure* why) {
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  double most = kNone;
  std::vector<double> best_of(probability_.size(), kNone);
  for (Hypothesis& h : hypotheses_) {
    if (h.lost) h.log_weight = kNone;
    best_of[h.branch] = std::max(best_of[h.branch], h.log_weight);
    most = std::max(most, h.log_weight);
  }
  if (!std::isfinite(most)) {
    return why ? *why : Failure::no_answer("no hypothesis of the start agrees with the readings");
  }
  std::fill(probability_.begin(), probability_.end(), 0.0);
  for (Hypothesis& h : hypotheses_) {
    if (h.log_weight < best_of[h.branch] + std::log(kPrune) || h.log_weight < most + std::log(kAbandon)) {
      h.log_weight = kNone;
      continue;
    }
    h.log_weight -= most;
    probability_[h.branch] += std::exp(h.log_weight);
  }
  std::erase_if(hypotheses_, [](const Hypothesis& h) { return !std::isfinite(h.log_weight); });
  double sum = 0;
  for (const double p : probability_) sum += p;
  for (double& p : probability_) p /= sum;
  const auto branch = std::max_element(probability_.begin(), probability_.end()) - probability_.begin();
  best_ = hypotheses_.size();
  for (std::size_t i = 0; i < hypotheses_.size(); ++i) {
    if (hypotheses_[i].branch != branch) continue;
    if (best_ == hypotheses_.size() || hypotheses_[i].log_weight > hypotheses_[best_].log_weight) best_ = i;
  }
  return std::monostate{};
}

}  // namespace kinegraph::task
