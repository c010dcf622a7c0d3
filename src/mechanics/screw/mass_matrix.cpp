#include "kinegraph/mechanics/screw/mass_matrix.hpp"

#include "kinegraph/mechanics/screw/motion.hpp"

namespace kinegraph::screw {

MassMatrix::MassMatrix(std::shared_ptr<const Tree> tree)
    : tree_(std::move(tree)), places_(tree_->bodies().size()), mass_(tree_->freedoms(), tree_->freedoms()) {}

const Eigen::MatrixXd& MassMatrix::at(const double* q) {
  const std::vector<Body>& bodies = tree_->bodies();
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    places_[i].X_PB = bodies[i].X_PF * joint_transform(bodies[i].joint, q, &places_[i].S);
    places_[i].composite = bodies[i].inertia;
  }
  for (int i = static_cast<int>(bodies.size()) - 1; i >= 0; --i) {
    if (bodies[i].parent < 0) continue;
    const Matrix6d X_BP = places_[i].X_PB.inverse().Ad();
    places_[bodies[i].parent].composite.noalias() += X_BP.transpose() * places_[i].composite * X_BP;
  }

  mass_.setZero();
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const ScrewJoint& joint = bodies[i].joint;
    for (int k = 0; k < joint.freedoms; ++k) {
      Vector6d F = places_[i].composite * places_[i].S.col(k);
      for (int l = 0; l < joint.freedoms; ++l) mass_(joint.v + l, joint.v + k) += places_[i].S.col(l).dot(F);
      for (int j = static_cast<int>(i); bodies[j].parent >= 0;) {
        F = places_[j].X_PB.wrench(F);
        j = bodies[j].parent;
        const ScrewJoint& above = bodies[j].joint;
        for (int l = 0; l < above.freedoms; ++l) {  // a joint may mimic one above it: both halves of a diagonal entry
          const double m = places_[j].S.col(l).dot(F);
          mass_(above.v + l, joint.v + k) += m;
          mass_(joint.v + k, above.v + l) += m;
        }
      }
    }
  }
  for (const Coordinate& c : tree_->coordinates()) {
    for (int k = 0; k < c.freedoms; ++k) mass_(c.v + k, c.v + k) += c.dynamics[k].armature;
  }
  return mass_;
}

}  // namespace kinegraph::screw
