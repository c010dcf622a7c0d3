#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kinegraph/model/model.hpp"
#include "kinegraph/task/spatial_field.hpp"
#include "kinegraph/task/spatial_reactions.hpp"

namespace kinegraph::task {

/// The series that a robot's motion is written as, and one sample of them: of every joint q, v, a (and its torque,
/// where it is driven); of a planar model its points; poses of links and joint reactions where they are asked for.
class SpatialRecorder {
 public:
  struct Options {
    bool poses = false, reactions = false;
  };
  SpatialRecorder(const Model& model, std::shared_ptr<const screw::Tree> tree, const SpatialDrive& drive,
                  const Options& options);

  const std::vector<std::string>& names() const { return names_; }
  /// One row, good until the next call, of the state at which `field` was asked for its rates last.
  const double* row(const double* q, const double* v, const double* a, const SpatialField& field);

 private:
  struct PointPlace {
    int body = -1;
    Eigen::Vector3d at = Eigen::Vector3d::Zero();  ///< in the body's frame
  };
  void place_points(const Model& model);
  double* write_point(const PointPlace& point, const SpatialField& field, double* out) const;
  double* write_poses(const screw::Poses& poses, double* out) const;

  std::shared_ptr<const screw::Tree> tree_;
  std::vector<char> driven_;  ///< per coordinate
  std::vector<PointPlace> points_;
  bool poses_ = false;
  std::optional<SpatialReactions> reactions_;
  std::vector<std::string> names_;
  std::vector<double> row_;
};

}  // namespace kinegraph::task
