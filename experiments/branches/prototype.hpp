#pragma once

#include <cmath>

#include "experiments/gyroscope_fourbar.hpp"

namespace kinegraph::experiments {

/// Friction of the machine that stands in for the paper's prototype; the filters know of none.
inline const char* const kPrototypeFriction = "coordinate_dampers:\n  - {coordinate: theta, damping: 1.5e-3}\n";
constexpr double kPrototypeTime = 10.98;  ///< s, of the paper's recording

/// (004, Table 2): 50 particles, steps of 3 ms, a reading every 6 ms; with our filter.
inline TrackSettings prototype_settings() {
  TrackSettings s;
  s.particles = 50;
  s.period = 6e-3;
  s.step = 3e-3;
  s.assumed_noise = 1;
  s.density = 4 / 0.125 * std::sqrt(s.step);  // σ_a = 4 m/s² per step
  return s;
}

/// The same with the filter that the paper prints.
inline TrackSettings printed_settings() {
  TrackSettings s = prototype_settings();
  s.proposal = filter::Proposal::prior;
  s.stratified = s.keep_branches = s.kernels = false;
  s.cells = 0;
  s.resample = 1;
  return s;
}

}  // namespace kinegraph::experiments
