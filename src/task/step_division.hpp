#pragma once

namespace kinegraph::task {

/// A step of a motion that can be taken in parts.
class DivisibleStep {
 public:
  virtual ~DivisibleStep() = default;
  /// Remembers the state at which a part begins, and goes back there.
  virtual void keep(int depth) = 0;
  virtual void back(int depth) = 0;
  /// Moves on by the 2^depth-th part of the step. By how much (J) the energy does not balance over it; infinite: there
  /// is no answer.
  virtual double advance(int depth) = 0;
  /// What advance() found stays.
  virtual void take() = 0;
};

/// Integrators of fourth order balance the energy of a step to many digits. Where they do not, the motion is faster
/// than the step: a dead point, a singular position, an impact-like reversal. Such a step is taken again in halves, and
/// these in halves, until every part balances; the samples stay where they were.
class StepDivision {
 public:
  /// Whether a step should be taken in parts. `unbalanced`: J, over the whole step; `scale`: energy of the motion;
  /// `rounding`: what is lost in the last digits of the energy.
  bool needed(double unbalanced, double scale, double rounding);
  /// From the beginning of the step to its end. False: there is no answer in parts either, and the step is not at its
  /// end.
  bool run(DivisibleStep& step, double scale, double rounding);

  long steps() const { return steps_; }  ///< that were taken in parts

 private:
  bool halve(DivisibleStep& step, int depth, double allowed);

  double rounding_ = 0;
  int budget_ = 0, exhausted_ = 0;
  long steps_ = 0;
};

}  // namespace kinegraph::task
