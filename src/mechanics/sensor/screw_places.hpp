#pragma once

#include <array>
#include <optional>
#include <vector>

#include "kinegraph/mechanics/screw/tree.hpp"
#include "kinegraph/mechanics/sensor/view.hpp"
#include "kinegraph/model/model.hpp"

namespace kinegraph::sensor {

/// A relative coordinate of a planar model by its points: body (−1: the ground) and place on it.
struct MeasuredLine {
  RelativeCoordinate::Type type;
  int points = 0;
  std::array<int, 4> body{-1, -1, -1, -1};
  std::array<Eigen::Vector3d, 4> at;
};

/// ± one wrench of Instant::reaction, in axes M of a body of the tree.
struct WrenchTerm {
  int row = 0;  ///< of Instant::reaction: (m, f) from there on
  double sign = 1;
  int body = -1;
  Eigen::Matrix3d R_BM = Eigen::Matrix3d::Identity();
};

/// Where a sensor sits on a tree of bodies: what Sensor says of links and joints, in numbers of the tree.
struct ScrewPlace {
  Mounting mounting;        ///< in the frames of the bodies
  int on = -1, other = -1;  ///< bodies of the tree; −1: the ground
  // encoder, tachometer, torque: ratio · (number q of the coordinate) + offset
  int coordinate = -1, q = -1, v = -1;  ///< v: of the whole vector
  double ratio = 1, offset = 0;
  std::optional<MeasuredLine> line;  ///< planar: a coordinate that no joint has
  // load cell: the sum of these, in the axes R_BL of a body
  std::vector<WrenchTerm> wrenches;
  int cell = -1;  ///< −1: the world
  Eigen::Matrix3d R_BL = Eigen::Matrix3d::Identity();
};

/// One per sensor of the model. The tree is that of robot_of(model).
std::vector<ScrewPlace> screw_places(const Model& model, const screw::Tree& tree);

}  // namespace kinegraph::sensor
