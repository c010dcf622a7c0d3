#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "kinegraph/mechanics/screw/transform.hpp"
#include "kinegraph/model/robot.hpp"

namespace kinegraph::screw {

/// A convex body for distances: what a ball of some radius sweeps along a segment (sphere, capsule), a box, a cylinder,
/// an ellipsoid, the hull of points, or all that lies below a plane.
struct Solid {
  enum class Type { swept, box, halfspace, cylinder, ellipsoid, hull };
  Type type = Type::swept;
  Transform<double> X;     ///< its frame in that of its body: a segment lies along z, a plane's normal is z
  double half_length = 0;  ///< of the segment; 0: a sphere
  double radius = 0;       ///< of the ball; of a hull: how thick its skin is
  Eigen::Vector3d half_size = Eigen::Vector3d::Zero();           ///< of box and ellipsoid; of a cylinder: r, r, h/2
  std::shared_ptr<const std::vector<Eigen::Vector3d>> points{};  ///< the corners of a hull
};

/// The solid of a shape. Nothing for meshes: their points are not here.
std::optional<Solid> solid_of(const Shape& shape);

/// The convex hull of a mesh's corners, as `shape` (of type mesh) scales and places it. Corners that stand out by less
/// than a thousandth of its size are within its skin. Nothing without corners.
std::optional<Solid> hull_of(const Shape& shape, const std::vector<Eigen::Vector3d>& corners);

/// How far two solids are apart, along which line. Negative: how deep they are in each other.
struct Separation {
  double distance = 0;
  Eigen::Vector3d on_a, on_b;  ///< the nearest points, in the world
  Eigen::Vector3d normal;      ///< a unit vector from a to b
};

/// Whether two types have a distance: two planes do not.
bool can_separate(Solid::Type a, Solid::Type b);

/// a and b with their bodies at X_WA and X_WB: closed forms for spheres, capsules and planes, else convex.hpp. The
/// derivative by a displacement of the bodies is that of the nearest points along the normal (the envelope theorem):
///
///     ∂d = normal · (∂p_b − ∂p_a)
///
/// `smooth`: of two capsules a little less than the distance (by some 1e-3 of their lengths), but without the kink that
/// it has where they are parallel: for a search. The normal's length is then that of the derivative.
Separation separation(const Solid& a, const Transform<double>& X_WA, const Solid& b, const Transform<double>& X_WB,
                      bool smooth = false);

}  // namespace kinegraph::screw
