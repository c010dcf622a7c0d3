#include "kinegraph/mechanics/screw/kinematics.hpp"

#include "kinegraph/mechanics/screw/motion.hpp"

namespace kinegraph::screw {
namespace {

using SubspaceBuffer = Eigen::Matrix<double, 6, 6>;

Transform<double> pose_of(const Poses& poses, int body) { return body < 0 ? Transform<double>() : poses[body]; }

/// Adds `sign` · Ad(X_MW) · (the twist of a body, in the world) per v to the rows of `jacobian`.
void add_chain(const Tree& tree, const double* q, const Poses& poses, int body, const Transform<double>& X_WM,
               double sign, Eigen::Ref<Eigen::MatrixXd> rows) {
  for (int i = body; i >= 0; i = tree.bodies()[i].parent) {
    const ScrewJoint& joint = tree.bodies()[i].joint;
    SubspaceBuffer S;
    joint_transform(joint, q, &S);
    for (int k = 0; k < joint.freedoms; ++k) {
      rows.col(joint.v + k) += sign * X_WM.twist_back(poses[i].twist(S.col(k).eval()));
    }
  }
}

}  // namespace

void body_poses(const Tree& tree, const double* q, Poses& poses) {
  for (std::size_t i = 0; i < tree.bodies().size(); ++i) {
    const Body& body = tree.bodies()[i];
    const Transform<double> X_PB = body.X_PF * joint_transform(body.joint, q);
    poses[i] = body.parent < 0 ? X_PB : poses[body.parent] * X_PB;
  }
}

Transform<double> link_pose(const Tree& tree, const Poses& poses, int link) {
  const LinkPlace& place = tree.links()[link];
  return pose_of(poses, place.body) * place.X_BL;
}

void body_twists(const Tree& tree, const double* q, const double* v, std::vector<Vector6d>& twists) {
  for (std::size_t i = 0; i < tree.bodies().size(); ++i) {
    const Body& body = tree.bodies()[i];
    SubspaceBuffer S;
    const Transform<double> X_PB = body.X_PF * joint_transform(body.joint, q, &S);
    twists[i].setZero();
    if (body.parent >= 0) twists[i] = X_PB.twist_back(twists[body.parent]);
    for (int k = 0; k < body.joint.freedoms; ++k) twists[i] += S.col(k) * v[body.joint.v + k];
  }
}

void body_jacobian(const Tree& tree, const double* q, const Poses& poses, int body, Eigen::MatrixXd& jacobian) {
  jacobian.setZero(6, tree.freedoms());
  add_chain(tree, q, poses, body, pose_of(poses, body), 1, jacobian);
}

void closure(const Tree& tree, const double* q, const Poses& poses, double* residual) {
  for (std::size_t l = 0; l < tree.loops().size(); ++l) {
    const Loop& loop = tree.loops()[l];
    const Transform<double> said = pose_of(poses, loop.a) * loop.X_AF * joint_transform(loop.via, q);
    const Transform<double> open = said.inverse() * (pose_of(poses, loop.b) * loop.X_BM);
    Eigen::Map<Vector6d>(residual + 6 * l) = SE3(SO3(Eigen::Quaterniond(open.R)), open.p).log();
  }
}

void closure_jacobian(const Tree& tree, const double* q, const Poses& poses, Eigen::MatrixXd& jacobian) {
  jacobian.setZero(6 * static_cast<int>(tree.loops().size()), tree.freedoms());
  for (std::size_t l = 0; l < tree.loops().size(); ++l) {
    const Loop& loop = tree.loops()[l];
    const Transform<double> X_WM = pose_of(poses, loop.b) * loop.X_BM;
    auto rows = jacobian.middleRows(6 * static_cast<int>(l), 6);
    add_chain(tree, q, poses, loop.b, X_WM, 1, rows);
    add_chain(tree, q, poses, loop.a, X_WM, -1, rows);
    SubspaceBuffer S;
    joint_transform(loop.via, q, &S);
    for (int k = 0; k < loop.via.freedoms; ++k) rows.col(loop.via.v + k) -= S.col(k);
  }
}

Energy energy(const Tree& tree, const double* q, const double* v) {
  Poses poses(tree.bodies().size());
  std::vector<Vector6d> twists(tree.bodies().size());
  body_poses(tree, q, poses);
  body_twists(tree, q, v, twists);
  return energy(tree, q, v, poses, twists);
}

Energy energy(const Tree& tree, const double* q, const double* v, const Poses& poses,
              const std::vector<Vector6d>& twists) {
  Energy e;
  for (std::size_t i = 0; i < poses.size(); ++i) {
    const Body& body = tree.bodies()[i];
    e.kinetic += 0.5 * twists[i].dot(body.inertia * twists[i]);
    e.potential -= body.mass * tree.gravity().dot(poses[i] * body.com);
  }
  for (const Coordinate& c : tree.coordinates()) {
    for (int k = 0; k < c.freedoms; ++k) {
      const JointDynamics& d = c.dynamics[k];
      e.kinetic += 0.5 * d.armature * v[c.v + k] * v[c.v + k];
      if (c.stored == c.freedoms) e.spring += 0.5 * d.stiffness * std::pow(q[c.q + k] - d.rest, 2);
    }
  }
  return e;
}

Vector6d momentum(const Tree& tree, const double* q, const double* v) {
  Poses poses(tree.bodies().size());
  std::vector<Vector6d> twists(tree.bodies().size());
  body_poses(tree, q, poses);
  body_twists(tree, q, v, twists);
  return momentum(tree, poses, twists);
}

Vector6d momentum(const Tree& tree, const Poses& poses, const std::vector<Vector6d>& twists) {
  Vector6d sum = Vector6d::Zero();
  for (std::size_t i = 0; i < poses.size(); ++i) sum += poses[i].wrench(tree.bodies()[i].inertia * twists[i]);
  return sum;
}

}  // namespace kinegraph::screw
