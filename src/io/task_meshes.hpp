#pragma once

#include <filesystem>
#include <vector>

#include "kinegraph/model/model.hpp"
#include "kinegraph/model/plan_task.hpp"

namespace kinegraph {

/// Reads the meshes (STL, OBJ) of the task's obstacles and solids and of the model's collision shapes, so that their
/// hulls keep distances. Those of links are kept by their mesh_name(). A file that is not there, or is of another kind,
/// is passed over: planning tells who has no shape then. Files outside the folders of the task and the model are read
/// only from the `allowed` ones: see io/mesh_file.hpp.
void read_meshes(PlanTask& task, const Model& model, const std::vector<std::filesystem::path>& allowed = {});

}  // namespace kinegraph
