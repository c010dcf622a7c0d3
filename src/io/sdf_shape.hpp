#pragma once

#include <ignition/math/Pose3.hh>
#include <optional>
#include <sdf/Collision.hh>
#include <sdf/Visual.hh>

#include "kinegraph/model/robot.hpp"

namespace kinegraph::io {

inline Vector3d vector(const ignition::math::Vector3d& v) { return {v.X(), v.Y(), v.Z()}; }

inline SE3 pose(const ignition::math::Pose3d& p) {
  return SE3(SO3(Eigen::Quaterniond(p.Rot().W(), p.Rot().X(), p.Rot().Y(), p.Rot().Z())), vector(p.Pos()));
}

/// The form of a link as libsdformat has read it; nothing where it has none.
std::optional<Shape> shape_of(const sdf::Visual& visual);
std::optional<Shape> shape_of(const sdf::Collision& collision);

}  // namespace kinegraph::io
