#pragma once

#include <optional>
#include <string>

#include "kinegraph/mechanics/screw/transform.hpp"
#include "kinegraph/model/robot.hpp"

namespace kinegraph::screw {

/// A convex body for distances: what a ball of some radius sweeps along a segment (sphere, capsule), a box, or all that
/// lies below a plane.
struct Solid {
  enum class Type { swept, box, halfspace };
  Type type = Type::swept;
  Transform<double> X;     ///< its frame in that of its body: a segment lies along z, a plane's normal is z
  double half_length = 0;  ///< of the segment; 0: a sphere
  double radius = 0;
  Eigen::Vector3d half_size = Eigen::Vector3d::Zero();  ///< of the box
};

/// The solid of a shape. A cylinder is taken as the capsule that contains it. Nothing for meshes and ellipsoids.
std::optional<Solid> solid_of(const Shape& shape);

/// How far two solids are apart, along which line. Negative: how deep they are in each other.
struct Separation {
  double distance = 0;
  Eigen::Vector3d on_a, on_b;  ///< the nearest points, in the world
  Eigen::Vector3d normal;      ///< from a to b; its length is one, but less where a nearest point is on a kink
};

/// Whether there is a closed form for two types: not for two boxes, nor two planes.
bool can_separate(Solid::Type a, Solid::Type b);

/// a and b with their bodies at X_WA and X_WB. The derivative by a displacement of the bodies is that of the nearest
/// points along the normal (the envelope theorem):     ∂d = normal · (∂p_b − ∂p_a)
Separation separation(const Solid& a, const Transform<double>& X_WA, const Solid& b, const Transform<double>& X_WB);

}  // namespace kinegraph::screw
