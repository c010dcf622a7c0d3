#include <gtest/gtest.h>

#include "kinegraph/io/model_file.hpp"

namespace kinegraph::yaml_faults_test {
namespace {

/// All that a bad file is told.
std::string faults(const std::string& text) {
  const Result<Model> model = parse_planar_yaml(text, "m.yaml");
  return model ? "none" : model.failure().to_string();
}

/// A sound file with more lines after it: they start at line 6.
std::string with(const std::string& lines) {
  return faults(
      "points:\n"
      "  - {name: A, x: 0, y: 0, fixed: true}\n"
      "  - {name: P1, x: 1, y: 0}\n"
      "planar_bodies:\n"
      "  - {points: [A, P1], mass: 1}\n" +
      lines);
}

TEST(BadFile, UnknownKey) {
  EXPECT_EQ(with("planar_body: []"), "m.yaml:6:1: error: unknown key 'planar_body'; did you mean 'planar_bodies'?");
  EXPECT_EQ(with("  - points: [A, P1]\n    mas: 2"), "m.yaml:7:5: error: unknown key 'mas'; did you mean 'mass'?");
  EXPECT_EQ(with("loads:\n  - {point: P1, colour: red}"),
            "m.yaml:7:17: error: unknown key 'colour'; expected one of name, point, x, y");
}

TEST(BadFile, UnitOfAnotherQuantity) {
  EXPECT_EQ(
      with("  - {points: [A, P1], length: 5kg, mass: -3e-1 m}"),
      "m.yaml:6:31: error: body1.length: expected a length (m, km, dm, cm, mm, um), found the unit of a mass: '5kg'\n"
      "m.yaml:6:42: error: body1.mass: expected a mass (kg, g), found the unit of a length: '-3e-1 m'");
  EXPECT_EQ(with("gravity: 9.81 m/s"),
            "m.yaml:6:10: error: gravity: expected an acceleration (m/s^2, mm/s^2), found the unit of a velocity: "
            "'9.81 m/s'");
  EXPECT_EQ(with("  - {points: [A, P1], length: 1m, mass: 2g, I0: 3kg}"),
            "m.yaml:6:49: error: body1.I0: expected a moment of inertia (in SI, without a unit), found the unit of a "
            "mass: '3kg'");
  EXPECT_EQ(with("loads:\n  - {point: P1, x: 3Nm}"),
            "m.yaml:7:20: error: load0.x: expected a force (N, kN, mN), found the unit of a torque: '3Nm'");
  // What is more than a number and its unit is not judged.
  EXPECT_EQ(with("  - {points: [A, P1], length: 2*5kg + 1m, mass: 1}"), "none");
}

TEST(BadFile, MissingPoint) {
  EXPECT_EQ(with("  - points: [A, P7]"), "m.yaml:6:17: error: unknown point 'P7'; did you mean 'P1'?");
  EXPECT_EQ(with("  - points: [0, 2]"), "m.yaml:6:17: error: unknown point '2'; points are numbered 0 to 1");
  EXPECT_EQ(with("  - points: [A]"), "m.yaml:6:13: error: points: expected 2 points or more, found 1");
  EXPECT_EQ(with("sliders: [{point: Q, line: [A, P1, P1]}]"),
            "m.yaml:6:19: error: unknown point 'Q'\nm.yaml:6:28: error: line: expected 2 points, found 3");
}

TEST(BadFile, TwoBodiesOfZeroLength) {
  EXPECT_EQ(faults("points:\n"
                   "  - {x: 0, y: 0, fixed: true}\n"
                   "  - {x: 0, y: 0}\n"
                   "  - {x: 1, y: 1}\n"
                   "planar_bodies:\n"
                   "  - {points: [0, 1], mass: 1}\n"
                   "  - {points: [1, 2], mass: 1, length: 0}\n"),
            "m.yaml:6:5: error: body 'body0' has zero length: points '0' and '1' coincide\n"
            "m.yaml:7:39: error: body1.length: must be > 0, is 0");
}

TEST(BadFile, CycleOfParameters) {
  EXPECT_EQ(with("parameters:\n  a: 2*b\n  b: a + 1\n  c: a"),
            "m.yaml:7:6: error: parameters form a cycle: a -> b -> a");
  EXPECT_EQ(with("parameters: {a: a}"), "m.yaml:6:17: error: parameters form a cycle: a -> a");
  EXPECT_EQ(faults("points: [{x: x1, y: 0}, {x: x0, y: 0}]"),
            "m.yaml:1:14: error: quantities form a cycle: 0.x -> 1.x -> 0.x");
}

TEST(BadFile, UnparsableExpression) {
  EXPECT_EQ(with("parameters:\n  a: 2*(3"), "m.yaml:7:10: error: expected ')', found the end of the formula");
  EXPECT_EQ(with("parameters:\n  a: \"2 + 3)\""), "m.yaml:7:12: error: expected an operator, found ')'");
  EXPECT_EQ(with("parameters: {a: sine(1)}"), "m.yaml:6:17: error: unknown function 'sine'; did you mean 'sin'?");
  EXPECT_EQ(with("parameters: {len: 1, a: 2*lne}"), "m.yaml:6:27: error: unknown name 'lne'; did you mean 'len'?");
  // Over several lines the columns are not those of the file: the start is named.
  EXPECT_EQ(with("parameters:\n  a: 1 +\n    )"), "m.yaml:7:6: error: expected a number, a name or '(', found ')'");
}

TEST(BadFile, NotANumber) {
  EXPECT_EQ(with("parameters:\n  a: .nan"), "m.yaml:7:6: error: '.nan' is not a finite number");
  EXPECT_EQ(with("parameters:\n  a: sqrt(-1)\n  b: 2*a"), "m.yaml:7:6: error: a: 'sqrt(-1)' is not a number");
  EXPECT_EQ(with("  - {points: [A, P1], mass: 1/0}"), "m.yaml:6:29: error: body1.mass: '1/0' is infinite");
  EXPECT_EQ(with("loads: [{point: P1, x: 1/t}]"), "m.yaml:6:24: error: load0.x: '1/t' is infinite at t = 0");
  EXPECT_EQ(with("drivers: [{coordinate: P1.x, law: sqrt(t)}]"),
            "m.yaml:6:35: error: P1.x.law: 'sqrt(t)' has no finite derivative at t = 0");
}

TEST(BadFile, NegativeMassAndImpossibleInertia) {
  EXPECT_EQ(with("  - {points: [A, P1], mass: 1 - 3}"), "m.yaml:6:29: error: body1.mass: must be >= 0, is -2");
  EXPECT_EQ(with("  - {points: [A, P1], mass: 4, I0: 0.5, cog: [0.5, 0]}"),
            "m.yaml:6:36: error: body1.I0: must be >= mass*|cog|^2 = 1, is 0.5");
}

TEST(BadFile, AllFaultsAtOnceInTheOrderOfTheFile) {
  EXPECT_EQ(with("  - {points: [A, P2], mass: -1}\n"
                 "colour: red\n"
                 "parameters: {a: 1 +}\n"
                 "gravity: [0, 1, 2]\n"),
            "m.yaml:6:18: error: unknown point 'P2'; did you mean 'P1'?\n"
            "m.yaml:6:29: error: body1.mass: must be >= 0, is -1\n"
            "m.yaml:7:1: error: unknown key 'colour'; expected one of name, description, gravity, parameters, initial, "
            "points, planar_bodies, relative_coordinates, sliders, drivers, springs, dampers, coordinate_springs, "
            "coordinate_dampers, motors, loads, torques, joint_friction, sensors, disturbances, unknowns\n"
            "m.yaml:8:20: error: expected a number, a name or '(', found the end of the formula\n"
            "m.yaml:9:10: error: gravity: expected a number or [x, y], found 3 values");
}

TEST(BadFile, Names) {
  EXPECT_EQ(with("  - {name: a b, points: [A, P1]}"),
            "m.yaml:6:12: error: name 'a b': expected letters, digits and '_', not starting with a digit");
  EXPECT_EQ(with("  - {name: body0, points: [A, P1]}"), "m.yaml:6:12: error: duplicate name 'body0'");
  EXPECT_EQ(with("relative_coordinates: [{name: P1, type: absolute_angle, points: [A, P1]}]"),
            "m.yaml:6:31: error: duplicate name 'P1'");
  EXPECT_EQ(with("parameters: {t: 1}"), "m.yaml:6:14: error: parameter name 't' is reserved for the time");
  EXPECT_EQ(with("parameters: {x1: 1}"), "m.yaml:6:14: error: parameter name 'x1' is reserved for the x of point 1");
  EXPECT_EQ(with("parameters: {pi: 3}"), "m.yaml:6:14: error: parameter name 'pi' is the name of a constant");
  EXPECT_EQ(with("parameters: {length12: 3}"),
            "m.yaml:6:14: error: parameter name 'length12' is reserved for the lengths of a body");
}

TEST(BadFile, Shapes) {
  EXPECT_EQ(with("parameters: [1]"), "m.yaml:6:13: error: parameters: expected a map, found a list");
  EXPECT_EQ(with("parameters: {a: [1], b: 2*a}"), "m.yaml:6:17: error: a: expected a number or text, found a list");
  EXPECT_EQ(with("sliders: 3"), "m.yaml:6:10: error: sliders: expected a list, found '3'");
  EXPECT_EQ(with("sliders: [3]"), "m.yaml:6:11: error: sliders: expected a map such as {point: …}, found '3'");
  EXPECT_EQ(with("sliders: [{point: P1}]"), "m.yaml:6:11: error: missing key 'line' of a slider");
  EXPECT_EQ(with("  - {points: 1, mass: 1}"), "m.yaml:6:14: error: points: expected a list, found '1'");
  EXPECT_EQ(with("  - {points: [A, P1], mass: }"),
            "m.yaml:6:29: error: mass: expected a number or text, found nothing");
  EXPECT_EQ(with("  - {points: [A, [P1]]}"), "m.yaml:6:18: error: points: expected a number or text, found a list");
  EXPECT_EQ(with("  - {points: [A, P1], cog: [1]}"), "m.yaml:6:28: error: cog: expected [x, y], found 1 values");
  EXPECT_EQ(with("  - {points: [A, P1], visual: 3}"),
            "m.yaml:6:31: error: visual: expected a map such as {type: circle}, found '3'");
  EXPECT_EQ(faults("points: [{x: 0, y: 0, fixed: maybe}, {x: 1, y: 0}]"),
            "m.yaml:1:30: error: fixed: expected true or false, found 'maybe'");
  EXPECT_EQ(faults("points: []"), "m.yaml:1:1: error: the model has no points");
  EXPECT_EQ(faults("points: [{x: 0, y: 0, fixed: true}]"), "m.yaml:1:10: error: no moving point: all points are fixed");
}

TEST(BadFile, BodiesOfThreePointsNeedInertia) {
  EXPECT_EQ(faults("points: [{x: 0, y: 0}, {x: 1, y: 0}, {x: 1, y: 1}]\nplanar_bodies: [{points: [0, 1, 2], mass: 1}]"),
            "m.yaml:2:17: error: body 'body0': missing key 'I0'; a body of three or more points with a mass needs it\n"
            "m.yaml:2:17: error: body 'body0': missing key 'cog'; a body of three or more points with a mass needs it");
}

TEST(BadFile, CoordinatesAndReferences) {
  const std::string theta = "relative_coordinates: [{name: theta, type: absolute_angle, points: [A, P1]}]\n";
  EXPECT_EQ(with("relative_coordinates: [{type: angle, points: [A, P1]}]"),
            "m.yaml:6:31: error: unknown type 'angle'; expected absolute_angle, relative_angle or relative_position");
  EXPECT_EQ(with("relative_coordinates: [{type: relative_angle, points: [A, P1]}]"),
            "m.yaml:6:55: error: points: expected 4 points, found 2");
  EXPECT_EQ(with("relative_coordinates: [{type: absolute_angle, bodies: [body0, body0]}]"),
            "m.yaml:6:55: error: bodies: only a relative_angle can have them");
  EXPECT_EQ(with("relative_coordinates: [{type: absolute_angle}]"),
            "m.yaml:6:24: error: relative coordinate 'angle0': missing key 'points'");
  EXPECT_EQ(with(theta + "motors: [{coordinate: thet}]"),
            "m.yaml:7:23: error: unknown relative coordinate 'thet'; did you mean 'theta'?");
  EXPECT_EQ(with(theta + "drivers: [{coordinate: P1.z, law: 1}]"),
            "m.yaml:7:24: error: unknown coordinate 'P1.z'; did you mean 'P1.x'?");
  EXPECT_EQ(with("drivers: [{coordinate: A.x, law: 1}]"), "m.yaml:6:11: error: driver of 'A.x': the point is fixed");
  EXPECT_EQ(with("torques: [{body: bdy0, torque: 1}]"),
            "m.yaml:6:18: error: unknown body 'bdy0'; did you mean 'body0'?");
  EXPECT_EQ(with("parameters: {a: 2*t}"),
            "m.yaml:6:19: error: 'a' cannot depend on the time t; only laws, torques and loads can");
  EXPECT_EQ(with(theta + "initial: {theta: 1, thta.q: 2, theta.q: 1, P1.z: 2, A.x: 1}"),
            "m.yaml:7:11: error: unknown initial value 'theta'; expected 'theta.q' or 'theta.v'\n"
            "m.yaml:7:21: error: unknown initial value 'thta.q'; did you mean 'theta.q'?\n"
            "m.yaml:7:44: error: unknown initial value 'P1.z'; expected 'P1.x', 'P1.y', 'P1.vx' or 'P1.vy'\n"
            "m.yaml:7:53: error: initial value of 'A.x': the point is fixed");
  EXPECT_EQ(with("initial: {P1.x: 1, 1.x: 2}"), "m.yaml:6:20: error: initial value 'P1.x' is given twice");
}

TEST(BadFile, WarningsDoNotRefuseAFile) {
  const Result<Model> model = parse_planar_yaml(
      "points: [{x: 0, y: 0}, {x: 1, y: 0}, {x: 1, y: 1}, {x: 5, y: 5}]\n"
      "planar_bodies: [{points: [0, 1, 2], length: 3, mass: 1, I0: 1, cog: [0, 0]}]",
      "m.yaml");
  ASSERT_TRUE(model.ok());
  ASSERT_EQ(model->warnings.size(), 3u);
  EXPECT_EQ(to_string(model->warnings[0]), "m.yaml:1:10: warning: no fixed point: the mechanism floats freely");
  EXPECT_EQ(to_string(model->warnings[1]), "m.yaml:1:52: warning: point '3' belongs to no body");
  EXPECT_EQ(to_string(model->warnings[2]),
            "m.yaml:2:45: warning: body0.length: 3 is ignored; a body of three or more points is as drawn, 1");
}

}  // namespace
}  // namespace kinegraph::yaml_faults_test
