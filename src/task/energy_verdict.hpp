#pragma once

#include <algorithm>
#include <cmath>

#include "kinegraph/task/simulate.hpp"

namespace kinegraph::task {

/// How well the energy of a motion balances, whatever it was integrated by:
///
///     error(t) = E(t) − E₀ − W(t)        E = T + V, W: the work of motors, loads, friction, drives
///
/// It is zero for the exact motion; what it changes by in a step is the error of that step.
class EnergyBalance {
 public:
  void start(double energy, double kinetic);
  /// At the end of a step, at time t: E, T and W from the start on.
  void add(double t, double energy, double kinetic, double work);
  /// The same where the error is not known from here on: impacts took what is not measured.
  void pass(double energy, double kinetic, double work);
  /// The kinetic energy that was reached on the way to the next sample.
  void see_kinetic(double kinetic) { kinetic_max_ = std::max(kinetic_max_, kinetic); }

  /// What errors are measured by: the largest kinetic energy or work so far; next to a large energy at the start less
  /// than rounding of it is no motion, and nowhere is a thousandth of the heat of one atom.
  double scale() const {
    constexpr double kNoMotion = 1e-24;  // J
    return std::max({kinetic_max_, work_max_, 1e-9 * std::abs(start_), kNoMotion});
  }
  /// The same on the way to a state, with the kinetic energy `before`, the energy `exchanged` since then and not more
  /// than what is `available`: the state may be nonsense. `weight`: J, Σ m |g| times the size, next to which a motion
  /// of little energy is none. The first step from rest has nothing to be measured by but itself.
  double scale_on_the_way(double before, double exchanged, double available, double weight) const {
    constexpr double kSmall = 1e-4, kFromRest = 100;
    double reached = before + exchanged;
    if (before < reached / kFromRest) reached *= kFromRest;
    if (!(reached < available)) reached = available;
    return std::max({scale(), reached, kSmall * weight});
  }
  double kinetic_max() const { return kinetic_max_; }
  double error() const { return error_; }
  double start_energy() const { return start_; }
  double end_energy() const { return end_; }
  double work() const { return work_; }

  /// `give`: J that constraints take up where they give way; a motion of no more than that is none to be measured.
  void tell(SimulateSummary& summary, double give = 0) const;

 private:
  double start_ = 0, kinetic_start_ = 0, kinetic_max_ = 0, work_ = 0, work_max_ = 0, end_ = 0;
  double off_ = 0, error_ = 0, worst_ = 0, worst_t_ = 0;
};

/// Tells the user where the energy is off by more than a thousandth of the motion's. `gives`: constraints give way, and
/// take some energy up; there it is a hundredth.
void warn_of_energy(SimulateSummary& summary, bool gives = false);

}  // namespace kinegraph::task
