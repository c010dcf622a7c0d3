#pragma once

#include <optional>

#include "kinegraph/model/model.hpp"

namespace kinegraph::task {

/// The drawing of a planar model, put together. Every formulation starts from it, so that the same file starts in the
/// same pose.
struct Drawing {
  std::optional<Model> model;  ///< its points where they belong; none where they are there already, or cannot be
  double moved = 0;            ///< m: how far a point had to go
};
Drawing assembled_drawing(const Model& model);

}  // namespace kinegraph::task
