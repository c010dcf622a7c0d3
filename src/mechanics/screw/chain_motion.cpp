#include "kinegraph/mechanics/screw/chain_motion.hpp"

#include <algorithm>

namespace kinegraph::screw {

ChainMotion::ChainMotion(std::shared_ptr<const Tree> tree, int body) : tree_(std::move(tree)) {
  for (int i = body; i >= 0; i = tree_->bodies()[i].parent) bodies_.push_back(i);
  std::reverse(bodies_.begin(), bodies_.end());
  for (const int i : bodies_) {
    const ScrewJoint& joint = tree_->bodies()[i].joint;
    for (int k = 0; k < joint.freedoms; ++k) columns_.emplace_back().freedom = joint.v + k;
  }
}

void ChainMotion::set(const double* q, const double* v, const double* a) {
  X_ = Transform<double>();
  V_.setZero();
  A_.setZero();
  std::size_t first = 0;
  for (const int i : bodies_) {
    const Body& body = tree_->bodies()[i];
    Matrix6d S;
    X_ = X_ * (body.X_PF * joint_transform(body.joint, q, &S));
    const Vector6d V_P = V_, A_P = A_;
    Vector6d rate = Vector6d::Zero(), change = Vector6d::Zero();
    for (int k = 0; k < body.joint.freedoms; ++k) {
      Column& column = columns_[first + k];
      column.J = X_.twist(S.col(k));
      if (v) rate += column.J * v[column.freedom];
      if (a) change += column.J * a[column.freedom];
    }
    V_ += rate;
    A_ += change + cross_twist<double>(V_, rate);
    for (int k = 0; v && k < body.joint.freedoms; ++k) {
      Column& column = columns_[first + k];
      column.V_q = cross_twist<double>(V_P, column.J);
      column.A_q = cross_twist<double>(A_P, column.J) + cross_twist<double>(V_P, column.V_q);
      column.A_v = cross_twist<double>(V_, column.J) + column.V_q;
    }
    first += body.joint.freedoms;
  }
}

namespace {

Eigen::Vector3d at_point(const Vector6d& x, const Eigen::Vector3d& p) { return x.tail<3>() + x.head<3>().cross(p); }

}  // namespace

PointState point_state(const ChainMotion& chain, const Eigen::Vector3d& at) {
  PointState s;
  s.p = chain.pose() * at;
  s.velocity = at_point(chain.V(), s.p);
  s.acceleration = at_point(chain.A(), s.p) + chain.V().head<3>().cross(s.velocity);
  return s;
}

// What is carried by a displacement along J turns with it: δp = J at p, δṗ = ω_J × ṗ, δp̈ = ω_J × p̈. To that comes
// what V and V̇ change beside: at p, and for p̈ through ω × ṗ.
PointChange point_change(const ChainMotion& chain, const PointState& s, const ChainMotion::Column& column) {
  const Eigen::Vector3d turn = column.J.head<3>(), w = chain.V().head<3>();
  const auto acceleration = [&](const Vector6d& DV, const Vector6d& A) {
    const Vector6d DA = A - cross_twist<double>(chain.V(), DV);
    const Eigen::Vector3d change = at_point(DA, s.p) + DV.head<3>().cross(s.velocity) + w.cross(at_point(DV, s.p));
    return change;
  };
  PointChange c;
  c.p_q = at_point(column.J, s.p);
  c.velocity_q = turn.cross(s.velocity) + at_point(column.V_q, s.p);
  c.acceleration_q = turn.cross(s.acceleration) + acceleration(column.V_q, column.A_q);
  c.acceleration_v = acceleration(column.J, column.A_v);
  return c;
}

}  // namespace kinegraph::screw
