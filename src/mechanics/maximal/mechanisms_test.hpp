#pragma once

#include "kinegraph/base/dual.hpp"
#include "kinegraph/mechanics/maximal/balance.hpp"
#include "kinegraph/mechanics/maximal/conversion.hpp"
#include "kinegraph/mechanics/screw/kinematics.hpp"
#include "kinegraph/mechanics/screw/robots_test.hpp"

namespace kinegraph::maximal {

/// Mechanisms with random numbers, for tests.
class RandomMechanism : public screw::RandomRobot {
 public:
  using RandomRobot::RandomRobot;

  /// A chain of all types of joints, from a link that stands in the world; every other one (`turned`: the rest) is
  /// drawn from its far side.
  void chain(bool turned = false) {
    int last = link("l0");
    joint(JointType::fixed, -1, last);
    int count = 0;
    for (const JointType type : screw::all_moving_types()) {
      const int next = link("l" + std::to_string(robot.links.size()));
      const bool backward = (count++ % 2 == 0) == turned;
      kinegraph::Joint& made = backward ? joint(type, next, last) : joint(type, last, next);
      made.axis2 = (made.axis.cross(vector()).normalized() + 0.4 * made.axis).normalized();  // not nearly the same
      made.dynamics.resize(freedoms(type));
      for (JointDynamics& d : made.dynamics) {
        d.armature = 0.1 + 0.05 * number();
        d.stiffness = 1.5 + number();
        d.rest = 0.3 * number();
        d.damping = 0.3 + 0.1 * number();
        d.quadratic = 0.2 + 0.1 * number();
        d.friction = 0.2;
        d.stribeck = 0.1;
        d.stribeck_speed = 0.7;
      }
      last = next;
    }
  }
  /// A joint that closes a loop between two links at q: it is where its own position says.
  void close(JointType type, int parent, int child, const screw::Tree& tree, const Eigen::VectorXd& q, double at) {
    screw::Poses poses(tree.bodies().size());
    screw::body_poses(tree, q.data(), poses);
    kinegraph::Joint& made = joint(type, parent, child);
    made.closes_loop = true;
    SE3 moved;
    if (type == JointType::revolute) moved = SE3(SO3::exp(at * made.axis), Vector3d::Zero());
    if (type == JointType::prismatic) moved = SE3(SO3(), Vector3d(at * made.axis));
    if (type == JointType::ball) moved = SE3(SO3::exp(Vector3d(at, -at, 2 * at)), Vector3d::Zero());
    const auto pose = [&](int link) {
      const screw::Transform<double> X = screw::link_pose(tree, poses, link);
      return SE3(SO3(X.R), X.p);
    };
    made.X_CM = pose(child).inverse() * pose(parent) * made.X_PF * moved;
  }
  std::shared_ptr<const Mechanism> make() { return *Mechanism::make(robot); }
};

/// Body poses and velocities at random joint positions and rates.
struct RandomState {
  Eigen::VectorXd q_tree, v_tree, q, v;

  RandomState(RandomMechanism& random, const Mechanism& mechanism)
      : q_tree(random.position(mechanism.tree())),
        v_tree(random.velocity(mechanism.tree())),
        q(mechanism.stored()),
        v(mechanism.tangent()) {
    poses_of(mechanism, mechanism.numbers(), q_tree.data(), q.data());
    velocities_of(mechanism, mechanism.numbers(), q_tree.data(), v_tree.data(), v.data());
  }
};

/// Pose of a body (the ground's is fixed); `first`: the dual direction of its first freedom.
template <class T>
Pose<T> pose(const double* q, int body, int first) {
  Pose<T> at;
  if (body < 0) return at;
  const Eigen::Matrix3d R = SO3::load(q + 7 * body).matrix();
  at.R = R.template cast<T>();
  for (int k = 0; k < 3; ++k) at.p[k] = T(q[7 * body + 4 + k]);
  if constexpr (kDirections < T >> 0) {
    for (int k = 0; k < 3; ++k) {
      at.p[k].v[first + 3 + k] = 1;
      const Eigen::Matrix3d turned = R * skew<double>(Eigen::Vector3d(Eigen::Vector3d::Unit(k)));
      for (int i = 0; i < 9; ++i) at.R(i).v[first + k] = turned(i);
    }
  }
  return at;
}

template <class T>
JointPlace<T> place(const Mechanism& mechanism, const Joint& joint, const double* q) {
  const auto com = [&](int body) {
    std::vector<T> c(3, T(0.0));
    for (int k = 0; body >= 0 && k < 3; ++k)
      c[k] = T(mechanism.numbers()[mechanism.bodies()[body].numbers + BodyNumbers::com + k]);
    return c;
  };
  std::vector<T> numbers(JointNumbers::count);
  for (int k = 0; k < JointNumbers::count; ++k) numbers[k] = T(mechanism.numbers()[joint.numbers + k]);
  const auto a = com(joint.a), b = com(joint.b);
  return JointPlace<T>(pose<T>(q, joint.a, 0), pose<T>(q, joint.b, 6), a.data(), b.data(), numbers.data());
}

/// q with the two bodies of a joint moved by 12 numbers.
inline Eigen::VectorXd moved(const Mechanism& mechanism, const Joint& joint, const Eigen::VectorXd& q,
                             const Eigen::VectorXd& delta) {
  Eigen::VectorXd all = Eigen::VectorXd::Zero(mechanism.tangent()), out(q.size());
  if (joint.a >= 0) all.segment<6>(6 * joint.a) = delta.head<6>();
  if (joint.b >= 0) all.segment<6>(6 * joint.b) = delta.tail<6>();
  retract(static_cast<int>(mechanism.bodies().size()), q.data(), all.data(), out.data());
  return out;
}

}  // namespace kinegraph::maximal
