#pragma once

#include "kinegraph/build/open_graph.hpp"
#include "kinegraph/model/model.hpp"

namespace kinegraph::task {

/// Where a machine may be, starting where it is assembled: build::open_pose.
Result<build::OpenGraph> pose_graph(const Model& model);

/// How a planar machine may move, in independent coordinates by the trapezoidal rule (build::open_motion): `q[k]`,
/// `v[k]`, `a[k]`, `lambda[k]`, the motors' torques `u[k]`, and `z[k]`, `zd[k]`, `zdd[k]` at every instant; `t[k]` and
/// `u[k]` are known. Starts from the simulated motion. With `free_start` position and velocity at t = 0 are unknown.
Result<build::OpenGraph> motion_graph(const Model& model, double time, double step, bool free_start);

}  // namespace kinegraph::task
