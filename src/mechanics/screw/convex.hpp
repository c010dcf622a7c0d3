#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "kinegraph/mechanics/screw/transform.hpp"

namespace kinegraph::screw {

/// A convex set, told by its outermost point in any direction.
struct ConvexCore {
  enum class Type { box, cylinder, ellipsoid, points };
  Type type = Type::box;
  Transform<double> X;                             ///< its frame in the world
  Eigen::Vector3d half = Eigen::Vector3d::Zero();  ///< of a box (0 0 h: a segment); of a cylinder: r r h; radii
  std::span<const Eigen::Vector3d> points;         ///< whose hull is meant, in the frame X

  /// The farthest point along a direction of any length, in the world.
  Eigen::Vector3d support(const Eigen::Vector3d& along) const;
  Eigen::Vector3d centre() const;  ///< a point inside, in the world
  double size() const;             ///< no point is farther from the frame's origin
};

/// Nearest points of two convex sets.
struct CoreDistance {
  double distance = 0;                 ///< negative: the least displacement that parts them
  Eigen::Vector3d on_a, on_b, normal;  ///< on_b − on_a = distance · normal, a unit vector from a to b
};

/// Separate sets by the algorithm of Gilbert, Johnson and Keerthi (exact for polytopes), sets in each other by
/// expanding a polytope within a − b (van den Bergen, Proximity queries and penetration depth computation on 3D game
/// objects, 2001). Allocates nothing; always ends, with a finite answer.
CoreDistance nearest(const ConvexCore& a, const ConvexCore& b);

/// The corners of the convex hull, but for such that stand out by less than `tolerance`.
std::vector<Eigen::Vector3d> hull_corners(std::span<const Eigen::Vector3d> points, double tolerance);

namespace convex {

/// A point of a − b, and where it is from.
struct Corner {
  Eigen::Vector3d w, a, b;
};

/// Up to four corners, and the weights with which they make the point that is nearest to the origin.
struct Simplex {
  Corner corner[4];
  double weight[4] = {1, 0, 0, 0};
  int size = 0;
};

Corner corner_along(const ConvexCore& a, const ConvexCore& b, const Eigen::Vector3d& along);

/// The origin is within a − b, of which `simplex` has some corners (convex_depth.cpp).
CoreDistance depth(const ConvexCore& a, const ConvexCore& b, const Simplex& simplex);

}  // namespace convex
}  // namespace kinegraph::screw
