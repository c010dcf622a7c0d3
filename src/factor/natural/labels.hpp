#pragma once

#include "kinegraph/factor/common/linear_combination.hpp"
#include "kinegraph/mechanics/natural/system.hpp"

namespace kinegraph::natural {

/// The names of the coordinates, for factors that do not know the mechanism.
inline Labels labels(const System& system) {
  Labels names;
  for (int i = 0; i < system.coordinates(); ++i) names.push_back(system.coordinate_name(i));
  return names;
}

}  // namespace kinegraph::natural
