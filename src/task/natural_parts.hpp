#pragma once

#include <memory>
#include <vector>

#include "kinegraph/task/energy.hpp"
#include "kinegraph/task/motion.hpp"
#include "kinegraph/task/step_division.hpp"

namespace kinegraph::task {

/// A state of a planar mechanism with its accelerations and forces.
struct NaturalState {
  double t = 0;
  Eigen::VectorXd q, v, a, lambda;
};

/// A step of a planar motion in parts: each is a graph of two knots of its own, in natural coordinates.
class NaturalParts final : public DivisibleStep {
 public:
  /// `options`: of the whole step.
  NaturalParts(const Start& start, build::NaturalOptions options, int relative_coordinates);

  /// The beginning of the step; `watch` has seen it, and will see the ends of the parts.
  void begin(const NaturalState& state, EnergyWatch& watch);
  const NaturalState& state() const { return state_; }

  void keep(int depth) override;
  void back(int depth) override;
  double advance(int depth) override;
  void take() override { watch_->take_part(); }

 private:
  Motion& motion(int depth);

  const Start& start_;
  build::NaturalOptions options_;
  int relative_;
  EnergyWatch* watch_ = nullptr;
  NaturalState state_;
  std::vector<NaturalState> kept_;
  std::vector<std::unique_ptr<Motion>> motions_;  // per depth
};

}  // namespace kinegraph::task
