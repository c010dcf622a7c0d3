// What cannot be done, in the words that a user reads.
#include <fmt/format.h>

#include "kinegraph/task/check.hpp"
#include "kinegraph/task/inverse.hpp"
#include "kinegraph/task/kinematics.hpp"
#include "kinegraph/task/machine.hpp"
#include "kinegraph/task/planar_drawing.hpp"
#include "kinegraph/task/spatial_inverse.hpp"
#include "test/acceptance/support.hpp"

namespace kinegraph::acceptance::messages_test {
namespace {

template <class T>
void expect_failure(const Result<T>& result, Failure::Kind kind, int status, const std::string& text) {
  ASSERT_FALSE(result) << "expected: " << text;
  EXPECT_EQ(result.failure().kind, kind);
  EXPECT_EQ(result.failure().exit_status(), status);
  EXPECT_EQ(result.failure().to_string(), text);
}

// The pivots are 4 m apart, the bars reach 3 m. The least gap: both bars stretched, ‖Φ‖ least, by 1.85 and 1.35 m²:
// the crank would have to be 1.687 m long.
const char* const kTooShort = R"(
points:
  - {name: A, x: 0, y: 0, fixed: true}
  - {name: P, x: 1.5, y: 0.5}
  - {name: D, x: 4, y: 0, fixed: true}
planar_bodies:
  - {name: crank, points: [A, P], length: 1, mass: 1}
  - {name: rocker, points: [P, D], length: 2, mass: 1}
)";

TEST(Unassemblable, IsToldByEveryTask) {
  const Model model = model_of(kTooShort);
  const std::string text = "error: cannot be assembled: 'distance A-P' stays open by 0.687 m";
  expect_failure(task::check(model), Failure::Kind::no_answer, 1, text);
  expect_failure(task::kinematics(model, {}), Failure::Kind::no_answer, 1, text);
  expect_failure(task::simulate(model, {}), Failure::Kind::no_answer, 1, text);
  Trajectory motion({"P.x"});
  for (int k = 0; k < 3; ++k) *motion.append(0.1 * k) = 1;
  expect_failure(task::inverse(model, motion, {}), Failure::Kind::no_answer, 1, text);
}

// The crank may turn anywhere but to where the others do not reach: a constraint must be named, and the cause.
TEST(Unassemblable, WithItsInitialValueHeld) {
  const Model model = own_model("fourbar", {{"coupler_length", 0.5}, {"theta.q", 3.0}});
  const auto found = task::simulate(model, {});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.failure().kind, Failure::Kind::no_answer);
  const std::string text = found.failure().to_string();
  EXPECT_TRUE(text.starts_with("error: cannot be assembled: 'distance P")) << text;
  EXPECT_TRUE(text.ends_with(" with the given coordinates held")) << text;
}

// A chain of ten bars of 0.1 m between pivots 0.75 m apart, drawn in one line (in which it cannot lie, folded or not):
// to which side it hangs is all the same.
TEST(Assembly, OfBarsThatAreDrawnInOneLine) {
  std::string text = "points:\n  - {name: P0, x: 0, y: 0, fixed: true}\n";
  for (int i = 1; i < 10; ++i) text += fmt::format("  - {{name: P{}, x: {}, y: 0}}\n", i, 0.1 * i);
  text += "  - {name: P10, x: 0.75, y: 0, fixed: true}\nplanar_bodies:\n";
  for (int i = 0; i < 10; ++i) {
    text += fmt::format("  - {{name: b{0}, points: [P{0}, P{1}], length: 0.1, mass: 1}}\n", i, i + 1);
  }
  const Model model = model_of(text);
  const auto found = task::check(model);
  ASSERT_TRUE(found) << found.failure().to_string();
  EXPECT_EQ(found->degrees_of_freedom, 8);
  EXPECT_LT(found->constraint_max, 1e-14);
  EXPECT_TRUE(task::assembled_drawing(model).model) << "for the other formulations";
}

Result<task::InverseResult> inverse_of(const std::string& model, const std::string& csv) {
  const auto motion = parse_csv(csv, "motion.csv");
  if (!motion) return motion.failure();
  return task::inverse(own_model(model), *motion, {});
}

TEST(Motions, ColumnIsMissing) {
  expect_failure(inverse_of("pick_and_place", "t,theta1.q\n0,4\n0.1,4\n0.2,4\n"), Failure::Kind::bad_input, 2,
                 "motion.csv:1:1: error: the mechanism has 2 degrees of freedom, the motion prescribes 1 coordinate "
                 "(theta1.q)");
  expect_failure(inverse_of("fourbar", "t,theta.v\n0,0\n0.1,0\n"), Failure::Kind::bad_input, 2,
                 "motion.csv:1:1: error: no column prescribes a coordinate; expected one of theta.q, P1.x, P1.y, P2.x, "
                 "P2.y");
  expect_failure(inverse_of("fourbar", "t,thete.q\n0,0\n0.1,0\n"), Failure::Kind::bad_input, 2,
                 "motion.csv:1:3: error: unknown coordinate 'thete.q'; did you mean 'theta.q'?");
}

TEST(Motions, StepsAreUnequal) {
  expect_failure(
      inverse_of("fourbar", "t,theta.q\n0,0\n0.005,0\n0.01,0\n0.02,0\n0.025,0\n"), Failure::Kind::bad_input, 2,
      "motion.csv:5:1: error: unequal steps: t goes from 0.01 to 0.02, a step of 0.01; the others are 0.005");
}

