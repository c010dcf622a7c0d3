#include "kinegraph/mechanics/screw/inverse_dynamics.hpp"

#include <fmt/format.h>

#include "kinegraph/mechanics/screw/joint/list.hpp"
#include "kinegraph/mechanics/screw/joint_derivatives.hpp"

// All twists and wrenches are seen from the world. With A = V̇ − (0, g) and Y the inertia of a body,
//
//     V = V_P + J q̇,     A = A_P + J q̈ + V × J q̇,     F = Σ over all that hangs on the joint of (Y A + V ×* Y V − f)
//
// A displacement along axis J of a joint carries everything beyond it as a rigid body, and changes it, seen from that
// moving frame, by (Carpentier and Mansard, Analytical derivatives of rigid body dynamics algorithms, 2018)
//
//     V_q = V_P × J,     A_q = A_P × J + V_P × V_q,                  of the joint: the same for all bodies beyond
//     DV = V_q,          DA = A_q − V × V_q                          of a body beyond
//     DF = Y A_q + B V_q,     B = V ×* Y − Y V × + (· ×* Y V)        sums over bodies, so Y and B may be of all beyond
//
// and along q̇ by DV = J, DA = A_v − V × J with A_v = (V + V_P) × J. An axis beyond turns with F, so that its τ = Jᵀ F
// changes by Jᵀ DF alone; that of a joint before does not, and sees DF + J ×* F. A force f at p that keeps its
// direction does not turn: its wrench changes, beside being carried, by −(p × (ω × f), ω × f), collected in K ω.

namespace kinegraph::screw {
namespace {

/// Y of a body about the world's origin.
Matrix6d inertia_in_world(const Body& body, const Transform<double>& X) {
  const Matrix3d about_origin = X.R * body.inertia.topLeftCorner<3, 3>() * X.R.transpose();
  const Eigen::Vector3d mc = body.mass * (X.R * body.com), p = X.p;
  const Eigen::Vector3d moment = mc + body.mass * p;  // m (p + R c)
  // I_W = I_B + p·(2 mc + m p) 1 − sym:   −(p^ mc^ + mc^ p^ + m p^ p^)
  const Matrix3d P = skew<double>(p), C = skew<double>(mc);
  Matrix6d Y;
  Y.topLeftCorner<3, 3>() = about_origin - P * C - C * P - body.mass * P * P;
  Y.topRightCorner<3, 3>() = skew<double>(moment);
  Y.bottomLeftCorner<3, 3>() = -Y.topRightCorner<3, 3>();
  Y.bottomRightCorner<3, 3>() = body.mass * Matrix3d::Identity();
  return Y;
}

}  // namespace

std::string InverseDynamics::refusal(const Tree& tree) {
  if (!tree.loops().empty()) return fmt::format("joint '{}' closes a loop", tree.loops()[0].name);
  for (const Body& body : tree.bodies()) {
    const bool constant = visit_joint(body.joint.type, [](auto kind) { return decltype(kind)::kConstant; });
    if (!constant || body.joint.reversed) {
      return fmt::format("joint '{}' is {}", tree.coordinates()[body.joint.coordinate].name,
                         body.joint.reversed ? "given from its child to its parent" : to_string(body.joint.type));
    }
  }
  return "";
}

InverseDynamics::InverseDynamics(std::shared_ptr<const Tree> tree, std::vector<BodyPoint> points, double friction_speed)
    : tree_(std::move(tree)),
      points_(std::move(points)),
      places_(tree_->bodies().size()),
      at_(points_.size()),
      friction_speed_(friction_speed) {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const ScrewJoint& joint = tree_->bodies()[i].joint;
    places_[i].first = static_cast<int>(columns_.size());
    places_[i].count = joint.freedoms;
    for (int k = 0; k < joint.freedoms; ++k) columns_.emplace_back().row = joint.v + k;
  }
  for (const BodyPoint& point : points_) {
    for (int i = point.body; i >= 0; i = tree_->bodies()[i].parent) places_[i].loaded = true;
  }
}

