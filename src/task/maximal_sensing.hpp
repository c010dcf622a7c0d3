#pragma once

#include "kinegraph/task/maximal_simulate.hpp"
#include "kinegraph/task/sense.hpp"

namespace kinegraph::task {

/// What sensors read along a motion in maximal coordinates, told step by step. Within a step, s of it past its knot,
///
///     q(s) = q ⊞ h [s v₊ + ½ s (s − 1)(v₊ − v₋)],   v(s) = ½ (v₋ + v₊) + s (v₊ − v₋),   a = (v₊ − v₋)/h
class MaximalSensing {
 public:
  MaximalSensing(const Model& model, std::shared_ptr<const maximal::Mechanism> mechanism, unsigned long seed,
                 std::function<bool()> go_on = {});

  void add(const MaximalStep& step);
  const ReadingLog& log() const { return log_; }

 private:
  std::shared_ptr<const maximal::Mechanism> mechanism_;
  ReadingLog log_;
  sensor::Instant instant_;
  Eigen::VectorXd change_, moved_;
};

}  // namespace kinegraph::task
