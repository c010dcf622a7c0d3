#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kinegraph/io/model_file.hpp"
#include "kinegraph/io/task_file.hpp"
#include "kinegraph/mechanics/screw/centre_of_mass.hpp"
#include "kinegraph/mechanics/screw/kinematics.hpp"
#include "kinegraph/task/ground_roll_out.hpp"
#include "kinegraph/task/plan.hpp"
#include "test/shared.hpp"

// A robot of twelve joints that floats takes a trotting step with each pair of feet. The hexagon of 003 is the same for
// longer: experiments/planning/quadruped_hexagon.cpp.

namespace kinegraph::task::quadruped_plan_test {
namespace {

struct Walker {
  std::string model, joints, base, limits;
  std::vector<std::string> contacts;  ///< name, link and point of each
  double height = 0, friction = 1;
};

std::string task_of(const Walker& w) {
  std::string text = fmt::format(
      "model: {}\nbase: floating\nhorizon: 0.6\nsteps: 30\ncollocation: hermite-simpson\ndry_friction: false\n"
      "start: {{joints: {{{}}}}}\n{}contacts:\n",
      w.model, w.joints, w.limits);
  for (const std::string& contact : w.contacts) {
    text += fmt::format("  - {{{}, friction: {}, swing: 3cm}}\n", contact, w.friction);
  }
  text += fmt::format(
      "gait: {{order: [[fl, rr], [fr, rl]], cycle: 0.4, duty: 0.6, from: 0.1, to: 0.5}}\n"
      "goals:\n"
      "  - {{name: there, time: 0.6, frame: {0}, position: [0.06, 0, free], rest: true, tolerance: 1cm}}\n"
      "  - {{name: upright, time: 0, until: 0.6, frame: {0}, rpy: [0, 0, 0], sigma: 0.05}}\n"
      "paths:\n"
      "  - {{frame: {0}, points: [[0, 0, 0, {1}], [0.1, 0, 0, {1}], [0.5, 0.06, 0, {1}], [0.6, 0.06, 0, {1}]], sigma: "
      "1cm}}\n"
      "objectives:\n  - {{type: torque, sigma: 50}}\n  - {{type: acceleration, sigma: 50}}\n",
      w.base, w.height);
  return text;
}

/// Feet that stand push within their cones and do not move. At how many knots others are lifted by 2 cm, all together.
int expect_firm_feet(const build::PlanProblem& problem) {
  const build::PlanSetting& setting = *problem.setting;
  screw::Poses poses(setting.tree->bodies().size());
  int lifted = 0;
  for (std::size_t c = 0; c < setting.contacts.size(); ++c) {
    const build::PlanContact& contact = setting.contacts[c];
    Eigen::Vector3d stands = Eigen::Vector3d::Zero();
    for (int k = 0; k < setting.knots(); ++k) {
      const build::PlanSample sample = problem.sample(k);
      const Eigen::Vector3d f = sample.forces[c];
      EXPECT_GE(f[2], -1e-9);
      EXPECT_LE(f.head<2>().norm(), contact.friction * f[2] + 0.02);
      screw::body_poses(*setting.tree, sample.q.data(), poses);
      const Eigen::Vector3d foot = poses[contact.point.body] * contact.point.at;
      const auto begins = [&](const auto& interval) { return interval.first == k; };
      if (std::any_of(contact.closed.begin(), contact.closed.end(), begins)) stands = foot;
      if (setting.stands(contact, k, false)) {
        EXPECT_LT((foot - stands).norm(), 1e-3) << contact.name << " at knot " << k;
      } else {
        lifted += foot[2] > 0.02;
      }
    }
  }
  return lifted;
}

/// Open loop, where the ground says which forces there are.
void expect_upright(const build::PlanProblem& problem, double until, double miss) {
  const Result<GroundRollOut> ground = roll_out_on_ground(problem, until, 1e-3);
  ASSERT_TRUE(ground) << ground.failure().to_string();
  EXPECT_GT(ground->upright_for, until - 1e-3);
  EXPECT_LT(ground->base_miss, miss);
}

/// The largest distance of a joint from where the plan has it at the end of a roll-out, rad.
double joints_miss(const build::PlanProblem& problem, const GroundRollOut& ground) {
  const Trajectory& motion = ground.motion;
  const build::PlanSample end = problem.sample(problem.setting->task.knot(ground.until));
  double most = 0;
  for (const screw::Coordinate& c : problem.setting->tree->coordinates()) {
    if (c.freedoms != 1) continue;
    most = std::max(most, std::abs(motion.at(motion.samples() - 1, motion.find(c.name + ".q")) - end.q[c.q]));
  }
  return most;
}

/// Motors that hold the joints to the plan keep the robot upright and its joints nearer to the plan.
void expect_held(const build::PlanProblem& problem, double until) {
  const Result<GroundRollOut> open = roll_out_on_ground(problem, until, 1e-3);
  const Result<GroundRollOut> held = roll_out_on_ground(problem, until, 1e-3, {.stiffness = 300, .damping = 6});
  ASSERT_TRUE(open && held);
  EXPECT_GT(held->upright_for, until - 1e-3);
  EXPECT_LT(joints_miss(problem, *held), 0.5 * joints_miss(problem, *open));
}

Result<Planner> planner_of(const Result<PlanTask>& task, const PlanOptions& options) {
  if (!task) return task.failure();
  const Result<Model> model = read_model(task->model.text, {.base = Robot::Base::floating});
  if (!model) return model.failure();
  return Planner::make(*model, *task, options);
}

void expect_a_step(const Walker& w) {
  PlanOptions options;
  options.roll_out = 0;
  Result<Planner> planner = planner_of(parse_task(task_of(w), "step.yaml"), options);
  ASSERT_TRUE(planner) << planner.failure().to_string();
  const Result<PlanResult> plan = planner->plan();
  ASSERT_TRUE(plan) << plan.failure().to_string();
  EXPECT_LE(plan->summary.solver.violation, 1e-9);
  EXPECT_LE(plan->summary.solver.iterations, 100);

  const build::PlanProblem& problem = planner->problem();
  const build::PlanSetting& setting = *problem.setting;
  ASSERT_EQ(setting.contacts.size(), 4u);
  for (const build::PlanContact& contact : setting.contacts) ASSERT_EQ(contact.closed.size(), 2u) << contact.name;
  EXPECT_GT(expect_firm_feet(problem), 8);
  const double moved = problem.sample(setting.task.steps).q[4];
  EXPECT_NEAR(moved, 0.06, 0.0101);
  expect_upright(problem, 0.5, 0.1);  // until both pairs have swung
  expect_held(problem, 0.5);
}

TEST(QuadrupedPlan, TakesATrottingStep) {
  Walker w;
  w.model = source_file("models/quadruped.urdf").string();
  w.joints =
      "fl_flexion: 0.75, fl_knee: -1.5, fr_flexion: 0.75, fr_knee: -1.5, "
      "rl_flexion: 0.75, rl_knee: -1.5, rr_flexion: 0.75, rr_knee: -1.5";
  w.base = "trunk";
  for (const char* leg : {"fl", "fr", "rl", "rr"}) {
    w.contacts.push_back(fmt::format("name: {0}, link: {0}_foot", leg));
  }
  w.height = 0.3219;
  w.friction = 0.7;
  expect_a_step(w);
}

TEST(QuadrupedPlan, TakesATrottingStepAsThePapersRobot) {
  const auto file = shared("models/paper/vision60.urdf");
  if (!file) GTEST_SKIP() << "models/paper/vision60.urdf is not there";
  Walker w;
  w.model = file->string();
  for (int leg = 0; leg < 4; ++leg) {
    w.joints += fmt::format("{}'{}': 0.3076, '{}': 0.5685", leg > 0 ? ", " : "", 2 * leg, 2 * leg + 1);
    w.limits += fmt::format("  - {{joint: '{}', position: [0, pi], torque: 87.5}}\n", 2 * leg + 1);
  }
  w.limits = "limits:\n" + w.limits;
  w.base = "body";
  const char* const names[] = {"fl", "rl", "fr", "rr"};
  for (int leg = 0; leg < 4; ++leg) {
    w.contacts.push_back(fmt::format("name: {}, link: lower{}, point: [0.28, 0, 0]", names[leg], leg));
  }
  w.height = 0.32;
  expect_a_step(w);
}

/// Swings and the stands between them last as long as the plan finds best: feet are set down when phases end. The more
/// time costs, the sooner it is there.
TEST(QuadrupedPlan, TrotsWithPhasesWhoseDurationsAreFound) {
  double last = 0;
  for (const double sigma : {0.5, 1.0}) {
    Result<PlanTask> task = read_task(source_file("models/tasks/quadruped_step.yaml"));
    ASSERT_TRUE(task);
    task->phases = {
        {{}, 0.1, 0, 0}, {{}, 0.26, 0.04, 0.4}, {{}, 0.3, 0.02, 0.1}, {{}, 0.5, 0.05, 0.5}, {{}, 0.6, 0, 0}};
    task->objectives.push_back({{}, TaskObjective::Type::time, sigma, {}});
    PlanOptions options;
    options.roll_out = 0;
    Result<Planner> planner = planner_of(task, options);
    ASSERT_TRUE(planner) << planner.failure().to_string();
    const Result<PlanResult> plan = planner->plan();
    ASSERT_TRUE(plan) << plan.failure().to_string();
    EXPECT_LE(plan->summary.solver.violation, 1e-9);
    ASSERT_EQ(plan->summary.phases.size(), 3u);
    double found = 0;
    for (const PhaseFound& phase : plan->summary.phases) {
      const double lasts = phase.to - phase.from;
      EXPECT_GT(lasts, phase.least + 1e-3);  // inside its bounds: an optimum
      EXPECT_LT(lasts, phase.most - 1e-3);
      found += lasts;
    }
    EXPECT_NEAR(plan->summary.duration, 0.2 + found, 1e-12);
    EXPECT_GT(found, last + 0.05);
    last = found;
    const build::PlanProblem& problem = planner->problem();
    EXPECT_GT(expect_firm_feet(problem), 4);
    EXPECT_NEAR(problem.sample(30).q[4], 0.06, 0.0101);
    expect_upright(problem, plan->summary.duration, 0.1);
  }
}

/// A corner of the hexagon: three cycles of the trot, the way turns by 60 degrees. The search takes full steps all the
/// way, however long the walk is, for the legs have a posture to come back to.
TEST(QuadrupedPlan, TrotsRoundACorner) {
  const std::string file = source_file("models/quadruped.urdf").string();
  std::string text = fmt::format(
      "model: {}\nbase: floating\nhorizon: 1.6\nsteps: 80\ncollocation: hermite-simpson\ndry_friction: false\n", file);
  std::string joints, contacts;
  for (const char* leg : {"fl", "fr", "rl", "rr"}) {
    joints += fmt::format("{0}{1}_abduction: 0, {1}_flexion: 0.75, {1}_knee: -1.5", joints.empty() ? "" : ", ", leg);
    contacts += fmt::format("  - {{name: {0}, link: {0}_foot, friction: 0.7, swing: 4cm}}\n", leg);
  }
  text += "start: {joints: {" + joints + "}}\ncontacts:\n" + contacts;
  text +=
      "gait: {order: [[fl, rr], [fr, rl]], cycle: 0.4, duty: 0.6, from: 0.1, to: 1.5}\n"
      "goals:\n"
      "  - {name: corner, time: 0.8, frame: trunk, position: [0.25, 0, free], tolerance: 3cm}\n"
      "  - {name: upright, time: 0, until: 1.6, frame: trunk, rpy: [0, 0, 0], sigma: 0.05}\n"
      "  - {name: end, time: 1.6, rest: true}\n"
      "  - {name: posture, time: 0, until: 1.6, sigma: 0.2, joints: {" +
      joints +
      "}}\n"
      "paths:\n"
      "  - {name: way, frame: trunk, sigma: 1cm, points: [[0, 0, 0, 0.3219], [0.1, 0, 0, 0.3219],\n"
      "     [0.8, 0.25, 0, 0.3219], [1.4, 0.375, 0.2165, 0.3219], [1.6, 0.375, 0.2165, 0.3219]]}\n"
      "  - {name: centre, frame: com, tolerance: 1.7cm, points: [[0, -0.0233, 0, 0.284], [0.1, -0.0233, 0, 0.284],\n"
      "     [0.8, 0.2267, 0, 0.284], [1.4, 0.3517, 0.2165, 0.284], [1.6, 0.3517, 0.2165, 0.284]]}\n"
      "objectives:\n  - {type: torque, sigma: 50}\n  - {type: acceleration, sigma: 50}\n";
  PlanOptions options;
  options.roll_out = 0;
  options.tolerance = 1e-7;
  int short_steps = 0;
  options.on_iteration = [&](const SqpIteration& i) {
    short_steps += i.phase == SqpIteration::Phase::search && i.barrier < 0.1 && i.step < 0.5;
  };
  Result<Planner> planner = planner_of(parse_task(text, "corner.yaml"), options);
  ASSERT_TRUE(planner) << planner.failure().to_string();
  const Result<PlanResult> plan = planner->plan();
  ASSERT_TRUE(plan) << plan.failure().to_string();
  const PlanSummary& summary = plan->summary;
  EXPECT_LE(summary.solver.violation, 1e-7);
  EXPECT_LE(summary.solver.iterations, 40);
  EXPECT_EQ(summary.solver.restorations, 0);
  EXPECT_LE(short_steps, 2);
  // rows in thousands of N m per m/s beside costs of 1/50²: scaled, nearly all pivots are found where they are planned
  EXPECT_LT(summary.solver.passed_on, summary.variables / 4);

  const build::PlanProblem& problem = planner->problem();
  const build::PlanSetting& setting = *problem.setting;
  for (const build::PlanContact& contact : setting.contacts) EXPECT_GE(contact.closed.size(), 4u) << contact.name;
  EXPECT_GT(expect_firm_feet(problem), 8);
  screw::CentreOfMass centre(setting.tree);
  for (int k = 1; k < setting.knots(); ++k) {
    const Eigen::Vector3d c = centre.at(problem.sample(k).q.data(), nullptr);
    EXPECT_LT((c - setting.task.paths[1].at(setting.time(k))).lpNorm<Eigen::Infinity>(), 0.017 + 1e-6) << "knot " << k;
  }
  const Eigen::VectorXd corner = problem.sample(setting.task.knot(0.8)).q;
  EXPECT_LT(std::hypot(corner[4] - 0.25, corner[5]), 0.05);
  expect_upright(problem, 0.5, 0.1);
}

/// A small task of ours, planned: what it must hold holds, in few iterations.
Result<Planner> planned(const char* task) {
  PlanOptions options;
  options.roll_out = 0;
  Result<Planner> planner = planner_of(read_task(source_file(task)), options);
  if (!planner) return planner;
  const Result<PlanResult> plan = planner->plan();
  if (!plan) return plan.failure();
  EXPECT_LE(plan->summary.solver.violation, 1e-9);
  EXPECT_LE(plan->summary.solver.iterations, 40);
  return planner;
}

TEST(QuadrupedPlan, SquatsOnFourFeet) {
  const Result<Planner> planner = planned("models/tasks/quadruped_squat.yaml");
  ASSERT_TRUE(planner) << planner.failure().to_string();
  const build::PlanProblem& problem = planner->problem();
  EXPECT_EQ(expect_firm_feet(problem), 0);
  EXPECT_NEAR(problem.sample(15).q[6], 0.2419, 0.002 + 1e-9);
  EXPECT_NEAR(problem.sample(30).q[6], 0.3219, 0.002 + 1e-9);
  EXPECT_LT(problem.sample(30).v.head<6>().lpNorm<Eigen::Infinity>(), 1e-9);  // feet hold the legs: rest is the base's
  expect_upright(problem, 1, 0.2);
}

TEST(QuadrupedPlan, LiftsOneFoot) {
  const Result<Planner> planner = planned("models/tasks/quadruped_lift.yaml");
  ASSERT_TRUE(planner) << planner.failure().to_string();
  const build::PlanProblem& problem = planner->problem();
  const build::PlanSetting& setting = *problem.setting;
  EXPECT_GT(expect_firm_feet(problem), 4);
  const build::PlanSample lifted = problem.sample(setting.task.knot(0.6));
  screw::Poses poses(setting.tree->bodies().size());
  screw::body_poses(*setting.tree, lifted.q.data(), poses);
  EXPECT_GE((poses[setting.contacts[0].point.body] * setting.contacts[0].point.at)[2], 0.06 - 1e-8);
  EXPECT_EQ(lifted.forces[0], Eigen::Vector3d::Zero());
  for (int foot = 1; foot < 4; ++foot) EXPECT_GT(lifted.forces[foot][2], 0);
  expect_upright(problem, 1.2, 0.2);
}

}  // namespace
}  // namespace kinegraph::task::quadruped_plan_test
