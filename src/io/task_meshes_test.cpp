#include "kinegraph/io/task_meshes.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "kinegraph/io/task_file.hpp"

namespace kinegraph {
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
  EXPECT_EQ(task->meshes.size(), 2U);
  EXPECT_EQ(task->meshes.at("meshes/wedge.obj").size(), 6U);
  EXPECT_EQ(task->meshes.at(task->obstacles[0].shape.mesh).size(), 6U);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace kinegraph
