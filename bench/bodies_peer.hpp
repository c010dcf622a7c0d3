#pragma once

#include <string>
#include <vector>

namespace kinegraph::bench {

/// Planar bars on hinges, one after the other from the origin, and, where `closed`, the end of the last one on a hinge
/// of the ground. Bars are slender and uniform.
struct Bars {
  std::vector<double> length, mass;
  std::vector<double> angle;  ///< of each bar at the start, against the bar before (the first: against x)
  double gravity[2] = {0, 0};
  bool closed = false;
  double ground[2] = {0, 0};  ///< where the loop closes
};

/// A motion from rest: processor's seconds, and the joints' angles at the times that were asked for, one after the
/// other.
struct BodiesRun {
  double seconds = 0;
  long steps = 0;
  std::vector<double> angles;
};

/// By Simbody with its error control at `accuracy`: Runge-Kutta-Merson, what its manual calls the general choice.
BodiesRun simbody(const Bars& bars, double accuracy, const std::vector<double>& times);

}  // namespace kinegraph::bench
