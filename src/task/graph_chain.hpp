#pragma once

#include <memory>
#include <string>

#include "kinegraph/model/model.hpp"

namespace kinegraph {
class Chain;
}

namespace kinegraph::task {

/// The graph of a planar mechanism's motion as `simulate` solves it: formulation "natural" or "independent", integrator
/// "euler", "trapezoidal" or "hermite-simpson".
Result<std::shared_ptr<const Chain>> motion_chain(const Model& model, const std::string& formulation,
                                                  const std::string& integrator);

}  // namespace kinegraph::task
