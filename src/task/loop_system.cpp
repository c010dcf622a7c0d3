#include "kinegraph/task/loop_system.hpp"

#include <algorithm>

#include "kinegraph/mechanics/screw/motion.hpp"

namespace kinegraph::task {
namespace {

/// Whether a number of v is a length: those of sliding freedoms.
bool slides(const screw::Coordinate& c, int k) {
  switch (c.type) {
    case JointType::prismatic:
      return true;
    case JointType::cylindrical:
      return k == 1;
    case JointType::planar:
      return k < 2;
    case JointType::floating:
      return k >= 3;
    default:
      return false;
  }
}

}  // namespace

double typical_length(const screw::Tree& tree) {
  double length = 0;
  for (const screw::Body& body : tree.bodies()) length = std::max(length, body.X_PF.p.norm());
  for (const screw::Loop& loop : tree.loops()) {
    length = std::max({length, loop.X_AF.p.norm(), loop.X_BM.p.norm()});
  }
  return length > 0 ? length : 1;
}

LoopSystem::LoopSystem(const screw::Tree& tree)
    : tree_(tree), poses_(tree.bodies().size()), length_(typical_length(tree)) {
  for (const screw::Coordinate& c : tree.coordinates()) {
    for (int k = 0; k < c.freedoms; ++k) {
      if (c.in_loop) columns_.push_back(c.v + k);
      is_length_.push_back(slides(c, k));
    }
  }
}

// e = log E, E = X_FM(q)⁻¹ X_FM of the bodies:   ∂e = J_r⁻¹(e) (Ad(X_MB) J_b − Ad(X_MA) J_a − Ad(E)⁻¹ S)
void LoopSystem::evaluate(const Eigen::VectorXd& q, Eigen::VectorXd& residual, Eigen::MatrixXd* jacobian) {
  residual.resize(6 * loops());
  screw::body_poses(tree_, q.data(), poses_);
  screw::closure(tree_, q.data(), poses_, residual.data());
  if (jacobian) {
    screw::closure_jacobian(tree_, q.data(), poses_, *jacobian);
    for (int l = 0; l < loops(); ++l) {
      const screw::ScrewJoint& via = tree_.loops()[l].via;
      const screw::Vector6d e = residual.segment<6>(6 * l);
      const screw::Transform<double> E(SE3::exp(e));
      Eigen::Matrix<double, 6, 6> S;
      screw::joint_transform(via, q.data(), &S);
      auto rows = jacobian->middleRows<6>(6 * l);
      for (int k = 0; k < via.freedoms; ++k) rows.col(via.v + k) += S.col(k) - E.twist_back(S.col(k).eval());
      rows = SE3::right_jacobian_inverse(e) * rows.eval();
      rows.bottomRows<3>() /= length_;
    }
  }
  for (int l = 0; l < loops(); ++l) residual.segment<3>(6 * l + 3) /= length_;
}

Eigen::MatrixXd LoopSystem::velocity_rows(const Eigen::VectorXd& q) {
  Eigen::MatrixXd jacobian;
  screw::body_poses(tree_, q.data(), poses_);
  screw::closure_jacobian(tree_, q.data(), poses_, jacobian);
  for (int l = 0; l < loops(); ++l) jacobian.middleRows<3>(6 * l + 3) /= length_;
  return jacobian;
}

}  // namespace kinegraph::task
