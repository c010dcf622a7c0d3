#pragma once

#include "kinegraph/model/model.hpp"

namespace kinegraph {

/// The model as links and joints in space: its robot, or a planar mechanism in the plane z = 0.
///
/// Every body becomes a link with its frame: origin at points[0], x toward points[1], z out of the plane. A point that
/// k bodies share becomes k − 1 hinges about z, a fixed point a hinge to the world; a slider becomes a massless link
/// that slides along the line and carries the point. A joint that a relative coordinate measures takes its name, zero
/// and direction, its springs, motor and initial values; others are named after their points, and their q is the
/// angle of the child's x axis against the parent's. Joints beyond a spanning tree from the world close loops. A
/// mechanism without fixed points is held by a planar joint `base`. Links stand as drawn, not assembled; initial_q are
/// the file's initial values, else the drawing's.
///
/// Refused, by name and all at once: point springs, loads, body torques, drivers, motors and springs on coordinates
/// that no joint has, initial values of points. With PlanarForces::kept springs, loads, torques, laws of motors and
/// drivers of joints are in the robot's lists instead.
enum class PlanarForces { refused, kept };
Result<Robot> robot_of(const Model& model, PlanarForces forces = PlanarForces::refused);

}  // namespace kinegraph
