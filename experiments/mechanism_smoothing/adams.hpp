#pragma once

#include "bench/clock.hpp"
#include "kinegraph/model/model.hpp"

namespace kinegraph::experiments {

/// The model that the paper's reference program (Adams) was given: g = 9.80665, and bars that are boxes 0.1 m wide,
/// I = m (L² + 0.1²) / 12 about their centre. The paper's own are slender, with g = 9.81.
inline Model as_in_adams(const Model& model) {
  Settings settings = {{"gravity", 9.80665}};
  for (const PlanarBody& body : model.bodies) {
    const double square = body.length * body.length;
    if (body.points.size() != 2) continue;
    settings[body.name + ".I0"] = body.mass * (square + 0.01) / 12 + body.mass * square / 4;
  }
  return bench::require(model.with(settings), "Adams's model");
}

}  // namespace kinegraph::experiments
