#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kinegraph/build/dynamics.hpp"
#include "kinegraph/mechanics/screw/kinematics.hpp"

namespace kinegraph::task {

/// The wrench through every joint, loops included: on the joint's child, at the joint's frame on the child, in the
/// world's axes.
class SpatialReactions {
 public:
  explicit SpatialReactions(std::shared_ptr<const screw::Tree> tree);

  const std::vector<std::string>& names() const { return names_; }  ///< "j.reaction.mx" …, six per joint
  /// After Dynamics::solve() at the position of `poses`: writes as many numbers as there are names.
  void write(const build::Dynamics& dynamics, const screw::Poses& poses, double* row) const;
  /// From wrenches as sensor::Instant::reaction has them; `axes`: of a body, in the world.
  void write(const Eigen::VectorXd& wrenches, const std::function<Eigen::Matrix3d(int body)>& axes, double* row) const;

 private:
  struct Reaction {
    int wrench = 0;                 ///< of Dynamics
    double sign = 1;                ///< −1: the joint's child is nearer to the ground
    int body = -1;                  ///< whose frame X_BM refers to; −1: the ground's
    screw::Transform<double> X_BM;  ///< axes that the wrench is given in
  };
  static double* write(const Reaction& reaction, const screw::Vector6d& wrench, const Eigen::Matrix3d& body,
                       double* row);

  std::shared_ptr<const screw::Tree> tree_;
  std::vector<std::string> names_;
  std::vector<Reaction> reactions_;
};

}  // namespace kinegraph::task