TEST(Motions, HaveNoNumbers) {
  expect_failure(inverse_of("fourbar", "t,theta.q\n"), Failure::Kind::bad_input, 2,
                 "motion.csv:1:1: error: no rows of numbers follow the header");
  expect_failure(inverse_of("fourbar", "t,theta.q\n0,0\n0.1,x\n"), Failure::Kind::bad_input, 2,
                 "motion.csv:3:5: error: expected a number for 'theta.q', found 'x'");
}

// P2.x can be 0.5 at least (crank and coupler in line, 1 m from A): from 0.25 s on the motion asks for less.
TEST(Motions, LeaveTheReachOfTheMechanism) {
  std::string csv = "t,P2.x\n";
  for (int k = 0; k <= 100; ++k) csv += std::to_string(0.01 * k) + "," + std::to_string(1 - 0.02 * k) + "\n";
  const auto found = inverse_of("fourbar", csv);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.failure().kind, Failure::Kind::no_answer);
  const std::string text = found.failure().to_string();
  EXPECT_TRUE(text.starts_with("error: the mechanism cannot follow the motion past t = 0.2")) << text;
  EXPECT_EQ(text.find("e+"), std::string::npos) << "a gap in metres cannot be so large: " << text;
}

TEST(Rates, ContradictEachOther) {
  const Model model = own_model("fourbar", {{"theta.v", 1}, {"P1.vy", 2}});
  expect_failure(task::simulate(model, {}), Failure::Kind::no_answer, 1,
                 "error: the initial rates contradict each other: 'rate of angle theta' is off by 0.5");
}

TEST(Inputs, DriveNothingOrEndTooSoon) {
  task::SimulateOptions o;
  o.time = 1;
  const auto with = [&](const std::string& csv) {
    auto input = parse_csv(csv, "torque.csv");
    o.input = *input;
    return task::simulate(own_model("fourbar"), o);
  };
  expect_failure(with("t,thete.tau\n0,1\n1,1\n"), Failure::Kind::bad_input, 2,
                 "torque.csv:1:3: error: column 'thete.tau' drives nothing; expected theta.tau, theta.u; did you mean "
                 "'theta.tau'?");
  expect_failure(with("t,theta.tau\n0,1\n0.5,1\n"), Failure::Kind::bad_input, 2,
                 "torque.csv:3:1: error: the recording ends at 0.5 s, before the simulation's 1 s");
}

TEST(Moves, LeaveTheReachOfTheMechanism) {
  task::KinematicsOptions o;
  o.move = task::Move{"P2.x", 1, -3, 31};
  const auto found = task::kinematics(own_model("fourbar"), o);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.failure().kind, Failure::Kind::no_answer);
  const std::string text = found.failure().to_string();
  EXPECT_EQ(text,
            "error: cannot move 'P2.x' to 0.466667 m: the loops hold it; from 1 m, where the machine is drawn, it can "
            "be moved "
            "from 0.5 m to 1.5 m");
}

// Friction that a formulation does not have is refused, not forgotten; what needs no forces goes on.
TEST(JointFriction, OfNaturalCoordinates) {
  const Model model = own_model("fourbar_friction");
  const std::string place = source_file("models/fourbar_friction.yaml").string() + ":37:5: error: ";
  const std::string text = place + "joint friction 'D' needs --formulation screw, or maximal of simulate";
  expect_failure(task::simulate(model, {}), Failure::Kind::bad_input, 2, text);
  expect_failure(task::make_machine(model, {}), Failure::Kind::bad_input, 2, text);
  Trajectory motion({"theta.q"});
  for (int k = 0; k < 3; ++k) *motion.append(0.1 * k) = 1;
  expect_failure(task::inverse(model, motion, {}), Failure::Kind::bad_input, 2, text);
  EXPECT_TRUE(task::check(model));
  EXPECT_TRUE(task::kinematics(model, {}));

  task::SimulateOptions screw;
  screw.formulation = "screw";
  screw.time = 0.1;
  EXPECT_TRUE(task::simulate(model, screw));
  const Model stribeck = own_model("fourbar_friction", {{"D.stribeck", 1}});
  expect_failure(task::simulate(stribeck, screw), Failure::Kind::bad_input, 2,
                 place + "joint friction 'D': stribeck needs --formulation maximal of simulate");
  expect_failure(task::simulate(stribeck, {}), Failure::Kind::bad_input, 2,
                 place + "joint friction 'D' needs --formulation maximal of simulate");
}

TEST(JointFriction, OfJointCoordinates) {
  const auto file = source_file("models/pendulum.urdf");
  const auto read = read_model(file);
  ASSERT_TRUE(read) << read.failure().to_string();
  const auto model = read->with({{"theta.quadratic", 1}, {"theta.stribeck", 1}});
  ASSERT_TRUE(model) << model.failure().to_string();
  const std::string text =
      file.string() + ":21:3: error: joint 'theta': stribeck, quadratic needs --formulation maximal of simulate";
  expect_failure(task::simulate(*model, {}), Failure::Kind::bad_input, 2, text);
  expect_failure(task::make_machine(*model, {}), Failure::Kind::bad_input, 2, text);
  Trajectory motion({"theta.q"});
  for (int k = 0; k < 3; ++k) *motion.append(0.1 * k) = 1;
  expect_failure(task::spatial_inverse(*model, motion, {}), Failure::Kind::bad_input, 2, text);
  task::SimulateOptions short_time;
  short_time.time = 0.1;
  EXPECT_TRUE(task::simulate(*read, short_time));
}

}  // namespace
}  // namespace kinegraph::acceptance::messages_test
