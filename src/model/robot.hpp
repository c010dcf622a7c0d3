#pragma once

#include <Eigen/Core>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "kinegraph/base/constants.hpp"
#include "kinegraph/base/index.hpp"
#include "kinegraph/base/result.hpp"
#include "kinegraph/expr/law.hpp"
#include "kinegraph/lie/se3.hpp"

namespace kinegraph {

using Eigen::Matrix3d;
using Eigen::Vector3d;

/// What hangs on a link: where its mass is. In the link's frame.
struct Inertia {
  double mass = 0;
  Vector3d com = Vector3d::Zero();
  Matrix3d about_com = Matrix3d::Zero();  ///< axes of the link's frame
};

/// The form of a link, for pictures and for collision.
struct Shape {
  enum class Type { box, sphere, cylinder, capsule, ellipsoid, mesh, plane };
  Type type = Type::box;
  Vector3d size = Vector3d::Zero();  ///< box: edges; sphere: radius; cylinder, capsule: radius, length (along z);
                                     ///< ellipsoid: radii; mesh: scale; plane: normal
  std::string mesh;                  ///< as the file names it; meshes are not read
  SE3 X_LG;
  Eigen::Vector4d color{0.6, 0.6, 0.65, 1};
  bool colored = false;
  double friction = 0.5, restitution = 0;  ///< of its surface in contacts
};

struct Link {
  std::string name;
  Inertia inertia;
  bool has_inertia = false;  ///< the file gives one
  std::vector<Shape> visuals, collisions;
  Location where, inertia_where;
};

/// How a joint lets its child move. F is the joint's frame on the parent, M that on the child; at q = 0 they coincide.
enum class JointType {
  fixed,
  revolute,     ///< about `axis`
  continuous,   ///< revolute without limits
  prismatic,    ///< along `axis`
  screw,        ///< about and along `axis`: `pitch` metres per radian
  universal,    ///< about `axis` (fixed in F), then about `axis2` (fixed in M at angle 0)
  cylindrical,  ///< about and, independently, along `axis`
  planar,       ///< in the plane normal to `axis`: two positions, then the angle
  ball,         ///< q: unit quaternion (w x y z) of X_FM; v: angular velocity, seen from M
  floating      ///< q: quaternion, then position, of X_FM; v: twist (ω, v) seen from M
};

const char* to_string(JointType type);  ///< "revolute", …
int stored_numbers(JointType type);     ///< of q: 0 to 7
int freedoms(JointType type);           ///< of v: 0 to 6

/// Of one freedom of a joint.
struct JointLimits {
  double lower = -std::numeric_limits<double>::infinity(), upper = std::numeric_limits<double>::infinity();
  double velocity = std::numeric_limits<double>::infinity(), effort = std::numeric_limits<double>::infinity();
};

/// What acts along one freedom of a joint.
///
///     τ = K u − d q̇ − c |q̇| q̇ − k (q − q₀) − a q̈ − τ_dry sgn(q̇)      at rest |τ_dry| holds it, up to its limit
///     τ_dry = friction + stribeck exp(−(q̇ / stribeck_speed)²) + load_friction |F|,   F: the force through the joint
struct JointDynamics {
  double damping = 0, friction = 0, stiffness = 0, rest = 0, armature = 0;
  double quadratic = 0;                     ///< c: drag, N m s²/rad²
  double stribeck = 0, stribeck_speed = 1;  ///< what dry friction has more at rest, and how fast that is lost
  double load_friction = 0;                 ///< m (of a slide: 1): dry friction per force through the joint
  double gain = 1;                          ///< K: torque of the motor per unit of its recorded control `joint.u`

  bool smooth() const { return friction == 0 && stribeck == 0 && load_friction == 0; }
};

/// The numbers of friction, in the order of kFrictionKeys (model/schema.hpp).
std::array<double*, 6> friction_numbers(JointDynamics& dynamics);

/// q = multiplier · q(joint) + offset
struct Mimic {
  JointIndex joint;
  double multiplier = 1, offset = 0;
};

/// A joint between two links. An invalid parent is the world. Joints may close loops: which of them do is decided by
/// the spanning tree (mechanics/screw/tree.hpp), in favour of those not marked `closes_loop`.
struct Joint {
  std::string name;
  JointType type = JointType::fixed;
  LinkIndex parent, child;
  SE3 X_PF, X_CM;                                                ///< the joint's frames on the parent and on the child
  Vector3d axis = Vector3d::UnitX(), axis2 = Vector3d::UnitY();  ///< unit vectors, in F (equally M at q = 0)
  double pitch = 0;
  std::vector<JointLimits> limits;      ///< per freedom; empty: none
  std::vector<JointDynamics> dynamics;  ///< per freedom; empty: none
  std::optional<Mimic> mimic;
  bool closes_loop = false;                  ///< said so by the file (a sidecar, a second parent)
  bool passive = false;                      ///< has no motor: its torque is known to be zero
  std::vector<double> initial_q, initial_v;  ///< where the motion starts; empty: zero (quaternion: none)
  Location where;
};

/// A place on a link; without one, in the world.
struct LinkPoint {
  LinkIndex link;
  Vector3d at = Vector3d::Zero();
};

/// A spring and damper between two places.   F = k (l − l₀) + c l̇, along the line
struct LinkSpring {
  std::string name;
  LinkPoint a, b;
  double stiffness = 0, rest = 0, damping = 0;
};

/// A force at a place of a link and a torque on it, both in world axes.
struct LinkLoad {
  std::string name;
  LinkPoint on;
  std::array<Law, 3> force, torque;  ///< without formulas: zero
};

/// A joint of one freedom whose position follows a law of time.
struct JointDrive {
  std::string name;
  JointIndex joint;
  Law law;
};

/// A motor's torque as the file gives it, along the first freedom of a joint.
struct JointTorque {
  std::string name;
  JointIndex joint;
  Law torque;
};

/// A robot, or any mechanism of rigid links in space. Links and joints are in the order of the file.
struct Robot {
  enum class Base { fixed, floating };
  std::vector<Link> links;
  std::vector<Joint> joints;
  Vector3d gravity{0, 0, -kGravity};
  Base base = Base::fixed;  ///< how links that no joint connects to the world stand in it
  // Of planar mechanisms (robot_of with PlanarForces::kept): what the maximal formulation takes beside joints.
  std::vector<LinkSpring> springs;
  std::vector<LinkLoad> loads;
  std::vector<JointDrive> drives;
  std::vector<JointTorque> torques;
  std::vector<SE3> X_WL;  ///< where the file draws each link (q = 0 of all joints where it says nothing else)

  /// The name of the joint that lets a part of the robot float: "base", unless a link or joint has that name or there
  /// are several such parts.
  std::string base_name(const std::string& root, bool only) const;
  int find_link(const std::string& name) const;   ///< −1 if there is none
  int find_joint(const std::string& name) const;  ///< −1 if there is none
};

}  // namespace kinegraph
