#pragma once

#include "kinegraph/codegen/program.hpp"

namespace kinegraph::codegen {

/// A program of dynamics with the derivatives of its one output, row by row, as further outputs: `by_q` (along the
/// freedoms, as v: of a quaternion along the axes of the body), `by_v`, and `by_known` (by what is given: the mass
/// matrix of inverse, its inverse of forward dynamics).
Program with_derivatives(const Program& program, const screw::Tree& tree);

/// Forward dynamics of a tree and the derivatives of the inverse problem at its answer:
///
///     ∂a/∂τ = M⁻¹,   ∂a/∂q = −M⁻¹ ∂τ/∂q,   ∂a/∂v = −M⁻¹ ∂τ/∂v
///
/// `inverse` has by_q and by_v. Cheaper than derivatives of the elimination, and as exact.
Program with_derivatives(const Program& forward, const Program& inverse, const screw::Tree& tree);

}  // namespace kinegraph::codegen
