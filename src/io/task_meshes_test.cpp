#include "kinegraph/io/task_meshes.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "kinegraph/io/task_file.hpp"
#include "kinegraph/model/mesh_name.hpp"

namespace kinegraph::task_meshes_test {
namespace {

TEST(TaskMeshes, AreReadBesideTheirFiles) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "kinegraph_task_meshes";
  std::filesystem::create_directories(folder / "meshes");
  std::ofstream(folder / "meshes/wedge.obj") << "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\n";
  std::ofstream(folder / "task.yaml") << "model: arm.urdf\nhorizon: 1\nsteps: 2\n"
                                         "obstacles: [{name: w, type: mesh, file: meshes/wedge.obj, scale: 0.5}]\n";
  Result<PlanTask> task = read_task(folder / "task.yaml");
  ASSERT_TRUE(task) << task.failure().to_string();
  EXPECT_EQ(task->obstacles[0].shape.size, Vector3d::Constant(0.5));
  Model model;
  model.file = (folder / "arm.urdf").string();
  Link link;
  Shape shape;
  shape.type = Shape::Type::mesh;
  shape.mesh = "meshes/wedge.obj";
  link.collisions = {shape};
  shape.mesh = "meshes/none.stl";
  link.collisions.push_back(shape);
  model.robot.links = {link};
  read_meshes(*task, model);
  EXPECT_EQ(task->meshes.size(), 1U);  // one file
  EXPECT_EQ(task->meshes.at(mesh_name(model, link.collisions[0])).size(), 6U);
  EXPECT_EQ(task->meshes.at(task->obstacles[0].shape.mesh).size(), 6U);
  std::filesystem::remove_all(folder);
}

/// A link and an obstacle, each with its own meshes/wedge.obj.
TEST(TaskMeshes, EqualNamesInTwoFoldersAreTwoMeshes) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "kinegraph_equal_meshes";
  for (const char* place : {"meshes", "robot/meshes"}) std::filesystem::create_directories(folder / place);
  std::ofstream(folder / "meshes/wedge.obj") << "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\n";
  std::ofstream(folder / "robot/meshes/wedge.obj") << "v 0 0 0\nv 2 0 0\nv 0 2 0\nf 1 2 3\n";
  std::ofstream(folder / "task.yaml") << "model: robot/arm.urdf\nhorizon: 1\nsteps: 2\n"
                                         "obstacles: [{name: w, type: mesh, file: meshes/wedge.obj}]\n";
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder);
  Result<PlanTask> task = read_task("task.yaml");
  ASSERT_TRUE(task) << task.failure().to_string();
  Model model;
  model.file = "robot/arm.urdf";
  Shape shape;
  shape.type = Shape::Type::mesh;
  shape.mesh = task->obstacles[0].shape.mesh;
  model.robot.links.emplace_back().collisions = {shape};
  read_meshes(*task, model);
  std::filesystem::current_path(before);
  EXPECT_EQ(task->meshes.at(shape.mesh).size(), 6U);
  ASSERT_EQ(task->meshes.count(mesh_name(model, shape)), 1U);
  EXPECT_EQ(task->meshes.at(mesh_name(model, shape)).size(), 3U);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace kinegraph::task_meshes_test
