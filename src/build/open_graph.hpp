#pragma once

#include <Eigen/Core>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kinegraph/build/natural_chain.hpp"
#include "kinegraph/graph/graph.hpp"
#include "kinegraph/mechanics/screw/tree.hpp"

namespace kinegraph::build {

/// The graph of a machine in the open, with its values and what its variables are called: for factors of your own. What
/// follows from the machine is hard; costs are for who asks.
struct OpenGraph {
  Graph graph;
  Values values;
  std::vector<std::pair<std::string, Key>> variables;
  std::vector<std::string> coordinates;  ///< of a planar machine: what the numbers of q are ("P1.x")
};

/// Where a planar machine may be, near q: the variable `q`, all its coordinates.
OpenGraph open_pose(std::shared_ptr<const natural::System> system, const Eigen::VectorXd& q);

/// Where a robot may be, near q: `elbow.q` per joint and `hand.pose` per link (quaternion w x y z, then position).
OpenGraph open_pose(std::shared_ptr<const screw::Tree> tree, const Eigen::VectorXd& q);

/// How a planar machine may move: the variables of the chain at every knot, `q[3]`; the rule of integration holds
/// exactly. `values` has a row per knot. Known are those of the chain, and unless `free_start` the independent
/// coordinates and rates of knot 0.
OpenGraph open_motion(const NaturalChain& names, std::span<const double> values, bool free_start);

}  // namespace kinegraph::build
