#pragma once

#include <Eigen/Geometry>
#include <vector>

#include "kinegraph/identify/problem_rows.hpp"
#include "kinegraph/lie/so3.hpp"

namespace kinegraph::identify {

/// Holds the bodies of a planar machine in its plane: rows see no turn or shift out of it, and rows of their own say
/// that there is none. By symmetry none of the first order matters, but what rounding leaves of it does: in a loop of
/// stiff joints a turn φ out of the plane pushes with φ² over their compliance, and a search would take that for a way
/// to explain readings.
class PlaneHold {
 public:
  /// The normal in the axes of each body, which no motion in the plane changes.
  void set(int bodies, const double* poses) {
    normals_.resize(bodies);
    for (int b = 0; b < bodies; ++b) normals_[b] = SO3::load(poses + 7 * b).matrix().row(2).transpose();
  }

  /// δφ ← n nᵀ δφ and δp_z ← 0 in all rows; then rows that hold the rest, of the knots first … last of the three.
  void restrict_rows(RowBlock& rows, int first, int last) const {
    const int count = rows.count(), n = 6 * static_cast<int>(normals_.size());
    for (int r = 0; r < count; ++r) {
      for (int at = 0; at < 3 * n; at += 6) {
        Eigen::Map<Eigen::RowVector3d> turn(rows.states(r) + at);
        const Eigen::Vector3d& normal = normals_[at % n / 6];
        turn = turn.dot(normal) * normal.transpose();
        rows.states(r)[at + 5] = 0;
      }
    }
    for (int at = first * n; at < (last + 1) * n; at += 6) {
      const Eigen::Vector3d &normal = normals_[at % n / 6], across = normal.unitOrthogonal();
      for (const Eigen::Vector3d& axis : {Eigen::Vector3d(across), Eigen::Vector3d(normal.cross(across))}) {
        rows.add(0);
        Eigen::Map<Eigen::Vector3d>(rows.states(rows.count() - 1) + at) = axis;
      }
      rows.add(0);
      rows.states(rows.count() - 1)[at + 5] = 1;
    }
  }

 private:
  std::vector<Eigen::Vector3d> normals_;
};

}  // namespace kinegraph::identify
