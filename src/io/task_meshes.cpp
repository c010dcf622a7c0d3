#include "kinegraph/io/task_meshes.hpp"

#include "kinegraph/io/mesh_file.hpp"

namespace kinegraph {
namespace {

using Folders = std::vector<std::filesystem::path>;

void read(const Shape& shape, const std::string& name, const std::filesystem::path& folder, const Folders& allowed,
          PlanTask& task) {
  if (shape.type != Shape::Type::mesh || task.meshes.count(shape.mesh) > 0) return;
  const std::vector<float> numbers = read_mesh(name, folder, allowed);
  if (numbers.empty()) return;
  std::vector<Vector3d>& corners = task.meshes[shape.mesh];
  corners.reserve(numbers.size() / 3);
  for (std::size_t i = 0; i + 2 < numbers.size(); i += 3)
    corners.emplace_back(numbers[i], numbers[i + 1], numbers[i + 2]);
}

}  // namespace

void read_meshes(PlanTask& task, const Model& model, const Folders& allowed) {
  const std::filesystem::path own = std::filesystem::path(task.file).parent_path();
  const auto read_own = [&](const Shape& shape) {  // its path is from where we are, not from the task's folder
    if (shape.mesh.empty()) return;
    read(shape, std::filesystem::absolute(shape.mesh).string(), own, allowed, task);
  };
  for (const TaskObstacle& obstacle : task.obstacles) read_own(obstacle.shape);
  for (const TaskSolid& solid : task.solids) read_own(solid.shape);
  if (task.obstacles.empty() && !task.collision) return;
  const std::filesystem::path folder = std::filesystem::path(model.file).parent_path();
  for (const Link& link : model.robot.links) {
    for (const Shape& shape : link.collisions) read(shape, shape.mesh, folder, allowed, task);
  }
}

}  // namespace kinegraph
