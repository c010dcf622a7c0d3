#include "kinegraph/mechanics/screw/motion.hpp"

#include <cmath>

#include "kinegraph/mechanics/screw/joint/list.hpp"

namespace kinegraph::screw {
namespace {

using SubspaceBuffer = Eigen::Matrix<double, 6, 6>;

/// The joint's own q and v: those of its coordinate, scaled where it has one freedom.
struct OwnState {
  OwnState(const ScrewJoint& joint, const double* its_q, const double* its_v) : q(its_q), v(its_v) {
    if (joint.freedoms == 1) {
      scaled_q = joint.ratio * *q + joint.offset;
      scaled_v = joint.ratio * *v;
      q = &scaled_q;
      v = &scaled_v;
    }
  }
  OwnState(const OwnState&) = delete;
  const double *q, *v;
  double scaled_q = 0, scaled_v = 0;
};

/// X_FM, S θ̇, Ṡ θ̇ and S of a joint, seen from the frame on its far side. S is written unless it is constant (and then
/// by the constructor of Motion). q and v are those of its coordinate.
Transform<double> evaluate(const ScrewJoint& joint, const double* q, const double* v, bool constant_too,
                           SubspaceBuffer& S, Vector6d& Sv, Vector6d& bias) {
  const OwnState own(joint, q, v);
  Transform<double> X;
  visit_joint(joint.type, [&](auto kind) {
    using Kind = decltype(kind);
    X = Kind::template transform<double>(joint.shape, own.q);
    if constexpr (Kind::kFreedoms > 0) {
      const auto s = Kind::template subspace<double>(joint.shape, own.q);
      Sv = s * Eigen::Map<const Eigen::Matrix<double, Kind::kFreedoms, 1>>(own.v);
      bias = Kind::template bias<double>(joint.shape, own.q, own.v);
      if (constant_too || !Kind::kConstant || joint.reversed) {
        S.template leftCols<Kind::kFreedoms>() = Kind::kFreedoms == 1 ? (joint.ratio * s).eval() : s;
      }
    } else {
      Sv.setZero();
      bias.setZero();
    }
  });
  if (joint.reversed) {
    // the twist of F against M, seen from F:   S' = −Ad(X_FM) S,   Ṡ' θ̇ = −Ad(X_FM) (Ṡ θ̇ + ad(Sθ̇) Sθ̇) = −Ad(X_FM) Ṡ θ̇
    for (int k = 0; k < joint.freedoms; ++k) S.col(k) = -X.twist(S.col(k).eval());
    Sv = -X.twist(Sv);
    bias = -X.twist(bias);
    X = X.inverse();
  }
  return X;
}

}  // namespace

namespace {

inline double viscous_and_spring(const JointDynamics& dynamics, double q, double v) {
  return -dynamics.damping * v - dynamics.stiffness * (q - dynamics.rest);
}

}  // namespace

double joint_force(const JointDynamics& dynamics, double q, double v, double friction_speed) {
  double force = viscous_and_spring(dynamics, q, v);
  if (dynamics.friction != 0) force -= dynamics.friction * std::tanh(v / friction_speed);
  return force;
}

double friction_rate(const JointDynamics& dynamics, double v, double friction_speed) {
  if (dynamics.friction == 0) return 0;
  const double t = std::tanh(v / friction_speed);
  return dynamics.friction / friction_speed * (1 - t * t);
}

Transform<double> joint_transform(const ScrewJoint& joint, const double* q, SubspaceBuffer* S) {
  static const double still[6] = {};
  SubspaceBuffer own;
  Vector6d Sv, bias;
  return evaluate(joint, q + joint.q, still, true, S ? *S : own, Sv, bias);
}

Motion::Motion(std::shared_ptr<const Tree> tree)
    : tree_(std::move(tree)),
      bodies_(tree_->bodies().size()),
      loops_(tree_->loops().size()),
      joint_force_(tree_->freedoms(), 0.0),
      joint_rate_(tree_->freedoms(), 0.0) {
  for (BodyMotion& body : bodies_) body.S.setZero();
  for (LoopMotion& loop : loops_) loop.S.setZero();
  const Eigen::VectorXd q = tree_->start_position();
  for (std::size_t i = 0; i < bodies_.size(); ++i) joint_transform(tree_->bodies()[i].joint, q.data(), &bodies_[i].S);
  for (std::size_t i = 0; i < loops_.size(); ++i) joint_transform(tree_->loops()[i].via, q.data(), &loops_[i].S);
}

void Motion::set(const double* q, const double* v, const Surroundings& surroundings) {
  for (std::size_t i = 0; i < bodies_.size(); ++i) set_body(static_cast<int>(i), q, v, surroundings);
  for (std::size_t i = 0; i < loops_.size(); ++i) set_loop(static_cast<int>(i), q, v, surroundings);
  if (!surroundings.joint_forces) {
    std::fill(joint_force_.begin(), joint_force_.end(), 0.0);
    std::fill(joint_rate_.begin(), joint_rate_.end(), 0.0);
    return;
  }
  for (const Coordinate& c : tree_->coordinates()) {
    for (int k = 0; k < c.freedoms; ++k) {
      const double position = c.stored == c.freedoms ? q[c.q + k] : 0;
      const JointDynamics& dynamics = c.dynamics[k];
      const int i = c.v + k;
      joint_force_[i] = viscous_and_spring(dynamics, position, v[i]);
      joint_rate_[i] = dynamics.damping;
      if (dynamics.friction == 0) continue;
      const double speed = surroundings.friction_speed ? surroundings.friction_speed[i] : kFrictionSpeed;
      const double share = std::tanh(v[i] / speed);
      joint_force_[i] -= dynamics.friction * share;
      joint_rate_[i] += dynamics.friction / speed * (1 - share * share);
    }
  }
}

namespace {

/// X_PF · Rz(q): the first two columns of the rotation turn, the rest stays.
inline void turn(const Transform<double>& X_PF, double q, Transform<double>& X) {
  const double c = std::cos(q), s = std::sin(q);
  for (int r = 0; r < 3; ++r) {
    const double x = X_PF.R(r, 0), y = X_PF.R(r, 1);
    X.R(r, 0) = c * x + s * y;
    X.R(r, 1) = c * y - s * x;
    X.R(r, 2) = X_PF.R(r, 2);
  }
  X.p = X_PF.p;
}

/// bᵢ = −ad(V)ᵀ G V − weight, with G V = (I ω + m c × v, m (v − c × ω)).
inline Vector6d wrench_bias(const Body& body, const Vector6d& V, const Eigen::Vector3d& gravity) {
  const Eigen::Vector3d w = V.head<3>(), v = V.tail<3>(), mc = body.mass * body.com;
  const Eigen::Vector3d linear = body.mass * v - mc.cross(w);
  const Eigen::Vector3d angular = body.inertia.topLeftCorner<3, 3>() * w + mc.cross(v);
  Vector6d b;
  b.head<3>() = w.cross(angular) + v.cross(linear) - mc.cross(gravity);
  b.tail<3>() = w.cross(linear) - body.mass * gravity;
  return b;
}

}  // namespace

void Motion::set_body(int i, const double* q, const double* v, const Surroundings& surroundings) {
  const Body& body = tree_->bodies()[i];
  BodyMotion& m = bodies_[i];
  const bool ground = body.parent < 0;
  const Vector6d& V_P = ground ? surroundings.base_twist : bodies_[body.parent].V;
  const Eigen::Vector3d& g_P = ground ? surroundings.gravity : bodies_[body.parent].gravity;
  const ScrewJoint& joint = body.joint;
  if (joint.type == JointType::revolute || joint.type == JointType::continuous) {
    // S = (e_z, 0): most joints of most robots, so written out
    const double rate = joint.ratio * v[joint.v];
    turn(body.X_PF, joint.ratio * q[joint.q] + joint.offset, m.X_PB);
    m.V = m.X_PB.twist_back(V_P);
    m.V[2] += rate;
    m.c << rate * m.V[1], -rate * m.V[0], 0, rate * m.V[4], -rate * m.V[3], 0;
  } else {
    Vector6d Sv, bias;
    m.X_PB = body.X_PF * evaluate(joint, q + joint.q, v + joint.v, false, m.S, Sv, bias);
    m.V = m.X_PB.twist_back(V_P) + Sv;
    m.c = cross_twist<double>(m.V, Sv) + bias;
  }
  m.gravity.noalias() = m.X_PB.R.transpose() * g_P;
  m.b = wrench_bias(body, m.V, m.gravity);
  if (surroundings.loads) m.b -= surroundings.loads[i];
}

void Motion::set_loop(int i, const double* q, const double* v, const Surroundings& surroundings) {
  const Loop& loop = tree_->loops()[i];
  LoopMotion& m = loops_[i];
  Vector6d Sv, bias;
  m.X_AM = loop.X_AF * evaluate(loop.via, q + loop.via.q, v + loop.via.v, false, m.S, Sv, bias);
  m.X_BM = loop.X_BM;
  const Vector6d& V_A = loop.a < 0 ? surroundings.base_twist : bodies_[loop.a].V;
  m.c = bias - cross_twist<double>(Sv, m.X_AM.twist_back(V_A));
}

}  // namespace kinegraph::screw
