#include "kinegraph/mechanics/screw/chain_motion.hpp"

#include <algorithm>

namespace kinegraph::screw {

ChainMotion::ChainMotion(std::shared_ptr<const Tree> tree, int body) : tree_(std::move(tree)) {
  for (int i = body; i >= 0; i = tree_->bodies()[i].parent) bodies_.push_back(i);
  std::reverse(bodies_.begin(), bodies_.end());
  for (const int i : bodies_) {
    const ScrewJoint& joint = tree_->bodies()[i].joint;
    for (int k = 0; k < joint.freedoms; ++k) {
      columns_.emplace_back().freedom = joint.v + k;
      columns_.back().body = i;
    }
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
// what V and V̇ change beside, at p; with DV and DA = A' − V × DV that is A' at p + 2 DV_ω × ṗ of p̈.
PointChange point_change(const ChainMotion&, const PointState& s, const ChainMotion::Column& column) {
  const Eigen::Vector3d turn = column.J.head<3>();
  PointChange c;
  c.p_q = at_point(column.J, s.p);
  c.velocity_q = turn.cross(s.velocity) + at_point(column.V_q, s.p);
  c.acceleration_q =
      turn.cross(s.acceleration) + at_point(column.A_q, s.p) + 2 * column.V_q.head<3>().cross(s.velocity);
  c.acceleration_v = at_point(column.A_v, s.p) + 2 * turn.cross(s.velocity);
  return c;
}

namespace {

/// w × (the turning parts of a column): with these, w · (ω × x) = (w × ω) · x.
struct TurnedColumn {
  TurnedColumn(const ChainMotion::Column& c, const Eigen::Vector3d& w)
      : J(w.cross(c.J.head<3>())),
        V_q(w.cross(c.V_q.head<3>())),
        A_q(w.cross(c.A_q.head<3>())),
        A_v(w.cross(c.A_v.head<3>())) {}
  Eigen::Vector3d J, V_q, A_q, A_v;
};

}  // namespace

// A displacement along an axis beyond another one leaves all of the latter's column, and moves the point. An axis of
// the same joint turns with it, by J × J', and A_v with that by J × A_v + 2 V_q × J'; see
// inverse_dynamics_curvature.cpp.
void add_point_curvature(const ChainMotion& chain, const PointState& s, const PointWeight& w, int levels,
                         StateHessian& to) {
  using Level = StateHessian::Level;
  const auto& columns = chain.columns();
  for (const ChainMotion::Column& far : columns) {
    const PointChange by = point_change(chain, s, far);
    for (const ChainMotion::Column& near : columns) {
      const bool same = near.body == far.body;
      if (&near > &far && !same) break;
      const TurnedColumn p(near, w.p), v(near, w.velocity), a(near, w.acceleration);
      const double bent = p.J.dot(by.p_q) + v.J.dot(by.velocity_q) + v.V_q.dot(by.p_q) + a.J.dot(by.acceleration_q) +
                          a.A_q.dot(by.p_q) + 2 * a.V_q.dot(by.velocity_q);
      const int n = near.freedom, f = far.freedom;
      const auto both = [&](Level level, double value) {
        if (same) return to.add(level, n, level, f, &near == &far ? value : 0.5 * value);
        to.add_both(level, n, f, value);
      };
      both(Level::q, bent);
      if (levels < 2) continue;
      double q_of_v = v.J.dot(by.p_q) + a.A_v.dot(by.p_q) + 2 * a.J.dot(by.velocity_q);
      double q_of_a = a.J.dot(by.p_q), v_of_v = 2 * a.J.dot(by.p_q);
      if (same) {
        const Vector6d turn = cross_twist<double>(far.J, near.J);
        const Vector6d A_v = cross_twist<double>(far.J, near.A_v) + 2 * cross_twist<double>(far.V_q, near.J);
        const Eigen::Vector3d moved = at_point(turn, s.p);
        q_of_v += w.velocity.dot(moved) + w.acceleration.dot(at_point(A_v, s.p) + 2 * turn.head<3>().cross(s.velocity));
        q_of_a += w.acceleration.dot(moved);
        v_of_v += w.acceleration.dot(moved);
      }
      to.add(Level::v, n, Level::q, f, q_of_v);
      if (!same) to.add(Level::q, n, Level::v, f, v.J.dot(by.p_q) + a.J.dot(by.acceleration_v) + 2 * a.V_q.dot(by.p_q));
      if (levels < 3) continue;
      both(Level::v, v_of_v);
      to.add(Level::a, n, Level::q, f, q_of_a);
      if (!same) to.add(Level::q, n, Level::a, f, a.J.dot(by.p_q));
    }
  }
}

}  // namespace kinegraph::screw
