#pragma once

#include <Eigen/Core>
#include <cmath>

#include "kinegraph/mechanics/maximal/joint_rows.hpp"

namespace kinegraph::maximal {

/// Parts of two bodies that can touch. Places and directions are in the frames of their bodies (−1: the ground).
struct Feature {
  enum class Kind {
    point_plane,      ///< a place of b, or a ball about it, on a plane of a
    rim_plane,        ///< the lowest place of a circle of b, or one turned from it by `angle`, on a plane of a
    ellipsoid_plane,  ///< on a plane of a
    ball_ball,
    ball_box,   ///< a ball of b on a box of a: on the face, edge or corner that `side` says
    edge_edge,  ///< crossing edges
  };
  Kind kind = Kind::point_plane;
  int a = -1, b = -1;
  Eigen::Vector3d at_a = Eigen::Vector3d::Zero(), at_b = Eigen::Vector3d::Zero();
  Eigen::Vector3d along_a =
      Eigen::Vector3d::UnitZ();  ///< normal of the plane; edge, turned so that the normal is a × b
  Eigen::Vector3d along_b = Eigen::Vector3d::UnitZ();  ///< axis of the circle; edge
  Eigen::Matrix3d axes = Eigen::Matrix3d::Identity();  ///< of the box (of a), the ellipsoid, the circle (of b)
  Eigen::Vector3d size = Eigen::Vector3d::Zero();      ///< half edges of the box, radii of the ellipsoid
  Eigen::Vector3i side = Eigen::Vector3i::Zero();      ///< ±1: beyond that side of the box
  double radius_a = 0, radius_b = 0, angle = 0;
};

/// How far apart: along the normal (from a to b) at the point.
template <class T>
struct Touch {
  T gap;
  Vector3<T> normal, point;
};

/// The touch of two bodies by their poses and centres of mass (of the ground: the identity and zeros).
template <class T>
Touch<T> touch_of(const Feature& f, const Pose<T>& a, const Pose<T>& b, const T* com_a, const T* com_b) {
  using std::cos, std::sin, std::sqrt;
  using V = Vector3<T>;
  const auto cast = [](const Eigen::Vector3d& x) { return V(x.template cast<T>()); };
  const V on_a = a.p + a.R * (cast(f.at_a) - Eigen::Map<const V>(com_a));
  const V on_b = b.p + b.R * (cast(f.at_b) - Eigen::Map<const V>(com_b));
  const T radius(f.radius_b);
  Touch<T> out;
  switch (f.kind) {
    case Feature::Kind::point_plane:
      out.normal = a.R * cast(f.along_a);
      out.point = on_b - radius * out.normal;
      break;
    case Feature::Kind::rim_plane: {
      out.normal = a.R * cast(f.along_a);
      const V axis = b.R * cast(f.along_b);
      V down = axis * axis.dot(out.normal) - out.normal;
      const T steep = down.squaredNorm();
      if (steep > T(1e-12)) {
        down = (down / sqrt(steep)).eval();
      } else {
        down = b.R * cast(f.axes.col(0));  // it lies flat: any place is the lowest
      }
      out.point = on_b + radius * (T(std::cos(f.angle)) * down + T(std::sin(f.angle)) * axis.cross(down));
      break;
    }
    case Feature::Kind::ellipsoid_plane: {
      // The farthest place along −n: −A² n / |A n|, A = diag(radii)
      out.normal = a.R * cast(f.along_a);
      const Matrix3<T> axes = b.R * f.axes.template cast<T>();
      const V radii = cast(f.size), stretched = radii.cwiseProduct(axes.transpose() * out.normal);
      out.point = on_b - axes * radii.cwiseProduct(stretched) / sqrt(stretched.squaredNorm());
      break;
    }
    case Feature::Kind::ball_ball: {
      const V apart = on_b - on_a;
      const T distance = sqrt(apart.squaredNorm());
      out.normal = apart / distance;
      out.point = on_b - radius * out.normal;
      out.gap = distance - T(f.radius_a) - radius;
      return out;
    }
    case Feature::Kind::ball_box: {
      const Matrix3<T> axes = a.R * f.axes.template cast<T>();
      const V local = axes.transpose() * (on_b - on_a);
      V apart = V::Zero();
      for (int i = 0; i < 3; ++i) {
        if (f.side[i] != 0) apart[i] = local[i] - T(f.side[i] * f.size[i]);
      }
      T distance = sqrt(apart.squaredNorm() + T(1e-300));
      if (f.side.cwiseAbs().sum() == 1) {  // a face: the centre may be below it
        const V normal = cast(f.side.cast<double>());
        distance = normal.dot(apart);
        out.normal = axes * normal;
      } else {
        out.normal = axes * apart / distance;
      }
      out.point = on_b - radius * out.normal;
      out.gap = distance - radius;
      return out;
    }
    case Feature::Kind::edge_edge: {
      const V u = a.R * cast(f.along_a), v = b.R * cast(f.along_b), cross = u.cross(v);
      const T square = cross.squaredNorm();
      out.normal = cross / sqrt(square);
      out.point = on_b + v * ((on_b - on_a).cross(u).dot(cross) / square);
      break;
    }
  }
  out.gap = out.normal.dot(out.point - on_a);
  return out;
}

/// How fast b moves against a at a place, along a direction: 12 numbers times the velocities of a and b.
template <class T>
void direction_row(const Pose<T>& a, const Pose<T>& b, const Vector3<T>& point, const Vector3<T>& along, T* G) {
  const Vector3<T> turn_a = a.R.transpose() * (point - a.p).cross(along);
  const Vector3<T> turn_b = b.R.transpose() * (point - b.p).cross(along);
  for (int k = 0; k < 3; ++k) G[k] = -turn_a[k], G[3 + k] = -along[k], G[6 + k] = turn_b[k], G[9 + k] = along[k];
}

}  // namespace kinegraph::maximal
