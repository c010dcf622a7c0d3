#include "kinegraph/model/check.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace kinegraph::check_test {
namespace {

/// A sound pendulum, made without a file: a bar of 1 m and 1 kg from A to B.
Model pendulum() {
  Model model;
  model.file = "pendulum";
  model.points.resize(2);
  model.points[0].name = "A";
  model.points[0].position = {0, 0};
  model.points[0].fixed = true;
  model.points[1].name = "B";
  model.points[1].position = {1, 0};
  PlanarBody bar;
  bar.name = "bar";
  bar.points = {PointIndex(0), PointIndex(1)};
  bar.local = {Vector2d(0, 0), Vector2d(1, 0)};
  bar.length = 1;
  bar.mass = 1;
  bar.inertia = 1.0 / 3;
  bar.cog = {0.5, 0};
  model.bodies = {bar};
  return model;
}

std::string faults(const Model& model) {
  std::string text;
  for (const Diagnostic& d : check_model(model)) text += to_string(d) + "\n";
  return text;
}

TEST(CheckModel, SoundModelHasNoFaults) { EXPECT_EQ(faults(pendulum()), ""); }

TEST(CheckModel, EmptyModel) { EXPECT_EQ(faults(Model{}), "1:1: error: the model has no points\n"); }

TEST(CheckModel, MassAndInertia) {
  Model model = pendulum();
  model.bodies[0].mass = -1;
  EXPECT_EQ(faults(model), "error: bar.mass: must be >= 0, is -1\n");
  model = pendulum();
  model.bodies[0].inertia = 0.2;
  EXPECT_EQ(faults(model), "error: bar.I0: must be >= mass*|cog|^2 = 0.25, is 0.2\n");
  model.bodies[0].inertia = 0.25 * (1 - 1e-12);  // a point mass, rounded
  EXPECT_EQ(faults(model), "");
  model.bodies[0].inertia = std::nan("");
  EXPECT_EQ(faults(model), "error: body 'bar': not a finite number\n");
  model.bodies[0].mass = model.bodies[0].inertia = 0;
  EXPECT_EQ(faults(model), "warning: no body has a mass: the mechanism has kinematics but no dynamics\n");
}

TEST(CheckModel, Shape) {
  Model model = pendulum();
  model.points[1].position = {0, 0};
  EXPECT_EQ(faults(model), "error: body 'bar' has zero length: points 'A' and 'B' coincide\n");
  model = pendulum();
  model.bodies[0].length = -1;
  EXPECT_EQ(faults(model), "error: bar.length: must be > 0, is -1\n");
  model.bodies[0].points[1] = PointIndex(0);
  EXPECT_EQ(faults(model), "warning: point 'B' belongs to no body\nerror: body 'bar': point 'A' is named twice\n");
}

TEST(CheckModel, Points) {
  Model model = pendulum();
  model.points[1].fixed = true;
  EXPECT_EQ(faults(model),
            "error: no moving point: all points are fixed\n"
            "warning: body 'bar' cannot move: all its points are fixed\n");
  model.points[0].fixed = model.points[1].fixed = false;
  EXPECT_EQ(faults(model), "warning: no fixed point: the mechanism floats freely\n");
  model = pendulum();
  model.points[1].position.y() = std::numeric_limits<double>::infinity();
  EXPECT_EQ(faults(model), "error: point 'B': not a finite number\n");
}

TEST(CheckModel, CoordinatesSlidersAndDrivers) {
  Model model = pendulum();
  RelativeCoordinate angle;
  angle.name = "theta";
  angle.points = {PointIndex(1), PointIndex(1)};
  model.relative = {angle};
  EXPECT_EQ(faults(model), "error: relative coordinate 'theta': points 'B' and 'B' coincide and give no direction\n");
  model.relative[0].points = {PointIndex(0), PointIndex(1)};
  model.drivers.resize(2);
  EXPECT_EQ(faults(model), "error: coordinate 'theta' has two drivers\n");
  model.drivers.resize(1);
  model.initial = {{model.drivers[0].coordinate, true, 1, {}}};
  EXPECT_EQ(faults(model), "error: initial value of 'theta': a driver prescribes it\n");
  model.initial = {{{CoordinateRef::What::point_x, 0}, true, 1, {}}};
  EXPECT_EQ(faults(model), "error: initial value of 'A.x': the point is fixed\n");
  model.initial.clear();
  model.sliders = {{"rail", PointIndex(1), PointIndex(0), PointIndex(1), {}}};
  EXPECT_EQ(faults(model), "error: slider 'rail': the point is one of the two that define its line\n");
}

TEST(CheckModel, APositionNeedsALineOfConstantLength) {
  Model model = pendulum();
  Point free;
  free.name = "C";
  free.position = {2, 1};
  model.points.push_back(free);
  free.name = "D";
  free.position = {3, 1};
  model.points.push_back(free);
  PlanarBody other = model.bodies[0];
  other.name = "other";
  other.points = {PointIndex(1), PointIndex(2)};
  model.bodies.push_back(other);
  other.name = "third";
  other.points = {PointIndex(2), PointIndex(3)};
  model.bodies.push_back(other);
  RelativeCoordinate s;
  s.name = "s";
  s.type = RelativeCoordinate::Type::relative_position;
  s.points = {PointIndex(0), PointIndex(1), PointIndex(3)};
  model.relative = {s};
  EXPECT_EQ(faults(model), "");
  model.relative[0].points = {PointIndex(0), PointIndex(2), PointIndex(3)};
  EXPECT_EQ(faults(model),
            "error: relative coordinate 's': the points of its line must belong to one body or be fixed\n");
  model.relative[0].points = {PointIndex(0), PointIndex(1), PointIndex(1)};
  EXPECT_EQ(faults(model), "error: relative coordinate 's': the point is one of the two that define its line\n");
}

TEST(CheckModel, SpringsAndLoads) {
  Model model = pendulum();
  model.springs = {{"spring", PointIndex(0), PointIndex(1), -1, -2, 0, {}}};
  EXPECT_EQ(faults(model), "warning: spring.stiffness is negative: -1\nerror: spring.rest: must be >= 0, is -2\n");
  model.springs = {{"spring", PointIndex(0), PointIndex(0), 1, 0, 0, {}}};
  EXPECT_EQ(faults(model), "error: spring 'spring': both ends are the same point\n");
  model = pendulum();
  model.loads = {{"push", PointIndex(0), Law(1), Law(), {}}};
  EXPECT_EQ(faults(model), "warning: load 'push' has no effect: point 'A' is fixed\n");
}

TEST(Model, FindsCoordinatesByName) {
  Model model = pendulum();
  RelativeCoordinate angle;
  angle.name = "theta";
  angle.points = {PointIndex(0), PointIndex(1)};
  model.relative = {angle};
  for (const char* name : {"theta", "theta.q"}) EXPECT_EQ(model.name_of(*model.coordinate(name)), "theta");
  for (const char* name : {"B.y", "1.y"}) EXPECT_EQ(model.name_of(*model.coordinate(name)), "B.y");
  EXPECT_EQ(model.coordinate("thta").failure().to_string(), "error: unknown coordinate 'thta'; did you mean 'theta'?");
  EXPECT_EQ(model.coordinate("C.x").failure().to_string(), "error: unknown coordinate 'C.x'; did you mean 'A.x'?");
  EXPECT_EQ(model.coordinate("B.q").failure().exit_status(), 2);
  EXPECT_EQ(model.with({{"L", 1}}).failure().to_string(),
            "error: the model was not read from a file: nothing can be set");
}

}  // namespace
}  // namespace kinegraph::check_test
