#pragma once

#include <span>

#include "kinegraph/linear/ldlt.hpp"

namespace kinegraph::linear {

/// A front as three pieces of memory: the panel of its pivot columns (size × pivots, column-major), the lower triangle
/// of its update (border × border, column-major) and the D of its pivots (by pivot; off-diagonal of a pair at its
/// first).
struct FrontMemory {
  int size = 0, pivots = 0;
  double* panel = nullptr;
  double* update = nullptr;
  double* diagonal = nullptr;
  double* off = nullptr;
};

/// Decides about D at pivot k (and k + 1, for a pair), which may be changed in place to keep it invertible.
class PivotMonitor {
 public:
  virtual void single(int k, double& d) = 0;
  virtual void pair(int k, double& p, double& q, double& r) = 0;

 protected:
  ~PivotMonitor() = default;
};

/// Eliminates the pivots: panel ← L (unit lower), update ← update − L₂ D L₂ᵀ.
void eliminate_front(const FrontMemory& front, std::span<const PivotKind> kinds, PivotMonitor& monitor);

}  // namespace kinegraph::linear
