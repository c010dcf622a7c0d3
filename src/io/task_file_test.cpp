#include "kinegraph/io/task_file.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "kinegraph/model/plan_schema.hpp"
#include "test/shared.hpp"

namespace kinegraph::task_file_test {
namespace {

const std::string kWhole = R"(model: arm.urdf
base: floating
gravity: [0, 0, -9.8]
horizon: 2
steps: 200
collocation: hermite-simpson
passive: [pole]
model_limits: false
start: {joints: {a: 30deg}, rates: {a: 1}, base: [0, 0, 1], base_rpy: [0, 0, 90deg]}
goals:
  - {time: 1, joints: {a: pi, b: -1}, rest: true}
  - {name: up, time: 1.5, until: 2, frame: hand, offset: [0, 0, 0.1], position: [1, free, 2], rpy: [0, 90deg, 0], sigma: 0.1}
  - {time: 2, frame: com, position: [0, 0, free], tolerance: 2cm}
limits:
  - {joint: all, velocity: 2, torque: 30}
  - {joint: a, position: [-1, 1]}
objectives:
  - {type: torque, sigma: 20, joints: [a]}
  - {type: smoothness}
contacts:
  - {name: foot, link: leg, point: [0.1, 0, 0], closed: [[0, 0.5], [1, 2]], friction: 0.7, ground: -0.2, swing: 5cm}
gait: {order: [[foot, hoof], paw], cycle: 0.6, from: 0.1, to: 1.5}
paths:
  - {frame: com, points: [[0, 0, 0, free], [2, 1, 30cm, free]], tolerance: 3cm}
obstacles:
  - {name: ball, type: sphere, at: [1, 0, 0], radius: 0.1}
  - {name: floor, type: plane}
  - {name: crate, type: box, size: [1, 1, 1]}
collision: {margin: 2cm, links: [hand], pairs: [[hand, base]]}
payload: {link: hand, from: 0.5, to: 1.5, mass: 2, com: [0, 0, 0.1], inertia: [1, 1, 1], radius: 0.05}
guess: {type: csv, file: before.csv}
)";

TEST(TaskFile, ReadsAllThereIs) {
  const Result<PlanTask> task = parse_task(kWhole, "t.yaml");
  ASSERT_TRUE(task) << task.failure().to_string();
  EXPECT_EQ(task->model.text, "arm.urdf");
  EXPECT_EQ(task->base, Robot::Base::floating);
  EXPECT_EQ(task->steps, 200);
  EXPECT_EQ(task->collocation, Collocation::hermite_simpson);
  EXPECT_FALSE(task->model_limits);
  EXPECT_NEAR(task->start.joints[0].second, M_PI / 6, 1e-15);
  ASSERT_EQ(task->goals.size(), 3u);
  EXPECT_NEAR(task->goals[0].joints[0].second, M_PI, 1e-15);
  EXPECT_EQ(task->goals[0].name, "goal at 1 s");
  EXPECT_TRUE(std::isnan((*task->goals[1].position)[1]));
  EXPECT_NEAR((task->goals[1].rotation->toRotationMatrix() * Vector3d::UnitX() + Vector3d::UnitZ()).norm(), 0, 1e-15);
  EXPECT_NEAR(task->goals[2].tolerance, 0.02, 1e-15);
  EXPECT_EQ(*task->limits[0].torque, 30);
  ASSERT_TRUE(task->gait);
  ASSERT_EQ(task->gait->order.size(), 2u);
  EXPECT_EQ(task->gait->order[0][1].text, "hoof");
  EXPECT_EQ(task->gait->duty, 0.5);  // two groups, one after the other
  ASSERT_EQ(task->paths.size(), 1u);
  EXPECT_NEAR(task->paths[0].at(1)[0], 0.5, 1e-15);
  EXPECT_NEAR(task->paths[0].at(3)[1], 0.3, 1e-15);
  EXPECT_TRUE(std::isnan(task->paths[0].at(1)[2]));
  EXPECT_EQ(task->objectives[1].type, TaskObjective::Type::smoothness);
  EXPECT_EQ(task->contacts[0].closed.size(), 2u);
  EXPECT_EQ(task->obstacles[1].shape.type, Shape::Type::plane);
  EXPECT_EQ(task->collision->pairs[0].second.text, "base");
  EXPECT_EQ(task->payload->inertia.mass, 2);
  EXPECT_EQ(task->guess.type, TaskGuess::Type::csv);
}

TEST(TaskFile, PhasesOfUnknownDuration) {
  const std::string head = "model: a\nhorizon: 2\nsteps: 4\n";
  const Result<PlanTask> task = parse_task(
      head + "phases: [{until: 0.5}, {until: 2, duration: [500ms, 3]}]\nobjectives: [{type: time}]\n", "t.yaml");
  ASSERT_TRUE(task) << task.failure().to_string();
  ASSERT_EQ(task->phases.size(), 2u);
  EXPECT_FALSE(task->phases[0].free());
  EXPECT_TRUE(task->phases[1].free());
  EXPECT_NEAR(task->phases[1].least, 0.5, 1e-15);
  EXPECT_EQ(task->objectives[0].type, TaskObjective::Type::time);
  const Result<PlanTask> wrong = parse_task(head + "phases: [{until: 1, duration: [3, 1]}, {until: 1}]\n", "t.yaml");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.failure().to_string(),
            "t.yaml:4:31: error: duration: expected [least, most] with 0 < least < most\n"
            "t.yaml:4:48: error: until: must be after 1 s, where the last ends");
}

