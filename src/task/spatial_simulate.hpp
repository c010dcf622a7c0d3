#pragma once

#include "kinegraph/task/simulate.hpp"

namespace kinegraph::task {

/// The motion of a spatial model, or of a planar one as links and joints in space, by classic time stepping: method,
/// window and weights of `options` have no meaning here and are refused where they are not the defaults. Integrators:
/// step::scheme_names(); unless told rk4, or implicit-midpoint where damping or friction of a joint is stiff for the
/// step. The last step is shorter where the time is no multiple of the step.
///
/// Torques are zero but for those of options.input (`joint.tau`, `link.load.fx` …) and for the motors' laws of a planar
/// model. Damping, friction, springs and armature of the joints act; limits do not, and the summary tells which were
/// passed.
Result<SimulateResult> simulate_spatial(const Model& model, const SimulateOptions& options);

}  // namespace kinegraph::task
