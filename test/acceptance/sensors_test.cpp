// What sensors see of machines from files: derivatives, joint forces in both formulations, and no allocation.
#include "kinegraph/mechanics/sensor/sensors_test.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "kinegraph/build/dynamics.hpp"
#include "kinegraph/io/model_file.hpp"
#include "kinegraph/linear/allocations_test.hpp"
#include "kinegraph/mechanics/natural/reactions.hpp"
#include "kinegraph/mechanics/natural/system.hpp"
#include "kinegraph/mechanics/sensor/planar_as_robot_test.hpp"
#include "kinegraph/model/planar_robot.hpp"
#include "test/shared.hpp"

namespace kinegraph::sensor::sensors_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using natural::System;

template <class T>
T good(Result<T> result) {
  if (!result) throw std::invalid_argument(result.failure().to_string());
  return *std::move(result);
}

Model read(const std::string& name, const ReadOptions& options = {}) {
  return good(read_model(source_file("models/" + name), options));
}

std::vector<std::string> pins_of(const Model& model) {
  const natural::Reactions reactions(model, std::make_shared<const System>(model));
  std::vector<std::string> pins;
  for (std::size_t k = 0; k < reactions.names().size(); k += 2)
    pins.push_back(reactions.names()[k].substr(0, reactions.names()[k].size() - 3));
  return pins;
}

/// Every type of sensor on every body or link, coordinate or joint.
void equip(Model& model) {
  model.sensors.clear();
  RandomInstant random(1);
  const int bodies = static_cast<int>(model.spatial() ? model.robot.links.size() : model.bodies.size());
  const auto add = [&](SensorType type, int number) -> Sensor& {
    return add_sensor(model, type, std::string(info(type).name) + std::to_string(number));
  };
  for (int i = 0; i < bodies; ++i) {
    for (const SensorType type : {SensorType::gyroscope, SensorType::accelerometer, SensorType::imu,
                                  SensorType::position, SensorType::distance, SensorType::tilt}) {
      Sensor& s = add(type, i);
      s.on = {i, 0.2 * random.vector(3)};
      s.other = {-1, random.vector(3)};
      s.R_BS = model.spatial() ? random.rotation() : Matrix3d(SO3::exp({0, 0, random.number()}).matrix());
      if (!model.spatial()) s.on.at.z() = s.other.at.z() = 0;
    }
  }
  for (const SensorType type : {SensorType::encoder, SensorType::tachometer, SensorType::torque}) {
    if (!model.spatial()) {
      for (int i = 0; i < static_cast<int>(type == SensorType::torque ? model.motors.size() : model.relative.size());
           ++i)
        (type == SensorType::torque ? add(type, i).motor : add(type, i).coordinate) = i;
      continue;
    }
    for (int j = 0; j < static_cast<int>(model.robot.joints.size()); ++j)
      if (model.robot.joints[j].type != JointType::fixed) add(type, j).coordinate = j;
  }
  if (!model.spatial()) {
    for (const std::string& pin : pins_of(model)) add_sensor(model, SensorType::load_cell, pin).reaction = pin;
  } else {
    for (const Joint& joint : model.robot.joints)
      if (joint.type != JointType::fixed) add_sensor(model, SensorType::load_cell, joint.name).reaction = joint.name;
  }
}

TEST(SensorsOfFiles, PlanarDerivativesAreThoseOfDifferences) {
  for (const char* name : {"fourbar.yaml", "slider_crank.yaml", "pick_and_place.yaml", "spring_mass.yaml"}) {
    SCOPED_TRACE(name);
    Model model = read(name);
    equip(model);
    const auto system = std::make_shared<const System>(model);
    RandomInstant random(2);
    const VectorXd q = system->guess() + 0.1 * random.vector(system->coordinates());
    expect_derivatives(*make_observer(model, system),
                       random.at(q, system->coordinates(), system->constraints(), system->motors(), 5), plain());
  }
}

