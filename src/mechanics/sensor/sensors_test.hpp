#pragma once

// Sensors made by hand and instants with random numbers, for tests.

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "kinegraph/mechanics/screw/tree.hpp"
#include "kinegraph/mechanics/sensor/observer.hpp"

namespace kinegraph::sensor {

/// Adds a sensor of a type with the channels that the table gives it.
inline Sensor& add_sensor(Model& model, SensorType type, const std::string& name = {}) {
  Sensor sensor;
  sensor.type = type;
  sensor.name = name.empty() ? std::string(info(type).name) : name;
  for (const auto quantity : model.spatial() ? info(type).spatial : info(type).planar) {
    SensorChannel channel;
    channel.name = sensor.name + "." + std::string(quantity);
    sensor.channels.push_back(channel);
  }
  model.sensors.push_back(sensor);
  return model.sensors.back();
}

class RandomInstant {
 public:
  explicit RandomInstant(unsigned seed) : generator_(seed) {}

  double number() { return std::uniform_real_distribution<double>(-1, 1)(generator_); }
  Eigen::VectorXd vector(int n) {
    return Eigen::VectorXd::NullaryExpr(n, [&] { return number(); });
  }
  Eigen::MatrixXd matrix(int n, int m) {
    return Eigen::MatrixXd::NullaryExpr(n, m, [&] { return number(); });
  }
  Eigen::Matrix3d rotation() { return SO3::exp(Eigen::Vector3d(number(), number(), number())).matrix(); }

  /// Any motion along any directions from a position.
  Instant at(const Eigen::VectorXd& q, int velocities, int reactions, int torques, int directions) {
    Instant x;
    x.t = 0.7;
    x.q = q;
    x.v = vector(velocities);
    x.a = vector(velocities);
    x.reaction = vector(reactions);
    x.tau = vector(torques);
    x.dq = matrix(velocities, directions);
    x.dv = matrix(velocities, directions);
    x.da = matrix(velocities, directions);
    x.dreaction = matrix(reactions, directions);
    x.dtau = matrix(torques, directions);
    return x;
  }

 private:
  std::mt19937 generator_;
};

/// Sensors of every type on every link and joint.
inline void equip(Model& model, RandomInstant& random) {
  const int links = static_cast<int>(model.robot.links.size());
  const auto place = [&] { return Eigen::Vector3d(0.5 * random.vector(3)); };
  for (const SensorTypeInfo& type : sensor_types()) {
    if (type.spatial_place.size() < 2 && type.type != SensorType::distance) continue;
    if (type.spatial_place[0] == "joint") continue;
    for (int link = 0; link < links; ++link) {
      Sensor& s = add_sensor(model, type.type, std::string(type.name) + " " + model.robot.links[link].name);
      s.on = {link, place()};
      s.other = {link % 2 == 0 ? -1 : 0, place()};
      s.R_BS = random.rotation();
    }
  }
  for (int j = 0; j < static_cast<int>(model.robot.joints.size()); ++j) {
    const Joint& joint = model.robot.joints[j];
    if (joint.type == JointType::fixed) continue;
    for (const SensorType type : {SensorType::encoder, SensorType::tachometer, SensorType::torque}) {
      Sensor& s = add_sensor(model, type, std::string(info(type).name) + " " + joint.name);
      s.coordinate = j;
      s.freedom = freedoms(joint.type) - 1;
    }
    Sensor& cell = add_sensor(model, SensorType::load_cell, "load " + joint.name);
    cell.reaction = joint.name;
    cell.R_BS = random.rotation();
  }
}

/// q moved along v by δ.
using Retract = std::function<Eigen::VectorXd(const Eigen::VectorXd& q, const Eigen::VectorXd& delta)>;
inline Retract plain() {
  return [](const Eigen::VectorXd& q, const Eigen::VectorXd& delta) -> Eigen::VectorXd { return q + delta; };
}
inline Retract along(const screw::Tree& tree) {
  return [&tree](const Eigen::VectorXd& q, const Eigen::VectorXd& delta) {
    Eigen::VectorXd out(q.size());
    tree.retract(q.data(), delta.data(), out.data());
    return out;
  };
}

inline Eigen::VectorXd reading(const Observer& observer, const Instant& instant, int sensor) {
  Eigen::VectorXd y(observer.rows(sensor));
  observer.read(instant, sensor, y.data());
  return y;
}

/// The instant moved by a share of one direction, without directions of its own.
inline Instant moved(const Instant& x, int direction, double share, const Retract& retract) {
  Instant y;
  y.t = x.t;
  y.q = retract(x.q, share * x.dq.col(direction));
  y.v = x.v + share * x.dv.col(direction);
  y.a = x.a + share * x.da.col(direction);
  y.reaction = x.reaction + share * x.dreaction.col(direction);
  y.tau = x.tau + share * x.dtau.col(direction);
  return y;
}

/// H of every sensor against central differences along the instant's directions.
inline void expect_derivatives(const Observer& observer, const Instant& instant, const Retract& retract) {
  const double h = 1e-5;
  for (int i = 0; i < observer.sensors(); ++i) {
    Eigen::VectorXd y(observer.rows(i));
    Eigen::MatrixXd H = Eigen::MatrixXd::Constant(observer.rows(i), instant.directions(), 1e30);
    observer.read(instant, i, y.data(), H);
    EXPECT_LT((y - reading(observer, instant, i)).cwiseAbs().maxCoeff(), 1e-14) << observer.sensor(i).name;
    double largest = 0;
    for (int d = 0; d < instant.directions(); ++d) {
      const Eigen::VectorXd difference =
          (reading(observer, moved(instant, d, h, retract), i) - reading(observer, moved(instant, d, -h, retract), i)) /
          (2 * h);
      const double scale = 1 + H.col(d).cwiseAbs().maxCoeff();
      EXPECT_LT((H.col(d) - difference).cwiseAbs().maxCoeff(), 1e-7 * scale)
          << observer.sensor(i).name << ", direction " << d;
      largest = std::max(largest, difference.cwiseAbs().maxCoeff());
    }
    EXPECT_GT(largest, 1e-3) << observer.sensor(i).name << " does not see the motion";
  }
}

}  // namespace kinegraph::sensor
