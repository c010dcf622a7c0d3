#pragma once

#include <memory>
#include <vector>

#include "kinegraph/filter/kalman.hpp"

namespace kinegraph::filter {

/// Mean NIS per number of a hypothesis, from the sums of both; 1 where it may be chance (its deviation: √(2 /
/// numbers)).
double misfit(double nis, double numbers);

struct BankOptions {
  /// A hypothesis is given up when it is this much less probable than the best one of its branch.
  double prune = 1e-6;
  /// A branch is given up when it is this much less probable than the best branch; until then its best hypothesis
  /// lives.
  double abandon = 1e-12;
  /// So many readings long nothing is given up: what a start that is hardly known makes of the first ones is far from
  /// linear.
  int patience = 0;
  /// Two hypotheses of one branch become one when their squared distance, in standard deviations and per number of δ,
  /// is below this; 0: never.
  double merge = 0.02;
  /// The belief is of all hypotheses of the best branch that are not further than this from its best one (squared
  /// distance in standard deviations).
  double agree = 9;
};

/// One Kalman filter per hypothesis, of where the machine may be (a branch of its assembly, an angle in it); each is
/// weighed by how probable it made the readings:
///
///     ln wᵢ ← ln wᵢ + ln N(eᵢ; 0, Hᵢ Pᵢ Hᵢᵀ + R),    Σ wᵢ = 1
///
/// A hypothesis is given up only beside one that itself fits: where the readings of the better one are off by more than
/// its deviations and chance allow, both ratios are taken to the power of its mean NIS per number, as if noise were
/// that much larger. The time of a push is bounded by the number of hypotheses, which only falls. A filter that cannot
/// follow the motion is given up; when none is left there is no answer. Innovations are told of the hypothesis that was
/// the best one before the reading.
class Bank final : public Rewindable {
 public:
  /// `log_prior`: ln of the prior weights, in any scale; empty: all the same. The filters are at the same time.
  static Result<std::unique_ptr<Bank>> make(std::vector<std::unique_ptr<Kalman>> filters,
                                            std::vector<double> log_prior = {}, const BankOptions& options = {});

  Result<std::monostate> push(const Measurement& measurement) override;
  Result<std::monostate> advance(double t) override;
  double t() const override { return t_; }
  /// Of the most probable branch: its most probable hypothesis, mixed with those that agree with it (else a grid of
  /// narrow hypotheses would seem to know more than it does).
  const Belief& belief() const override;
  /// In the order in which the branches first occur among the filters: branch_numbers().
  const std::vector<double>& branches() const override { return branches_; }
  const std::vector<int>& branch_numbers() const { return numbers_; }
  const std::vector<SensorInfo>& sensors() const override { return filters_.front()->sensors(); }

  std::unique_ptr<Snapshot> snapshot() const override;
  void save(Snapshot& snapshot) const override;
  void restore(const Snapshot& snapshot) override;

  int alive() const;  ///< hypotheses
  int best() const { return best_; }
  /// ln of a hypothesis' probability; −∞ if it was given up.
  double log_weight(int i) const { return log_weight_[i]; }
  const Kalman& filter(int i) const { return *filters_[i]; }
  int size() const { return static_cast<int>(filters_.size()); }  ///< hypotheses, those given up among them
  /// Kalman::distance() of two hypotheses.
  double distance(int i, int other) { return filters_[i]->distance(*filters_[other]); }

 private:
  Bank() = default;
  bool lives(int i) const;
  void normalise();
  void sum_branches();  // and finds the leaders
  void prune();
  void merge();

  BankOptions options_;
  double t_ = 0;
  std::vector<std::unique_ptr<Kalman>> filters_;
  std::vector<double> log_weight_, kept_;
  std::vector<double> nis_, rows_;  // of each filter, summed over its readings
  int readings_ = 0;
  std::vector<int> slot_;     // of each filter: which of the branches
  std::vector<int> numbers_;  // of each slot: the branch
  std::vector<int> leader_;   // of each slot: its most probable filter, −1: none lives
  std::vector<double> branches_, log_branch_;
  int best_ = 0, speaking_ = 0;  // speaking_: whose innovations are told
  mutable Belief belief_;
  mutable GaussianState mixture_;
  mutable std::vector<const Kalman*> agreeing_;
  mutable std::vector<double> shares_;
  mutable bool stale_ = true;
};

}  // namespace kinegraph::filter
