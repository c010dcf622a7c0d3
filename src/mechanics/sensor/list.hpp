#pragma once

#include <stdexcept>

#include "kinegraph/mechanics/sensor/accelerometer.hpp"
#include "kinegraph/mechanics/sensor/distance.hpp"
#include "kinegraph/mechanics/sensor/encoder.hpp"
#include "kinegraph/mechanics/sensor/gyroscope.hpp"
#include "kinegraph/mechanics/sensor/imu.hpp"
#include "kinegraph/mechanics/sensor/load_cell.hpp"
#include "kinegraph/mechanics/sensor/position.hpp"
#include "kinegraph/mechanics/sensor/tachometer.hpp"
#include "kinegraph/mechanics/sensor/tilt.hpp"
#include "kinegraph/mechanics/sensor/torque.hpp"
#include "kinegraph/model/sensor.hpp"

namespace kinegraph::sensor {

/// One type of sensor is a struct with
///     kPlanar, kSpatial     how many numbers it reads on planar machines and on robots, as sensor_types() names them
///     kNeeds                what it sees of the machine
///     read(view, y)         its equation, for any scalar
/// and is called through its type: visit_sensor(type, [&](auto kind) { return decltype(kind)::kPlanar; }).
/// The list of all types: a new one is its header and a line here.
template <class F>
decltype(auto) visit_sensor(SensorType type, F&& f) {
  switch (type) {
    case SensorType::encoder:
      return f(Encoder{});
    case SensorType::tachometer:
      return f(Tachometer{});
    case SensorType::gyroscope:
      return f(Gyroscope{});
    case SensorType::accelerometer:
      return f(Accelerometer{});
    case SensorType::imu:
      return f(Imu{});
    case SensorType::position:
      return f(Position{});
    case SensorType::distance:
      return f(Distance{});
    case SensorType::torque:
      return f(Torque{});
    case SensorType::load_cell:
      return f(LoadCell{});
    case SensorType::tilt:
      return f(Tilt{});
  }
  throw std::logic_error("unknown sensor type");
}

/// The most numbers of one reading.
inline constexpr int kMostRows = 6;

}  // namespace kinegraph::sensor
