#pragma once

#include <Eigen/Core>

#include "kinegraph/model/model.hpp"

namespace kinegraph::natural {

/// The mass matrix of a rigid body on its first two points x₀ y₀ x₁ y₁: constant, no velocity terms.
///
///     a = m x_g/L,   b = I₀/L²,   c = m y_g/L      (García de Jalón and Bayo, section 4.2)
inline Eigen::Matrix4d body_mass(const PlanarBody& body) {
  const double m = body.mass, a = m * body.cog.x() / body.length, c = m * body.cog.y() / body.length;
  const double b = body.inertia / (body.length * body.length);
  Eigen::Matrix4d M;
  M << m + b - 2 * a, 0, a - b, -c,  //
      0, m + b - 2 * a, c, a - b,    //
      a - b, c, b, 0,                //
      -c, a - b, 0, b;
  return M;
}

/// The weight of a rigid body on its first two points: the force m g at p_g = p₀ + (x_g/L) d + (y_g/L) d⊥.
inline Eigen::Vector4d body_weight(const PlanarBody& body, const Vector2d& gravity) {
  const double along = body.cog.x() / body.length, across = body.cog.y() / body.length;
  const Vector2d on_1 = body.mass * (along * gravity + across * Vector2d(gravity.y(), -gravity.x()));
  Eigen::Vector4d Q;
  Q << body.mass * gravity - on_1, on_1;
  return Q;
}

}  // namespace kinegraph::natural
