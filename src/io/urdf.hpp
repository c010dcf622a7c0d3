#pragma once

#include <string>

#include "kinegraph/io/model_file.hpp"

namespace kinegraph {

/// A robot in URDF (docs/formats.md). `file_name` is what messages call the file; nothing else is read but the sidecar
/// that the options name.
///
/// Beyond URDF: joints of the types screw (<screw pitch="…"/> or an attribute pitch, metres per radian), universal
/// (<axis2 xyz="…"/>), ball (also "spherical") and cylindrical; spring_stiffness and spring_reference of <dynamics>;
/// capsules; links with two parents, whose second joint closes a loop: its zero is the pose as drawn, that of q = 0
/// along the first path from the root.
Result<Model> parse_urdf(const std::string& text, const std::string& file_name, const ReadOptions& options = {});

}  // namespace kinegraph