TEST(SensorsOfFiles, SpatialDerivativesAreThoseOfDifferences) {
  for (const char* name : {"arm7.urdf", "quadruped.urdf", "five_bar.sdf"}) {
    SCOPED_TRACE(name);
    ReadOptions options;
    if (std::string(name) == "quadruped.urdf") options.base = Robot::Base::floating;
    Model model = read(name, options);
    model.robot.gravity = {1, -2, -9};  // or the tilt of what turns about the vertical stays as it is
    equip(model);
    const auto tree = good(screw::Tree::make(model.robot));
    // what is welded to the ground sees nothing
    std::erase_if(model.sensors, [&](const Sensor& s) { return s.on.body >= 0 && tree->links()[s.on.body].body < 0; });
    RandomInstant random(3);
    VectorXd q = tree->start_position();
    tree->retract(q.data(), random.vector(tree->freedoms()).eval().data(), q.data());
    const int wrenches = 6 * static_cast<int>(tree->bodies().size() + tree->loops().size());
    expect_derivatives(*make_observer(model, tree), random.at(q, tree->freedoms(), wrenches, tree->freedoms(), 5),
                       along(*tree));
  }
}

/// [M Φ_qᵀ; Φ_q 0] [q̈; λ] = [Q + B u; −Φ̇_q q̇]
void solve(const System& system, Instant& x) {
  const int n = system.coordinates(), m = system.constraints();
  MatrixXd A = MatrixXd::Zero(n + m, n + m);
  for (std::size_t k = 0; k < system.mass_values().size(); ++k)
    A(system.mass_pattern()[k].row, system.mass_pattern()[k].column) = system.mass_values()[k];
  const MatrixXd J = jacobian(system, x.q);
  A.bottomLeftCorner(m, n) = J;
  A.topRightCorner(n, m) = J.transpose();
  VectorXd b(n + m), rest(m);
  system.force(x.q.data(), x.v.data(), 0, b.data(), nullptr, nullptr);
  for (int j = 0; j < system.motors(); ++j) b[system.motor_coordinate()[j]] += x.tau[j];
  const VectorXd still = VectorXd::Zero(n);
  system.acceleration(x.q.data(), x.v.data(), still.data(), 0, rest.data(), nullptr, nullptr, nullptr);
  b.tail(m) = -rest;
  const VectorXd answer = A.completeOrthogonalDecomposition().solve(b);
  x.a = answer.head(n);
  x.reaction = answer.tail(m);
}

void solve(std::shared_ptr<const screw::Tree> tree, Instant& x) {
  build::Dynamics dynamics(tree, build::given_forward(*tree));
  screw::Surroundings surroundings;
  surroundings.gravity = tree->gravity();
  ASSERT_TRUE(dynamics.solve(x.q.data(), x.v.data(), x.a.data(), x.tau.data(), surroundings).ok);
  const int wrenches = static_cast<int>(tree->bodies().size() + tree->loops().size());
  x.reaction.resize(6 * wrenches);
  for (int i = 0; i < wrenches; ++i) x.reaction.segment<6>(6 * i) = dynamics.wrench(i);
}

/// Accelerometers, motors and load cells of a machine that moves by itself read the same both ways.
void expect_same_forces(Model model) {
  equip(model);
  const auto system = std::make_shared<const System>(model);
  const auto tree = good(screw::Tree::make(good(robot_of(model))));
  const auto natural = make_observer(model, system), spatial = make_observer(model, tree);
  Instant x = planar_instant(*system, 4);
  Instant y = robot_instant(*tree, link_motions(model, *system, x), x);
  for (std::size_t m = 0; m < model.motors.size(); ++m)
    y.tau[tree->coordinates()[tree->find_coordinate(model.relative[model.motors[m].coordinate.value].name)].v] =
        x.tau[m];
  solve(*system, x);
  solve(tree, y);
  int cells = 0;
  for (int i = 0; i < natural->sensors(); ++i) {
    if (!natural->needs_acceleration(i)) continue;
    const VectorXd a = reading(*natural, x, i), b = reading(*spatial, y, i);
    EXPECT_LT((a - b).norm(), 1e-9 * (1 + a.norm()))
        << natural->sensor(i).name << ": " << a.transpose() << " and " << b.transpose();
    cells += natural->sensor(i).type == SensorType::load_cell;
  }
  EXPECT_GE(cells, 3);
}

