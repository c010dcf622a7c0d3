#include "kinegraph/task/ground_roll_out.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kinegraph/task/maximal_simulate.hpp"

namespace kinegraph::task {
namespace {

using build::PlanContact;
using build::PlanProblem;
using build::PlanSample;
using build::PlanSetting;

constexpr double kFoot = 1e-3;                // m: radius
constexpr double kLeans = 0.5, kSinks = 0.5;  // rad; share of the height

/// The coordinate of a motor (PlanSetting::motors).
const screw::Coordinate& coordinate_of(const PlanSetting& setting, int motor) {
  const auto& all = setting.tree->coordinates();
  return *std::find_if(all.begin(), all.end(),
                       [&](const screw::Coordinate& c) { return c.v <= motor && motor < c.v + c.freedoms; });
}

/// The servo's −k q − d q̇ as a spring and a damper of the joint, beside those that it has: these are stable at any
/// step.
void hold_joints(const PlanSetting& setting, const JointServo& servo, Robot& robot) {
  for (const int motor : setting.motors) {
    const screw::Coordinate& c = coordinate_of(setting, motor);
    std::vector<JointDynamics>& dynamics = robot.joints[c.joint].dynamics;
    dynamics.resize(c.freedoms);
    JointDynamics& own = dynamics[motor - c.v];
    const double stiffness = own.stiffness + servo.stiffness;
    if (stiffness > 0) own.rest *= own.stiffness / stiffness;
    own.stiffness = stiffness;
    own.damping += servo.damping;
  }
}

/// The robot of the plan where it starts, with balls for feet on a plane.
Model on_ground(const PlanSetting& setting, const JointServo& servo) {
  Model model;
  Robot& robot = model.robot;
  robot = setting.tree_at(0)->robot();
  robot.base = Robot::Base::floating;
  robot.gravity = setting.tree->gravity();
  hold_joints(setting, servo, robot);
  for (Link& link : robot.links) link.collisions.clear();
  for (const TaskContact& contact : setting.task.contacts) {
    Shape ball;
    ball.type = Shape::Type::sphere;
    ball.size = {kFoot, 0, 0};
    ball.X_LG = SE3(SO3(), contact.point);
    ball.friction = contact.friction * contact.friction;  // μ = √(μ₁ μ₂), and the plane has 1
    robot.links[robot.find_link(contact.link.text)].collisions.push_back(ball);
  }
  for (const screw::Coordinate& c : setting.tree->coordinates()) {
    if (c.joint < 0 || c.freedoms != 1) continue;
    robot.joints[c.joint].initial_q = {setting.start_q[c.q]};
    robot.joints[c.joint].initial_v = {setting.start_v[c.v]};
  }
  // The base is drawn where it starts.
  if (robot.X_WL.empty()) robot.X_WL.assign(robot.links.size(), SE3());
  for (std::size_t link = 0; link < robot.links.size(); ++link) {
    const bool hangs = std::any_of(robot.joints.begin(), robot.joints.end(),
                                   [&](const Joint& j) { return j.child.value == static_cast<int>(link); });
    if (!hangs) robot.X_WL[link] = SE3::load(setting.start_q.data());
  }

  Link ground;
  ground.name = "ground of the plan";
  Shape plane;
  plane.type = Shape::Type::plane;
  plane.size = Vector3d::UnitZ();
  plane.X_LG = SE3(SO3(), Vector3d(0, 0, setting.task.contacts[0].ground - kFoot));
  plane.friction = 1;
  ground.collisions.push_back(plane);
  robot.links.push_back(ground);
  robot.X_WL.emplace_back();
  Joint weld;
  weld.name = "weld of the ground";
  weld.type = JointType::fixed;
  weld.child = LinkIndex{static_cast<int>(robot.links.size()) - 1};
  robot.joints.push_back(weld);
  return model;
}

/// The servo's τ_plan + k q_plan + d q̇_plan.
Eigen::VectorXd command_at(const PlanSetting& setting, const PlanSample& sample, const JointServo& servo) {
  Eigen::VectorXd commands = sample.u;
  for (std::size_t i = 0; i < setting.motors.size(); ++i) {
    const screw::Coordinate& c = coordinate_of(setting, setting.motors[i]);
    const int place = setting.motors[i] - c.v;
    commands[static_cast<int>(i)] += servo.stiffness * sample.q[c.q + place] + servo.damping * sample.v[c.v + place];
  }
  return commands;
}

/// The commands of the plan as a recording: as its rule of integration means them between knots.
Trajectory commands_of(const PlanProblem& problem, double time, int divisions, const JointServo& servo) {
  const PlanSetting& setting = *problem.setting;
  std::vector<std::string> names;
  for (const int motor : setting.motors) names.push_back(setting.tree->torque_names()[motor]);
  Trajectory input(names);
  for (int k = 0; k < setting.task.steps && problem.time(k) < time + problem.step(k); ++k) {
    const Eigen::VectorXd from = command_at(setting, problem.sample(k), servo);
    const Eigen::VectorXd to = command_at(setting, problem.sample(k + 1), servo);
    const Eigen::VectorXd middle = setting.has_middles() ? command_at(setting, problem.sample(k, true), servo)
                                                         : Eigen::VectorXd(0.5 * (from + to));
    const int last = k + 1 == setting.task.steps ? divisions : divisions - 1;
    for (int i = 0; i <= last; ++i) {
      const double s = static_cast<double>(i) / divisions;
      const Eigen::VectorXd u = (1 - s) * (1 - 2 * s) * from + 4 * s * (1 - s) * middle + s * (2 * s - 1) * to;
      std::copy(u.begin(), u.end(), input.append(problem.time(k) + s * problem.step(k)));
    }
  }
  return input;
}

/// The pose of the base in the plan, linear between knots: near enough to compare with.
SE3 planned(const PlanProblem& problem, double t) {
  const PlanSetting& setting = *problem.setting;
  const int k = std::clamp(problem.step_at(t), 0, setting.task.steps - 1);
  const SE3 a = SE3::load(problem.sample(k).q.data()), b = SE3::load(problem.sample(k + 1).q.data());
  const double s = (t - problem.time(k)) / problem.step(k);
  return a * SE3::exp(s * (a.inverse() * b).log());
}

/// What this simulation has no place for; empty: nothing.
std::string ground_refusal(const PlanProblem& problem, double time) {
  const PlanSetting& setting = *problem.setting;
  if (!setting.state.floating || setting.contacts.empty()) return "needs a robot that floats, and contacts";
  for (const PlanContact& contact : setting.contacts) {
    if (contact.ground == setting.contacts[0].ground) continue;
    return fmt::format("is on one level: {} is on ground at {:g} m, {} at {:g} m", setting.contacts[0].name,
                       setting.contacts[0].ground, contact.name, contact.ground);
  }
  for (int k = 1; k < setting.task.steps && problem.time(k) < time; ++k) {
    if (setting.carries(k) != setting.carries(0)) return "carries a payload all the time, or never";
  }
  return "";
}

}  // namespace

Result<GroundRollOut> roll_out_on_ground(const PlanProblem& problem, double time, double step,
                                         const JointServo& servo) {
  const PlanSetting& setting = *problem.setting;
  if (const std::string why = ground_refusal(problem, time); !why.empty()) {
    return Failure::bad_input("a roll-out on the ground " + why);
  }
  SimulateOptions options;
  options.time = std::min(time, problem.time(setting.task.steps));
  options.step = step;
  options.formulation = "maximal";
  options.input = commands_of(problem, options.time, 8, servo);
  GroundRollOut out;
  options.keep = false;
  options.begin = [&](const std::vector<std::string>& all) { out.motion = Trajectory(all); };
  const std::string& base = setting.tree->coordinates()[0].name;
  bool standing = true;
  options.sample = [&](double t, const double* row) {
    std::copy_n(row, out.motion.names().size(), out.motion.append(t));
    const int at = out.motion.find(base + ".qw");
    if (at < 0) return;
    const SE3 X = SE3::load(row + at), plan = planned(problem, t);
    const Vector3d up = X.rotation().matrix().col(2), asked = plan.rotation().matrix().col(2);
    const double lean = std::atan2(up.cross(asked).norm(), up.dot(asked));
    const double height =
        (X.position()[2] - setting.contacts[0].ground) / (plan.position()[2] - setting.contacts[0].ground);
    out.until = t;
    out.tilt = std::max(out.tilt, lean);
    out.base_miss = std::max(out.base_miss, (X.position() - plan.position()).norm());
    out.lowest = t == 0 ? height : std::min(out.lowest, height);
    standing = standing && lean < kLeans && height > kSinks;
    if (standing) out.upright_for = t;
  };
  const Result<SimulateResult> run = simulate_maximal(on_ground(setting, servo), options);
  // A fall may end the simulation: what was seen until then is the answer.
  if (!run && out.motion.samples() == 0) return run.failure();
  return out;
}

}  // namespace kinegraph::task
