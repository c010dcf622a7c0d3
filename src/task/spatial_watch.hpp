#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kinegraph/mechanics/screw/kinematics.hpp"
#include "kinegraph/task/energy_verdict.hpp"
#include "kinegraph/task/simulate.hpp"
#include "kinegraph/task/spatial_field.hpp"

namespace kinegraph::task {

/// Measures every step of a robot's motion: its energy and, where nothing holds it, its momentum against the work and
/// the impulses that SpatialField integrates; how far loops are open; which joint limits are passed.
class SpatialWatch {
 public:
  SpatialWatch(std::shared_ptr<const screw::Tree> tree, SpatialField& field);

  void start(const double* q, const double* v);
  /// Looks at a state after the last one taken, its rates just found: by how much (J) the energy does not balance in
  /// between.
  double propose(const double* q, const double* v, const double* extra);
  void take_part(double t);  ///< what was proposed is the end of a part of a step
  void take(double t, const double* q, const double* v, const double* extra);  ///< … the next sample
  double scale() const;  ///< the energy that moves: so far, or on the way to what was proposed
  double motion() const { return balance_.scale(); }  ///< J: what moved so far
  double rounding() const;                            ///< J: of the energy, where large terms cancel
  void tell(SimulateSummary& summary) const;

  /// What parts of a step change, to come back to.
  struct Mark {
    EnergyBalance balance;
    screw::Energy energy, last_energy;
    double work = 0, last_work = 0;
  };
  Mark mark() const { return {balance_, energy_, last_energy_, work_, last_work_}; }
  void back(const Mark& mark);

 private:
  void measure(const double* q, const double* v);
  void check_limits(const double* q, const double* v);

  struct Excess {
    long samples = 0;
    double most = 0;
  };
  std::shared_ptr<const screw::Tree> tree_;
  SpatialField& field_;
  std::vector<screw::Vector6d> twists_;
  EnergyBalance balance_;
  screw::Energy energy_, last_energy_;  // proposed, taken
  double work_ = 0, last_work_ = 0;
  double weight_ = 0, terms_ = 0;  // J: Σ m |g| times the size, Σ m |g| |x|
  screw::Vector6d momentum_, start_momentum_;
  double momentum_error_ = 0, angular_error_ = 0;
  double closure_m_ = 0, closure_rad_ = 0;
  long samples_ = 0;
  std::vector<Excess> position_, velocity_;  ///< per number of v
};

}  // namespace kinegraph::task
