#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kinegraph {

/// The lists of elements that a planar model file may hold.
enum class Section {
  points,
  planar_bodies,
  relative_coordinates,
  sliders,
  drivers,
  springs,
  dampers,
  coordinate_springs,
  coordinate_dampers,
  motors,
  loads,
  torques,
  joint_friction,
  sensors,
  disturbances,
  unknowns,
};
inline constexpr int kSections = 16;

/// How the value of a key is written.
enum class ValueShape {
  text,     ///< a name, a formula, true or false
  list,     ///< of texts
  drawing,  ///< what the body looks like: accepted, of no effect on the mechanics
  place,    ///< a map {link: …, xyz: […]}; its fields are called `from.link`, `from.xyz`
};

struct KeySchema {
  std::string_view key;
  ValueShape shape;
  bool required;
  std::string_view meaning;
};

/// One list of elements: its key in the file, what messages call an element, and an element's keys. The reader, its
/// messages and a test of docs/formats.md all follow this table.
struct SectionSchema {
  Section section;
  std::string_view key;
  std::string_view element;
  std::span<const KeySchema> keys;
};

const SectionSchema& schema(Section section);
std::span<const SectionSchema> sections();

/// Keys of the file itself beside the lists.
std::span<const KeySchema> file_keys();

/// The lists of a robot's sidecar robot.sensors.yaml: sensors, disturbances, unknowns, joint_friction.
std::span<const SectionSchema> robot_sections();

/// What is wrong with the readings of a sensor: of one kind of channel, and of the two kinds of an imu; then when they
/// come. In the order of SensorChannel and Sensor.
inline constexpr std::array<std::string_view, 6> kErrorKeys = {"noise", "quantum", "scale",
                                                               "bias",  "bias_sd", "bias_walk"};
inline constexpr std::array<std::string_view, 6> kGyroErrorKeys = {"gyro_noise", "gyro_quantum", "gyro_scale",
                                                                   "gyro_bias",  "gyro_bias_sd", "gyro_bias_walk"};
inline constexpr std::array<std::string_view, 6> kAccelErrorKeys = {"accel_noise", "accel_quantum", "accel_scale",
                                                                    "accel_bias",  "accel_bias_sd", "accel_bias_walk"};
inline constexpr std::array<std::string_view, 5> kSamplingKeys = {"rate", "delay", "dropout", "outliers",
                                                                  "outlier_size"};

/// Friction in a joint. In the order of friction_numbers().
inline constexpr std::array<std::string_view, 6> kFrictionKeys = {"viscous",        "dry",       "stribeck",
                                                                  "stribeck_speed", "quadratic", "load_friction"};

}  // namespace kinegraph
