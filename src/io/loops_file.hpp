#pragma once

#include <filesystem>
#include <string>

#include "kinegraph/io/findings.hpp"
#include "kinegraph/model/robot.hpp"

namespace kinegraph::io {

/// Adds the joints of a sidecar, which close the loops of a robot whose own file can only tell a tree. Either a list of
///     {name, parent, child, type, parent_xyz, parent_rpy, child_xyz, child_rpy, axis, axis2, pitch, passive}
/// or a map of frames that coincide,
///     {closed_loop: [[frame, frame], …], type: ['6d', …], name_mot: [joint, …]},
/// where a frame is a link or a joint (the frame on its child), '6d' welds two frames, '3d' joins them by a ball, and
/// joints that are not in name_mot have no motor (docs/formats.md).
void read_loops(const std::filesystem::path& path, Robot& robot, Findings& findings);
void parse_loops(const std::string& text, const std::string& file_name, Robot& robot, Findings& findings);

}  // namespace kinegraph::io
