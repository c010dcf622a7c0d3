#pragma once

#include <Eigen/Core>
#include <vector>

#include "kinegraph/mechanics/screw/tree.hpp"

namespace kinegraph::codegen {

/// Positions with all loops closed, `count` of them: around the start of the tree, the last one next to it. None where
/// there are no loops, or they could not be closed.
std::vector<Eigen::VectorXd> closed_positions(const screw::Tree& tree, int count);

}  // namespace kinegraph::codegen
