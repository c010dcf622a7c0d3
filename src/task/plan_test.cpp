#include "kinegraph/task/plan.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kinegraph/task/plan_limits.hpp"
#include "kinegraph/task/plan_roll_out.hpp"

namespace kinegraph::task::plan_test {
namespace {

/// A mass on a slide along x, and a pole that hangs on it.
Model cart_pole() {
  Model model;
  Robot& robot = model.robot;
  for (const char* name : {"cart_body", "pole_body"}) {
    Link link;
    link.name = name;
    link.has_inertia = true;
    robot.links.push_back(link);
  }
  robot.links[0].inertia = {20, Vector3d::Zero(), Matrix3d::Identity() * 0.01};
  robot.links[1].inertia = {0.3, {0, 0, -0.15}, Vector3d(0.00225, 0.00225, 1e-5).asDiagonal()};
  Joint cart, pole;
  cart.name = "cart";
  cart.type = JointType::prismatic;
  cart.child = LinkIndex(0);
  cart.axis = Vector3d::UnitY();
  pole.name = "pole";
  pole.type = JointType::continuous;
  pole.parent = LinkIndex(0);
  pole.child = LinkIndex(1);
  pole.axis = Vector3d::UnitX();
  robot.joints = {cart, pole};
  return model;
}

/// The cart alone, from rest to rest.
PlanTask push(double horizon, int steps, Collocation rule) {
  PlanTask task;
  task.horizon = horizon;
  task.steps = steps;
  task.collocation = rule;
  TaskGoal goal;
  goal.name = "there";
  goal.time = goal.until = horizon;
  goal.joints = {{{"cart", {}}, 1.0}};
  goal.rest = true;
  task.goals = {goal};
  task.objectives = {{{}, TaskObjective::Type::torque, 10, {}}};
  return task;
}

Model cart_alone() {
  Model model = cart_pole();
  model.robot.links.pop_back();
  model.robot.joints.pop_back();
  return model;
}

PlanTask swing_up() {
  PlanTask task = push(2, 50, Collocation::trapezoidal);
  task.passive = {{"pole", {}}};
  task.goals[0].joints.push_back({{"pole", {}}, M_PI});
  task.guess.type = TaskGuess::Type::rest;
  return task;
}

/// Least ∫F² from rest to rest over a distance d in a time T: F = 6 m d / T² (1 − 2 t / T). Knots at the ends count
/// half in the motion, but wholly in the sum of squares: their force is half of that.
TEST(Plan, LeastForceOfAMassIsAStraightLine) {
  const Result<PlanResult> plan = task::plan(cart_alone(), push(2, 40, Collocation::trapezoidal));
  ASSERT_TRUE(plan) << plan.failure().to_string();
  EXPECT_LT(plan->summary.solver.violation, 1e-9);
  const int F = plan->trajectory.find("cart.tau"), a = plan->trajectory.find("cart.a");
  const double slope = plan->trajectory.at(4, F) / 0.8;  // t = 0.2
  EXPECT_NEAR(slope, 6 * 20 / 4.0, 0.05 * 30);
  for (int k = 1; k < 40; ++k) EXPECT_NEAR(plan->trajectory.at(k, F), slope * (1 - 0.05 * k), 1e-6);
  EXPECT_NEAR(plan->trajectory.at(0, F), slope / 2 * (1 - 0.05 / 2), 1e-6);
  // The rule is exact for the speed, and wrong by h²/12 (a_N − a_0) for the place.
  const double jump = plan->trajectory.at(40, a) - plan->trajectory.at(0, a);
  EXPECT_NEAR(plan->summary.miss_max, 0.05 * 0.05 / 12 * std::abs(jump), 1e-9);
}

/// Simpson's rule is exact for the square of a straight line: at knots and middles alike, F = 6 m d / T² (1 − 2 t / T).
TEST(Plan, ForcesInTheMiddlesAreNoLargerThanAtTheKnots) {
  const Result<PlanResult> plan = task::plan(cart_alone(), push(2, 10, Collocation::hermite_simpson));
  ASSERT_TRUE(plan) << plan.failure().to_string();
  const int F = plan->trajectory.find("cart.tau");
  ASSERT_EQ(plan->trajectory.samples(), 21);
  for (int i = 0; i <= 20; ++i) EXPECT_NEAR(plan->trajectory.at(i, F), 30 * (1 - 0.1 * i), 1e-6);
}

/// How far the roll-out of a swing of cart and pole misses, with motors in both.
double miss(Collocation rule, int steps) {
  PlanTask task = push(1, steps, rule);
  task.goals[0].joints.push_back({{"pole", {}}, 2.0});
  task.objectives = {{{}, TaskObjective::Type::smoothness, 10, {}}};
  PlanOptions options;
  options.refine = 0;
  const Result<PlanResult> plan = task::plan(cart_pole(), task, options);
  EXPECT_TRUE(plan) << plan.failure().to_string();
  return plan ? plan->summary.miss_max : 0;
}

/// Half the step misses by 2⁻ᵖ.
TEST(Plan, EveryCollocationMeetsItsOrder) {
  EXPECT_NEAR(miss(Collocation::euler, 20) / miss(Collocation::euler, 40), 2, 0.4);
  EXPECT_NEAR(miss(Collocation::trapezoidal, 20) / miss(Collocation::trapezoidal, 40), 4, 0.8);
  EXPECT_NEAR(miss(Collocation::hermite_simpson, 10) / miss(Collocation::hermite_simpson, 20), 16, 3.2);
}

/// Of a step alone the error is of one order more: half the step misses by 2⁻³.
TEST(Plan, SingleStepsMissByOneOrderMore) {
  const auto miss_of = [](int steps) {
    PlanTask task = push(1, steps, Collocation::trapezoidal);
    task.goals[0].joints.push_back({{"pole", {}}, 2.0});
    task.objectives = {{{}, TaskObjective::Type::smoothness, 10, {}}};
    PlanOptions options;
    options.refine = 0;
    Result<Planner> planner = Planner::make(cart_pole(), task, options);
    EXPECT_TRUE(planner && planner->plan());
    return planner ? step_miss(planner->problem(), 10) : 0;
  };
  EXPECT_NEAR(miss_of(20) / miss_of(40), 8, 1.6);
}

TEST(Plan, SwingsAPoleUpAndTheTorquesReallyDo) {
  PlanOptions as_it_is;
  as_it_is.refine = 0;
  const Result<PlanResult> plan = task::plan(cart_pole(), swing_up(), as_it_is);
  ASSERT_TRUE(plan) << plan.failure().to_string();
  EXPECT_LT(plan->summary.solver.violation, 1e-9);
  EXPECT_LT(plan->summary.misses[1].plan, 1e-9);
  EXPECT_LT(plan->summary.miss_max, 0.1);  // at 25 steps per second
  const int passive = plan->trajectory.find("pole.tau");
  for (int k = 0; k < plan->trajectory.samples(); ++k) EXPECT_EQ(plan->trajectory.at(k, passive), 0);
}

/// Coarse steps whose errors grow while the pole comes up; the same by a better rule.
TEST(Plan, ARollOutThatMissesIsWarnedOf) {
  PlanTask task = swing_up();
  task.steps = 20;
  PlanOptions as_it_is;
  as_it_is.refine = 0;
  const Result<PlanResult> coarse = task::plan(cart_pole(), task, as_it_is);
  ASSERT_TRUE(coarse) << coarse.failure().to_string();
  const PlanSummary& s = coarse->summary;
  ASSERT_EQ(s.misses[1].what, "pole.q");
  ASSERT_GT(s.misses[1].roll_out, kMissWarned);
  ASSERT_EQ(s.warnings.size(), 1u);
  EXPECT_EQ(
      s.warnings[0],
      fmt::format(
          "rolled out open loop, pole.q misses goal there by {:.3g} rad at 2 s: single steps miss by up to "
          "{:.2g} rad or m, which an open loop lets grow; take more steps, or collocation: hermite-simpson, or follow "
          "the plan with feedback",
          s.misses[1].roll_out, s.step_miss));

  task.steps = 100;
  task.collocation = Collocation::hermite_simpson;
  const Result<PlanResult> fine = task::plan(cart_pole(), task);
  ASSERT_TRUE(fine) << fine.failure().to_string();
  EXPECT_LT(fine->summary.miss_max, 1e-3);
  EXPECT_TRUE(fine->summary.warnings.empty());
}

TEST(Plan, LimitsHoldBetweenTheKnotsToo) {
  PlanTask task = push(1, 20, Collocation::trapezoidal);
  TaskLimit limit;
  limit.joint = {"cart", {}};
  limit.velocity = 1.2;
  limit.torque = 160;
  task.limits = {limit};
  const Result<PlanResult> plan = task::plan(cart_alone(), task);
  ASSERT_TRUE(plan) << plan.failure().to_string();
  EXPECT_LT(plan->summary.limit_excess, 1e-6);
  EXPECT_LT(plan->summary.torque_peak[0], 160 + 1e-6);
}

TEST(Plan, NamesWhatCannotBeMet) {
  PlanTask task = push(1, 20, Collocation::trapezoidal);
  TaskLimit limit;
  limit.joint = {"cart", {}};
  limit.torque = 30;  // 120 N are needed at least: 4 m d / T² = 80 N bang-bang
  task.limits = {limit};
  const Result<PlanResult> plan = task::plan(cart_alone(), task);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.failure().exit_status(), 1);
  const std::string why = plan.failure().to_string();
  EXPECT_NE(why.find("not met: "), std::string::npos) << why;
  EXPECT_TRUE(why.find("there: cart.q") != std::string::npos || why.find("limit: cart.tau") != std::string::npos)
      << why;
  EXPECT_NE(why.find(" s: off by "), std::string::npos) << why;
}

TEST(Plan, SmoothnessMayBeOfSomeJoints) {
  const auto rows = [](const std::vector<TaskName>& joints) {
    PlanTask task = push(1, 20, Collocation::trapezoidal);
    task.objectives = {{{}, TaskObjective::Type::smoothness, 10, joints}};
    const Result<Planner> planner = Planner::make(cart_pole(), task, {});
    EXPECT_TRUE(planner) << planner.failure().to_string();
    int sum = 0;
    for (const BoundFactor& bound : planner->problem().graph.factors()) {
      if (bound.factor->name() == "smoothness") sum += bound.factor->rows();
    }
    return sum;
  };
  EXPECT_EQ(rows({}), 20 * 3 * 2);
  EXPECT_EQ(rows({{"cart", {}}}), 20 * 3);
}

/// However far a motion leaves them between knots.
TEST(Plan, LimitsThatAreDrawnInDoNotCross) {
  PlanTask task = push(1, 4, Collocation::trapezoidal);
  task.limits = {{{}, {"cart", {}}, std::pair(-0.5, 1.0), 1.5, 100.0}};
  const Result<build::PlanSetting> asked = build::PlanSetting::make(cart_alone(), task);
  ASSERT_TRUE(asked) << asked.failure().to_string();
  PlanSummary summary;
  summary.limits = {{"cart.tau", 300, 0.5}, {"cart.v", 4, 0.5}, {"cart.q", 2, 0.5}};
  const auto tighter = drawn_in(*asked, *asked, summary);
  ASSERT_TRUE(tighter);
  EXPECT_DOUBLE_EQ(tighter->lower[0], -0.125);
  EXPECT_DOUBLE_EQ(tighter->upper[0], 0.625);
  EXPECT_DOUBLE_EQ(tighter->speed[0], 0.75);
  EXPECT_DOUBLE_EQ(tighter->effort[0], 50);
}

/// What is held counts where it is missed by most, not at its end.
TEST(Plan, HeldGoalsAreMeasuredOverTheirTime) {
  PlanTask task = push(2, 40, Collocation::trapezoidal);
  TaskGoal held = task.goals[0];
  held.name = "held";
  held.time = 0.5, held.until = 2;
  held.rest = false;
  held.sigma = 0.5;
  task.goals.push_back(held);
  const Result<PlanResult> plan = task::plan(cart_alone(), task);
  ASSERT_TRUE(plan) << plan.failure().to_string();
  const GoalMiss& miss = plan->summary.misses.back();
  EXPECT_EQ(miss.goal, "held");
  EXPECT_NEAR(miss.time, 0.5, 1e-9);  // it only gets nearer
  EXPECT_NEAR(miss.plan, 1 - plan->trajectory.at(10, plan->trajectory.find("cart.q")), 1e-12);
}

/// A mass with dry friction that comes to rest: sharp friction stops it, which the plan rounds off.
TEST(Plan, TheRollOutHasTheModelsOwnFriction) {
  Model model = cart_alone();
  model.robot.joints[0].dynamics = {JointDynamics{}};
  model.robot.joints[0].dynamics[0].friction = 40;
  PlanTask task = push(2, 40, Collocation::hermite_simpson);
  task.friction_speed = 0.5;
  PlanOptions options;
  const Result<PlanResult> rounded = task::plan(model, task, options);
  ASSERT_TRUE(rounded) << rounded.failure().to_string();
  EXPECT_GT(rounded->summary.miss_max, 0.05);
  ASSERT_EQ(rounded->summary.warnings.size(), 1u);
  EXPECT_EQ(
      rounded->summary.warnings[0],
      fmt::format("rolled out open loop, cart.q misses goal there by {:.3g} m at 2 s: its dry friction is sharp, "
                  "the plan rounds it off over 0.5 rad/s or m/s (friction_speed), or follow the plan with feedback",
                  rounded->summary.misses[0].roll_out));
  task.dry_friction = false;
  const Result<PlanResult> without = task::plan(model, task, options);
  ASSERT_TRUE(without) << without.failure().to_string();
  EXPECT_LT(without->summary.miss_max, 1e-6);
}

TEST(Plan, RefusesNamesAndTimesThatAreNotThere) {
  PlanTask task = push(1, 20, Collocation::trapezoidal);
  task.goals[0].joints[0].first = {"cat", {"t.yaml", 3, 4}};
  task.goals[0].time = task.goals[0].until = 0.33;
  task.limits = {{{}, {"polo", {"t.yaml", 5, 6}}, {}, 1.0, {}}};
  const Result<PlanResult> plan = task::plan(cart_pole(), task);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.failure().exit_status(), 2);
  const std::string why = plan.failure().to_string();
  EXPECT_NE(why.find("t.yaml:3:4: error: unknown joint 'cat'; did you mean 'cart'?"), std::string::npos) << why;
  EXPECT_NE(why.find("t.yaml:5:6: error: unknown joint 'polo'; did you mean 'pole'?"), std::string::npos) << why;
  EXPECT_NE(why.find("time: must be a multiple of the step 0.05 s, is 0.33; nearest 0.35"), std::string::npos) << why;
}

