#include "kinegraph/mechanics/maximal/conversion.hpp"

#include <cmath>

#include "kinegraph/base/numbers.hpp"
#include "kinegraph/mechanics/maximal/joint_rows.hpp"
#include "kinegraph/mechanics/screw/joint_motion.hpp"

namespace kinegraph::maximal {
namespace {

using Transform = screw::Transform<double>;
using screw::Vector6d;
using Map3 = Eigen::Map<const Eigen::Vector3d>;

constexpr double kNoCentre[3] = {0, 0, 0};

Transform frame_at(const double* numbers) { return {Eigen::Map<const Eigen::Matrix3d>(numbers), Map3(numbers + 9)}; }

const double* com_of(const Mechanism& mechanism, const Eigen::VectorXd& numbers, int body) {
  return body < 0 ? kNoCentre : numbers.data() + mechanism.bodies()[body].numbers + BodyNumbers::com;
}

Pose<double> pose_of(const double* q, int body) {
  Pose<double> pose;
  if (body < 0) return pose;
  pose.R = SO3::load(q + 7 * body).matrix();
  pose.p = Map3(q + 7 * body + 4);
  return pose;
}

/// The frames of a joint, and the velocities of its bodies where there are any.
struct Place {
  Frame<double> F, M;
  double v[12];

  Place(const Mechanism& mechanism, const Eigen::VectorXd& numbers, const Joint& joint, const double* q)
      : F(frame_of(pose_of(q, joint.a), com_of(mechanism, numbers, joint.a),
                   numbers.data() + joint.numbers + JointNumbers::F)),
        M(frame_of(pose_of(q, joint.b), com_of(mechanism, numbers, joint.b),
                   numbers.data() + joint.numbers + JointNumbers::M)) {}

  void set_velocity(const Joint& joint, const double* of_bodies) {
    for (int k = 0; k < 6; ++k) {
      v[k] = joint.a < 0 ? 0 : of_bodies[6 * joint.a + k];
      v[6 + k] = joint.b < 0 ? 0 : of_bodies[6 * joint.b + k];
    }
  }
  /// X_FM
  SE3 relative() const {
    return SE3(SO3(Eigen::Matrix3d(F.R.transpose() * M.R)), Eigen::Vector3d(F.R.transpose() * (M.p - F.p)));
  }
  /// Twist of M against F, seen from M.
  Vector6d twist() const {
    const Eigen::Vector3d omega_a = F.body * Map3(v), omega_b = M.body * Map3(v + 6);
    const Eigen::Vector3d here = Map3(v + 9) + omega_b.cross(M.arm);
    const Eigen::Vector3d carried = Map3(v + 3) + omega_a.cross(F.arm + M.p - F.p);
    Vector6d twist;
    twist << M.R.transpose() * (omega_b - omega_a), M.R.transpose() * (here - carried);
    return twist;
  }
};

double near(double angle, double reference) { return angle - kTurn * std::round((angle - reference) / kTurn); }

/// Of ±q the quaternion that is nearer to what stands in `stored`.
void store_near(const SO3& rotation, double* stored) {
  double found[4], dot = 0;
  rotation.store(found);
  for (int k = 0; k < 4; ++k) dot += found[k] * stored[k];
  for (int k = 0; k < 4; ++k) stored[k] = dot < 0 ? -found[k] : found[k];
}

/// A body against its parent: X_PB, and the twist that its joint gives it, in the body's frame.
struct Link {
  Transform X_PB;
  Vector6d twist;

