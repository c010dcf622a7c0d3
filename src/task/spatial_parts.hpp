#pragma once

#include <vector>

#include "kinegraph/step/lie_stepper.hpp"
#include "kinegraph/task/spatial_watch.hpp"
#include "kinegraph/task/step_division.hpp"

namespace kinegraph::task {

/// Steps of a robot's motion, in parts where the energy does not balance over the whole.
class SpatialParts final : public DivisibleStep {
 public:
  /// `exact`: the scheme is of so high an order that the energy tells where a step is too long; others are not divided.
  SpatialParts(step::LieStepper& stepper, SpatialWatch& watch, bool exact)
      : stepper_(stepper), watch_(watch), exact_(exact) {}

  /// One step; the watch has proposed its end. `lost`: rad or m in one step that are no motion any more. False: no
  /// answer.
  bool advance_step(double h, double lost);
  long divided() const { return division_.steps(); }

  void keep(int depth) override;
  void back(int depth) override;
  double advance(int depth) override;
  void take() override { watch_.take_part(stepper_.t()); }

 private:
  bool move(double h);
  double unbalanced();

  step::LieStepper& stepper_;
  SpatialWatch& watch_;
  bool exact_;
  StepDivision division_;
  double h_ = 0, lost_ = 0;
  step::LieStepper::State before_;
  std::vector<step::LieStepper::State> kept_;
};

}  // namespace kinegraph::task
