#pragma once

namespace kinegraph {

/// Standard choice of this project, m/s², along −y (planar) and −z (spatial), unless the model says otherwise.
inline constexpr double kGravity = 9.81;

}  // namespace kinegraph
