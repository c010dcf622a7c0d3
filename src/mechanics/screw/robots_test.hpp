#pragma once

#include <random>
#include <string>
#include <vector>

#include "kinegraph/mechanics/screw/tree.hpp"

namespace kinegraph::screw {

/// Robots with random numbers, for tests.
class RandomRobot {
 public:
  explicit RandomRobot(unsigned seed) : generator_(seed) {}

  double number() { return std::uniform_real_distribution<double>(-1, 1)(generator_); }
  Vector3d vector() { return Vector3d(number(), number(), number()); }
  SE3 pose() { return SE3(SO3::exp(vector()), 0.5 * vector()); }

  int link(const std::string& name) {
    Link link;
    link.name = name;
    link.has_inertia = true;
    link.inertia.mass = 1.5 + number();
    link.inertia.com = 0.2 * vector();
    const Matrix3d a = Matrix3d::NullaryExpr([&] { return 0.2 * number(); });
    link.inertia.about_com = a * a.transpose() + 0.05 * Matrix3d::Identity();
    robot.links.push_back(link);
    return static_cast<int>(robot.links.size()) - 1;
  }

  Joint& joint(JointType type, int parent, int child) {
    Joint joint;
    joint.name = "j" + std::to_string(robot.joints.size() + 1);
    joint.type = type;
    joint.parent = LinkIndex(parent);
    joint.child = LinkIndex(child);
    joint.X_PF = pose();
    joint.X_CM = pose();
    joint.axis = vector().normalized();
    joint.axis2 = vector().normalized();
    joint.pitch = 0.2;
    robot.joints.push_back(joint);
    return robot.joints.back();
  }

  /// A tree: link k hangs on a random earlier one by a joint of the given type.
  void grow(const std::vector<JointType>& types, bool chain = false) {
    int count = link("l0");
    for (const JointType type : types) {
      const int parent = chain ? count : std::uniform_int_distribution<int>(0, count)(generator_);
      count = link("l" + std::to_string(robot.links.size()));
      joint(type, parent, count);
    }
  }

  Eigen::VectorXd position(const Tree& tree) {
    Eigen::VectorXd q = Eigen::VectorXd::NullaryExpr(tree.stored(), [&] { return number(); });
    for (const Coordinate& c : tree.coordinates()) {
      if (c.stored > c.freedoms) q.segment<4>(c.q).normalize();
    }
    return q;
  }
  Eigen::VectorXd velocity(const Tree& tree) {
    return Eigen::VectorXd::NullaryExpr(tree.freedoms(), [&] { return number(); });
  }

  Robot robot;

 private:
  std::mt19937 generator_;
};

inline const std::vector<JointType>& all_moving_types() {
  static const std::vector<JointType> types{
      JointType::revolute, JointType::prismatic,   JointType::screw,  JointType::universal, JointType::ball,
      JointType::fixed,    JointType::cylindrical, JointType::planar, JointType::floating,  JointType::continuous};
  return types;
}

}  // namespace kinegraph::screw
