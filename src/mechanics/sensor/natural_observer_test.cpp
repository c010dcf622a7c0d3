#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "kinegraph/mechanics/natural/models_test.hpp"
#include "kinegraph/mechanics/natural/reactions.hpp"
#include "kinegraph/mechanics/natural/system.hpp"
#include "kinegraph/mechanics/sensor/list.hpp"
#include "kinegraph/mechanics/sensor/sensors_test.hpp"

namespace kinegraph::sensor::natural_observer_test {
namespace {

using natural::System;

Eigen::Matrix3d turned(double angle) { return Eigen::AngleAxisd(angle, Eigen::Vector3d::UnitZ()).toRotationMatrix(); }

/// Sensors of every type on every body but the last, and load cells.
void equip(Model& model, const std::vector<std::string>& pins) {
  const int bodies = static_cast<int>(model.bodies.size());
  for (const SensorTypeInfo& type : sensor_types()) {
    if (type.type == SensorType::load_cell) continue;
    for (int body = 0; body + 1 < bodies; ++body) {
      Sensor& s = add_sensor(model, type.type, std::string(type.name) + std::to_string(body));
      s.on = {body, {0.4, -0.3, 0}};
      s.other = {body == 0 ? -1 : bodies - body, {1.1, 0.2, 0}};
      s.R_BS = turned(0.7 + body);
      s.coordinate = body % static_cast<int>(model.relative.size());
      s.motor = type.type == SensorType::torque ? body % static_cast<int>(model.motors.size()) : -1;
    }
  }
  for (const std::string& pin : pins) add_sensor(model, SensorType::load_cell, "load " + pin).reaction = pin;
}

/// A bar that turns about A with angle θ: exact values of everything.
struct Bar {
  Bar() {
    natural::add_point(model, "A", 0.5, -0.2, true);
    natural::add_point(model, "P", 0.5 + length, -0.2);
    natural::add_body(model, {PointIndex(0), PointIndex(1)}, 1.3);
    natural::add_relative(model, "theta", RelativeCoordinate::Type::absolute_angle, {PointIndex(0), PointIndex(1)});
    model.motors.push_back({"drive", RelativeIndex(0), Law(0.0), 1, 0, {}});
  }

  Instant instant(double theta, double rate, double acceleration) const {
    const Vector2d e(std::cos(theta), std::sin(theta)), n(-e.y(), e.x());
    const Vector2d p = Vector2d(0.5, -0.2) + length * e, v = length * rate * n,
                   a = length * (acceleration * n - rate * rate * e);
    Instant x;
    x.q = Eigen::Vector3d(p.x(), p.y(), theta);
    x.v = Eigen::Vector3d(v.x(), v.y(), rate);
    x.a = Eigen::Vector3d(a.x(), a.y(), acceleration);
    x.tau = Eigen::VectorXd::Constant(1, 4.5);
    return x;
  }

