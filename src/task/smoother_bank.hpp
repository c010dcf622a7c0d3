#pragma once

#include <memory>
#include <vector>

#include "kinegraph/filter/fixed_lag_smoother.hpp"

namespace kinegraph::task {

/// One fixed-lag smoother per hypothesis of the start, weighed by how probable each made the readings, as filter::Bank
/// does with Kalman filters; what is given up follows the same rule. Hypotheses far less probable than the best of
/// their branch are given up; the time of a push is bounded by their number, which only falls.
class SmootherBank final : public filter::Estimator {
 public:
  static Result<std::unique_ptr<SmootherBank>> make(const filter::StateSpace& space,
                                                    const std::vector<filter::Belief>& starts, int branches,
                                                    const filter::FixedLagSmootherOptions& options);

  Result<std::monostate> push(const filter::Measurement& measurement) override;
  Result<std::monostate> advance(double t) override;
  double t() const override { return t_; }
  const filter::Belief& belief() const override { return hypotheses_[best_].smoother->belief(); }
  const std::vector<double>& branches() const override { return probability_; }
  int alive() const { return static_cast<int>(hypotheses_.size()); }

 private:
  struct Hypothesis {
    std::unique_ptr<filter::FixedLagSmoother> smoother;
    int branch = 0;
    double log_weight = 0;
    bool lost = false;         ///< could not follow the motion
    double nis = 0, rows = 0;  ///< summed over its readings
  };
  struct Evidence {
    double log_likelihood = 0, nis = 0;
    int rows = 0;
  };
  Evidence evidence(const filter::Belief& belief, const filter::Measurement& measurement);
  Result<std::monostate> weigh(const Failure* why);

  std::unique_ptr<filter::StateSpace> space_;
  std::vector<Hypothesis> hypotheses_;
  std::vector<double> probability_;
  std::size_t best_ = 0;
  double t_ = 0;
  int readings_ = 0;
  Eigen::MatrixXd H_;
};

}  // namespace kinegraph::task
