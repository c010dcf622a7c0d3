#include "kinegraph/filter/bank.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "kinegraph/base/numbers.hpp"
#include "kinegraph/base/time_text.hpp"
#include "kinegraph/filter/square_root.hpp"

namespace kinegraph::filter {

namespace {

struct BankSnapshot final : Snapshot {
  double t = 0;
  std::vector<std::unique_ptr<Snapshot>> filters;
  std::vector<double> log_weight, nis, rows;
  int readings = 0;
};

// ln(eᵃ + eᵇ)
double log_sum(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == -kInfinity ? a : a + std::log1p(std::exp(b - a));
}

}  // namespace

double misfit(double nis, double numbers) {
  constexpr double kChance = 3, kDoubt = 2000;
  if (numbers == 0) return 1;
  const double mean = nis / numbers;
  return mean > 1 + kChance * std::sqrt(2 / numbers) ? std::min(mean, std::max(1.0, kDoubt / numbers)) : 1;
}

Result<std::unique_ptr<Bank>> Bank::make(std::vector<std::unique_ptr<Kalman>> filters, std::vector<double> log_prior,
                                         const BankOptions& options) {
  if (filters.empty()) return Failure::bad_input("a bank needs at least one hypothesis");
  if (!log_prior.empty() && log_prior.size() != filters.size()) {
    return Failure::bad_input(fmt::format("{} hypotheses have {} prior weights", filters.size(), log_prior.size()));
  }
  std::unique_ptr<Bank> bank(new Bank);
  bank->options_ = options;
  bank->log_weight_ = log_prior.empty() ? std::vector<double>(filters.size(), 0.0) : std::move(log_prior);
  for (std::size_t i = 0; i < filters.size(); ++i) {
    if (filters[i]->t() != filters[0]->t()) return Failure::bad_input("hypotheses must start at the same time");
    if (std::isnan(bank->log_weight_[i]) || bank->log_weight_[i] == kInfinity) {
      return Failure::bad_input(fmt::format("the prior weight of hypothesis {} is not finite", i));
    }
    const auto known = std::find(bank->numbers_.begin(), bank->numbers_.end(), filters[i]->branch());
    bank->slot_.push_back(static_cast<int>(known - bank->numbers_.begin()));
    if (known == bank->numbers_.end()) bank->numbers_.push_back(filters[i]->branch());
    filters[i]->on_innovation = [b = bank.get(), i](const Innovation& told) {
      if (b->speaking_ == static_cast<int>(i) && b->on_innovation) b->on_innovation(told);
    };
  }
  bank->nis_.assign(filters.size(), 0.0), bank->rows_ = bank->nis_;
  bank->t_ = filters[0]->t();
  bank->filters_ = std::move(filters);
  bank->normalise();
  if (bank->alive() == 0) return Failure::bad_input("every hypothesis has the prior weight zero");
  return bank;
}

bool Bank::lives(int i) const { return log_weight_[i] > -kInfinity; }

int Bank::alive() const {
  return static_cast<int>(
      std::count_if(log_weight_.begin(), log_weight_.end(), [](double w) { return w > -kInfinity; }));
}

Result<std::monostate> Bank::advance(double t) {
  if (alive() == 0) return Failure::no_answer(fmt::format("no hypothesis is left since t = {} s", time_text(t_)));
  if (t == t_) return std::monostate();
  std::optional<Failure> why;
  kept_ = log_weight_;
  bool moved = false;
  for (std::size_t i = 0; i < filters_.size(); ++i) {
    if (!lives(i)) continue;
    auto ok = filters_[i]->advance(t);
    moved = moved || filters_[i]->t() != t_;
    if (ok) continue;
    log_weight_[i] = -kInfinity;
    why = std::move(ok).failure();
  }
  if (!moved) {  // a time that nobody can go to: not the hypotheses' fault
    log_weight_ = kept_;
    return *why;
  }
  if (alive() == 0) {
    return Failure::no_answer(
        fmt::format("no hypothesis can follow the motion from t = {} s to {} s", time_text(t_), time_text(t)));
  }
  t_ = t;
  stale_ = true;
  if (why) normalise();
  return std::monostate();
}

Result<std::monostate> Bank::push(const Measurement& m) {
  if (auto ok = check(sensors(), m); !ok) return ok;
  if (m.t < t_) return too_late(sensors()[m.sensor], m, t_, 0);
  if (auto ok = advance(m.t); !ok) return ok;
  speaking_ = best_;
  for (std::size_t i = 0; i < filters_.size(); ++i) {
    if (!lives(i)) continue;
    log_weight_[i] = filters_[i]->push(m) ? log_weight_[i] + filters_[i]->log_likelihood() : -kInfinity;
    nis_[i] += filters_[i]->nis(), rows_[i] += filters_[i]->rows();
  }
  ++readings_;
  normalise();
  prune();
  merge();
  return std::monostate();
}

// Sums run in the order of the filters: the same bits every time.
void Bank::normalise() {
  double total = -kInfinity;
  for (const double w : log_weight_) total = log_sum(total, w);
  for (double& w : log_weight_) w = w > -kInfinity ? w - total : -kInfinity;
  sum_branches();
}

void Bank::sum_branches() {
  log_branch_.assign(numbers_.size(), -kInfinity);
  leader_.assign(numbers_.size(), -1);
  branches_.assign(numbers_.size(), 0);
  for (int i = 0; i < static_cast<int>(filters_.size()); ++i) {
    if (!lives(i)) continue;
    const int s = slot_[i];
    log_branch_[s] = log_sum(log_branch_[s], log_weight_[i]);
    if (leader_[s] < 0 || log_weight_[i] > log_weight_[leader_[s]]) leader_[s] = i;
  }
  for (std::size_t s = 0; s < numbers_.size(); ++s) branches_[s] = std::exp(log_branch_[s]);
  const auto first = std::max_element(log_branch_.begin(), log_branch_.end()) - log_branch_.begin();
  if (leader_[first] >= 0) best_ = leader_[first];
  stale_ = true;
}

void Bank::prune() {
  if (readings_ <= options_.patience) return;
  const double between = std::log(options_.abandon) * misfit(nis_[best_], rows_[best_]);
  const double top = *std::max_element(log_branch_.begin(), log_branch_.end());
  bool changed = false;
  for (int i = 0; i < static_cast<int>(filters_.size()); ++i) {
    if (!lives(i)) continue;
    const int s = slot_[i];
    const double within = std::log(options_.prune) * misfit(nis_[leader_[s]], rows_[leader_[s]]);
    if (log_branch_[s] >= top + between && log_weight_[i] >= log_weight_[leader_[s]] + within) continue;
    log_weight_[i] = -kInfinity;
    changed = true;
  }
  if (changed) normalise();
}

// Only with the leader of the branch: the others either come to it or die out.
void Bank::merge() {
  bool changed = false;
  for (int i = 0; i < static_cast<int>(filters_.size()) && options_.merge > 0; ++i) {
    const int leader = leader_[slot_[i]];
    if (!lives(i) || leader == i) continue;
    Kalman& best = *filters_[leader];
    if (best.distance(*filters_[i]) > options_.merge * static_cast<double>(best.state().S.rows())) continue;
    const double both = log_sum(log_weight_[leader], log_weight_[i]);
    if (!best.merge(*filters_[i], std::exp(log_weight_[i] - both))) continue;
    log_weight_[leader] = both;
    log_weight_[i] = -kInfinity;
    changed = true;
  }
  if (changed) normalise();
}

const Belief& Bank::belief() const {
  if (!stale_) return belief_;
  stale_ = false;
  Kalman& best = *filters_[best_];
  agreeing_.clear(), shares_.clear();
  double total = 1;  // weights as multiples of the best one's
  for (int i = 0; i < static_cast<int>(filters_.size()); ++i) {
    if (i == best_ || !lives(i) || slot_[i] != slot_[best_]) continue;
    if (!(best.distance(*filters_[i]) <= options_.agree)) continue;
    agreeing_.push_back(filters_[i].get());
    shares_.push_back(std::exp(log_weight_[i] - log_weight_[best_]));
    total += shares_.back();
  }
  for (double& s : shares_) s /= total;
  if (agreeing_.empty() || !best.mix(agreeing_, shares_, mixture_)) return belief_ = best.belief();
  belief_.t = mixture_.t, belief_.x = mixture_.x, belief_.chart = mixture_.chart, belief_.branch = best.branch();
  covariance(mixture_.S, belief_.P);
  return belief_;
}

std::unique_ptr<Snapshot> Bank::snapshot() const {
  auto snapshot = std::make_unique<BankSnapshot>();
  for (const auto& filter : filters_) snapshot->filters.push_back(filter->snapshot());
  return snapshot;
}

void Bank::save(Snapshot& snapshot) const {
  auto& s = static_cast<BankSnapshot&>(snapshot);
  s.t = t_;
  s.log_weight = log_weight_, s.nis = nis_, s.rows = rows_, s.readings = readings_;
  for (std::size_t i = 0; i < filters_.size(); ++i) {
    if (lives(i)) filters_[i]->save(*s.filters[i]);
  }
}

void Bank::restore(const Snapshot& snapshot) {
  const auto& s = static_cast<const BankSnapshot&>(snapshot);
  t_ = s.t;
  log_weight_ = s.log_weight, nis_ = s.nis, rows_ = s.rows, readings_ = s.readings;
  for (std::size_t i = 0; i < filters_.size(); ++i) {
    if (lives(i)) filters_[i]->restore(*s.filters[i]);
  }
  sum_branches();
}

}  // namespace kinegraph::filter
