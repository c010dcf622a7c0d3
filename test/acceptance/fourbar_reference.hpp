#pragma once

#include <functional>

#include "kinegraph/model/trajectory.hpp"

namespace kinegraph::acceptance {

/// The four-bar of 000 (models/fourbar.yaml) as one equation of its crank angle, in extended precision and without any
/// code of the product: positions in closed form, the equation of motion by virtual power.
struct FourbarReference {
  using Real = long double;

  Real gravity = 9.81L;
  Real width = 0;                    ///< of the bars: I = m (L² + width²) / 12 about their centres
  std::function<Real(Real)> torque;  ///< at the crank, of time; none: 0

  struct Point {
    Real x = 0, y = 0;
  };
  struct Pose {
    Point p1, p2, v1, v2, a1, a2;
    Real crank[2] = {}, coupler[2] = {}, rocker[2] = {};  ///< angular velocities and accelerations
  };

  static Pose pose(Real theta, Real rate, Real acceleration);
  Real torque_for(Real theta, Real rate, Real acceleration) const;  ///< inverse dynamics
  Real acceleration(Real theta, Real rate, Real torque) const;      ///< forward dynamics
  Real energy(Real theta, Real rate) const;

  /// The motion from θ, θ̇ at t = 0, by Gauss-Legendre of order 6 with `substeps` to a step. Series: theta.q
  /// theta.v theta.a and P1.x … P2.vy.
  Trajectory motion(double time, double step, double theta, double rate, int substeps = 1) const;
};

}  // namespace kinegraph::acceptance
