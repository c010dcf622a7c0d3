#include "kinegraph/io/sdf_robot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numbers>
#include <sdf/sdf.hh>

#include "kinegraph/base/names.hpp"
#include "kinegraph/io/number_text.hpp"
#include "kinegraph/io/sdf_shape.hpp"
#include "kinegraph/model/loops.hpp"

namespace kinegraph::io {
namespace {

constexpr double kNoLimit = 1e16;  // what SDF writes for none

class Builder {
 public:
  Builder(const XmlTree& tree, const SdfElementOf& element_of, Findings& findings)
      : tree_(tree), element_of_(element_of), findings_(findings) {}

  Robot run(const sdf::Root& root) {
    robot_.base = Robot::Base::floating;
    if (root.WorldCount() > 0) {
      world(*root.WorldByIndex(0));
    } else if (root.Model()) {
      model(*root.Model(), "", pose(root.Model()->RawPose()));
      if (root.Model()->Static()) robot_.base = Robot::Base::fixed;
    }
    gearboxes();
    mimics();
    mark_loops(robot_);
    return std::move(robot_);
  }

 private:
  struct Gearbox {
    std::string name, scope, parent, child;
    Vector3d axis, axis2;  // in the world
    pugi::xml_node element;
  };
  struct Follower {
    JointIndex joint;
    std::string scope;
    pugi::xml_node mimic;
  };

  void world(const sdf::World& world) {
    // Without <gravity> ours, not the 9.8 of libsdformat.
    if (element_of_(*world.Element()).child("gravity")) robot_.gravity = vector(world.Gravity());
    for (std::uint64_t i = 0; i < world.ModelCount(); ++i) {
      const sdf::Model& one = *world.ModelByIndex(i);
      ignition::math::Pose3d X_WM = one.RawPose();
      resolved(one.SemanticPose().Resolve(X_WM), one.Element());
      const bool alone = world.ModelCount() == 1;
      const std::string scope = alone ? "" : one.Name() + "::";
      const std::size_t first = robot_.links.size();
      model(one, scope, pose(X_WM));
      if (!one.Static()) continue;
      if (alone) {
        robot_.base = Robot::Base::fixed;
      } else if (first < robot_.links.size()) {
        hold(first, scope + "static");
      }
    }
  }

  /// Of a static model among others.
  void hold(std::size_t link, const std::string& name) {
    Joint joint;
    joint.name = name;
    joint.child = LinkIndex(static_cast<int>(link));
    joint.X_PF = robot_.X_WL[link];
    joint.where = robot_.links[link].where;
    robot_.joints.push_back(std::move(joint));
  }

  void model(const sdf::Model& model, const std::string& scope, const SE3& X_WM) {
    links(model, scope, X_WM);
    for (std::uint64_t i = 0; i < model.ModelCount(); ++i) {
      const sdf::Model& inner = *model.ModelByIndex(i);
      ignition::math::Pose3d X_MN = inner.RawPose();
      resolved(inner.SemanticPose().Resolve(X_MN, "__model__"), inner.Element());
      this->model(inner, scope + inner.Name() + "::", X_WM * pose(X_MN));
    }
    for (std::uint64_t i = 0; i < model.JointCount(); ++i) joint(*model.JointByIndex(i), scope, X_WM);
  }

