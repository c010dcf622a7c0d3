#pragma once

#include <vector>

#include "kinegraph/identify/run.hpp"

namespace kinegraph::identify {

/// One channel of a sensor over a run, low-pass filtered, at its knots.
struct ReadingTrack {
  int sensor = 0, row = 0;
  bool rate = false;        ///< it tells velocities only
  std::vector<double> y;    ///< per knot
  std::vector<bool> given;  ///< per knot: readings are near
};

/// Of all channels that tell positions or velocities: those of forces and accelerations are left out.
std::vector<ReadingTrack> reading_tracks(const std::vector<Sensor>& sensors, const Run& run, double cutoff);

}  // namespace kinegraph::identify
