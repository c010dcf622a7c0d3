/// The readers of machines and of the files beside them.
#include <cmath>

#include "fuzz/targets.hpp"
#include "kinegraph/io/findings.hpp"
#include "kinegraph/io/loops_file.hpp"
#include "kinegraph/io/model_file.hpp"
#include "kinegraph/io/sdf.hpp"
#include "kinegraph/io/sensors_file.hpp"
#include "kinegraph/io/task_file.hpp"
#include "kinegraph/io/urdf.hpp"
#include "kinegraph/model/check.hpp"

namespace kinegraph::fuzz {
namespace {

void check_finite(double value) { check(std::isfinite(value), "an accepted model has finite numbers"); }

void check_robot_numbers(const Robot& robot) {
  const auto finite = [](const auto& matrix) { check(matrix.allFinite(), "an accepted robot has finite numbers"); };
  const auto placed = [&](const SE3& X) { finite(X.matrix()); };
  for (const Link& link : robot.links) {
    check_finite(link.inertia.mass);
    finite(link.inertia.com);
    finite(link.inertia.about_com);
    for (const auto* shapes : {&link.visuals, &link.collisions}) {
      for (const Shape& shape : *shapes) finite(shape.size), placed(shape.X_LG);
    }
  }
  const int links = static_cast<int>(robot.links.size()), joints = static_cast<int>(robot.joints.size());
  for (const Joint& joint : robot.joints) {
    placed(joint.X_PF);
    placed(joint.X_CM);
    check(std::abs(joint.axis.norm() - 1) < 1e-9, "axes are unit vectors");
    check_finite(joint.pitch);
    check(joint.child.valid() && joint.child.value < links, "a joint has a child");
    check(!joint.parent.valid() || joint.parent.value < links, "a joint has a parent, or the world");
    check(!joint.mimic || (joint.mimic->joint.valid() && joint.mimic->joint.value < joints), "a joint mimics a joint");
    for (const JointDynamics& d : joint.dynamics)
      check_finite(d.damping + d.friction + d.stiffness + d.rest + d.armature);
  }
}

/// A model that was accepted obeys every rule, and is one that its own numbers make again.
void check_model_or_refusal(const Result<Model>& model) {
  if (!model) return check_refusal(model.failure());
  check_diagnostics(model->warnings);
  for (const Diagnostic& found : model->spatial() ? check_robot(model->robot, false) : check_model(*model)) {
    check(found.severity == Severity::warning, "an accepted model has no error");
  }
  const Settings values = model->values();
  for (const auto& [name, value] : values) check(!std::isnan(value), "the numbers of a model are numbers");
  for (const Point& point : model->points) check_finite(point.position.sum());
  for (const PlanarBody& body : model->bodies) check_finite(body.mass + body.inertia + body.length + body.cog.sum());
  check_robot_numbers(model->robot);
}

constexpr char kFiveBar[] = R"(<robot name="five_bar">
<link name="ground"/><link name="left_arm"/><link name="left_rod"/><link name="right_arm"/><link name="right_rod"/>
<joint name="left_motor" type="continuous"><parent link="ground"/><child link="left_arm"/><axis xyz="0 0 1"/></joint>
<joint name="left_elbow" type="continuous"><parent link="left_arm"/><child link="left_rod"/>
<origin xyz="1 0 0"/><axis xyz="0 0 1"/></joint>
<joint name="right_motor" type="continuous"><parent link="ground"/><child link="right_arm"/>
<origin xyz="1 0 0"/><axis xyz="0 0 1"/></joint>
<joint name="right_elbow" type="continuous"><parent link="right_arm"/><child link="right_rod"/>
<origin xyz="1 0 0"/><axis xyz="0 0 1"/></joint></robot>)";

const Model& five_bar() {
  static const Model model = [] {
    Result<Model> read = parse_urdf(kFiveBar, "five_bar.urdf");
    check(bool(read), "the robot of the sidecars can be read");
    return *std::move(read);
  }();
  return model;
}

}  // namespace

void read_mechanism(const std::string& text) { check_model_or_refusal(parse_planar_yaml(text, "model.yaml")); }

void read_urdf(const std::string& text) {
  check_model_or_refusal(parse_urdf(text, "robot.urdf"));
  ReadOptions strict;
  strict.strict = true;
  strict.base = Robot::Base::floating;
  check_model_or_refusal(parse_urdf(text, "robot.urdf", strict));
}

void read_sdf(const std::string& text) { check_model_or_refusal(parse_sdf(text, "robot.sdf")); }

void read_loops(const std::string& text) {
  Robot robot = five_bar().robot;
  io::Findings findings;
  io::parse_loops(text, "robot.loops.yaml", robot, findings);
  check_diagnostics(findings.warnings());
  if (findings.failed()) return check_refusal(findings.failure());
  check_robot_numbers(robot);
}

void read_sensors(const std::string& text) {
  check_model_or_refusal(io::parse_sensors(text, "robot.sensors.yaml", five_bar()));
}

void read_task(const std::string& text) {
  const Result<PlanTask> task = parse_task(text, "task.yaml");
  if (!task) return check_refusal(task.failure());
  check(task->horizon > 0 && task->steps > 0, "an accepted task lasts");
  check_finite(task->horizon);
  for (const TaskGoal& goal : task->goals) check_finite(goal.time + goal.until + goal.sigma + goal.tolerance);
  for (const TaskObstacle& obstacle : task->obstacles) {
    check(obstacle.shape.size.allFinite() && obstacle.shape.X_LG.position().allFinite(), "obstacles have a size");
  }
}

}  // namespace kinegraph::fuzz