  void links(const sdf::Model& model, const std::string& scope, const SE3& X_WM) {
    for (std::uint64_t i = 0; i < model.LinkCount(); ++i) {
      const sdf::Link& given = *model.LinkByIndex(i);
      ignition::math::Pose3d X_ML = given.RawPose();
      resolved(given.SemanticPose().Resolve(X_ML, "__model__"), given.Element());
      Link link;
      link.name = scope + given.Name();
      const pugi::xml_node element = element_of_(*given.Element());
      link.where = tree_.where(element);
      inertia(given, element, link);
      for (std::uint64_t k = 0; k < given.VisualCount(); ++k) {
        if (auto shape = shape_of(*given.VisualByIndex(k))) link.visuals.push_back(*std::move(shape));
      }
      for (std::uint64_t k = 0; k < given.CollisionCount(); ++k) {
        const sdf::Collision& collision = *given.CollisionByIndex(k);
        std::optional<Shape> shape = shape_of(collision);
        if (!shape) continue;
        surface(element_of_(*collision.Element()).child("surface"), *shape);
        link.collisions.push_back(*std::move(shape));
      }
      link_of_[link.name] = LinkIndex(static_cast<int>(robot_.links.size()));
      robot_.links.push_back(std::move(link));
      robot_.X_WL.push_back(X_WM * pose(X_ML));
    }
  }

  /// Not by libsdformat, which refuses the negative coefficients of surfaces that do not slip.
  void surface(pugi::xml_node given, Shape& shape) {
    const pugi::xml_node mu = given.child("friction").child("ode").child("mu");
    const pugi::xml_node restitution = given.child("bounce").child("restitution_coefficient");
    if (mu) number(mu, shape.friction);
    if (restitution) number(restitution, shape.restitution);
    constexpr double kNoSlip = 1e6;
    shape.friction = shape.friction < 0 ? kNoSlip : std::min(shape.friction, kNoSlip);
  }

  void number(pugi::xml_node given, double& value) {
    std::string_view text = given.text().get();
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    text.remove_suffix(text.size() - std::min(text.find_last_not_of(" \t\r\n") + 1, text.size()));
    if (const NumberFault fault = read_bound(text, value); fault != NumberFault::none) {
      findings_.error(tree_.where_text(given),
                      fmt::format("<{}>: expected a {}, found {}", given.name(), expected_number(fault), quote(text)));
    }
  }

  void inertia(const sdf::Link& given, pugi::xml_node element, Link& link) {
    const pugi::xml_node inertial = element.child("inertial");
    link.has_inertia = bool(inertial);
    link.inertia_where = tree_.where(inertial ? inertial : element);
    if (!inertial) {
      findings_.warning(
          "no inertial", link.where,
          fmt::format("link {} has no <inertial>: SDF's default is taken, 1 kg and 1 kg m^2", quote(link.name)),
          quote(link.name));
    }
    const SE3 X_LI = pose(given.Inertial().Pose());
    const pugi::xml_node moments = inertial.child("inertia");
    const auto number = [](pugi::xml_node parent, const char* key, double otherwise) {
      return parent.child(key).text().as_double(otherwise);
    };
    const double xx = number(moments, "ixx", 1), yy = number(moments, "iyy", 1), zz = number(moments, "izz", 1);
    const double xy = number(moments, "ixy", 0), xz = number(moments, "ixz", 0), yz = number(moments, "iyz", 0);
    Matrix3d about_com;
    about_com << xx, xy, xz, xy, yy, yz, xz, yz, zz;
    const Matrix3d R = X_LI.rotation().matrix();
    link.inertia = {number(inertial, "mass", 1), X_LI.position(), R * about_com * R.transpose()};
  }

