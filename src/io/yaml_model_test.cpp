#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <numbers>

#include "kinegraph/io/model_file.hpp"
#include "test/shared.hpp"

namespace kinegraph::yaml_model_test {
namespace {

Model load(const std::filesystem::path& path) {
  Result<Model> model = read_model(path);
  if (model) return *std::move(model);
  ADD_FAILURE() << model.failure().to_string();
  return {};
}

Model parse(const std::string& text) {
  Result<Model> model = parse_planar_yaml(text, "m.yaml");
  if (model) return *std::move(model);
  ADD_FAILURE() << model.failure().to_string();
  return {};
}

const std::string kPendulum = R"(
parameters: {L: 2, m: 3}
points:
  - {name: O, x: 0, y: 0, fixed: true}
  - {name: tip, x: L, y: 0}
planar_bodies:
  - {name: bar, points: [O, tip], mass: m}
relative_coordinates:
  - {name: theta, type: absolute_angle, points: [O, tip]}
)";

TEST(PlanarYaml, EveryReferenceFileLoadsWithoutWarning) {
  const auto folder = shared("models/planar");
  if (!folder) GTEST_SKIP() << "no reference data";
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(*folder)) {
    SCOPED_TRACE(entry.path().filename().string());
    EXPECT_TRUE(load(entry.path()).warnings.empty());
    ++files;
  }
  EXPECT_GE(files, 6);
}

TEST(PlanarYaml, OwnModelsLoadWithoutWarning) {
  for (const auto& entry : std::filesystem::directory_iterator(source_file("models"))) {
    if (entry.path().extension() != ".yaml" || entry.path().stem().has_extension()) continue;
    SCOPED_TRACE(entry.path().filename().string());
    const Model model = load(entry.path());
    EXPECT_TRUE(model.warnings.empty()) << to_string(model.warnings.front());
    EXPECT_FALSE(model.bodies.empty());
  }
}

TEST(PlanarYaml, ReferenceFourBar) {
  const auto path = shared("models/planar/fourbars1-with-rel-angle.yaml");
  if (!path) GTEST_SKIP() << "no reference data";
  const Model model = load(*path);
  ASSERT_EQ(model.points.size(), 4u);
  EXPECT_EQ(model.points[2].position, Vector2d(1, 2));
  EXPECT_TRUE(model.points[3].fixed);
  ASSERT_EQ(model.bodies.size(), 3u);
  EXPECT_DOUBLE_EQ(model.bodies[2].length, std::sqrt(13.0));
  EXPECT_DOUBLE_EQ(model.bodies[2].inertia, 4 * 13.0 / 3);
  EXPECT_EQ(model.bodies[1].name, "body1");
  ASSERT_EQ(model.relative.size(), 1u);
  EXPECT_EQ(model.relative[0].name, "angle0");
  EXPECT_EQ(model.relative[0].type, RelativeCoordinate::Type::absolute_angle);
  EXPECT_EQ(model.gravity, Vector2d(0, -9.81));
}

TEST(PlanarYaml, ReferenceBodiesOfManyPoints) {
  const auto path = shared("models/planar/pendulum3.yaml");
  if (!path) GTEST_SKIP() << "no reference data";
  const Model model = load(*path);
  const PlanarBody& plate = model.bodies[0];
  ASSERT_EQ(plate.local.size(), 4u);
  EXPECT_EQ(plate.local[2], Vector2d(2, -1));
  EXPECT_EQ(plate.cog, Vector2d(1, 0.5));  // length12 = 2, length14 = 1
  EXPECT_EQ(model.points[4].position, Vector2d(3, 0));
}

TEST(PlanarYaml, ABarNeedsOnlyItsMass) {
  const PlanarBody bar = parse(kPendulum).bodies[0];
  EXPECT_EQ(bar.length, 2);
  EXPECT_EQ(bar.inertia, 4);  // m L² / 3
  EXPECT_EQ(bar.cog, Vector2d(1, 0));
  EXPECT_EQ(bar.local[1], Vector2d(2, 0));
}

