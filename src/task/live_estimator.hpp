#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kinegraph/filter/estimator.hpp"
#include "kinegraph/task/estimate_start.hpp"
#include "kinegraph/task/estimate_table.hpp"

namespace kinegraph::task {

/// An estimator beside a machine that runs: it is given readings as they come, and tells at any time what is known of
/// the state. What `estimate` does with a log, without the log.
class LiveEstimator {
 public:
  /// The start holds at `t`. A step of 0: the finest interval of a sensor, 10 ms at most. All readings at once
  /// (`batch`) cannot be live, and is refused.
  static Result<std::unique_ptr<LiveEstimator>> make(const Model& model, double t, const EstimateOptions& options);

  /// A reading of a sensor (by its name in the model) of time t, a number per channel; NaN: not given.
  Result<std::monostate> push(const std::string& sensor, double t, const std::vector<double>& reading);
  /// Moves on to a time without a reading.
  Result<std::monostate> advance(double t);

  double t() const { return estimator_->t(); }
  /// The series of a row, as `estimate` writes them: "theta.q", "theta.q.sd", …
  const std::vector<std::string>& names() const { return table_.names(); }
  /// What is known now, one number per name.
  Result<std::vector<double>> row();
  /// Probability of each assembly branch.
  const std::vector<double>& branches() const { return summary_.branches; }
  const std::vector<std::string>& warnings() const { return summary_.warnings; }

 private:
  LiveEstimator(Machine machine, const EstimateOptions& options, EstimateSummary summary, int branches);
  void weigh_branches();

  std::unique_ptr<Machine> machine_;  // at a fixed address: the table points to it
  EstimateOptions options_;
  EstimateSummary summary_;
  EstimateTable table_;
  std::vector<int> numbers_;  // the branch of each of the estimator's
  std::unique_ptr<filter::Estimator> estimator_;
};

}  // namespace kinegraph::task