TEST(Plan, WithoutAMotorThereIsNothingToPlan) {
  PlanTask task = push(1, 20, Collocation::trapezoidal);
  task.passive = {{"pole", {}}, {"cart", {"t.yaml", 4, 17}}};
  const Result<PlanResult> plan = task::plan(cart_pole(), task);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.failure().exit_status(), 2);
  EXPECT_EQ(plan.failure().to_string(),
            "t.yaml:4:17: error: no joint has a motor: nothing can be done to meet the goals (simulate shows how it "
            "moves by itself)");
}

TEST(Plan, AnotherStartFollowsFromTheLastPlan) {
  Result<Planner> planner = Planner::make(cart_pole(), swing_up(), {});
  ASSERT_TRUE(planner);
  const Result<PlanResult> first = planner->plan();
  ASSERT_TRUE(first) << first.failure().to_string();
  const Result<PlanResult> second = planner->replan(Eigen::Vector2d(0.02, 0.05), Eigen::Vector2d(0, 0.1));
  ASSERT_TRUE(second) << second.failure().to_string();
  EXPECT_EQ(second->trajectory.at(0, second->trajectory.find("pole.q")), 0.05);
  EXPECT_LT(second->summary.solver.violation, 1e-9);
  EXPECT_LT(second->summary.solver.iterations, first->summary.solver.iterations);
}