void InverseDynamics::evaluate(const double* q, const double* v, const double* a, const double* const* forces,
                               const Output& out) {
  const int n = tree_->freedoms();
  const bool derivatives = out.by_q != nullptr;
  outward(q, v, a, derivatives);
  add_forces(forces, derivatives);
  std::fill_n(out.tau, n, 0.0);
  inward(out.tau, derivatives);
  if (derivatives) {
    for (double* matrix : {out.by_q, out.by_v, out.by_a}) std::fill_n(matrix, n * n, 0.0);
    fill_columns();
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const Column* own = columns_.data() + places_[i].first;
      for (int k = 0; k < places_[i].count; ++k) {
        for (int l = 0; l < places_[i].count; ++l) {  // both of this joint: its axes turn with F
          out.by_q[own[k].row + n * own[l].row] +=
              own[k].YJ.dot(own[l].A_q) + own[k].BJ.dot(own[l].V_q) + own[k].KJ.dot(own[l].J.head<3>());
          out.by_v[own[k].row + n * own[l].row] += own[k].YJ.dot(own[l].A_v) + own[k].BJ.dot(own[l].J);
          out.by_a[own[k].row + n * own[l].row] += own[k].YJ.dot(own[l].J);
        }
        for (int j = tree_->bodies()[i].parent; j >= 0; j = tree_->bodies()[j].parent) {
          for (int l = 0; l < places_[j].count; ++l) pair(columns_[places_[j].first + l], own[k], out, n);
        }
      }
    }
  }
  if (out.by_force) {
    std::fill_n(out.by_force, 3 * n * static_cast<int>(points_.size()), 0.0);
    for (std::size_t c = 0; c < points_.size(); ++c) {
      double* const block = out.by_force + 3 * n * static_cast<int>(c);
      for (int i = points_[c].body; i >= 0; i = tree_->bodies()[i].parent) {
        for (int k = 0; k < places_[i].count; ++k) {
          const Column& column = columns_[places_[i].first + k];
          const Eigen::Vector3d speed = column.J.tail<3>() + column.J.head<3>().cross(at_[c]);
          for (int d = 0; d < 3; ++d) block[column.row + n * d] -= speed[d];
        }
      }
    }
  }
  add_joint_forces(q, v, a, out);
}

void InverseDynamics::outward(const double* q, const double* v, const double* a, bool derivatives) {
  Vector6d ground = Vector6d::Zero();
  ground.tail<3>() = -tree_->gravity();
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const Body& body = tree_->bodies()[i];
    Place& place = places_[i];
    const Place* parent = body.parent < 0 ? nullptr : &places_[body.parent];
    Matrix6d S;
    const Transform<double> X_PB = body.X_PF * joint_transform(body.joint, q, &S);
    place.X_WB = parent ? parent->X_WB * X_PB : X_PB;
    const Vector6d V_P = parent ? parent->V : Vector6d::Zero(), A_P = parent ? parent->A : ground;
    Vector6d rate = Vector6d::Zero(), change = Vector6d::Zero();
    for (int k = 0; k < place.count; ++k) {
      Column& column = columns_[place.first + k];
      column.J = place.X_WB.twist(S.col(k));
      rate += column.J * v[column.row];
      change += column.J * a[column.row];
    }
    place.V = V_P + rate;
    place.A = A_P + change + cross_twist<double>(place.V, rate);
    place.Y = inertia_in_world(body, place.X_WB);
    const Vector6d h = place.Y * place.V;
    place.F = place.Y * place.A + cross_wrench<double>(place.V, h);
    if (!derivatives) continue;
    place.B.noalias() = wrench_ad(place.V) * place.Y;
    place.B.noalias() -= place.Y * ad(place.V);
    place.B += cross_wrench_by_twist(h);
    for (int k = 0; k < place.count; ++k) {
      Column& column = columns_[place.first + k];
      column.V_q = cross_twist<double>(V_P, column.J);
      column.A_q = cross_twist<double>(A_P, column.J) + cross_twist<double>(V_P, column.V_q);
      column.A_v = cross_twist<double>(place.V, column.J) + column.V_q;
    }
  }
}

