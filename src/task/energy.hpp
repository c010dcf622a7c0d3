#pragma once

#include <memory>
#include <vector>

#include "kinegraph/mechanics/natural/system.hpp"

namespace kinegraph::task {

/// Watches the energy of a motion on an even grid. What motors, loads, dampers and driven coordinates put in is
/// subtracted, so that what is left is the error of the integration:
///
///     error = T + V − (T₀ + V₀) − ∫ P dt,      P = q̇ᵀ(Q − Q_conservative + B u) − λᵀ Φ_q q̇
///
/// The integral uses cubics through four samples, fourth order as the default integrator. Without such forces P is not
/// evaluated at all.
class EnergyWatch {
 public:
  EnergyWatch(const Model& model, std::shared_ptr<const natural::System> system, double step);

  void start(const double* q, const double* v, const double* lambda, const double* u, double t);
  void add(const double* q, const double* v, const double* lambda, const double* u, double t);
  void finish();  ///< after the last sample

  double start_energy() const { return start_; }
  double end_energy() const { return energy_[3]; }
  double kinetic_start() const { return kinetic_start_; }
  double kinetic_max() const { return kinetic_max_; }
  double error() const { return error_; }

 private:
  double power(const double* q, const double* v, const double* lambda, const double* u, double t);
  void close(double work, double energy);

  std::shared_ptr<const natural::System> system_, conservative_;
  double step_, start_ = 0, kinetic_start_ = 0, kinetic_max_ = 0, error_ = 0, work_ = 0;
  double power_[4] = {}, energy_[4] = {};  // oldest first
  long samples_ = 0;
  std::vector<double> force_, conservative_force_, phi_, phi_q_;
};

}  // namespace kinegraph::task