  void joint(const sdf::Joint& given, const std::string& scope, const SE3& X_WM) {
    const pugi::xml_node element = element_of_(*given.Element());
    ignition::math::Pose3d X_MJ;
    std::string parent, child;
    resolved(given.SemanticPose().Resolve(X_MJ, "__model__"), given.Element());
    resolved(given.ResolveParentLink(parent), given.Element());
    resolved(given.ResolveChildLink(child), given.Element());
    const SE3 X_WJ = X_WM * pose(X_MJ);
    Joint joint;
    joint.name = scope + given.Name();
    joint.where = tree_.where(element);
    joint.parent = find_link(scope, parent), joint.child = find_link(scope, child);
    if (!joint.child.valid()) return;  // reported
    joint.X_PF = joint.parent.valid() ? X_WL(joint.parent).inverse() * X_WJ : X_WJ;
    joint.X_CM = X_WL(joint.child).inverse() * X_WJ;
    joint.axis = axis(given, 0), joint.axis2 = axis(given, 1);
    if (given.Type() == sdf::JointType::GEARBOX) {
      const Matrix3d R = X_WJ.rotation().matrix();
      gearboxes_.push_back({joint.name, scope, parent, child, R * joint.axis, R * joint.axis2, element});
      return;
    }
    joint.type = type(given.Type());
    if (joint.type == JointType::screw) joint.pitch = pitch(element, joint);
    for (int i = 0; i < freedoms(joint.type) && joint.type != JointType::ball; ++i) freedom(given.Axis(i), joint);
    const JointIndex index(static_cast<int>(robot_.joints.size()));
    if (const pugi::xml_node mimic = element.child("axis").child("mimic")) followers_.push_back({index, scope, mimic});
    joint_of_[joint.name] = index;
    robot_.joints.push_back(std::move(joint));
  }

  static JointType type(sdf::JointType type) {
    switch (type) {
      case sdf::JointType::BALL:
        return JointType::ball;
      case sdf::JointType::CONTINUOUS:
        return JointType::continuous;
      case sdf::JointType::PRISMATIC:
        return JointType::prismatic;
      case sdf::JointType::REVOLUTE:
        return JointType::revolute;
      case sdf::JointType::SCREW:
        return JointType::screw;
      case sdf::JointType::REVOLUTE2:  // two hinges in series that share a point
      case sdf::JointType::UNIVERSAL:
        return JointType::universal;
      default:
        return JointType::fixed;
    }
  }

  Vector3d axis(const sdf::Joint& joint, unsigned i) {
    const sdf::JointAxis* axis = joint.Axis(i);
    ignition::math::Vector3d xyz(0, 0, 1);
    if (axis) resolved(axis->ResolveXyz(xyz), joint.Element());
    return vector(xyz).normalized();
  }

  /// Metres per radian. <thread_pitch> is in radians per metre, positive for a left-handed thread;
  /// <screw_thread_pitch> (SDF 1.10) in metres per revolution, positive for a right-handed one.
  double pitch(pugi::xml_node element, const Joint& joint) {
    if (const pugi::xml_node given = element.child("screw_thread_pitch")) {
      return given.text().as_double() / (2 * std::numbers::pi);
    }
    const pugi::xml_node given = element.child("thread_pitch");
    if (!given) {
      findings_.warning("no pitch", joint.where,
                        fmt::format("joint {} has no <thread_pitch>: SDF's default is taken, 1 rad/m, left-handed",
                                    quote(joint.name)),
                        quote(joint.name));
      return -1;
    }
    const double value = given.text().as_double();
    if (value == 0) {
      findings_.error(tree_.where_text(given),
                      fmt::format("joint {}: <thread_pitch> is in rad/m and cannot be 0", quote(joint.name)));
      return 0;
    }
    return -1 / value;
  }

  void freedom(const sdf::JointAxis* axis, Joint& joint) {
    JointLimits limits;
    JointDynamics dynamics;
    if (axis) {
      if (joint.type != JointType::continuous) {
        if (axis->Lower() > -kNoLimit) limits.lower = axis->Lower();
        if (axis->Upper() < kNoLimit) limits.upper = axis->Upper();
      }
      if (axis->MaxVelocity() >= 0) limits.velocity = axis->MaxVelocity();
      if (axis->Effort() >= 0) limits.effort = axis->Effort();
      dynamics = {axis->Damping(), axis->Friction(), axis->SpringStiffness(), axis->SpringReference(), 0};
    }
    const bool first = joint.limits.empty();
    joint.passive = limits.effort == 0 && (first || joint.passive);
    joint.limits.push_back(limits);
    joint.dynamics.push_back(dynamics);
  }

