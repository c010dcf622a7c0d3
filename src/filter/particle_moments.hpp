#pragma once

#include <vector>

#include "kinegraph/filter/estimator.hpp"
#include "kinegraph/filter/team.hpp"

namespace kinegraph::filter {

/// Mean and covariance of weighted states on a manifold, in the tangent at the state nearest to their mean.
class ParticleMoments {
 public:
  /// Of n states x (stored() numbers each), weights w ≥ 0, not all zero. Writes x, chart and P of `out`; its chart is
  /// kept as long as it serves. False: no chart at all. Spaces: one per part of the team.
  bool compute(const Team& team, const std::vector<StateSpace*>& spaces, double t, const double* x, const double* w,
               int n, Belief& out);

 private:
  // Of one part of the states.
  struct Sums {
    double weight = 0;
    VectorXd mean;
    MatrixXd P;
    MatrixXd delta;  // of some states at a time
    int nearest = 0;
    double distance = 0;
  };
  struct States {
    const Team& team;
    const std::vector<StateSpace*>& spaces;
    double t;
    const double *x, *w;
    int n;
  };
  bool about(const States& states, int reference, int every, Chart& chart);
  int nearest(const States& states, int reference, int every, const Chart& chart);

  MatrixXd P_, T_;
  VectorXd mean_;
  std::vector<Sums> sums_;
  Chart chart_;
};

}  // namespace kinegraph::filter
