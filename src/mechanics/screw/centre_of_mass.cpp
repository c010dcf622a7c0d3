#include "kinegraph/mechanics/screw/centre_of_mass.hpp"

#include <algorithm>

#include "kinegraph/mechanics/screw/motion.hpp"

namespace kinegraph::screw {

CentreOfMass::CentreOfMass(std::shared_ptr<const Tree> tree)
    : tree_(std::move(tree)),
      poses_(tree_->bodies().size()),
      mass_(tree_->bodies().size()),
      moment_(tree_->bodies().size()) {}

Eigen::Vector3d CentreOfMass::at(const double* q, double* by_q) {
  const std::vector<Body>& bodies = tree_->bodies();
  body_poses(*tree_, q, poses_);
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    mass_[i] = bodies[i].mass;
    moment_[i] = bodies[i].mass * (poses_[i] * bodies[i].com);
  }
  Eigen::Vector3d sum = Eigen::Vector3d::Zero();
  double mass = 0;
  for (int i = static_cast<int>(bodies.size()) - 1; i >= 0; --i) {
    const int p = bodies[i].parent;
    (p < 0 ? mass : mass_[p]) += mass_[i];
    (p < 0 ? sum : moment_[p]) += moment_[i];
  }
  if (by_q) {
    std::fill_n(by_q, 3 * tree_->freedoms(), 0.0);
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      const ScrewJoint& joint = bodies[i].joint;
      Matrix6d S;
      joint_transform(joint, q, &S);
      for (int k = 0; k < joint.freedoms; ++k) {
        const Vector6d J = poses_[i].twist(S.col(k));
        Eigen::Map<Eigen::Vector3d>(by_q + 3 * (joint.v + k)) +=
            (mass_[i] * J.tail<3>() + J.head<3>().cross(moment_[i])) / mass;
      }
    }
  }
  return sum / mass;
}

}  // namespace kinegraph::screw
