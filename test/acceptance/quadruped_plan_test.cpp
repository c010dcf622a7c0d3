#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kinegraph/io/model_file.hpp"
#include "kinegraph/io/task_file.hpp"
#include "kinegraph/mechanics/screw/kinematics.hpp"
#include "kinegraph/task/ground_roll_out.hpp"
#include "kinegraph/task/plan.hpp"
#include "test/shared.hpp"

// A robot of twelve joints that floats takes a trotting step with each pair of feet. The hexagon of 003 is the same for
// longer: experiments/planning/quadruped_hexagon.cpp.

namespace kinegraph::task {
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

void expect_a_step(const Walker& w) {
  const Result<PlanTask> task = parse_task(task_of(w), "step.yaml");
  ASSERT_TRUE(task) << task.failure().to_string();
  const Result<Model> model = read_model(w.model, {.base = Robot::Base::floating});
  ASSERT_TRUE(model) << model.failure().to_string();
  PlanOptions options;
  options.roll_out = 0;
  Result<Planner> planner = Planner::make(*model, *task, options);
  ASSERT_TRUE(planner) << planner.failure().to_string();
  const Result<PlanResult> plan = planner->plan();
  ASSERT_TRUE(plan) << plan.failure().to_string();
  EXPECT_LE(plan->summary.solver.violation, 1e-9);
  EXPECT_LE(plan->summary.solver.iterations, 100);

  const build::PlanProblem& problem = planner->problem();
  const build::PlanSetting& setting = *problem.setting;
  ASSERT_EQ(setting.contacts.size(), 4u);
  screw::Poses poses(setting.tree->bodies().size());
  int lifted = 0;
  for (std::size_t c = 0; c < setting.contacts.size(); ++c) {
    const build::PlanContact& contact = setting.contacts[c];
    ASSERT_EQ(contact.closed.size(), 2u) << contact.name;
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
  EXPECT_GT(lifted, 8);
  const double moved = problem.sample(setting.task.steps).q[4];
  EXPECT_NEAR(moved, 0.06, 0.0101);

  // Open loop, where the ground says which forces there are: upright until both pairs have swung.
  const Result<GroundRollOut> ground = roll_out_on_ground(problem, 0.5, 1e-3);
  ASSERT_TRUE(ground) << ground.failure().to_string();
  EXPECT_GT(ground->upright_for, 0.499);
  EXPECT_LT(ground->base_miss, 0.1);
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

}  // namespace
}  // namespace kinegraph::task