TEST(Plan, StartsFromAnEarlierPlan) {
  const Result<PlanResult> first = task::plan(cart_pole(), swing_up());
  ASSERT_TRUE(first);
  PlanOptions options;
  options.guess = &first->trajectory;
  const Result<PlanResult> again = task::plan(cart_pole(), swing_up(), options);
  ASSERT_TRUE(again) << again.failure().to_string();
  EXPECT_NEAR(again->summary.solver.cost, first->summary.solver.cost, 1e-6 * first->summary.solver.cost);
}

/// From rest to rest over d with accelerations up to a: T = 2 √(d/a), the whole force forward, then backward. At the
/// knot in the middle the force is none, which costs a share of 1/steps² of the time.
TEST(Plan, LeastTimeOfAMass) {
  PlanTask task = push(1, 40, Collocation::trapezoidal);
  task.phases = {{{}, 1, 0.1, 20}};
  task.objectives = {{{}, TaskObjective::Type::time, 1, {}}};
  task.limits = {{{}, {"cart", {}}, {}, {}, 5.0}};
  const Result<PlanResult> plan = task::plan(cart_alone(), task);
  ASSERT_TRUE(plan) << plan.failure().to_string();
  const double least = 2 * std::sqrt(1 / (5.0 / 20));
  EXPECT_NEAR(plan->summary.duration, least * (1 + 1.0 / (40 * 40)), 1e-4 * least);
  EXPECT_EQ(plan->trajectory.times().back(), plan->summary.duration);
  EXPECT_NEAR(plan->motion.times().back(), plan->summary.duration, 1e-9);
  EXPECT_LT(plan->summary.miss_max, 2e-3);
  const int F = plan->trajectory.find("cart.tau");
  EXPECT_NEAR(plan->trajectory.at(5, F), 5, 1e-3);
  EXPECT_NEAR(plan->trajectory.at(35, F), -5, 1e-3);
}

