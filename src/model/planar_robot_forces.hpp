#pragma once

#include <map>
#include <vector>

#include "kinegraph/model/planar_robot.hpp"

namespace kinegraph {

/// Which joint of a robot made from a planar mechanism stands for what.
struct PlanarJoints {
  static constexpr int kWorld = -1;
  struct Hinge {
    int point, a, b;  ///< of Model::points; links, or kWorld
    int joint;        ///< of Robot::joints
  };
  std::map<int, int> of_coordinate;  ///< of Model::relative
  std::map<int, int> of_slider;      ///< of Model::sliders
  std::vector<Hinge> hinges;
};

/// What acts on a planar mechanism, as dynamics of the robot's joints, and with PlanarForces::kept in its lists; and
/// where the joints start. Faults are added to `found`.
void add_planar_forces(const Model& model, PlanarForces forces, const PlanarJoints& joints, Robot& robot,
                       std::vector<Diagnostic>& found);

}  // namespace kinegraph