  // θ₂ = −r θ₁, the angles of the child and of the parent against the reference body: one of two hinges follows the
  // other.
  void gearboxes() {
    for (const Gearbox& g : gearboxes_) {
      std::string body = g.element.child("gearbox_reference_body").text().get();
      const double ratio = g.element.child("gearbox_ratio").text().as_double(1);
      double of_parent = 0, of_child = 0;
      const int leads = hinge(g.scope + body, g.scope + g.parent, g.axis, of_parent);
      const int follows = hinge(g.scope + body, g.scope + g.child, g.axis2, of_child);
      if (leads < 0 || follows < 0) {
        findings_.error(tree_.where(g.element),
                        fmt::format("gearbox {}: parent and child must each be hinged to its <gearbox_reference_body> "
                                    "{}, about the gearbox's axes",
                                    quote(g.name), quote(body)));
        continue;
      }
      robot_.joints[follows].mimic = Mimic{JointIndex(leads), -ratio * of_parent * of_child, 0};
    }
  }

  /// The hinge between two links about an axis of the world; `sign`: whether its angle is that of the link against the
  /// body about that axis, or the opposite.
  int hinge(const std::string& body, const std::string& link, const Vector3d& axis, double& sign) const {
    const auto a = link_of_.find(body), b = link_of_.find(link);
    if (a == link_of_.end() || b == link_of_.end()) return -1;
    for (std::size_t i = 0; i < robot_.joints.size(); ++i) {
      const Joint& j = robot_.joints[i];
      const bool forward = j.parent == a->second && j.child == b->second;
      const bool backward = j.parent == b->second && j.child == a->second;
      const bool turns = j.type == JointType::revolute || j.type == JointType::continuous;
      if (!(forward || backward) || !turns || !j.parent.valid()) continue;
      const double along = (X_WL(j.parent) * j.X_PF).rotation().matrix().operator*(j.axis).dot(axis);
      if (std::abs(along) < 1 - 1e-6) continue;
      sign = (along > 0) == forward ? 1 : -1;
      return static_cast<int>(i);
    }
    return -1;
  }

  // q = multiplier (q(leader) − reference) + offset
  void mimics() {
    for (const Follower& f : followers_) {
      const auto leader = joint_of_.find(f.scope + f.mimic.attribute("joint").value());
      if (leader == joint_of_.end()) continue;  // reported
      Joint& joint = robot_.joints[f.joint.value];
      if (freedoms(joint.type) != 1 || freedoms(robot_.joints[leader->second.value].type) != 1 ||
          leader->second == f.joint) {
        findings_.error(tree_.where(f.mimic),
                        fmt::format("joint {}: only a joint of one freedom mimics another of one", quote(joint.name)));
        continue;
      }
      const auto number = [&](const char* key, double otherwise) {
        return f.mimic.child(key).text().as_double(otherwise);
      };
      const double multiplier = number("multiplier", 1);
      joint.mimic = Mimic{leader->second, multiplier, number("offset", 0) - multiplier * number("reference", 0)};
    }
  }

  LinkIndex find_link(const std::string& scope, const std::string& name) const {
    const auto found = link_of_.find(scope + name);
    return name == "world" || found == link_of_.end() ? LinkIndex() : found->second;
  }

  const SE3& X_WL(LinkIndex link) const { return robot_.X_WL[link.value]; }

  void resolved(const sdf::Errors& errors, const sdf::ElementPtr& element) {
    for (const sdf::Error& error : errors) findings_.error(tree_.where(element_of_(*element)), error.Message());
  }

  const XmlTree& tree_;
  const SdfElementOf& element_of_;
  Findings& findings_;
  Robot robot_;
  std::map<std::string, LinkIndex> link_of_;
  std::map<std::string, JointIndex> joint_of_;
  std::vector<Gearbox> gearboxes_;
  std::vector<Follower> followers_;
};

}  // namespace

Robot robot_of_sdf(const sdf::Root& root, const XmlTree& tree, const SdfElementOf& element_of, Findings& findings) {
  return Builder(tree, element_of, findings).run(root);
}

}  // namespace kinegraph::io