void InverseDynamics::add_forces(const double* const* forces, bool derivatives) {
  if (points_.empty()) return;
  if (derivatives) {
    for (Place& place : places_) place.K.setZero();
  }
  for (std::size_t c = 0; c < points_.size(); ++c) {
    Place& place = places_[points_[c].body];
    const Eigen::Vector3d f = Eigen::Map<const Eigen::Vector3d>(forces[c]);
    const Eigen::Vector3d p = at_[c] = place.X_WB * points_[c].at;
    place.F.head<3>() -= p.cross(f);
    place.F.tail<3>() -= f;
    if (!derivatives) continue;
    place.K.topRows<3>() -= skew<double>(p) * skew<double>(f);
    place.K.bottomRows<3>() -= skew<double>(f);
  }
}

void InverseDynamics::inward(double* tau, bool derivatives) {
  for (int i = static_cast<int>(places_.size()) - 1; i >= 0; --i) {
    const Place& place = places_[i];
    for (int k = 0; k < place.count; ++k) {
      const Column& column = columns_[place.first + k];
      tau[column.row] += column.J.dot(place.F);
    }
    const int p = tree_->bodies()[i].parent;
    if (p < 0) continue;
    places_[p].F += place.F;
    if (!derivatives) continue;
    places_[p].Y += place.Y;
    places_[p].B += place.B;
    if (place.loaded) places_[p].K += place.K;
  }
}

void InverseDynamics::fill_columns() {
  for (const Place& place : places_) {
    for (int k = 0; k < place.count; ++k) {
      Column& column = columns_[place.first + k];
      column.YJ.noalias() = place.Y * column.J;
      column.BJ.noalias() = place.B.transpose() * column.J;
      column.F_q = cross_wrench<double>(column.J, place.F);
      column.F_q.noalias() += place.Y * column.A_q;
      column.F_q.noalias() += place.B * column.V_q;
      column.F_v.noalias() = place.Y * column.A_v;
      column.F_v.noalias() += place.B * column.J;
      column.KJ.setZero();
      if (!place.loaded) continue;
      column.KJ.noalias() = place.K.transpose() * column.J;
      column.F_q.noalias() += place.K * column.J.head<3>();
    }
  }
}

/// A freedom of a joint, and one of a joint beyond it.
void InverseDynamics::pair(const Column& near, const Column& far, const Output& out, int n) const {
  out.by_q[far.row + n * near.row] += far.YJ.dot(near.A_q) + far.BJ.dot(near.V_q) + far.KJ.dot(near.J.head<3>());
  out.by_v[far.row + n * near.row] += far.YJ.dot(near.A_v) + far.BJ.dot(near.J);
  out.by_q[near.row + n * far.row] += near.J.dot(far.F_q);
  out.by_v[near.row + n * far.row] += near.J.dot(far.F_v);
  const double m = far.YJ.dot(near.J);
  out.by_a[far.row + n * near.row] += m;
  out.by_a[near.row + n * far.row] += m;
}

void InverseDynamics::add_joint_forces(const double* q, const double* v, const double* a, const Output& out) const {
  const int n = tree_->freedoms();
  for (const Coordinate& c : tree_->coordinates()) {
    for (int k = 0; k < c.freedoms; ++k) {
      const JointDynamics& dynamics = c.dynamics[k];
      const int i = c.v + k, diagonal = i * (n + 1);
      const double position = c.stored == c.freedoms ? q[c.q + k] : 0;
      out.tau[i] += dynamics.armature * a[i] - joint_force(dynamics, position, v[i], friction_speed_);
      if (!out.by_q) continue;
      out.by_a[diagonal] += dynamics.armature;
      out.by_v[diagonal] += dynamics.damping + friction_rate(dynamics, v[i], friction_speed_);
      if (c.stored == c.freedoms) out.by_q[diagonal] += dynamics.stiffness;
    }
  }
}

}  // namespace kinegraph::screw
