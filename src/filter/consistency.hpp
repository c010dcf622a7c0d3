#pragma once

#include <string>
#include <vector>

#include "kinegraph/filter/estimator.hpp"

namespace kinegraph::filter {

/// A sum of squares of what should be N(0, 1), over how many there were: 1 on average.
struct ChiSquaredAverage {
  double count = 0, mean = 0;
  double low = 0, high = 0;  ///< two-sided 95 % band of the mean (χ²)
  bool inside() const { return count == 0 || (mean >= low && mean <= high); }
};

ChiSquaredAverage chi_squared_average(double sum, double count);

/// Whether the innovations of one channel, in units of their expected standard deviation, are white.
struct ChannelConsistency {
  std::string name;
  long count = 0;
  double mean = 0, rms = 0;         ///< 0 and 1 expected
  std::vector<double> correlation;  ///< with those of 1, 2, … readings before
  double bound = 0;                 ///< ± 1.96 / √count: 95 % of the correlations are within
  double ljung_box = 0;             ///< see base/whiteness.hpp
  double p_value = 1;               ///< probability of that or more, were they white (χ²)
};

/// Listens to an estimator's innovations and says whether it believes in its own errors. Streaming: bounded memory.
///
/// Averages along one run tell of NIS only: innovations of a consistent filter are independent. Errors of the state are
/// correlated in time, so NEES of one run should be given at times far apart, or at one time of many runs.
class Consistency {
 public:
  explicit Consistency(std::vector<SensorInfo> sensors, int lags = 20);

  void add(const Innovation& innovation);
  /// An error of the state against the truth, in the belief's chart. Nothing happens if P is singular.
  void add_error(const VectorXd& delta, const MatrixXd& P);

  long readings() const { return readings_; }
  long rejected() const { return rejected_; }  ///< gated out; not part of the averages
  ChiSquaredAverage nis() const;
  ChiSquaredAverage nis(int sensor) const;
  ChiSquaredAverage nees() const { return chi_squared_average(nees_, errors_); }
  std::vector<ChannelConsistency> channels() const;

  /// What is wrong, in words, one sentence each; empty if there is no objection. To count, it must be beyond chance
  /// (1 in 1000) and large enough to matter (5 %).
  /// `white`: they should be independent of each other, as innovations of a filter are and residuals of a smoother not.
  std::vector<std::string> verdict(bool white = true) const;

 private:
  struct Channel {
    long count = 0;
    double sum = 0, squares = 0;
    std::vector<double> products, recent;  // Σ uₖ uₖ₋ₗ; the last `lags` ones, in a ring
  };
  ChannelConsistency summary(int sensor, int row) const;

  std::vector<SensorInfo> sensors_;
  int lags_;
  std::vector<std::vector<Channel>> channels_;  // by sensor
  std::vector<double> nis_, rows_;              // by sensor
  long readings_ = 0, rejected_ = 0;
  double nees_ = 0, errors_ = 0;
};

}  // namespace kinegraph::filter
