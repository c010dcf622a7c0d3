#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kinegraph/mechanics/screw/kinematics.hpp"
#include "kinegraph/task/simulate.hpp"
#include "kinegraph/task/spatial_field.hpp"

namespace kinegraph::task {

/// Measures every step of a robot's motion: its energy and, where nothing holds it, its momentum against the work and
/// the impulses that SpatialField integrates; how far loops are open; which joint limits are passed.
class SpatialWatch {
 public:
  SpatialWatch(std::shared_ptr<const screw::Tree> tree, SpatialField& field);

  void start(const double* q, const double* v);
  void add(const double* q, const double* v, const double* extra);
  void tell(SimulateSummary& summary) const;

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
  screw::Energy energy_, start_energy_;
  screw::Vector6d momentum_, start_momentum_;
  double kinetic_max_ = 0, work_ = 0, work_max_ = 0, energy_error_ = 0, momentum_error_ = 0, angular_error_ = 0;
  double closure_m_ = 0, closure_rad_ = 0;
  long samples_ = 0;
  std::vector<Excess> position_, velocity_;  ///< per number of v
};

}  // namespace kinegraph::task
