#include <gtest/gtest.h>

#include "kinegraph/filter/natural_machines_test.hpp"
#include "kinegraph/filter/screw_check_test.hpp"
#include "kinegraph/model/planar_robot.hpp"

namespace kinegraph::filter::screw_natural_test {
namespace {

int column_of(const Plant& plant, const std::string& name) {
  for (int i = 0; i < plant.velocities(); ++i) {
    if (plant.column_name(i) == name) return i;
  }
  return -1;
}

struct Case {
  planar::Machine machine;
  int freedoms;
  const char* angle;
};

/// Planar machines in natural coordinates and as robots in space: two formulations that share no equation.
TEST(ScrewPlant, MovesAsThePlanarMachineDoes) {
  for (const Case& c : {Case{planar::four_bar, 1, "theta"}, Case{planar::double_pendulum, 2, "two"},
                        Case{planar::parallelogram, 1, "theta"}, Case{planar::pick_and_place, 2, "theta1"}}) {
    SCOPED_TRACE(c.angle);
    planar::Made natural = planar::make(c.machine, ChartKind::independent, "rk4");
    std::fill(natural.x.begin() + natural.plant->positions(), natural.x.end(), 0.0);
    const Model model = c.machine(0.9);
    const auto robot = robot_of(model);
    ASSERT_TRUE(robot) << robot.failure().to_string();
    const auto tree = *screw::Tree::make(*robot);
    const auto drive = [&](double t, double* tau) {
      for (const Motor& motor : model.motors) {
        const int at = tree->find_coordinate(model.relative[motor.coordinate.value].name);
        tau[tree->coordinates()[at].v] = motor.torque(t);
      }
    };
    PlantOptions options;
    options.integrator = planar::tableau("rk4");
    ScrewPlant plant(tree, c.freedoms, drive, options);
    Eigen::VectorXd x = Eigen::VectorXd::Zero(plant.stored()), next(x);
    x.head(plant.positions()) = tree->start_position();
    ASSERT_TRUE(plant.shift(0, x.data(), nullptr, nullptr));
    const int there = column_of(*natural.plant, c.angle), here = column_of(plant, c.angle);
    ASSERT_GE(there, 0);
    ASSERT_GE(here, 0);
    std::vector<double> after(natural.x.size());
    const double h = 2e-3;
    for (int i = 0; i < 60; ++i) {
      ASSERT_TRUE(natural.plant->advance(i * h, h, natural.x.data(), nullptr, after.data()));
      natural.x = after;
      ASSERT_TRUE(plant.advance(i * h, h, x.data(), nullptr, next.data())) << i;
      x = next;
    }
    EXPECT_GT(std::abs(x[plant.positions() + here]), 0.1) << "it moves";
    EXPECT_NEAR(x[here], natural.x[there], 1e-9) << c.angle;
    EXPECT_NEAR(x[plant.positions() + here], natural.x[natural.plant->positions() + there], 1e-8) << c.angle;
  }
}

}  // namespace
}  // namespace kinegraph::filter::screw_natural_test
