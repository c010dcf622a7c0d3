#pragma once

#include <filesystem>
#include <string>

#include "kinegraph/model/model.hpp"

namespace kinegraph::io {

/// The robot with what its sidecar says (docs/formats.md), a map
///     {sensors: […], disturbances: […], unknowns: […], joint_friction: […]}
/// by the tables of robot_sections().
Result<Model> read_sensors(const std::filesystem::path& path, Model model);
Result<Model> parse_sensors(const std::string& text, const std::string& file_name, Model model);

}  // namespace kinegraph::io
