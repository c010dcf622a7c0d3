#include "kinegraph/io/task_meshes.hpp"

#include "kinegraph/io/mesh_file.hpp"
#include "kinegraph/model/mesh_name.hpp"

namespace kinegraph {
namespace {

using Folders = std::vector<std::filesystem::path>;

/// The file that is called `name` in `folder`, kept as `key`.
void read(const std::string& key, const std::string& name, const std::filesystem::path& folder, const Folders& allowed,
          PlanTask& task) {
  if (name.empty() || task.meshes.count(key) > 0) return;
  const std::vector<float> numbers = read_mesh(name, folder, allowed);
  if (numbers.empty()) return;
  std::vector<Vector3d>& corners = task.meshes[key];
  corners.reserve(numbers.size() / 3);
  for (std::size_t i = 0; i + 2 < numbers.size(); i += 3)
    corners.emplace_back(numbers[i], numbers[i + 1], numbers[i + 2]);
}

}  // namespace

void read_meshes(PlanTask& task, const Model& model, const Folders& allowed) {
  const std::filesystem::path own = std::filesystem::path(task.file).parent_path();
  const auto read_own = [&](const Shape& shape) {  // its path is from where we are, not from the task's folder
    if (shape.type != Shape::Type::mesh || shape.mesh.empty()) return;
    read(shape.mesh, std::filesystem::absolute(shape.mesh).string(), own, allowed, task);
  };
  for (const TaskObstacle& obstacle : task.obstacles) read_own(obstacle.shape);
  for (const TaskSolid& solid : task.solids) read_own(solid.shape);
  if (task.payload && task.payload->shape) read_own(*task.payload->shape);
  if (task.obstacles.empty() && !task.collision) return;
  const std::filesystem::path folder = std::filesystem::path(model.file).parent_path();
  for (const Link& link : model.robot.links) {
    for (const Shape& shape : link.collisions) {
      if (shape.type == Shape::Type::mesh) read(mesh_name(model, shape), shape.mesh, folder, allowed, task);
    }
  }
}

}  // namespace kinegraph
