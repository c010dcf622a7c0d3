// A planar machine reads the same in natural coordinates and as a robot.

#include "kinegraph/mechanics/sensor/planar_as_robot_test.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "kinegraph/mechanics/natural/models_test.hpp"
#include "kinegraph/model/planar_robot.hpp"

namespace kinegraph::sensor::planar_as_robot_test {
namespace {

using natural::System;
using Type = RelativeCoordinate::Type;

void equip(Model& model) {
  for (const SensorTypeInfo& type : sensor_types()) {
    if (type.place[0] == "joint") continue;
    const bool on_coordinate = type.place[0] == "coordinate";
    const std::size_t count = type.type == SensorType::torque ? model.motors.size()
                              : on_coordinate                 ? model.relative.size()
                                                              : model.bodies.size();
    for (int i = 0; i < static_cast<int>(count); ++i) {
      Sensor& s = add_sensor(model, type.type, std::string(type.name) + std::to_string(i));
      s.channels[0].circular = type.type == SensorType::tilt ||
                               (type.type == SensorType::encoder && model.relative[i].type != Type::relative_position);
      if (type.type == SensorType::torque) {
        s.motor = i;
      } else if (on_coordinate) {
        s.coordinate = i;
      } else {
        s.on = {i, {0.3, -0.2, 0}};
        s.other = {i - 1, {0.1, 0.6, 0}};
        s.R_BS = Eigen::AngleAxisd(0.4 + i, Eigen::Vector3d::UnitZ()).toRotationMatrix();
      }
    }
  }
}

void expect_same(Model model) {
  model.gravity = {2, -9};
  equip(model);
  const auto system = std::make_shared<const System>(model);
  auto robot = robot_of(model);
  ASSERT_TRUE(robot) << robot.failure().to_string();
  const auto tree = *screw::Tree::make(*robot);
  const auto natural = make_observer(model, system), spatial = make_observer(model, tree);
  for (const unsigned seed : {1u, 2u, 3u}) {
    const Instant x = planar_instant(*system, seed);
    Instant y = robot_instant(*tree, link_motions(model, *system, x), x);
    for (std::size_t m = 0; m < model.motors.size(); ++m) {
      const std::string& name = model.relative[model.motors[m].coordinate.value].name;
      y.tau[tree->coordinates()[tree->find_coordinate(name)].v] = x.tau[m];
    }
    for (int i = 0; i < natural->sensors(); ++i) {
      Eigen::VectorXd difference = reading(*natural, x, i) - reading(*spatial, y, i);
      if (natural->sensor(i).channels[0].circular) difference[0] = std::remainder(difference[0], 2 * std::numbers::pi);
      EXPECT_LT(difference.cwiseAbs().maxCoeff(), 1e-10) << natural->sensor(i).name;
    }
    // the directions of a robot are those of its own velocities
    RandomInstant random(seed);
    Instant moving = random.at(y.q, tree->freedoms(), 0, tree->freedoms(), 5);
    moving.v = y.v;
    expect_derivatives(*spatial, moving, along(*tree));
  }
}

TEST(PlanarAsRobot, FourbarReadsTheSame) {
  Model model = natural::fourbar_with_motor();
  natural::add_relative(model, "knee", Type::relative_angle,
                        {PointIndex(0), PointIndex(1), PointIndex(1), PointIndex(2)});
  // coordinates that no joint has: their points are measured
  natural::add_relative(model, "lean", Type::absolute_angle, {PointIndex(1), PointIndex(2)});
  natural::add_relative(model, "spread", Type::relative_angle,
                        {PointIndex(0), PointIndex(1), PointIndex(2), PointIndex(3)});
  expect_same(model);
}

TEST(PlanarAsRobot, SliderCrankReadsTheSame) {
  Model model;
  const PointIndex o = natural::add_point(model, "O", 0.1, 0.2, true), pin = natural::add_point(model, "pin", 0.9, 0.8);
  const PointIndex piston = natural::add_point(model, "piston", 2.2, 0.5);
  const PointIndex a = natural::add_point(model, "a", 0, 0.1, true), b = natural::add_point(model, "b", 3, 0.6, true);
  natural::add_body(model, {o, pin}, 1);
  natural::add_body(model, {piston, pin}, 2);
  model.sliders.push_back({"rail", piston, a, b, {}});
  natural::add_relative(model, "stroke", Type::relative_position, {a, b, piston});
  natural::add_relative(model, "reach", Type::relative_position, {o, pin, piston});
  model.motors.push_back({"push", RelativeIndex(0), Law(0.0), 1, 0, {}});
  expect_same(model);
}

}  // namespace
}  // namespace kinegraph::sensor::planar_as_robot_test
