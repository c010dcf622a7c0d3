#include "kinegraph/mechanics/screw/centre_of_mass.hpp"

#include <algorithm>

#include "kinegraph/mechanics/screw/motion.hpp"

namespace kinegraph::screw {

CentreOfMass::CentreOfMass(std::shared_ptr<const Tree> tree)
    : tree_(std::move(tree)),
      poses_(tree_->bodies().size()),
      mass_(tree_->bodies().size()),
      moment_(tree_->bodies().size()) {
  for (const Body& body : tree_->bodies()) {
    first_.push_back(static_cast<int>(columns_.size()));
    for (int k = 0; k < body.joint.freedoms; ++k) columns_.emplace_back().row = body.joint.v + k;
  }
  first_.push_back(static_cast<int>(columns_.size()));
}

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

void CentreOfMass::add_curvature(const double* q, const Eigen::Vector3d& weight, StateHessian& to) {
  at(q, nullptr);
  const std::vector<Body>& bodies = tree_->bodies();
  const double mass = tree_->mass();
  for (int i = 0; i < static_cast<int>(bodies.size()); ++i) {
    Matrix6d S;
    joint_transform(bodies[i].joint, q, &S);
    for (int k = first_[i]; k < first_[i + 1]; ++k) {
      const Vector6d J = poses_[i].twist(S.col(k - first_[i]));
      columns_[k].turn = weight.cross(J.head<3>());
      columns_[k].change = (mass_[i] * J.tail<3>() + J.head<3>().cross(moment_[i])) / mass;
    }
    for (int k = first_[i]; k < first_[i + 1]; ++k) {
      const auto bent = [&](int o) { return columns_[o].turn.dot(columns_[k].change); };
      for (int o = first_[i]; o < first_[i + 1]; ++o) {
        to.add(StateHessian::q, columns_[o].row, StateHessian::q, columns_[k].row, o == k ? bent(o) : 0.5 * bent(o));
      }
      for (int j = bodies[i].parent; j >= 0; j = bodies[j].parent) {
        for (int o = first_[j]; o < first_[j + 1]; ++o) {
          to.add_both(StateHessian::q, columns_[o].row, columns_[k].row, bent(o));
        }
      }
    }
  }
}

}  // namespace kinegraph::screw
