#include "kinegraph/mechanics/screw/differential.hpp"

#include "kinegraph/mechanics/screw/joint/list.hpp"

// A displacement η moves the frame of body i against its parent's by the twist u = S η, so that what is carried over
// the joint changes by (X = Ad(Tᵢ,ₚ))
//
//     δ(X y) = X δy + ad(X y) u,      δ(Xᵀ F) = Xᵀ (δF − ad(u)ᵀ F)
//
// and with that, from the equations in motion.hpp,
//
//     δV = X δVₚ + ad(X Vₚ) u + δ(S v),                  δ(S v) = S ξ + ∂(S v) η
//     δV̇ = X δV̇ₚ + ad(X V̇ₚ) u + S α + ∂(S a) η + δc,    δc = ad(V) δ(S v) − ad(S v) δV + δ(Ṡ v)
//     δF = G δV̇ − ad(δV)ᵀ G V − ad(V)ᵀ G δV − δ(weight) + Σ δ(Xᵀ F) over children − what loops give
//     δτ = Sᵀ δF + ∂(Sᵀ F) η + armature α + (d + μ/v₀ sech²) ξ + k η

namespace kinegraph::screw {
namespace {

/// (I ω + m c × v, m (v − c × ω))
inline Vector6d momentum_of(const Body& body, const Vector6d& V) {
  const Eigen::Vector3d mc = body.mass * body.com;
  Vector6d h;
  h.head<3>() = body.inertia.topLeftCorner<3, 3>() * V.head<3>() + mc.cross(V.tail<3>());
  h.tail<3>() = body.mass * V.tail<3>() - mc.cross(V.head<3>());
  return h;
}

inline Vector6d times(const Matrix6d& S, const double* x, int count) {
  Vector6d y = Vector6d::Zero();
  for (int k = 0; k < count; ++k) y += S.col(k) * x[k];
  return y;
}

// The same on four directions at once.

inline Lanes3 operator+(const Lanes3& a, const Lanes3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline Lanes3 operator-(const Lanes3& a, const Lanes3& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline Lanes3 operator*(double s, const Lanes3& a) { return {s * a.x, s * a.y, s * a.z}; }
inline Lanes6 operator+(const Lanes6& a, const Lanes6& b) { return {a.angular + b.angular, a.linear + b.linear}; }
inline Lanes6 operator-(const Lanes6& a, const Lanes6& b) { return {a.angular - b.angular, a.linear - b.linear}; }

inline Lanes6 zero_lanes() {
  const Lane o = Lane::Zero();
  return {{o, o, o}, {o, o, o}};
}
inline Lanes3 cross(const Eigen::Vector3d& a, const Lanes3& b) {
  return {a[1] * b.z - a[2] * b.y, a[2] * b.x - a[0] * b.z, a[0] * b.y - a[1] * b.x};
}
inline Lanes3 cross(const Lanes3& a, const Eigen::Vector3d& b) {
  return {b[2] * a.y - b[1] * a.z, b[0] * a.z - b[2] * a.x, b[1] * a.x - b[0] * a.y};
}
inline Lanes3 turn(const Matrix3d& R, const Lanes3& a) {
  return {R(0, 0) * a.x + R(0, 1) * a.y + R(0, 2) * a.z, R(1, 0) * a.x + R(1, 1) * a.y + R(1, 2) * a.z,
          R(2, 0) * a.x + R(2, 1) * a.y + R(2, 2) * a.z};
}
inline Lanes3 turn_back(const Matrix3d& R, const Lanes3& a) {
  return {R(0, 0) * a.x + R(1, 0) * a.y + R(2, 0) * a.z, R(0, 1) * a.x + R(1, 1) * a.y + R(2, 1) * a.z,
          R(0, 2) * a.x + R(1, 2) * a.y + R(2, 2) * a.z};
}
inline Lanes6 twist_back(const Transform<double>& X, const Lanes6& a) {
  return {turn_back(X.R, a.angular), turn_back(X.R, a.linear - cross(X.p, a.angular))};
}
inline Lanes6 wrench_of(const Transform<double>& X, const Lanes6& a) {
  const Lanes3 force = turn(X.R, a.linear);
  return {turn(X.R, a.angular) + cross(X.p, force), force};
}
/// ad(x) y
inline Lanes6 cross_lanes(const Vector6d& x, const Lanes6& y) {
  const Eigen::Vector3d w = x.head<3>(), v = x.tail<3>();
  return {cross(w, y.angular), cross(w, y.linear) + cross(v, y.angular)};
}
/// −ad(x)ᵀ y
inline Lanes6 cross_wrench(const Vector6d& x, const Lanes6& y) {
  const Eigen::Vector3d w = x.head<3>(), v = x.tail<3>();
  return {cross(w, y.angular) + cross(v, y.linear), cross(w, y.linear)};
}
inline Lanes6 cross_wrench(const Lanes6& x, const Vector6d& y) {
  const Eigen::Vector3d m = y.head<3>(), f = y.tail<3>();
  return {cross(x.angular, m) + cross(x.linear, f), cross(x.angular, f)};
}
inline Lanes6 momentum_of(const Body& body, const Lanes6& V) {
  const Eigen::Vector3d mc = body.mass * body.com;
  const Matrix3d I = body.inertia.topLeftCorner<3, 3>();
  return {turn(I, V.angular) + cross(mc, V.linear), body.mass * V.linear - cross(mc, V.angular)};
}

/// A row of a matrix in the columns of a group; beyond the last column zero.
inline Lane load(const Eigen::MatrixXd& x, Eigen::Index row, int group) {
  const Eigen::Index first = 4 * static_cast<Eigen::Index>(group), stride = x.rows();
  const double* at = x.data() + stride * first + row;
  if (first + 4 <= x.cols()) return Lane(at[0], at[stride], at[2 * stride], at[3 * stride]);
  Lane lane = Lane::Zero();
  for (Eigen::Index k = 0; first + k < x.cols(); ++k) lane[k] = at[k * stride];
  return lane;
}
inline void add(const Lane& lane, Eigen::Index row, int group, Eigen::MatrixXd& x) {
  const Eigen::Index first = 4 * static_cast<Eigen::Index>(group);
  for (Eigen::Index k = 0; k < 4 && first + k < x.cols(); ++k) x(row, first + k) += lane[k];
}
/// The first columns of S times rows of x, added.
inline void add_times(const Matrix6d& S, int freedoms, const Eigen::MatrixXd& x, int row, int group, Lanes6& sum) {
  for (int k = 0; k < freedoms; ++k) {
    const Lane l = load(x, row + k, group);
    sum.angular.x += S(0, k) * l;
    sum.angular.y += S(1, k) * l;
    sum.angular.z += S(2, k) * l;
    sum.linear.x += S(3, k) * l;
    sum.linear.y += S(4, k) * l;
    sum.linear.z += S(5, k) * l;
  }
}
inline Lane dot(const Matrix6d& S, int k, const Lanes6& F) {
  return S(0, k) * F.angular.x + S(1, k) * F.angular.y + S(2, k) * F.angular.z + S(3, k) * F.linear.x +
         S(4, k) * F.linear.y + S(5, k) * F.linear.z;
}

bool subspace_varies(const ScrewJoint& joint) {
  return joint.reversed || visit_joint(joint.type, [](auto kind) { return !decltype(kind)::kConstant; });
}

}  // namespace

Differential::Differential(std::shared_ptr<const Tree> tree)
    : tree_(std::move(tree)),
      bodies_(tree_->bodies().size()),
      loops_(tree_->loops().size()),
      rates_(tree_->freedoms(), 0.0) {
  for (std::size_t i = 0; i < bodies_.size(); ++i) bodies_[i].varies = subspace_varies(tree_->bodies()[i].joint);
  for (std::size_t l = 0; l < loops_.size(); ++l) loops_[l].varies = subspace_varies(tree_->loops()[l].via);
}

int Differential::reserve(Eigen::Index directions) {
  const int groups = static_cast<int>((directions + 3) / 4);
  if (groups > stride_) {
    stride_ = groups;
    changes_.resize(bodies_.size() * stride_);
  }
  return groups;
}

Vector6d Differential::wrench_change(int body, int direction) const {
  const Lanes6& F = change(body, direction / 4).F;
  const int k = direction % 4;
  Vector6d out;
  out << F.angular.x[k], F.angular.y[k], F.angular.z[k], F.linear.x[k], F.linear.y[k], F.linear.z[k];
  return out;
}

void Differential::set_place(const ScrewJoint& joint, const Matrix6d& S, const double* q, const double* v,
                             const double* a, Place& place) const {
  place.Sv = times(S, v + joint.v, joint.freedoms);
  if (!place.varies) return;
  place.varying.velocity = subspace_derivative(joint, q + joint.q, v + joint.v);
  if (!a) return;
  place.varying.acceleration = subspace_derivative(joint, q + joint.q, a + joint.v);
  place.varying.bias = joint_bias(joint, q + joint.q, v + joint.v);
}

void Differential::set_torque(const ScrewJoint& joint, const double* q, Place& place) const {
  if (!place.varies) return;
  for (int k = 0; k < joint.freedoms; ++k) {
    double unit[6] = {};
    unit[k] = 1;
    place.varying.torque.row(k) = place.F.transpose() * subspace_derivative(joint, q + joint.q, unit);
  }
}

void Differential::set(const Motion& motion, const double* q, const double* v, const double* a,
                       const double* wrenches) {
  const std::vector<Body>& bodies = tree_->bodies();
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    const Motion::BodyMotion& m = motion.body(static_cast<int>(i));
    const Body& body = bodies[i];
    Place& place = bodies_[i];
    set_place(body.joint, m.S, q, v, a, place);
    place.V = m.V;
    place.XV = m.V - place.Sv;
    if (!a) continue;
    place.XA.setZero();
    if (body.parent >= 0) place.XA = m.X_PB.twist_back(bodies_[body.parent].A);
    place.A = place.XA + times(m.S, a + body.joint.v, body.joint.freedoms) + m.c;
    place.F = momentum_of(body, place.A) + m.b;
  }
  for (std::size_t l = 0; l < loops_.size(); ++l) {
    const Motion::LoopMotion& m = motion.loop(static_cast<int>(l));
    const Loop& loop = tree_->loops()[l];
    Place& place = loops_[l];
    set_place(loop.via, m.S, q, v, a, place);
    place.V.setZero();
    place.A.setZero();
    if (loop.a >= 0) place.V = m.X_AM.twist_back(bodies_[loop.a].V);
    if (!a) continue;
    if (loop.a >= 0) place.A = m.X_AM.twist_back(bodies_[loop.a].A);
    place.F = Eigen::Map<const Vector6d>(wrenches + 6 * l);
    if (loop.b >= 0) bodies_[loop.b].F -= m.X_BM.wrench(place.F);
    if (loop.a >= 0) bodies_[loop.a].F += m.X_AM.wrench(place.F);
    set_torque(loop.via, q, place);
  }
  if (!a) return;
  for (int i = static_cast<int>(bodies_.size()) - 1; i >= 0; --i) {
    if (bodies[i].parent >= 0) bodies_[bodies[i].parent].F += motion.body(i).X_PB.wrench(bodies_[i].F);
    set_torque(bodies[i].joint, q, bodies_[i]);
  }
  rates_ = motion.joint_rate();
}

/// Without ξ only velocities, at fixed v.
void Differential::outward(const Motion& motion, int i, int group, const Directions& along) {
  const Body& body = tree_->bodies()[i];
  const ScrewJoint& joint = body.joint;
  const Motion::BodyMotion& m = motion.body(i);
  const Place& place = bodies_[i];
  Change& change = this->change(i, group);
  const Change* parent = body.parent < 0 ? nullptr : &this->change(body.parent, group);
  change.u = zero_lanes();
  add_times(m.S, joint.freedoms, *along.eta, joint.v, group, change.u);
  Lanes6 Sv = zero_lanes();
  if (along.xi) add_times(m.S, joint.freedoms, *along.xi, joint.v, group, Sv);
  if (place.varies) add_times(place.varying.velocity, joint.freedoms, *along.eta, joint.v, group, Sv);
  change.V = cross_lanes(place.XV, change.u) + Sv;
  if (parent) change.V = change.V + twist_back(m.X_PB, parent->V);
  if (!along.xi) return;

  change.A = cross_lanes(place.XA, change.u) + cross_lanes(place.V, Sv) - cross_lanes(place.Sv, change.V);
  if (parent) change.A = change.A + twist_back(m.X_PB, parent->A);
  if (place.varies) {
    add_times(place.varying.acceleration, joint.freedoms, *along.eta, joint.v, group, change.A);
    add_times(place.varying.bias.by_q, joint.freedoms, *along.eta, joint.v, group, change.A);
    add_times(place.varying.bias.by_v, joint.freedoms, *along.xi, joint.v, group, change.A);
  }
  if (along.alpha) add_times(m.S, joint.freedoms, *along.alpha, joint.v, group, change.A);
  change.gravity = cross(m.gravity, change.u.angular);
  if (parent) change.gravity = change.gravity + turn_back(m.X_PB.R, parent->gravity);
  // G V̇ with V̇ less gravity is G V̇ less the weight
  const Lanes6 felt{change.A.angular, change.A.linear - change.gravity};
  change.F = momentum_of(body, felt) + cross_wrench(change.V, momentum_of(body, place.V)) +
             cross_wrench(place.V, momentum_of(body, change.V));
}

void Differential::inward(const Motion& motion, int i, int group, const Directions& along, Eigen::MatrixXd& torque) {
  const Body& body = tree_->bodies()[i];
  const ScrewJoint& joint = body.joint;
  const Motion::BodyMotion& m = motion.body(i);
  const Place& place = bodies_[i];
  const Change& change = this->change(i, group);
  for (int k = 0; k < joint.freedoms; ++k) {
    Lane sum = dot(m.S, k, change.F);
    for (int l = 0; place.varies && l < joint.freedoms; ++l) {
      sum += place.varying.torque(k, l) * load(*along.eta, joint.v + l, group);
    }
    add(sum, joint.v + k, group, torque);
  }
  if (body.parent < 0) return;
  Change& parent = this->change(body.parent, group);
  parent.F = parent.F + wrench_of(m.X_PB, change.F + cross_wrench(change.u, place.F));
}

// V̇_M − V̇_F − S a − c,   c = Ṡ v − ad(S v) V_F; and the wrench on both sides. Without ξ the velocity, V_M − V_F − S v.
void Differential::loop(const Motion& motion, int l, int group, const Directions& along, Eigen::MatrixXd& torque,
                        Eigen::MatrixXd& closure) {
  const Loop& loop = tree_->loops()[l];
  const ScrewJoint& via = loop.via;
  const Motion::LoopMotion& m = motion.loop(l);
  const Place& place = loops_[l];
  const auto put = [&](const Lanes6& open) {
    const Lane* const rows[] = {&open.angular.x, &open.angular.y, &open.angular.z,
                                &open.linear.x,  &open.linear.y,  &open.linear.z};
    for (int r = 0; r < 6; ++r) add(*rows[r], 6 * l + r, group, closure);
  };
  Lanes6 u = zero_lanes(), Sv = zero_lanes(), left = zero_lanes();
  add_times(m.S, via.freedoms, *along.eta, via.v, group, u);
  if (along.xi) add_times(m.S, via.freedoms, *along.xi, via.v, group, Sv);
  if (place.varies) add_times(place.varying.velocity, via.freedoms, *along.eta, via.v, group, Sv);
  Lanes6 V_F = cross_lanes(place.V, u);
  if (loop.a >= 0) V_F = V_F + twist_back(m.X_AM, change(loop.a, group).V);
  if (!along.xi) {
    left = left - V_F - Sv;
    if (loop.b >= 0) left = left + twist_back(m.X_BM, change(loop.b, group).V);
    put(left);
    return;
  }
  if (loop.b >= 0) left = left + twist_back(m.X_BM, change(loop.b, group).A);
  if (loop.a >= 0) left = left - twist_back(m.X_AM, change(loop.a, group).A);
  left = left + cross_lanes(place.Sv, V_F);
  Lanes6 right = cross_lanes(place.A, u) + cross_lanes(place.V, Sv);
  if (place.varies) {
    add_times(place.varying.acceleration, via.freedoms, *along.eta, via.v, group, right);
    add_times(place.varying.bias.by_q, via.freedoms, *along.eta, via.v, group, right);
    add_times(place.varying.bias.by_v, via.freedoms, *along.xi, via.v, group, right);
  }
  if (along.alpha) add_times(m.S, via.freedoms, *along.alpha, via.v, group, right);
  put(left - right);

  Lanes6 F = zero_lanes();
  if (along.mu) add_times(Matrix6d::Identity(), 6, *along.mu, 6 * l, group, F);
  for (int k = 0; k < via.freedoms; ++k) {
    Lane sum = dot(m.S, k, F);
    for (int j = 0; place.varies && j < via.freedoms; ++j) {
      sum += place.varying.torque(k, j) * load(*along.eta, via.v + j, group);
    }
    add(sum, via.v + k, group, torque);
  }
  if (loop.b >= 0) change(loop.b, group).F = change(loop.b, group).F - wrench_of(m.X_BM, F);
  if (loop.a >= 0) {
    change(loop.a, group).F = change(loop.a, group).F + wrench_of(m.X_AM, F + cross_wrench(u, place.F));
  }
}

void Differential::joint_forces(const Directions& along, Eigen::MatrixXd& torque) const {
  for (const Coordinate& c : tree_->coordinates()) {
    for (int k = 0; k < c.freedoms; ++k) {
      const JointDynamics& dynamics = c.dynamics[k];
      const int i = c.v + k;
      if (rates_[i] != 0) torque.row(i) += rates_[i] * along.xi->row(i);
      if (dynamics.stiffness != 0 && c.stored == c.freedoms) torque.row(i) += dynamics.stiffness * along.eta->row(i);
      if (dynamics.armature != 0 && along.alpha) torque.row(i) += dynamics.armature * along.alpha->row(i);
    }
  }
}

void Differential::velocities(const Motion& motion, const Eigen::MatrixXd& eta, Eigen::MatrixXd& closure) {
  const Directions along{&eta};
  const int groups = reserve(eta.cols());
  closure.setZero(6 * static_cast<int>(loops_.size()), eta.cols());
  for (int g = 0; g < groups; ++g) {
    for (int i = 0; i < static_cast<int>(bodies_.size()); ++i) outward(motion, i, g, along);
    for (int l = 0; l < static_cast<int>(loops_.size()); ++l) loop(motion, l, g, along, closure, closure);
  }
}

void Differential::accelerations(const Motion& motion, const Eigen::MatrixXd& eta, const Eigen::MatrixXd& xi,
                                 const Eigen::MatrixXd* alpha, const Eigen::MatrixXd* mu, Eigen::MatrixXd& torque,
                                 Eigen::MatrixXd& closure) {
  const Directions along{&eta, &xi, alpha, mu};
  const int groups = reserve(eta.cols());
  torque.setZero(tree_->freedoms(), eta.cols());
  closure.setZero(6 * static_cast<int>(loops_.size()), eta.cols());
  for (int g = 0; g < groups; ++g) {
    for (int i = 0; i < static_cast<int>(bodies_.size()); ++i) outward(motion, i, g, along);
    for (int l = 0; l < static_cast<int>(loops_.size()); ++l) loop(motion, l, g, along, torque, closure);
    for (int i = static_cast<int>(bodies_.size()) - 1; i >= 0; --i) inward(motion, i, g, along, torque);
  }
  joint_forces(along, torque);
}

}  // namespace kinegraph::screw
