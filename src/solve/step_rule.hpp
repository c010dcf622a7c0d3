#pragma once

#include <memory>

#include "kinegraph/solve/search.hpp"

namespace kinegraph {

/// How an optimiser looks for a better point.
class StepRule {
 public:
  /// What a search for a step came to.
  struct Result {
    bool accepted = false;
    double predicted = 0, fall = 0;  ///< of the merit
    double stretch = 1;              ///< about how much longer the undamped step is
  };

  virtual ~StepRule() = default;
  /// Computes the first step to try; the search then knows whether the point is stationary.
  virtual Search::Outcome prepare(Search& search) = 0;
  /// About how much longer than that step an undamped one would be.
  virtual double stretch() const { return 1; }
  /// Tries steps until one is good enough; the values are left there. `step` is the one taken, or the last one tried.
  virtual Result advance(Search& search, Eigen::VectorXd& step) = 0;

  static std::unique_ptr<StepRule> make(const OptimizerOptions& options);
};

/// Tries a step; if it is not good enough, also its second-order correction. Keeps the better point or restores.
struct Attempt {
  bool accepted = false;
  double predicted = 0, fall = 0;
  double ratio() const { return predicted > 0 ? fall / predicted : 0; }
};
Attempt try_step(Search& search, Eigen::VectorXd& step);

}  // namespace kinegraph
