#pragma once

#include <string>
#include <vector>

#include "kinegraph/model/model.hpp"

namespace kinegraph {

/// A place of a planar mechanism through which a force goes, as columns of reactions name it (natural::Reactions says
/// whose force on whom it is): `A.fx`, `A.fy` of the pin "A".
struct Pin {
  std::string name;  ///< "A", "P.body2", "P.rail"
  PointIndex point;  ///< where
  BodyIndex body;    ///< on which it acts; invalid: of a slider
  int slider = -1;   ///< of Model::sliders
};

/// In the order of the columns.
std::vector<Pin> pins(const Model& model);

}  // namespace kinegraph