  Link(const Mechanism& mechanism, const Eigen::VectorXd& numbers, int body, const double* q, const double* v) {
    const screw::ScrewJoint& joint = mechanism.tree().bodies()[body].joint;
    const double* frames = numbers.data() + mechanism.joints()[body].numbers;
    const Transform F = frame_at(frames + JointNumbers::F), M = frame_at(frames + JointNumbers::M);
    const screw::JointMotion<double> motion =
        screw::joint_motion<double>(joint, q + joint.q, v ? v + joint.v : nullptr, nullptr);
    X_PB = (joint.reversed ? M : F) * motion.X * (joint.reversed ? F : M).inverse();
    twist = (joint.reversed ? F : M).twist(motion.twist);
  }
};

}  // namespace

void poses_of(const Mechanism& mechanism, const Eigen::VectorXd& numbers, const double* q_tree, double* q) {
  for (int i = 0; i < static_cast<int>(mechanism.bodies().size()); ++i) {
    const int parent = mechanism.tree().bodies()[i].parent;
    const Pose<double> on = pose_of(q, parent);
    const Map3 com(com_of(mechanism, numbers, i)), com_parent(com_of(mechanism, numbers, parent));
    const Transform X_WP(on.R, on.p - on.R * com_parent);
    const Transform X_WB = X_WP * Link(mechanism, numbers, i, q_tree, nullptr).X_PB;
    SO3(X_WB.R).store(q + 7 * i);
    Eigen::Map<Eigen::Vector3d>{q + 7 * i + 4} = X_WB * Eigen::Vector3d(com);
  }
}

void velocities_of(const Mechanism& mechanism, const Eigen::VectorXd& numbers, const double* q_tree,
                   const double* v_tree, double* v) {
  const int count = static_cast<int>(mechanism.bodies().size());
  std::vector<Vector6d> twists(count);
  std::vector<Eigen::Matrix3d> axes(count);
  for (int i = 0; i < count; ++i) {
    const int parent = mechanism.tree().bodies()[i].parent;
    const Link link(mechanism, numbers, i, q_tree, v_tree);
    twists[i] = link.twist;
    axes[i] = link.X_PB.R;
    if (parent >= 0) {
      twists[i] += link.X_PB.twist_back(twists[parent]);
      axes[i] = axes[parent] * axes[i];
    }
    const Eigen::Vector3d omega = twists[i].head<3>(), origin = twists[i].tail<3>();
    const Map3 com(com_of(mechanism, numbers, i));
    Eigen::Map<Eigen::Vector3d>{v + 6 * i} = omega;
    Eigen::Map<Eigen::Vector3d>{v + 6 * i + 3} = axes[i] * (origin + omega.cross(com));
  }
}

void coordinates_of(const Mechanism& mechanism, const Eigen::VectorXd& numbers, const double* q, double* q_tree) {
  for (const Joint& joint : mechanism.joints()) {
    if (joint.coordinate < 0) continue;
    const Place place(mechanism, numbers, joint, q);
    double* own = q_tree + mechanism.tree().coordinates()[joint.coordinate].q;
    if (joint.type == JointType::ball || joint.type == JointType::floating) {
      const SE3 X = place.relative();
      store_near(X.rotation(), own);
      if (joint.type == JointType::floating) Eigen::Map<Eigen::Vector3d>{own + 4} = X.position();
      continue;
    }
    Row<double> rows[6];
    const int count = freedom_rows(joint, RowMaker<double>(place.F, place.M), rows);
    for (int k = 0; k < count; ++k) {
      const bool angular = mechanism.freedoms()[joint.freedom + k].angular;
      own[k] = angular ? near(rows[k].value, own[k]) : rows[k].value;
    }
  }
}

void rates_of(const Mechanism& mechanism, const Eigen::VectorXd& numbers, const double* q, const double* v,
              double* v_tree) {
  for (const Joint& joint : mechanism.joints()) {
    if (joint.coordinate < 0) continue;
    Place place(mechanism, numbers, joint, q);
    place.set_velocity(joint, v);
    double* own = v_tree + mechanism.tree().coordinates()[joint.coordinate].v;
    if (joint.type == JointType::floating) {
      Eigen::Map<Vector6d>{own} = place.twist();
      continue;
    }
    Row<double> rows[6];
    const int count = freedom_rows(joint, RowMaker<double>(place.F, place.M), rows);
    for (int k = 0; k < count; ++k) own[k] = rows[k].rate(place.v);
  }
}

void link_poses(const Mechanism& mechanism, const Eigen::VectorXd& numbers, const double* q, SE3* X_WL) {
  const std::vector<screw::LinkPlace>& links = mechanism.tree().links();
  for (std::size_t i = 0; i < links.size(); ++i) {
    const Pose<double> pose = pose_of(q, links[i].body);
    const Transform X_WB(pose.R, pose.p - pose.R * Map3(com_of(mechanism, numbers, links[i].body)));
    const Transform X = X_WB * links[i].X_BL;
    X_WL[i] = SE3(SO3(X.R), X.p);
  }
}

Energy energy_of(const Mechanism& mechanism, const Eigen::VectorXd& numbers, const double* q, const double* v,
                 const double* q_tree) {
  Energy energy;
  const Map3 gravity(numbers.data() + Mechanism::kGravity);
  for (std::size_t i = 0; i < mechanism.bodies().size(); ++i) {
    const double* n = numbers.data() + mechanism.bodies()[i].numbers;
    const double *J = n + BodyNumbers::inertia, mass = n[BodyNumbers::mass];
    const Map3 omega(v + 6 * i), speed(v + 6 * i + 3), p(q + 7 * i + 4);
    Eigen::Matrix3d inertia;
    inertia << J[0], J[3], J[4], J[3], J[1], J[5], J[4], J[5], J[2];
    energy.kinetic += 0.5 * omega.dot(inertia * omega) + 0.5 * mass * speed.squaredNorm();
    energy.potential -= mass * gravity.dot(p);
  }
  for (const Joint& joint : mechanism.joints()) {
    if (joint.freedoms == 0) continue;
    Place place(mechanism, numbers, joint, q);
    place.set_velocity(joint, v);
    Row<double> rows[6];
    freedom_rows(joint, RowMaker<double>(place.F, place.M), rows);
    for (int k = 0; k < joint.freedoms; ++k) {
      const Freedom& freedom = mechanism.freedoms()[joint.freedom + k];
      const double* n = numbers.data() + freedom.numbers;
      energy.kinetic += 0.5 * n[FreedomNumbers::armature] * std::pow(rows[k].rate(place.v), 2);
      if (freedom.position < 0) continue;
      double at = rows[k].value;
      if (freedom.angular) at = near(at, q_tree ? q_tree[freedom.position] : n[FreedomNumbers::rest]);
      energy.potential += 0.5 * n[FreedomNumbers::stiffness] * std::pow(at - n[FreedomNumbers::rest], 2);
    }
  }
  for (const Spring& spring : mechanism.springs()) {
    const double* n = numbers.data() + spring.numbers;
    const auto end = [&](int body, const double* at) -> Eigen::Vector3d {
      const Pose<double> pose = pose_of(q, body);
      return pose.p + pose.R * (Map3(at) - Map3(com_of(mechanism, numbers, body)));
    };
    const double length = (end(spring.b, n + SpringNumbers::b) - end(spring.a, n + SpringNumbers::a)).norm();
    energy.potential += 0.5 * n[SpringNumbers::stiffness] * std::pow(length - n[SpringNumbers::rest], 2);
  }
  return energy;
}

}  // namespace kinegraph::maximal
