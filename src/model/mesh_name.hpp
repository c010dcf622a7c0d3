#pragma once

#include <filesystem>
#include <string>

#include "kinegraph/model/model.hpp"

namespace kinegraph {

/// The name of a link's mesh as seen from where we are, not from the model's folder: the meshes of a task's obstacles
/// are named so, and may be called the same in their own folder. Places of other kinds (package://…) stay.
inline std::string mesh_name(const Model& model, const Shape& shape) {
  if (shape.mesh.empty() || shape.mesh.find("://") != std::string::npos) return shape.mesh;
  return (std::filesystem::path(model.file).parent_path() / shape.mesh).string();
}

/// The model's robot, its collision meshes named so.
inline Robot with_mesh_names(const Model& model) {
  Robot robot = model.robot;
  for (Link& link : robot.links) {
    for (Shape& shape : link.collisions) shape.mesh = mesh_name(model, shape);
  }
  return robot;
}

}  // namespace kinegraph
