#pragma once

#include "kinegraph/mechanics/maximal/conversion.hpp"
#include "kinegraph/step/contact_step.hpp"

namespace kinegraph::step::test {

/// Things that lie, fall and roll on a plane.
struct World {
  Robot robot;

  World() {
    robot.base = Robot::Base::floating;
    Link& ground = robot.links.emplace_back();
    ground.name = "ground";
    Joint& joint = robot.joints.emplace_back();
    joint.name = "weld";
    joint.type = JointType::fixed;
    joint.child = LinkIndex{0};
  }

  static Shape shape(Shape::Type type, const Vector3d& size, double friction, double restitution) {
    Shape made;
    made.type = type;
    made.size = size;
    made.friction = friction;
    made.restitution = restitution;
    return made;
  }
  void plane(double friction = 0.5, double restitution = 0, const Vector3d& normal = Vector3d::UnitZ()) {
    robot.links[0].collisions.push_back(shape(Shape::Type::plane, normal, friction, restitution));
  }
  /// A body of uniform density; returns its link.
  int body(Shape::Type type, const Vector3d& size, double mass, double friction = 0.5, double restitution = 0) {
    Link& link = robot.links.emplace_back();
    link.name = "body" + std::to_string(robot.links.size());
    link.collisions.push_back(shape(type, size, friction, restitution));
    link.inertia.mass = mass;
    link.has_inertia = true;
    const Vector3d square = size.cwiseProduct(size);
    Vector3d J = Vector3d::Constant(0.4 * mass * square[0]);
    if (type == Shape::Type::box)
      J = mass / 12 * Vector3d(square[1] + square[2], square[0] + square[2], square[0] + square[1]);
    if (type == Shape::Type::ellipsoid)
      J = mass / 5 * Vector3d(square[1] + square[2], square[0] + square[2], square[0] + square[1]);
    if (type == Shape::Type::cylinder || type == Shape::Type::capsule) {
      const double across = mass * (3 * square[0] + square[1]) / 12;
      J = Vector3d(across, across, 0.5 * mass * square[0]);
    }
    link.inertia.about_com = J.asDiagonal();
    return static_cast<int>(robot.links.size()) - 1;
  }
};

/// A running simulation.
struct Simulation {
  std::shared_ptr<const maximal::Mechanism> mechanism;
  std::unique_ptr<ContactStep> step;
  StepInput input;
  Eigen::VectorXd q, v, after;
  std::vector<maximal::Grip> grips;
  int steps = 0, guessed = 0;

  Simulation(const Robot& robot, double h, const ContactOptions& options = {}, const maximal::Regularization& soft = {})
      : mechanism(*maximal::Mechanism::make(robot)),
        step(std::make_unique<ContactStep>(mechanism, soft, options)),
        input(*mechanism, h),
        q(mechanism->stored()),
        v(Eigen::VectorXd::Zero(mechanism->tangent())),
        after(v),
        grips(mechanism->freedoms().size(), maximal::Grip::none) {
    const Eigen::VectorXd start = mechanism->tree().start_position();
    maximal::poses_of(*mechanism, mechanism->numbers(), start.data(), q.data());
  }

  int bodies() const { return static_cast<int>(mechanism->bodies().size()); }
  Eigen::Map<Vector3d> position(int body) { return Eigen::Map<Vector3d>(q.data() + 7 * body + 4); }
  Eigen::Map<Vector3d> velocity(int body) { return Eigen::Map<Vector3d>(v.data() + 6 * body + 3); }
  Eigen::Map<Vector3d> spin(int body) { return Eigen::Map<Vector3d>(v.data() + 6 * body); }
  void turn(int body, const Vector3d& by) { SO3::exp(by).store(q.data() + 7 * body); }

  bool advance() {
    input.reference = step->smooth().position();
    if (!step->advance(q.data(), v.data(), input, grips.data(), after.data())) return false;
    v = after;
    const Eigen::VectorXd delta = input.h * v;
    maximal::retract(bodies(), q.data(), delta.data(), q.data());
    ++steps;
    guessed += step->complementary().pivots() == 0;
    return true;
  }
  bool advance(double time) {
    const long count = std::lround(time / input.h);
    for (long k = 0; k < count; ++k) {
      if (!advance()) return false;
    }
    return true;
  }
  double energy() const {
    const maximal::Energy e = maximal::energy_of(*mechanism, mechanism->numbers(), q.data(), v.data());
    return e.kinetic + e.potential;
  }
};

}  // namespace kinegraph::step::test
