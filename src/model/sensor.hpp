#pragma once

#include <Eigen/Core>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kinegraph/base/result.hpp"

namespace kinegraph {

/// What a sensor measures. A new type is a line here, a row of sensor_types(), and its header in mechanics/sensor/.
enum class SensorType {
  encoder,        ///< value of a relative coordinate or of a joint
  tachometer,     ///< its rate
  gyroscope,      ///< angular velocity of a body, in the sensor's axes
  accelerometer,  ///< specific force (acceleration less gravity) at a point of a body, in the sensor's axes
  imu,            ///< gyroscope and accelerometer in one place
  position,       ///< where a point of a body is, in world axes: a marker, a camera
  distance,       ///< between two points
  torque,         ///< of a motor or joint
  load_cell,      ///< the force (and moment) through a joint
  tilt,           ///< of a body against the vertical
};

/// One number of a reading.
struct SensorChannel {
  std::string name;       ///< its column: "gyro.w", "imu.ax"
  std::string unit;       ///< "rad/s"
  bool circular = false;  ///< an angle that may be read modulo a full turn
  double noise = 0;       ///< standard deviation of a reading
  double quantum = 0;     ///< readings are multiples of this; 0: not rounded
  double scale = 1;       ///< of all readings:   y = scale · h(x) + bias
  double bias = 0;        ///< offset of all readings: known to the model, in simulation and in estimation
  double bias_sd = 0;     ///< of what is not known of the offset at the start: > 0 makes it a state
  double bias_walk = 0;   ///< the offset wanders: standard deviation per √s; > 0 makes it a state
};

/// A sensor and where it sits. Which of the places are used depends on the type.
struct Sensor {
  struct Mount {
    int body = -1;                                 ///< of Model::bodies or Robot::links; −1: the ground
    Eigen::Vector3d at = Eigen::Vector3d::Zero();  ///< in the body's (link's) frame; on the ground: in the world's
  };
  std::string name;
  SensorType type = SensorType::encoder;
  int coordinate = -1;   ///< encoder, tachometer, torque: of Model::relative or Robot::joints
  int freedom = 0;       ///< of that joint
  int motor = -1;        ///< torque, planar: of Model::motors
  std::string reaction;  ///< load cell, planar: "A", "P.body2", as natural::Reactions names it; robots: the joint
  Mount on, other;       ///< distance: from `on` to `other`
  Eigen::Matrix3d R_BS = Eigen::Matrix3d::Identity();  ///< the sensor's axes on the body
  std::vector<SensorChannel> channels;
  double rate = 100;        ///< readings per second (simulation)
  double delay = 0;         ///< s: what a log has at t was measured at t − delay
  double dropout = 0;       ///< share of readings that are missing (simulation)
  double outliers = 0;      ///< share of readings that are wrong (simulation; estimation may use it)
  double outlier_size = 0;  ///< standard deviation of wrong readings about the right one
  Location where;
};

/// A row of the table of sensor types: the reader, its messages, docs and help follow it.
struct SensorTypeInfo {
  SensorType type;
  std::string_view name;                                   ///< in files: "gyroscope"
  std::string_view meaning;                                ///< one line for docs and help
  std::span<const std::string_view> planar, spatial;       ///< quantities of its channels: "w"; "wx", "wy", "wz"
  std::span<const std::string_view> units, spatial_units;  ///< of the same
  bool needs_acceleration;                                 ///< it sees more than positions and velocities
  std::span<const std::string_view> place, spatial_place;  ///< keys that say where it sits: "body", "at"; "link", "xyz"
};
std::span<const SensorTypeInfo> sensor_types();
const SensorTypeInfo& info(SensorType type);

/// All keys that a sensor of this type may have in a planar file, or in that of a robot.
std::vector<std::string_view> sensor_keys(const SensorTypeInfo& type, bool spatial);

/// Where a force acts: along one coordinate of a planar machine, or one freedom of a joint.
struct ForcePlace {
  int what = -1;    ///< planar: CoordinateRef::What as a number; robots: −1
  int index = -1;   ///< planar: CoordinateRef::index; robots: of Robot::joints (a floating base that is named here
                    ///< becomes one of them)
  int freedom = 0;  ///< of that joint
};

/// White noise that drives the machine: what the model does not know of the forces. Along one coordinate, as a spectral
/// density, so that results do not depend on the step.
struct Disturbance {
  enum class Kind { acceleration, force };
  std::string name;  ///< of the coordinate or joint
  ForcePlace place;
  Kind kind = Kind::acceleration;
  double density = 0;  ///< acceleration: (rad or m)/s² per √Hz; force: N (m) per √Hz
  Location where;
};

/// A force or torque that is estimated beside the state: a random walk.
struct UnknownForce {
  std::string name;  ///< its column is name.tau
  ForcePlace place;
  double sd = 0;    ///< at the start, about zero
  double walk = 0;  ///< N (m) per √s
  Location where;
};

}  // namespace kinegraph
