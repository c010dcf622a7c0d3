#pragma once

#include "kinegraph/filter/estimator.hpp"

namespace kinegraph::filter {

/// Mean and covariance of weighted states on a manifold, in the tangent at the state nearest to their mean.
class ParticleMoments {
 public:
  /// Of n states x (stored() numbers each), weights w ≥ 0, not all zero. Writes x, chart and P of `out`; its chart is
  /// kept as long as it serves. False: no chart at all.
  bool compute(StateSpace& space, double t, const double* x, const double* w, int n, Belief& out);

 private:
  bool about(StateSpace& space, double t, const double* x, const double* w, int n, int reference, Chart& chart);
  int nearest(const double* w, int n) const;

  MatrixXd delta_, T_;
  VectorXd mean_, variance_;
  Chart chart_;
};

}  // namespace kinegraph::filter