TEST(PlanarYaml, AllElements) {
  const Model model = parse(R"(
parameters: {L: 2, m: 3}
points:
  - {name: O, x: 0, y: 0, fixed: true}
  - {name: tip, x: L, y: 0}
  - {name: end, x: 5, y: 0, fixed: true}
planar_bodies: [{name: bar, points: [O, tip], mass: m}]
relative_coordinates: [{name: theta, type: absolute_angle, points: [O, tip]}]
name: everything
description: one of each
gravity: [1, -2*L]
sliders: [{name: rail, point: tip, line: [O, 2]}]
drivers: [{coordinate: tip.y, law: L*t}]
springs: [{points: [O, tip], stiffness: 5 N/mm, damping: 2}]
dampers: [{points: [0, 1], damping: 7}]
coordinate_springs: [{coordinate: theta, stiffness: 4, rest: 90deg}]
coordinate_dampers: [{coordinate: theta, damping: 6}]
motors: [{coordinate: theta, torque: m*sin(t)}]
loads: [{point: tip, y: -3}]
torques: [{body: bar, torque: t^2}]
initial: {theta.q: 30deg, theta.v: 2, tip.vx: 3}
)");
  ASSERT_EQ(model.name, "everything");
  EXPECT_EQ(model.gravity, Vector2d(1, -4));
  EXPECT_EQ(model.sliders[0].point, PointIndex(1));
  EXPECT_EQ(model.sliders[0].b, PointIndex(2));
  EXPECT_EQ(model.drivers[0].name, "tip.y");
  EXPECT_EQ(model.drivers[0].law.taylor(3).d, 2);
  ASSERT_EQ(model.springs.size(), 2u);
  EXPECT_EQ(model.springs[0].stiffness, 5000);
  EXPECT_EQ(model.springs[0].rest, 2);
  EXPECT_EQ(model.springs[1].name, "damper0");
  EXPECT_EQ(model.springs[1].stiffness, 0);
  EXPECT_EQ(model.springs[1].damping, 7);
  ASSERT_EQ(model.coordinate_springs.size(), 2u);
  EXPECT_DOUBLE_EQ(model.coordinate_springs[0].rest, std::numbers::pi / 2);
  EXPECT_EQ(model.coordinate_springs[1].damping, 6);
  EXPECT_EQ(model.motors[0].name, "theta");
  EXPECT_DOUBLE_EQ(model.motors[0].torque(1), 3 * std::sin(1.0));
  EXPECT_EQ(model.loads[0].y(9), -3);
  EXPECT_EQ(model.loads[0].x(9), 0);
  EXPECT_EQ(model.torques[0].torque(3), 9);
  ASSERT_EQ(model.initial.size(), 3u);
  EXPECT_DOUBLE_EQ(model.initial[0].value, std::numbers::pi / 6);
  EXPECT_TRUE(model.initial[1].rate);
  EXPECT_EQ(model.points[1].velocity, Vector2d(3, 0));
}

TEST(PlanarYaml, RelativeCoordinatesByPointsAndByBodies) {
  const Model model = parse(R"(
points: [{x: 0, y: 0, fixed: true}, {x: 1, y: 0}, {x: 1, y: 1}]
planar_bodies: [{name: A, points: [0, 1], mass: 1}, {name: B, points: [1, 2], mass: 1}]
relative_coordinates:
  - {type: relative_angle, bodies: [A, B]}
  - {type: relative_angle, points: [0, 1, 1, 2]}
  - {type: relative_position, points: [0, 1, 2]}
coordinate_springs: [{coordinate: angle0, stiffness: 1}, {coordinate: position2, stiffness: 1, rest: auto}]
)");
  EXPECT_EQ(model.relative[0].points, model.relative[1].points);
  EXPECT_EQ(model.relative[2].name, "position2");
  EXPECT_DOUBLE_EQ(model.coordinate_springs[0].rest, std::numbers::pi / 2);
  EXPECT_DOUBLE_EQ(model.coordinate_springs[1].rest, 1);
}

