#pragma once

#include <memory>
#include <vector>

#include "kinegraph/build/screw_problem.hpp"
#include "kinegraph/graph/graph.hpp"
#include "kinegraph/graph/values.hpp"

namespace kinegraph::build {

/// The variables of a robot at one step of time.
struct ScrewKeys {
  int step = 0;
  Key q(int coordinate) const { return {Kind::position, false, coordinate, step}; }
  Key v(int coordinate) const { return {Kind::velocity, false, coordinate, step}; }
  Key a(int coordinate) const { return {Kind::acceleration, false, coordinate, step}; }
  Key tau(int coordinate) const { return {Kind::input, false, coordinate, step}; }
  Key pose(int body) const { return {Kind::pose, false, body, step}; }
  Key twist(int body) const { return {Kind::twist, false, body, step}; }
  Key acceleration(int body) const { return {Kind::twist_acceleration, false, body, step}; }
  Key wrench(int joint) const { return {Kind::wrench, false, joint, step}; }  ///< loop l: bodies + l
};

/// The dynamics graph (001, Fig. 1 and 3) as factors with exact Jacobians by all variables, q and v among them: pose,
/// twist, acceleration, wrench and torque of every body, closure of every loop. All hard. Adds factors to `graph` and
/// variables to `values` (zero, quaternions of no rotation, where `q`, `v` are not given).
///
/// build::Dynamics solves one instant of it much faster where q and v are known; this form is for everything else:
/// trajectories, estimation, planning.
void add_dynamics(const std::shared_ptr<const screw::Tree>& tree, const ScrewKeys& keys, const Eigen::VectorXd& q,
                  const Eigen::VectorXd& v, Graph& graph, Values& values);

/// What a question about one instant knows: q, v, and the accelerations or torques that are given.
void set_known(const screw::Tree& tree, const ScrewKeys& keys, const std::vector<Given>& given, Known& known);

}  // namespace kinegraph::build