/// The same, past a place at which it shall be between two phases: a third of the way takes √(2 d/3 a).
TEST(Plan, PhasesLastAsLongAsEachNeeds) {
  for (const Collocation rule : {Collocation::trapezoidal, Collocation::hermite_simpson}) {
    PlanTask task = push(2, 80, rule);
    TaskGoal way = task.goals[0];
    way.time = way.until = 1;
    way.rest = false;
    way.joints[0].second = 1.0 / 3;
    task.goals.insert(task.goals.begin(), way);
    task.phases = {{{}, 1, 0.1, 20}, {{}, 2, 0.1, 20}};
    task.objectives = {{{}, TaskObjective::Type::time, 1, {}}};
    const bool limited = rule == Collocation::trapezoidal;
    if (limited) task.limits = {{{}, {"cart", {}}, {}, {}, 5.0}};
    if (!limited) task.objectives.push_back({{}, TaskObjective::Type::torque, 10, {}});
    const Result<PlanResult> plan = task::plan(cart_alone(), task);
    ASSERT_TRUE(plan) << plan.failure().to_string();
    ASSERT_EQ(plan->summary.phases.size(), 2u);
    const PhaseFound first = plan->summary.phases[0], second = plan->summary.phases[1];
    EXPECT_EQ(first.to, second.from);
    EXPECT_EQ(second.to, plan->summary.duration);
    EXPECT_LT(plan->summary.miss_max, 2e-3);  // rolled out at the times that were found
    if (!limited) continue;
    EXPECT_NEAR(first.to, std::sqrt(2 * (1.0 / 3) / 0.25), 1e-3);
    EXPECT_NEAR(second.to, 4, 2e-3);
  }
}

