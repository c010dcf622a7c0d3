#pragma once

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "kinegraph/graph/factor.hpp"
#include "kinegraph/graph/manifold.hpp"

namespace kinegraph {

/// Where the second derivative of a factor can be non-zero.
struct Dependence {
  struct Direction {
    int slot = 0, tangent = 0;
    auto operator<=>(const Direction&) const = default;
  };
  std::vector<Direction> moves;                        ///< directions along which some Jacobian entry changes
  std::vector<std::pair<Direction, Direction>> pairs;  ///< directions x, y with ∂²r/∂x∂y ≠ 0, in one order or the other
  bool exact = false;                                  ///< the factor has add_curvature
};

using DependenceCache = std::map<const Factor*, Dependence>;

/// Found by moving every direction at two points near `x` and looking which Jacobian entries change.
const Dependence& dependence_of(const Factor& factor, Slots x, std::span<const Manifold> manifolds,
                                DependenceCache& cache);

}  // namespace kinegraph
