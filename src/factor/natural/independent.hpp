#pragma once

#include <memory>

#include "kinegraph/factor/common/select.hpp"
#include "kinegraph/factor/natural/labels.hpp"

namespace kinegraph::natural {

/// Independent coordinates are some of the dependent ones, at every level: z = q[idx], ż = q̇[idx], z̈ = q̈[idx].
///
///     e = x[idx] − y      (000, eq. 30 to 32, lower rows; the upper rows are the position, velocity and acceleration
///                          constraints)      Slots: x y.
inline std::shared_ptr<const Factor> independent(const System& system, std::vector<int> indices) {
  return std::make_shared<Select>(system.coordinates(), std::move(indices), "independent", labels(system));
}

}  // namespace kinegraph::natural
