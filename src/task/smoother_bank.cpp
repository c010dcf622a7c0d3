#include "kinegraph/task/smoother_bank.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "kinegraph/filter/bank.hpp"

namespace kinegraph::task {
namespace {

constexpr double kPrune = 1e-6;     // against the best hypothesis of the branch
constexpr double kAbandon = 1e-12;  // a branch, against the best one
constexpr int kPatience = 5;        // readings, before anything is given up

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
    bank->hypotheses_.push_back({*std::move(smoother), start.branch, 0, false, 0, 0});
  }
  if (auto weighed = bank->weigh(nullptr); !weighed) return weighed.failure();
  return bank;
}

// ln p(y) of what was given, by Laplace's approximation about the corrected state x ⊕ δ̂ (of a start that is hardly
// known readings are far from linear); see filter::Kalman::look_back.
SmootherBank::Evidence SmootherBank::evidence(const Belief& belief, const Measurement& m) {
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  constexpr int kLooks = 5;
  const filter::SensorInfo& sensor = space_->sensors()[m.sensor];
  if (!belief.P.allFinite()) return {};  // nothing could be expected yet
  std::vector<int> given;
  for (std::size_t row = 0; row < sensor.channels.size(); ++row) {
    if (!std::isnan(m.y[row])) given.push_back(static_cast<int>(row));
  }
  const int n = static_cast<int>(given.size());
  Eigen::VectorXd delta = Eigen::VectorXd::Zero(belief.P.rows()), x = belief.x, e(n), R(n);
  for (int i = 0; i < n; ++i) R[i] = std::pow(sensor.channels[given[i]].noise, 2);
  Eigen::MatrixXd H(n, belief.P.rows());
  const auto look = [&] {  // e = y − h(x ⊕ δ)
    std::array<double, filter::kMostRows> predicted = {}, off = {};
    if (!space_->retract(belief.t, belief.x.data(), belief.chart, delta.data(), x.data()) ||
        !space_->predict(belief.t, x.data(), belief.chart, m.sensor, predicted.data(), H_)) {
      return false;
    }
    filter::innovation(sensor, m.y.data(), predicted.data(), off.data());
    for (int i = 0; i < n; ++i) H.row(i) = H_.row(given[i]), e[i] = off[given[i]];
    return e.allFinite() && H.allFinite();
  };
  if (!look()) return {kNone, 0, n};
  double prior = 0, log_det = 0;  // |û|²
  for (int k = 0; k < kLooks; ++k) {
    const Eigen::VectorXd target = e + H * delta;
    const Eigen::LLT<Eigen::MatrixXd> S(H * belief.P * H.transpose() + Eigen::MatrixXd(R.asDiagonal()));
    if (S.info() != Eigen::Success) return {kNone, 0, n};
    const Eigen::VectorXd before = delta;
    delta = belief.P * (H.transpose() * S.solve(target));
    prior = target.dot(S.solve(target)) - (target - H * delta).cwiseAbs2().cwiseQuotient(R).sum();
    log_det = S.matrixLLT().diagonal().array().log().sum();
    if (!look()) return {kNone, 0, n};
    if ((delta - before).norm() <= 1e-6 * delta.norm()) break;
  }
  const double cost = prior + e.cwiseAbs2().cwiseQuotient(R).sum(), value = -0.5 * cost - log_det;
  return {std::isfinite(value) ? value : kNone, cost, n};
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
    const Evidence likely = late ? Evidence{} : evidence(h.smoother->belief(), m);
    h.smoother->on_innovation = nullptr;
    if (i == best_ && on_innovation) {
      h.smoother->on_innovation = [&](Innovation told) {
        if (likely.rows > 0) told.nis = likely.nis;
        on_innovation(told);
      };
    }
    if (auto pushed = h.smoother->push(m); !pushed) {
      h.lost = true;
      failures.push_back(pushed.failure());
    }
    h.smoother->on_innovation = nullptr;
    h.log_weight += likely.log_likelihood;
    h.nis += likely.nis, h.rows += likely.rows;
  }
  ++readings_;
  return weigh(failures.empty() ? nullptr : &failures.front());
}

/// Normalises, gives up what is hopeless, finds the best hypothesis of the best branch.
Result<std::monostate> SmootherBank::weigh(const Failure* why) {
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  double most = kNone;
  const Hypothesis* first = nullptr;
  std::vector<const Hypothesis*> best_of(probability_.size(), nullptr);
  for (Hypothesis& h : hypotheses_) {
    if (h.lost) h.log_weight = kNone;
    if (!best_of[h.branch] || h.log_weight > best_of[h.branch]->log_weight) best_of[h.branch] = &h;
    if (!first || h.log_weight > first->log_weight) first = &h;
    most = std::max(most, h.log_weight);
  }
  if (!std::isfinite(most)) {
    return why ? *why : Failure::no_answer("no hypothesis of the start agrees with the readings");
  }
  const auto hopeless = [](const Hypothesis& h, const Hypothesis& beside, double ratio) {
    return h.log_weight < beside.log_weight + std::log(ratio) * filter::misfit(beside.nis, beside.rows);
  };
  std::vector<char> given_up;
  for (const Hypothesis& h : hypotheses_) {
    given_up.push_back(h.lost || (readings_ > kPatience &&
                                  (hopeless(h, *best_of[h.branch], kPrune) || hopeless(h, *first, kAbandon))));
  }
  std::fill(probability_.begin(), probability_.end(), 0.0);
  for (std::size_t i = 0; i < hypotheses_.size(); ++i) {
    Hypothesis& h = hypotheses_[i];
    h.log_weight = given_up[i] ? kNone : h.log_weight - most;
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