TEST(Plan, ADurationThatCannotBeIsNamed) {
  PlanTask task = push(1, 40, Collocation::trapezoidal);
  task.phases = {{{}, 1, 0.1, 2}};
  task.limits = {{{}, {"cart", {}}, {}, {}, 5.0}};  // needs 4 s
  const Result<PlanResult> plan = task::plan(cart_alone(), task);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.failure().kind, Failure::Kind::no_answer);
  task.phases.clear();
  task.objectives = {{{}, TaskObjective::Type::time, 1, {}}};
  const Result<PlanResult> nothing_free = task::plan(cart_alone(), task);
  ASSERT_FALSE(nothing_free);
  EXPECT_NE(nothing_free.failure().to_string().find("no duration is free"), std::string::npos);
}

/// A mass that is taken along half-way: the same acceleration asks for more force from then on.
TEST(Plan, APayloadIsCarriedFromItsTimeOn) {
  PlanTask task = push(2, 40, Collocation::trapezoidal);
  TaskGoal stop = task.goals[0];
  stop.time = stop.until = 1;
  stop.joints[0].second = 0.5;
  task.goals.insert(task.goals.begin(), stop);
  task.payload.emplace().link = {"cart_body", {}};
  task.payload->from = 1;
  task.payload->inertia.mass = 20;
  const Result<PlanResult> plan = task::plan(cart_alone(), task);
  ASSERT_TRUE(plan) << plan.failure().to_string();
  EXPECT_LT(plan->summary.miss_max, 2e-2);
  const int F = plan->trajectory.find("cart.tau"), a = plan->trajectory.find("cart.a");
  for (int k = 0; k < 41; ++k) {
    EXPECT_NEAR(plan->trajectory.at(k, F), (k < 20 ? 20 : 40) * plan->trajectory.at(k, a), 1e-7);
  }
}

}  // namespace
}  // namespace kinegraph::task::plan_test