  static constexpr double length = 0.8;
  Model model;
};

TEST(Sensors, HaveTheRowsOfTheTable) {
  for (const SensorTypeInfo& type : sensor_types()) {
    visit_sensor(type.type, [&](auto kind) {
      using Kind = decltype(kind);
      EXPECT_EQ(Kind::kPlanar, static_cast<int>(type.planar.size())) << type.name;
      EXPECT_EQ(Kind::kSpatial, static_cast<int>(type.spatial.size())) << type.name;
      const Needs needs = Kind::kNeeds;
      EXPECT_EQ(needs.on == Level::acceleration || needs.torque || needs.reaction, type.needs_acceleration)
          << type.name;
    });
  }
}

TEST(NaturalObserver, ReadsABarAsWrittenByHand) {
  Bar bar;
  bar.model.gravity = {0.3, -9.6};
  const double x = 0.25, y = 0.1, mounted = 0.4;
  const auto add = [&](SensorType type) {
    Sensor& s = add_sensor(bar.model, type);
    s.on = {0, {x, y, 0}};
    s.R_BS = turned(mounted);
    s.other = {-1, {1, 2, 0}};
    s.coordinate = s.motor = 0;
  };
  for (const SensorTypeInfo& type : sensor_types())
    if (type.type != SensorType::load_cell) add(type.type);
  const auto system = std::make_shared<const System>(bar.model);
  const auto observer = make_observer(bar.model, system);
  const double theta = 2.3, rate = -1.7, acceleration = 3.1;
  const Instant instant = bar.instant(theta, rate, acceleration);
  const auto read = [&](SensorType type) {
    for (int i = 0; i < observer->sensors(); ++i)
      if (observer->sensor(i).type == type) return reading(*observer, instant, i);
    return Eigen::VectorXd();
  };

  EXPECT_DOUBLE_EQ(read(SensorType::encoder)[0], theta);
  EXPECT_DOUBLE_EQ(read(SensorType::tachometer)[0], rate);
  EXPECT_DOUBLE_EQ(read(SensorType::torque)[0], 4.5);
  EXPECT_NEAR(read(SensorType::gyroscope)[0], rate, 1e-14);
  const double c = std::cos(theta), s = std::sin(theta);
  const Vector2d arm(c * x - s * y, s * x + c * y), place = Vector2d(0.5, -0.2) + arm;
  EXPECT_NEAR((read(SensorType::position) - place).norm(), 0, 1e-14);
  EXPECT_NEAR(read(SensorType::distance)[0], (place - Vector2d(1, 2)).norm(), 1e-14);
  const Vector2d felt = Vector2d(-arm.y(), arm.x()) * acceleration - rate * rate * arm - bar.model.gravity;
  const double axes = theta + mounted;
  const Vector2d expected(std::cos(axes) * felt.x() + std::sin(axes) * felt.y(),
                          -std::sin(axes) * felt.x() + std::cos(axes) * felt.y());
  EXPECT_NEAR((read(SensorType::accelerometer) - expected).norm(), 0, 1e-13);
  const Eigen::VectorXd imu = read(SensorType::imu);
  EXPECT_NEAR(imu[0], rate, 1e-14);
  EXPECT_NEAR((imu.tail(2) - expected).norm(), 0, 1e-13);
  // horizontal is square to gravity: here turned by atan(0.3 / 9.6)
  EXPECT_NEAR(std::remainder(read(SensorType::tilt)[0] - (axes - std::atan2(0.3, 9.6)), 2 * std::numbers::pi), 0,
              1e-14);
}

TEST(NaturalObserver, TiltIsTheAngleOfTheXAxisUnderGravityAlongMinusY) {
  for (const double gravity : {kGravity, 0.0}) {
    Bar bar;
    bar.model.gravity = {0, -gravity};
    add_sensor(bar.model, SensorType::tilt).on.body = 0;
    const auto observer = make_observer(bar.model, std::make_shared<const System>(bar.model));
    for (const double theta : {-3.0, -1.0, 0.0, 0.5, 2.0})
      EXPECT_NEAR(reading(*observer, bar.instant(theta, 1, 0), 0)[0], theta, 1e-14);
  }
}

TEST(NaturalObserver, DerivativesAreThoseOfDifferences) {
  // the zoo has one of everything; its last body does not move
  Model model = natural::zoo();
  const natural::Reactions reactions(model, std::make_shared<const System>(model));
  std::vector<std::string> pins;
  for (std::size_t k = 0; k < reactions.names().size(); k += 2)
    pins.push_back(reactions.names()[k].substr(0, reactions.names()[k].size() - 3));
  equip(model, pins);
  const auto system = std::make_shared<const System>(model);
  const auto observer = make_observer(model, system);
  ASSERT_GT(observer->sensors(), 40);
  RandomInstant random(3);
  for (const int directions : {1, 2, 11}) {
    const Eigen::VectorXd q = system->guess() + 0.1 * random.vector(system->coordinates());
    expect_derivatives(
        *observer, random.at(q, system->coordinates(), system->constraints(), system->motors(), directions), plain());
  }
}

TEST(NaturalObserver, LoadCellsReadWhatReactionsSay) {
  Model model = natural::zoo();
  auto system = std::make_shared<const System>(model);
  const natural::Reactions reactions(model, system);
  const std::vector<std::string>& names = reactions.names();
  for (std::size_t k = 0; k < names.size(); k += 2)
    add_sensor(model, SensorType::load_cell, names[k]).reaction = names[k].substr(0, names[k].size() - 3);
  const auto observer = make_observer(model, system);
  RandomInstant random(5);
  const Instant x = random.at(system->guess(), system->coordinates(), system->constraints(), system->motors(), 0);
  std::vector<double> forces(names.size());
  reactions.evaluate(x.q.data(), x.v.data(), x.a.data(), x.reaction.data(), x.tau.data(), x.t, forces.data());
  for (int i = 0; i < observer->sensors(); ++i) {
    const Eigen::VectorXd y = reading(*observer, x, i);
    EXPECT_DOUBLE_EQ(y[0], forces[2 * i]) << names[2 * i];
    EXPECT_DOUBLE_EQ(y[1], forces[2 * i + 1]) << names[2 * i + 1];
  }
}

TEST(NaturalObserver, PointsThatMeetHaveADistanceOfZeroWithoutFault) {
  Bar bar;
  Sensor& s = add_sensor(bar.model, SensorType::distance);
  s.on = {0, {0, 0, 0}};
  s.other = {-1, {0.5, -0.2, 0}};
  const auto observer = make_observer(bar.model, std::make_shared<const System>(bar.model));
  Instant x = bar.instant(0.3, 1, 0);
  x.dq = Eigen::MatrixXd::Ones(3, 1);
  double y = 1;
  Eigen::MatrixXd H(1, 1);
  observer->read(x, 0, &y, H);
  EXPECT_EQ(y, 0);
  EXPECT_EQ(H(0, 0), 0);
}

TEST(NaturalObserver, NamesALoadCellWithoutAForce) {
  Bar bar;
  add_sensor(bar.model, SensorType::load_cell, "cell").reaction = "Q";
  try {
    make_observer(bar.model, std::make_shared<const System>(bar.model));
    FAIL();
  } catch (const std::invalid_argument& e) {
    EXPECT_STREQ(e.what(), "sensor cell: no joint carries the force Q");
  }
}

}  // namespace
}  // namespace kinegraph::sensor::natural_observer_test
