#include "kinegraph/model/sensor.hpp"

#include <array>

#include "kinegraph/model/schema.hpp"

namespace kinegraph {
namespace {

using Word = std::string_view;
constexpr std::array kAngle{Word("q")}, kRate{Word("v")}, kTorqueOnly{Word("tau")}, kTurn{Word("w")},
    kLength{Word("length")};
constexpr std::array kTurn3{Word("wx"), Word("wy"), Word("wz")};
constexpr std::array kForce2{Word("ax"), Word("ay")}, kPlace2{Word("x"), Word("y")}, kReaction2{Word("fx"), Word("fy")};
constexpr std::array kForce3{Word("ax"), Word("ay"), Word("az")}, kPlace3{Word("x"), Word("y"), Word("z")};
constexpr std::array kImu2{Word("w"), Word("ax"), Word("ay")};
constexpr std::array kImu3{Word("wx"), Word("wy"), Word("wz"), Word("ax"), Word("ay"), Word("az")};
constexpr std::array kWrench{Word("mx"), Word("my"), Word("mz"), Word("fx"), Word("fy"), Word("fz")};
constexpr std::array kTilt1{Word("angle")};
constexpr std::array kTilt2{Word("roll"), Word("pitch")};

constexpr std::array kRad{Word("rad"), Word("rad")}, kNewton{Word("N"), Word("N")};
constexpr std::array kNm{Word("N m")};
constexpr std::array kRadS{Word("rad/s"), Word("rad/s"), Word("rad/s")};
constexpr std::array kMetre{Word("m"), Word("m"), Word("m")}, kMetreS2{Word("m/s^2"), Word("m/s^2"), Word("m/s^2")};
constexpr std::array kImuUnits2{Word("rad/s"), Word("m/s^2"), Word("m/s^2")};
constexpr std::array kImuUnits3{Word("rad/s"), Word("rad/s"), Word("rad/s"),
                                Word("m/s^2"), Word("m/s^2"), Word("m/s^2")};
constexpr std::array kWrenchUnits{Word("N m"), Word("N m"), Word("N m"), Word("N"), Word("N"), Word("N")};

constexpr std::array kCoordinate{Word("coordinate")}, kPin{Word("joint")};
constexpr std::array kAtJoint{Word("joint"), Word("freedom")}, kInJoint{Word("joint"), Word("rpy")};
constexpr std::array kEnds{Word("from"), Word("to")};
constexpr std::array kOnBody{Word("body"), Word("at"), Word("point"), Word("angle")};
constexpr std::array kOfBody{Word("body"), Word("at"), Word("point")}, kOnLink{Word("link"), Word("xyz"), Word("rpy")};
constexpr std::array kOfLink{Word("link"), Word("xyz")};

// Units of encoders, tachometers and torque sensors are those of a turning joint; on a sliding one the reader puts m.
constexpr SensorTypeInfo kSensorTypes[] = {
    {SensorType::encoder, "encoder", "value of a coordinate or joint", kAngle, kAngle, kRad, kRad, false, kCoordinate,
     kAtJoint},
    {SensorType::tachometer, "tachometer", "rate of a coordinate or joint", kRate, kRate, kRadS, kRadS, false,
     kCoordinate, kAtJoint},
    {SensorType::gyroscope, "gyroscope", "angular velocity of a body", kTurn, kTurn3, kRadS, kRadS, false, kOnBody,
     kOnLink},
    {SensorType::accelerometer, "accelerometer", "acceleration less gravity at a point of a body, in its own axes",
     kForce2, kForce3, kMetreS2, kMetreS2, true, kOnBody, kOnLink},
    {SensorType::imu, "imu", "gyroscope and accelerometer in one place", kImu2, kImu3, kImuUnits2, kImuUnits3, true,
     kOnBody, kOnLink},
    {SensorType::position, "position", "where a point of a body is (a marker, a camera)", kPlace2, kPlace3, kMetre,
     kMetre, false, kOfBody, kOfLink},
    {SensorType::distance, "distance", "between two points", kLength, kLength, kMetre, kMetre, false, kEnds, kEnds},
    {SensorType::torque, "torque", "of a motor or joint", kTorqueOnly, kTorqueOnly, kNm, kNm, true, kCoordinate,
     kAtJoint},
    {SensorType::load_cell, "load_cell", "force (and moment) through a joint", kReaction2, kWrench, kNewton,
     kWrenchUnits, true, kPin, kInJoint},
    {SensorType::tilt, "tilt", "of a body against the vertical", kTilt1, kTilt2, kRad, kRad, false, kOnBody, kOnLink},
};

}  // namespace

std::span<const SensorTypeInfo> sensor_types() { return kSensorTypes; }

const SensorTypeInfo& info(SensorType type) { return kSensorTypes[static_cast<int>(type)]; }

std::vector<std::string_view> sensor_keys(const SensorTypeInfo& type, bool spatial) {
  std::vector<std::string_view> keys{"name", "type"};
  const auto add = [&](std::span<const Word> more) { keys.insert(keys.end(), more.begin(), more.end()); };
  add(spatial ? type.spatial_place : type.place);
  if (type.type == SensorType::imu) {
    add(kGyroErrorKeys);
    add(kAccelErrorKeys);
  } else {
    add(kErrorKeys);
  }
  add(kSamplingKeys);
  return keys;
}

}  // namespace kinegraph
