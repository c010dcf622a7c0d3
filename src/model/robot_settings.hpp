#pragma once

#include "kinegraph/model/model.hpp"

namespace kinegraph {

/// The robot with some of its numbers set by name:
///  - of a link `arm.mass`, `.com_x .com_y .com_z`, and about that point `.ixx .iyy .izz .ixy .ixz .iyz`;
///    `.mu .restitution` of the surfaces of all its collision shapes;
///  - of a joint `elbow.damping .friction .stribeck .stribeck_speed .quadratic .load_friction .stiffness .rest
///  .armature
///    .gain .lower .upper .velocity .effort`, with a number (`.damping1`) for each freedom if there are several;
///  - `elbow.x .y .z`: where the joint is on its parent link, but of planar and floating joints, where these are
///    initial values;
///  - initial values by the names of their columns: `elbow.q`, `elbow.v`, `base.x`;
///  - `gravity` (downwards), `gravity.x`, `gravity.y`, `gravity.z` (also `gravity_x`, …).
/// Unknown names are refused with the nearest valid one, and so is what breaks the rules of check_robot. A floating
/// base that is set becomes a joint of the robot. `others`: names that could be meant beside the robot's.
Result<Robot> with_settings(Robot robot, const Settings& settings, const std::vector<std::string>& others = {});

/// All those names.
std::vector<std::string> setting_names(const Robot& robot);
Settings setting_values(const Robot& robot);  ///< with their values

/// A number of a joint by the name above, where it has another that users may give it: `elbow.viscous` is
/// `elbow.damping`, `elbow.dry` is `elbow.friction`.
std::string setting_name(const std::string& name);
Result<Settings> by_setting_names(const Settings& settings);

}  // namespace kinegraph
