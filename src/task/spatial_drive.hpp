#pragma once

#include <array>
#include <optional>
#include <vector>

#include "kinegraph/mechanics/screw/kinematics.hpp"
#include "kinegraph/model/model.hpp"
#include "kinegraph/model/trajectory.hpp"

namespace kinegraph::task {

/// What drives a robot: torques of joints and loads on links, as functions of time. Zero but for the motors' laws of a
/// planar model and for what a recording gives.
class SpatialDrive {
 public:
  /// `input`: columns `joint.tau`, `joint.u` (controls: the torque is gain times), `link.load.fx` … (world's axes, at
  /// the link's origin), straight lines between samples. Refused: columns that mean nothing, both columns of one joint,
  /// a recording without any that drives, one that ends before `time`.
  static Result<SpatialDrive> make(const Model& model, const screw::Tree& tree, const std::optional<Trajectory>& input,
                                   double time);

  bool has_loads() const { return !loads_.empty(); }
  bool at_rest() const { return torques_.empty() && loads_.empty(); }
  const std::vector<int>& driven() const { return driven_; }  ///< numbers of v whose torque is not zero by default

  void torques(double t, double* tau) const;  ///< freedoms() numbers
  /// Per body, in its frame at its origin; `poses` are those of the bodies at that time.
  void loads(double t, const screw::Poses& poses, std::vector<screw::Vector6d>& wrenches) const;

 private:
  explicit SpatialDrive(const screw::Tree& tree) : freedoms_(tree.freedoms()) {}
  Result<std::monostate> read(const screw::Tree& tree, const Trajectory& input, double time);
  void drive(int freedom, Law law);

  struct Torque {
    int freedom = 0;
    Law law;
  };
  struct Load {
    int body = 0;
    screw::Transform<double> X_BL;
    std::array<Law, 6> wrench;  ///< moment, then force
  };
  int freedoms_;
  std::vector<Torque> torques_;
  std::vector<Load> loads_;
  std::vector<int> driven_;
};

}  // namespace kinegraph::task