TEST(SensorsOfFiles, JointForcesOfAFourbarAreThoseOfItsRobot) { expect_same_forces(read("fourbar.yaml")); }

TEST(SensorsOfFiles, JointForcesOfASliderCrankAreThoseOfItsRobot) {
  Model model = read("slider_crank.yaml");
  model.drivers.clear();
  model.loads.clear();
  model.initial.clear();
  expect_same_forces(model);
}

TEST(SensorsOfFiles, ALoadCellCarriesTheWeightOfAnArmAtRest) {
  Model model = read("arm7.urdf");
  model.sensors.clear();
  add_sensor(model, SensorType::load_cell).reaction = model.robot.joints[0].name;
  add_sensor(model, SensorType::tilt).on.body = model.robot.joints[0].child.value;
  for (Sensor& s : model.sensors) s.R_BS = SO3::exp({0.3, -0.2, 0.5}).matrix();
  const auto tree = good(screw::Tree::make(model.robot));
  const auto observer = make_observer(model, tree);
  Instant x = RandomInstant(5).at(0.3 * VectorXd::Ones(tree->stored()), tree->freedoms(), 0, tree->freedoms(), 0);
  x.v.setZero();
  x.a.setZero();
  build::Dynamics dynamics(tree, std::vector(tree->coordinates().size(), build::Given::acceleration));
  ASSERT_TRUE(dynamics.solve(x.q.data(), x.v.data(), x.a.data(), x.tau.data(), {}).ok);
  x.reaction.resize(6 * static_cast<int>(tree->bodies().size()));
  for (std::size_t i = 0; i < tree->bodies().size(); ++i) x.reaction.segment<6>(6 * i) = dynamics.wrench(i);
  const VectorXd wrench = reading(*observer, x, 0), tilt = reading(*observer, x, 1);
  const double weight = tree->mass() * kGravity;
  EXPECT_NEAR(wrench.tail(3).norm(), weight, 1e-9);
  // the force is along the vertical as the tilt sensor in the same axes sees it
  EXPECT_NEAR(std::atan2(wrench[4], wrench[5]), tilt[0], 1e-12);
  EXPECT_NEAR(std::asin(-wrench[3] / weight), tilt[1], 1e-12);
}

TEST(SensorsOfFiles, ReadingAllocatesNothing) {
  if (!linear::test::allocations_are_counted()) GTEST_SKIP() << "the sanitizer owns malloc";
  const auto count = [](const Observer& observer, const Instant& x) {
    VectorXd y(6);
    MatrixXd H(6, x.directions());
    const long before = linear::test::allocations();
    for (int i = 0; i < observer.sensors(); ++i) {
      observer.read(x, i, y.data());
      observer.read(x, i, y.data(), H.topRows(observer.rows(i)));
    }
    return linear::test::allocations() - before;
  };
  Model planar = read("fourbar.yaml");
  equip(planar);
  const auto system = std::make_shared<const System>(planar);
  EXPECT_EQ(count(*make_observer(planar, system),
                  RandomInstant(6).at(system->guess(), system->coordinates(), system->constraints(), 1, 3)),
            0);
  ReadOptions options;
  options.base = Robot::Base::floating;
  Model spatial = read("quadruped.urdf", options);
  equip(spatial);
  const auto tree = good(screw::Tree::make(spatial.robot));
  const int wrenches = 6 * static_cast<int>(tree->bodies().size());
  EXPECT_EQ(count(*make_observer(spatial, tree),
                  RandomInstant(7).at(tree->start_position(), tree->freedoms(), wrenches, tree->freedoms(), 36)),
            0);
}

}  // namespace
}  // namespace kinegraph::sensor::sensors_test
