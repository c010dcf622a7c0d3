#pragma once

#include "kinegraph/filter/chart.hpp"

namespace kinegraph::filter {

inline constexpr int kLanes = 8;

/// One number of eight states, to compute with: of plain loops compilers do not see that numbers do not overlap.
using Eight = Eigen::Array<double, kLanes, 1>;
inline Eigen::Map<Eight> eight(double* x) { return Eigen::Map<Eight>(x); }
inline Eigen::Map<const Eight> eight(const double* x) { return Eigen::Map<const Eight>(x); }

/// Eight states of a system side by side: number k of state s stands at [8 k + s], and so do all answers. good[s]
/// becomes false where there is no answer for state s in this way (it may be asked about alone) and stays false where
/// it was; what stands in its place is nothing. A state's answers do not depend on its neighbours. Matrices: column by
/// column.
class StateLanes {
 public:
  virtual ~StateLanes() = default;
  virtual bool reads(int sensor) const = 0;           ///< else it cannot be asked about that sensor
  virtual bool charts(const Chart& chart) const = 0;  ///< likewise
  virtual void advance(double t, double h, const double* x, double* next, bool* good) = 0;
  /// How v answers to noises at x: what disturb() goes by. respond() finds it too.
  virtual void find_directions(const double* x, bool* good) = 0;
  virtual void disturb(double t, double h, double* x, const double* normal, bool* good) = 0;
  virtual void predict(const double* x, int sensor, double* y, bool* good) = 0;
  /// B: rows × noises. H: rows × tangent, in the chart.
  virtual void respond(double h, const double* x, int sensor, double* y, double* B, bool* good) = 0;
  virtual void predict(const double* x, int sensor, double* y, double* H, bool* good) = 0;
  virtual void retract(double t, const double* x, const double* delta, double* out, bool* good) = 0;
};

}  // namespace kinegraph::filter
