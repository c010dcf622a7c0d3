#pragma once

#include <memory>

#include "kinegraph/mechanics/sensor/instant.hpp"
#include "kinegraph/model/model.hpp"

namespace kinegraph::natural {
class System;
}
namespace kinegraph::screw {
class Tree;
}
namespace kinegraph::maximal {
class Mechanism;
}

namespace kinegraph::sensor {

/// What the sensors of a model read at an instant: h(x), once, for simulation and for estimation. Biases, noise and
/// rounding are not in it. Allocates when it is made, never after.
class Observer {
 public:
  virtual ~Observer() = default;

  int sensors() const { return static_cast<int>(sensors_.size()); }
  const Sensor& sensor(int i) const { return sensors_[i]; }
  int rows(int sensor) const { return static_cast<int>(sensors_[sensor].channels.size()); }
  bool needs_acceleration(int sensor) const { return info(sensors_[sensor].type).needs_acceleration; }

  /// The reading of one sensor: rows() numbers.
  virtual void read(const Instant& instant, int sensor, double* y) const = 0;
  /// The same, and its change along the instant's directions: H(0..rows, 0..directions) is written.
  virtual void read(const Instant& instant, int sensor, double* y, Eigen::Ref<Eigen::MatrixXd> H) const = 0;

 protected:
  explicit Observer(const Model& model) : sensors_(model.sensors) {}

 private:
  std::vector<Sensor> sensors_;
};

/// Of a planar machine in natural coordinates, and of a robot (or a planar machine as one) by joints or by bodies.
std::unique_ptr<Observer> make_observer(const Model& model, std::shared_ptr<const natural::System> system);
std::unique_ptr<Observer> make_observer(const Model& model, std::shared_ptr<const screw::Tree> tree);
std::unique_ptr<Observer> make_observer(const Model& model, std::shared_ptr<const maximal::Mechanism> mechanism);

}  // namespace kinegraph::sensor
