#pragma once

#include <Eigen/Core>
#include <vector>

#include "kinegraph/step/regularized_step.hpp"

namespace kinegraph::task {

/// The wrench through every joint, from the impulses of a step: of the joint of each body on it, in its frame, then of
/// each loop on its body b, in the joint's frame M there (sensor::Instant::reaction).
class MaximalReactions {
 public:
  explicit MaximalReactions(const maximal::Mechanism& mechanism);

  /// After step.advance(q, v, input, …).
  const Eigen::VectorXd& find(const step::RegularizedStep& step, const double* q, const double* v,
                              const step::StepInput& input);
  const Eigen::VectorXd& wrenches() const { return wrenches_; }

 private:
  Eigen::VectorXd wrenches_;
  std::vector<int> drive_of_;  // per freedom: number of its drive's row, −1: none
};

}  // namespace kinegraph::task
