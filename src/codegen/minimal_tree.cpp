#include "kinegraph/codegen/minimal_tree.hpp"

#include <cmath>

namespace kinegraph::codegen {
namespace {

using screw::Matrix6d;
using screw::Transform;

constexpr double kSnap = 6e-12;      // of entries of rotations: a right angle in twelve digits, 1.57079632679
constexpr double kLength = 1e-12;    // m: no offset at all
constexpr double kRounding = 1e-13;  // of moments of inertia
constexpr double kSteep = 0.1;       // of an axis along which a frame is slid to where an offset vanishes

bool turns(const screw::ScrewJoint& joint) {
  return (joint.type == JointType::revolute || joint.type == JointType::continuous) && !joint.reversed;
}

/// Entries that are 0 but for rounding are 0; ±1 only where all others of their row and column are 0. The cosine of a
/// small angle beside its sine stays as it is: else R would be no rotation.
void snap(Transform<double>& X) {
  for (double& x : X.R.reshaped()) {
    if (std::abs(x) < kSnap) x = 0;
  }
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 3; ++c) {
      const bool alone = (X.R.row(r).array() != 0).count() == 1 && (X.R.col(c).array() != 0).count() == 1;
      if (alone && X.R(r, c) != 0) X.R(r, c) = std::round(X.R(r, c));
    }
  }
  for (double& x : X.p) {
    if (std::abs(x) < kLength) x = 0;
  }
}

/// Ad(X)ᵀ G Ad(X) of X = X_NB, G in B: the same inertia, seen from N.
Matrix6d seen_from(const Matrix6d& G, const Transform<double>& X_BN) {
  const Matrix6d A = X_BN.Ad();
  return A.transpose() * G * A;
}

/// Entries of `changed` that are nothing but rounded angles, against the largest of their kind (moments, first moments,
/// mass) before the change.
void clean(const Matrix6d& before, Matrix6d& changed) {
  for (const auto& [r, c] : {std::pair(0, 0), std::pair(0, 3), std::pair(3, 0), std::pair(3, 3)}) {
    const double scale = before.block<3, 3>(r, c).cwiseAbs().maxCoeff();
    for (int k = 0; k < 9; ++k) {
      double& x = changed(r + k / 3, c + k % 3);
      if (std::abs(x) < kRounding * scale) x = 0;
    }
  }
}

}  // namespace

MinimalTree::MinimalTree(std::shared_ptr<const screw::Tree> source) : tree(std::move(source)) {
  for (const screw::Body& body : tree->bodies()) {
    bodies.push_back({body.parent, body.joint, body.X_PF, body.inertia, {}, body.children});
    snap(bodies.back().X_PF);
  }
  for (const screw::Loop& loop : tree->loops()) {
    loops.push_back({loop.a, loop.b, loop.X_AF, loop.X_BM, loop.via});
    snap(loops.back().X_AF);
    snap(loops.back().X_BM);
  }
  slide_frames();
  regroup_inertias();
}

/// Components of the offsets from the parent to this body and from it to its children that are zero.
int MinimalTree::zeros_around(int i) const {
  int zeros = 0;
  const auto add = [&](const Eigen::Vector3d& p) {
    for (const double x : p) zeros += std::abs(x) < kLength;
  };
  if (bodies[i].parent >= 0) add(bodies[i].X_PF.p);
  for (const int child : bodies[i].children) add(bodies[child].X_PF.p);
  return zeros;
}

/// The frames F and M of a joint both move along its axis.
void MinimalTree::slide(int i, double distance) {
  const Eigen::Vector3d along(0, 0, distance);
  const Transform<double> back(Eigen::Matrix3d::Identity(), -along), forth(Eigen::Matrix3d::Identity(), along);
  bodies[i].X_PF.p += bodies[i].X_PF.R * along;
  bodies[i].X_BN = bodies[i].X_BN * forth;
  for (const int child : bodies[i].children) bodies[child].X_PF = back * bodies[child].X_PF;
  for (Loop& loop : loops) {
    if (loop.a == i) loop.X_AF = back * loop.X_AF;
    if (loop.b == i) loop.X_BM = back * loop.X_BM;
  }
}

/// Each frame in turn where it leaves most zeros, until none gains.
void MinimalTree::slide_frames() {
  bool moved = true;
  for (int sweep = 0; sweep < 5 && moved; ++sweep) {
    moved = false;
    for (int i = 0; i < static_cast<int>(bodies.size()); ++i) {
      if (!turns(bodies[i].joint)) continue;
      std::vector<double> candidates;
      const Eigen::Vector3d axis = bodies[i].X_PF.R.col(2);
      for (int k = 0; k < 3; ++k) {
        if (std::abs(axis[k]) > kSteep) candidates.push_back(-bodies[i].X_PF.p[k] / axis[k]);
      }
      for (const int child : bodies[i].children) candidates.push_back(bodies[child].X_PF.p[2]);
      double best = 0;
      int most = zeros_around(i);
      for (const double distance : candidates) {
        slide(i, distance);
        if (const int zeros = zeros_around(i); zeros > most) most = zeros, best = distance;
        slide(i, -distance);
      }
      if (best != 0) slide(i, best), moved = true;
    }
  }
  for (Body& body : bodies) {
    snap(body.X_PF);
    body.inertia = seen_from(body.inertia, body.X_BN);
  }
}

/// G = [I  mc^; −mc^  m 1]. What is given to the parent, D, shows nothing of the joint's motion: D S = 0, and the same
/// from F as from M whatever q.
void MinimalTree::regroup_inertias() {
  for (std::size_t n = bodies.size(); n-- > 0;) {
    Body& body = bodies[n];
    Matrix6d& G = body.inertia;
    Matrix6d given = Matrix6d::Zero();
    if (turns(body.joint)) {
      const double mass = G(3, 3), moment = G(1, 3), disc = G(1, 1);  // moment: m c_z, from (m c^)(1, 0)
      given.bottomRightCorner<3, 3>().diagonal().setConstant(mass);
      given(0, 4) = given(4, 0) = -moment;
      given(1, 3) = given(3, 1) = moment;
      given(0, 0) = given(1, 1) = disc;
    } else if (body.joint.type == JointType::prismatic && !body.joint.reversed) {
      given.topLeftCorner<3, 3>() = G.topLeftCorner<3, 3>();
    }
    const Matrix6d before = G;
    G -= given;
    clean(before, G);
    if (body.parent >= 0) bodies[body.parent].inertia += seen_from(given, body.X_PF.inverse());
  }
}

}  // namespace kinegraph::codegen
