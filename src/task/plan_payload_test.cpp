#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "kinegraph/mechanics/screw/centre_of_mass.hpp"
#include "kinegraph/task/arms_test.hpp"
#include "kinegraph/task/plan.hpp"

// What a robot carries, and what of it keeps clear of itself.

namespace kinegraph::task::plan_payload_test {
namespace {

Shape capsule(double radius, double length) {
  Shape shape;
  shape.type = Shape::Type::capsule;
  shape.size = {radius, length, 0};
  shape.X_LG = SE3(SO3(from_rpy({0, M_PI / 2, 0})), Vector3d(length / 2, 0, 0));
  return shape;
}

/// Three rods of 0.5, 0.4 and 0.2 m in the plane z = 0, without weight there.
Model folding() {
  RobotMaker make;
  LinkIndex last{};
  double length = 0;
  for (const auto& [name, joint, l] :
       {std::tuple{"upper", "shoulder", 0.5}, std::tuple{"middle", "elbow", 0.4}, std::tuple{"fore", "wrist", 0.2}}) {
    const LinkIndex link = make.link(name, 1, {l / 2, 0, 0}, {1e-3, 0.02, 0.02});
    make.joint(joint, JointType::continuous, last, link, {length, 0, 0}, {0, 0, 1});
    make.model.robot.links[link.value].collisions = {capsule(0.03, l)};
    last = link, length = l;
  }
  return make.model;
}

/// The last rod turns round above the first: downward, where that is.
PlanTask turn_round() {
  PlanTask task;
  task.horizon = 2;
  task.steps = 40;
  task.start.joints = {{{"elbow", {}}, 2.8}, {{"wrist", {}}, 0.34}};
  TaskGoal goal;
  goal.name = "round";
  goal.time = goal.until = 2;
  goal.joints = {{{"shoulder", {}}, 0.0}, {{"elbow", {}}, 2.8}, {{"wrist", {}}, 3.48}};
  goal.rest = true;
  task.goals = {goal};
  task.objectives = {{{}, TaskObjective::Type::torque, 10, {}}, {{}, TaskObjective::Type::smoothness, 10, {}}};
  return task;
}

double least_clearance(const Model& model, const PlanTask& with_pairs, const Trajectory& motion) {
  const Result<build::PlanSetting> setting = build::PlanSetting::make(model, with_pairs);
  EXPECT_TRUE(setting) << setting.failure().to_string();
  double least = 1;
  for (int i = 0; i < motion.samples(); ++i) {
    const Eigen::VectorXd q = Eigen::Map<const Eigen::VectorXd>(motion.row(i), 3);
    least = std::min(least, build::least_distance(*setting, q, 1).first);
  }
  return least;
}

TEST(PlanPairs, LinksKeepClearOfEachOther) {
  PlanTask task = turn_round(), firm = task;
  firm.collision = TaskCollision{};
  firm.collision->margin = 0.02;
  firm.collision->pairs = {{{"upper", {}}, {"fore", {}}}};
  const Result<PlanResult> careless = task::plan(folding(), task);
  ASSERT_TRUE(careless) << careless.failure().to_string();
  EXPECT_LT(least_clearance(folding(), firm, careless->motion), -0.02);  // it hits itself
  const Result<PlanResult> careful = task::plan(folding(), firm);
  ASSERT_TRUE(careful) << careful.failure().to_string();
  EXPECT_GE(careful->summary.clearance, 0.02 - 1e-6);
  EXPECT_GE(least_clearance(folding(), firm, careful->motion), 0.02 - 1e-3);
  EXPECT_LT(careful->summary.misses[2].plan, 1e-9);
}

TEST(PlanPayload, KeepsClearAsTheLinkThatCarriesIt) {
  PlanTask task = turn_round();
  TaskPayload payload;
  payload.link = {"fore", {}};
  payload.from = 0.5, payload.to = 1.5;
  payload.inertia = {1, {0.2, 0, 0}, Matrix3d::Identity() * 1e-3};
  payload.shape.emplace().type = Shape::Type::box;
  payload.shape->size = {0.1, 0.2, 0.1};
  payload.shape->X_LG = SE3({}, {0.2, 0, 0});
  task.payload = payload;
  task.collision = TaskCollision{};
  task.collision->pairs = {{{"upper", {}}, {"fore", {}}}, {{"upper", {}}, {"middle", {}}}};
  const Result<build::PlanSetting> setting = build::PlanSetting::make(folding(), task);
  ASSERT_TRUE(setting) << setting.failure().to_string();
  ASSERT_EQ(setting->pairs.size(), 3u);
  EXPECT_EQ(setting->pairs[1].name, "payload - upper");
  EXPECT_EQ(setting->pairs[1].from, 10);
  EXPECT_EQ(setting->pairs[1].to, 30);
  // the box's middle is 0.2 m out on the last rod: stretched, half of it and the first rod's end are 0.4 m apart
  const auto [distance, nearest] = build::least_distance(*setting, Eigen::Vector3d(0, 0, 0), 20);
  EXPECT_EQ(nearest, 2);  // rods side by side: upper and middle
  EXPECT_LT(distance, 0);
}

/// A cart of 20 kg that carries as much, 1 m ahead: both together are half a metre ahead of the cart.
TEST(PlanPayload, TheCentreOfMassIsThatOfAll) {
  RobotMaker make;
  const LinkIndex cart = make.link("cart", 20, {0, 0, 0}, {0.1, 0.1, 0.1});
  make.joint("drive", JointType::prismatic, {}, cart, {0, 0, 0}, {1, 0, 0});
  PlanTask task;
  task.horizon = 2;
  task.steps = 20;
  TaskGoal goal;
  goal.name = "there";
  goal.time = goal.until = 1;
  goal.frame = {"com", {}};
  goal.position = Vector3d(0.75, std::nan(""), std::nan(""));
  TaskGoal later = goal;
  later.time = later.until = 2;
  task.goals = {goal, later};
  task.payload.emplace().link = {"cart", {}};
  task.payload->inertia = {20, {1, 0, 0}, Matrix3d::Identity()};
  task.payload->to = 1.5;
  task.objectives = {{{}, TaskObjective::Type::torque, 10, {}}};
  const Result<PlanResult> plan = task::plan(make.model, task);
  ASSERT_TRUE(plan) << plan.failure().to_string();
  const int q = plan->trajectory.find("drive.q");
  EXPECT_NEAR(plan->trajectory.at(10, q), 0.25, 1e-9);
  EXPECT_NEAR(plan->trajectory.at(20, q), 0.75, 1e-9);  // it is put down by then
  for (const GoalMiss& miss : plan->summary.misses) EXPECT_LT(miss.plan, 1e-9);
}

}  // namespace
}  // namespace kinegraph::task::plan_payload_test
