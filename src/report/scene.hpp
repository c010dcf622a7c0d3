#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kinegraph/base/result.hpp"
#include "kinegraph/mechanics/screw/tree.hpp"
#include "kinegraph/model/model.hpp"
#include "kinegraph/model/trajectory.hpp"

namespace kinegraph::report {

/// Triangles of a mesh: three corners of three numbers each. Empty: none was found.
using MeshSource = std::function<std::vector<float>(const std::string& name)>;

/// A point of a link where a force acts that the table has as NAME.fx .fy .fz, in the world's axes: a contact.
struct ForcePoint {
  std::string name, link;
  Eigen::Vector3d at = Eigen::Vector3d::Zero();  ///< in the link's frame
};

/// A body that does not move and is no part of the machine.
struct Obstacle {
  std::string name;
  Shape shape;  ///< X_LG: in the world
};

struct SceneOptions {
  bool discrete = false;           ///< poses that have nothing between them: branches
  int degrees_of_freedom = 0;      ///< of one freedom deviations of a point lie along its path
  MeshSource meshes = {};          ///< by the name that the file gives; null: none
  std::size_t most_frames = 3000;  ///< of the animation
  std::vector<ForcePoint> contacts = {};
  std::vector<Obstacle> obstacles = {};
};

/// The section `scene` of a page (docs/report.md): what the machine looks like, and where it is in every frame. Of a
/// planar model its points, of a robot the poses of its bodies, both from the columns of the trajectory; a joint
/// without a column stands as the file puts it.
Result<nlohmann::ordered_json> scene_section(const Model& model, const Trajectory& trajectory,
                                             const SceneOptions& options);

/// A table of one row: the machine as its file puts it.
Result<Trajectory> as_drawn(const Model& model);

/// The section `view` of a page: what it needs to move the machine by itself. `driven`: names of the coordinates that
/// get a slider ("theta.q", "P1.x", of a robot "elbow.q").
/// `pose`: where it starts (its first row, by the names of the columns); without it, as the file says.
Result<nlohmann::ordered_json> view_section(const Model& model, const std::vector<std::string>& driven,
                                            const Trajectory* pose = nullptr);

namespace scene {

/// Samples that become frames of the animation: evenly spread, 60 per second and `most` at most, the last included.
std::vector<int> frames(const std::vector<double>& times, std::size_t most);
std::vector<double> times_of(const Trajectory& trajectory, const std::vector<int>& frames);

nlohmann::ordered_json vector(const Eigen::Vector3d& v);
nlohmann::ordered_json pose(const screw::Transform<double>& X);  ///< [x, y, z, qw, qx, qy, qz]

/// q of a tree in one sample: columns that the table has, else the start's.
class PositionReader {
 public:
  PositionReader(const screw::Tree& tree, const Trajectory& trajectory);
  const Eigen::VectorXd& at(int sample);
  bool complete() const { return complete_; }  ///< every joint has its columns

 private:
  const Trajectory& trajectory_;
  std::vector<int> columns_;
  Eigen::VectorXd q_;
  bool complete_ = true;
};

Result<nlohmann::ordered_json> planar(const Model& model, const Trajectory& trajectory, const SceneOptions& options);
Result<nlohmann::ordered_json> spatial(const Model& model, const Trajectory& trajectory, const SceneOptions& options);

}  // namespace scene
}  // namespace kinegraph::report