TEST(TaskFile, TellsAllFaultsWithTheirPlaces) {
  const Result<PlanTask> task = parse_task(
      "model: arm.urdf\nhorizon: -1\nstpes: 20\ngoals:\n  - {tim: 1, joints: {a: 1}}\n  - {time: 1, frame: hand}\n"
      "objectives:\n  - {type: torqe}\nobstacles: {name: ball}\nlimits:\n  - {joint: a, position: [1, x]}\n",
      "t.yaml");
  ASSERT_FALSE(task);
  EXPECT_EQ(task.failure().exit_status(), 2);
  const std::string all = task.failure().to_string();
  for (const char* expected :
       {"t.yaml:2:10: error: horizon: must be > 0, is -1",
        "t.yaml:3:1: error: unknown key 'stpes' of a task; did you mean 'steps'?",
        "missing key 'steps' of a task: into how many equal steps it is divided",
        "t.yaml:5:6: error: unknown key 'tim' of a goal; did you mean 'time'?",
        "t.yaml:6:5: error: a frame needs a position, rpy or quaternion",
        "t.yaml:8:12: error: type: unknown 'torqe'; did you mean 'torque'?",
        "t.yaml:9:12: error: obstacles: expected a list, found a map", "t.yaml:11:30: error: position: "}) {
    EXPECT_NE(all.find(expected), std::string::npos) << expected << "\n in \n" << all;
  }
}

TEST(TaskFile, RefusesUnitsOfOtherQuantities) {
  const Result<PlanTask> task =
      parse_task("model: arm.urdf\nhorizon: 2kg\nsteps: 20\ngoals: [{time: 1 m, joints: {a: 1}}]\n", "t.yaml");
  ASSERT_FALSE(task);
  EXPECT_EQ(task.failure().to_string(),
            "t.yaml:2:10: error: horizon: expected a time (s, ms, us, min, h), found the unit of a mass: '2kg'\n"
            "t.yaml:4:16: error: time: expected a time (s, ms, us, min, h), found the unit of a length: '1 m'");
}

TEST(TaskFile, RefusesUnitsThatNoJointHas) {
  const Result<PlanTask> task = parse_task(
      "model: arm.urdf\nhorizon: 2\nsteps: 20\nstart: {joints: {a: 2kg, b: 180mm, c: 5deg}, rates: {a: 1m}}\n"
      "limits: [{joint: a, velocity: 3deg, torque: 4Nm}, {joint: b, velocity: 1m/s, torque: 1rad}]\n",
      "t.yaml");
  ASSERT_FALSE(task);
  const std::string all = task.failure().to_string();
  EXPECT_EQ(task.failure().diagnostics.size(), 4u) << all;
  for (const char* expected :
       {"t.yaml:4:21: error: joints a: expected an angle or length (", "t.yaml:4:57: error: rates a: expected an ",
        "t.yaml:5:31: error: velocity: expected an angular velocity or velocity (",
        "found the unit of an angle: '3deg'", "torque: expected a torque or force ("}) {
    EXPECT_NE(all.find(expected), std::string::npos) << expected << "\n in \n" << all;
  }
}

TEST(TaskFile, RefusesWhatIsNoTask) {
  EXPECT_FALSE(parse_task("", "t.yaml"));
  EXPECT_FALSE(parse_task("[1, 2]", "t.yaml"));
  EXPECT_FALSE(parse_task("model: a\nhorizon: 1\nsteps: 2.5\n", "t.yaml"));
  EXPECT_FALSE(parse_task("model: a\nhorizon: 1\nsteps: 2\ngoals: [3]\n", "t.yaml"));
}

/// The reader's table and the documentation say the same.
TEST(TaskFile, EveryKeyIsDocumented) {
  std::ifstream file(source_file("docs/formats.md"));
  std::stringstream text;
  text << file.rdbuf();
  const std::string docs = text.str();
  const std::size_t start = docs.find("## Tasks");
  ASSERT_NE(start, std::string::npos);
  const std::string tasks = docs.substr(start);
  for (const TaskSection& section : task_sections()) {
    for (const TaskKey& key : section.keys) {
      const std::string row = "| `" + std::string(key.key) + "` | " + std::string(key.meaning) + " |";
      EXPECT_NE(tasks.find(row), std::string::npos) << row;
    }
  }
}

}  // namespace
}  // namespace kinegraph::task_file_test
