#pragma once

#include <Eigen/Core>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "kinegraph/base/constants.hpp"
#include "kinegraph/base/index.hpp"
#include "kinegraph/base/result.hpp"
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

/// What acts along one freedom of a joint besides its motor.   τ = −d q̇ − μ sgn(q̇) − k (q − q₀) − a q̈
struct JointDynamics {
  double damping = 0, friction = 0, stiffness = 0, rest = 0, armature = 0;
};

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

/// A robot, or any mechanism of rigid links in space. Links and joints are in the order of the file.
struct Robot {
  enum class Base { fixed, floating };
  std::vector<Link> links;
  std::vector<Joint> joints;
  Vector3d gravity{0, 0, -kGravity};
  Base base = Base::fixed;  ///< how links that no joint connects to the world stand in it
  std::vector<SE3> X_WL;    ///< where the file draws each link (q = 0 of all joints where it says nothing else)

  /// The name of the joint that lets a part of the robot float: "base", unless a link or joint has that name or there
  /// are several such parts.
  std::string base_name(const std::string& root, bool only) const;
  int find_link(const std::string& name) const;   ///< −1 if there is none
  int find_joint(const std::string& name) const;  ///< −1 if there is none
};

}  // namespace kinegraph
