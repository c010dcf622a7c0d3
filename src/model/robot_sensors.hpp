#pragma once

#include <memory>

#include "kinegraph/model/source.hpp"

namespace kinegraph {

/// The robot with the sensors, disturbances, unknown forces and joint friction of a source (a sidecar, read by
/// robot_sections()), with model.settings applied to their numbers. A floating base that they name becomes a joint of
/// the robot. `found`: faults the reader has met already.
Result<Model> with_sensors(Model model, std::shared_ptr<const ModelSource> source, std::vector<Diagnostic> found = {});

/// What can be set of them: "imu.gyro_noise", and of the friction that it gives "elbow.stribeck".
std::vector<std::string> sensor_setting_names(const Model& model);
Settings sensor_setting_values(const Model& model);  ///< with their values

}  // namespace kinegraph
