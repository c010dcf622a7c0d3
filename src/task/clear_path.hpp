#pragma once

#include <Eigen/Core>
#include <vector>

#include "kinegraph/build/plan.hpp"

namespace kinegraph::task {

/// Whether positions keep the task's margin at a knot.
bool is_clear(const build::PlanSetting& setting, const Eigen::VectorXd& q, int knot);

/// Corners of a path between two positions within the limits of the joints that keeps clear of all obstacles, found by
/// two trees that grow towards each other [Kuffner and LaValle, RRT-Connect, ICRA 2000] over the points of a Halton
/// sequence: the same every time. Of a robot on a fixed base. Empty: none was found, or an end is not clear.
std::vector<Eigen::VectorXd> clear_path(const build::PlanSetting& setting, const Eigen::VectorXd& from,
                                        const Eigen::VectorXd& to, int knot);

}  // namespace kinegraph::task
