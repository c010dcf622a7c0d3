#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kinegraph/mechanics/maximal/conversion.hpp"
#include "kinegraph/mechanics/sensor/observer.hpp"
#include "kinegraph/model/model.hpp"
#include "kinegraph/task/maximal_drive.hpp"
#include "kinegraph/task/recorder.hpp"
#include "kinegraph/task/spatial_reactions.hpp"

namespace kinegraph::task {

/// A machine in maximal coordinates at one instant: q, v, a by bodies (q followed by joint positions, as
/// sensor::Instant says), and by joints of the tree.
struct MaximalState {
  sensor::Instant instant;
  Eigen::VectorXd q_tree, v_tree, a_tree;

  explicit MaximalState(const maximal::Mechanism& mechanism);
  /// Bodies at q with velocities `before` and `after` on both sides of it, a step apart.
  ///
  ///     v = (v₋ + v₊)/2,   a = (v₊ − v₋)/h,   joints: by differences along the motion
  void set(const maximal::Mechanism& mechanism, double t, double h, const double* q, const double* before,
           const double* after);

 private:
  Eigen::VectorXd moved_, step_, speed_, rates_;
};

/// The series that a motion in maximal coordinates is written as, and one sample of them: of a robot those of
/// SpatialRecorder, of a planar model those of Recorder.
class MaximalRecorder {
 public:
  struct Options {
    bool poses = false, reactions = false;
  };
  MaximalRecorder(const Model& model, std::shared_ptr<const maximal::Mechanism> mechanism, const MaximalDrive& drive,
                  const Options& options);

  const std::vector<std::string>& names() const { return names_; }
  bool reactions() const { return reactions_ || pins_; }
  /// One row, good until the next call. With reactions: those of the instant must be there.
  const double* row(const MaximalState& state);

 private:
  struct PointPlace {
    int body = -1;
    Eigen::Vector3d at = Eigen::Vector3d::Zero();  ///< from the body's centre of mass
  };
  void place_points(const Model& model);
  void natural_coordinates(const MaximalState& state);
  double nearby(const RelativeCoordinate& relative, Eigen::Index coordinate, const MaximalState& state) const;
  double* write_joints(const MaximalState& state, double* out) const;

  std::shared_ptr<const maximal::Mechanism> mechanism_;
  const MaximalDrive& drive_;
  std::vector<char> driven_;  ///< per coordinate
  bool planar_ = false, poses_ = false;
  // of a planar model
  std::vector<RelativeCoordinate> relative_;
  std::vector<PointPlace> points_;  ///< all of them
  std::vector<int> coordinate_of_;  ///< per point: its x in natural q; −1: fixed
  std::optional<Recorder> natural_;
  Eigen::VectorXd q_, v_, a_, u_;
  std::unique_ptr<sensor::Observer> pins_;  ///< reads forces of pins as load cells do
  std::optional<SpatialReactions> reactions_;
  std::vector<SE3> links_;
  std::vector<std::string> names_;
  std::vector<double> row_;
};

}  // namespace kinegraph::task
