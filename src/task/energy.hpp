#pragma once

#include <memory>
#include <vector>

#include "kinegraph/mechanics/natural/system.hpp"
#include "kinegraph/task/energy_verdict.hpp"

namespace kinegraph::task {

/// Watches the energy of a motion on an even grid. What motors, loads, dampers and driven coordinates put in is
/// subtracted, so that what is left is the error of the integration:
///
///     error = T + V − (T₀ + V₀) − ∫ P dt,      P = q̇ᵀ(Q − Q_conservative + B u) − λᵀ Φ_q q̇
///
/// The integral uses cubics through four samples, fourth order as the default integrator; trapezoids in the parts of a
/// step that is divided. Without such forces P is not evaluated at all.
class EnergyWatch {
 public:
  EnergyWatch(const Model& model, std::shared_ptr<const natural::System> system, double step);

  void start(const double* q, const double* v, const double* lambda, const double* u, double t);
  /// Looks at a state after the last one taken: by how much (J) the energy does not balance in between. NaN: not
  /// finite.
  double propose(const double* q, const double* v, const double* lambda, const double* u, double t);
  void take();       ///< what was proposed is the next sample of the grid
  void take_part();  ///< what was proposed is the end of a part of a step
  void finish();     ///< after the last sample

  const EnergyBalance& balance() const { return balance_; }
  /// The energy that moves: so far, or on the way to what was proposed.
  double scale() const;
  double rounding() const;  ///< J: of the energy, where large terms cancel

 private:
  struct Sample {
    double t = 0, energy = 0, kinetic = 0, power = 0;

    double potential() const { return energy - kinetic; }
  };
  Sample measure(const double* q, const double* v, const double* lambda, const double* u, double t);
  double power(const double* q, const double* v, const double* lambda, const double* u, double t);
  void close(double work, const Sample& at);

  std::shared_ptr<const natural::System> system_, conservative_;
  double step_, work_ = 0, weight_ = 0;  // weight: J, Σ m |g| times the size
  EnergyBalance balance_;
  Sample past_[4], proposed_;  // oldest first
  long samples_ = 0;           // of the grid, since the start or the last part of a step
  std::vector<double> force_, conservative_force_, phi_, phi_q_;
};

}  // namespace kinegraph::task