TEST(PlanarYaml, SettingsMoveAllThatDependsOnThem) {
  const Model model = parse(kPendulum);
  const Model longer = *model.with({{"L", 4}, {"theta.v", 1}});
  EXPECT_EQ(longer.points[1].position.x(), 4);
  EXPECT_EQ(longer.bodies[0].length, 4);
  EXPECT_EQ(longer.bodies[0].inertia, 16);
  ASSERT_EQ(longer.initial.size(), 1u);
  EXPECT_EQ(longer.initial[0].value, 1);
  EXPECT_EQ(model.bodies[0].length, 2);

  const Model heavier = *longer.with({{"bar.mass", 6}, {"gravity", 1.62}, {"O.y", -1}, {"tip.y", 0.5}});
  EXPECT_EQ(heavier.bodies[0].mass, 6);
  EXPECT_DOUBLE_EQ(heavier.bodies[0].inertia, 2 * 17);  // (4, 1) away, and the earlier setting stays
  EXPECT_EQ(heavier.gravity, Vector2d(0, -1.62));
  EXPECT_EQ(heavier.points[0].position.y(), -1);  // fixed: moved
  EXPECT_EQ(heavier.points[1].position.y(), 0);   // moving: an initial value, lengths as drawn
  EXPECT_EQ(heavier.initial.size(), 2u);
}

TEST(PlanarYaml, SettingsReplaceInitialValuesAndLaws) {
  const Model model = parse(kPendulum + "initial: {theta.q: 1}\nmotors: [{coordinate: theta, torque: sin(t)}]\n");
  const Model other = *model.with({{"theta.q", 2}, {"theta.torque", 5}});
  ASSERT_EQ(other.initial.size(), 1u);
  EXPECT_EQ(other.initial[0].value, 2);
  EXPECT_TRUE(other.motors[0].torque.is_constant());
  EXPECT_EQ(other.motors[0].torque(1), 5);
}

TEST(PlanarYaml, SettingsAreChecked) {
  const Model model = parse(kPendulum);
  const auto fault = [&](const Settings& settings) { return model.with(settings).failure().to_string(); };
  EXPECT_EQ(fault({{"bar.mas", 1}}),
            "error: cannot set 'bar.mas': no such parameter, quantity or initial value; did you mean 'bar.mass'?");
  EXPECT_EQ(fault({{"theta", 1}}),
            "error: cannot set 'theta': no such parameter, quantity or initial value; did you mean 'theta.q'?");
  EXPECT_EQ(fault({{"x1", 1}}), "error: cannot set 'x1': no such parameter, quantity or initial value");
  EXPECT_EQ(fault({{"bar.mass", -1}}), "error: bar.mass: must be >= 0, is -1");
  EXPECT_EQ(fault({{"L", std::nan("")}}), "error: L: is not a number");
  EXPECT_EQ(fault({{"theta.v", INFINITY}}), "error: initial value of theta: not a finite number");
}

TEST(PlanarYaml, HeaderByteOrderMarkAndLineEnds) {
  std::string text = "\xEF\xBB\xBF%YAML 1.2\n---" + kPendulum;
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) text.replace(at, 1, "\r\n");
  EXPECT_EQ(parse(text).points[1].position.x(), 2);
}

TEST(PlanarYaml, AliasesRepeatElements) {
  const Model model = parse(R"(
points: [{x: 0, y: 0, fixed: true}, {x: 1, y: 0}, {x: 2, y: 0}]
planar_bodies:
  - {points: [0, 1], mass: &m 2*3}
  - {points: [1, 2], mass: *m}
)");
  EXPECT_EQ(model.bodies[1].mass, 6);
}

TEST(ReadModel, RefusesWhatItCannotRead) {
  EXPECT_EQ(read_model("none.yaml").failure().to_string(), "none.yaml: error: cannot read the file: no such file");
  EXPECT_EQ(read_model("none.urdf").failure().to_string(), "none.urdf: error: cannot read the file: no such file");
  const auto folder = std::filesystem::path(testing::TempDir()) / "folder.yaml";
  std::filesystem::create_directories(folder);
  EXPECT_EQ(read_model(folder).failure().to_string(),
            folder.string() + ": error: cannot read the file: it is a directory");
  const auto robot = std::filesystem::path(testing::TempDir()) / "robot.mesh";
  std::ofstream(robot) << "<robot/>";
  EXPECT_EQ(read_model(robot).failure().to_string(),
            robot.string() + ": error: cannot read '.mesh' files; expected .yaml, .yml, .urdf, .sdf, .world or .xml");
}

}  // namespace
}  // namespace kinegraph::yaml_model_test
