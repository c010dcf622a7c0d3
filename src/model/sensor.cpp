#include "kinegraph/model/sensor.hpp"

#include <array>

#include "kinegraph/model/schema.hpp"

namespace kinegraph {
namespace {

using Text = std::string_view;
constexpr std::array kAngle{Text("q")}, kRate{Text("v")}, kTorque{Text("tau")}, kTurn{Text("w")},
    kLength{Text("length")};
constexpr std::array kTurn3{Text("wx"), Text("wy"), Text("wz")};
constexpr std::array kForce2{Text("ax"), Text("ay")}, kPlace2{Text("x"), Text("y")}, kReaction2{Text("fx"), Text("fy")};
constexpr std::array kForce3{Text("ax"), Text("ay"), Text("az")}, kPlace3{Text("x"), Text("y"), Text("z")};
constexpr std::array kImu2{Text("w"), Text("ax"), Text("ay")};
constexpr std::array kImu3{Text("wx"), Text("wy"), Text("wz"), Text("ax"), Text("ay"), Text("az")};
constexpr std::array kWrench{Text("mx"), Text("my"), Text("mz"), Text("fx"), Text("fy"), Text("fz")};
constexpr std::array kTilt1{Text("angle")};
constexpr std::array kTilt2{Text("roll"), Text("pitch")};

constexpr std::array kRad{Text("rad"), Text("rad")}, kNewton{Text("N"), Text("N")};
constexpr std::array kNm{Text("N m")};
constexpr std::array kRadS{Text("rad/s"), Text("rad/s"), Text("rad/s")};
constexpr std::array kMetre{Text("m"), Text("m"), Text("m")}, kMetreS2{Text("m/s^2"), Text("m/s^2"), Text("m/s^2")};
constexpr std::array kImuUnits2{Text("rad/s"), Text("m/s^2"), Text("m/s^2")};
constexpr std::array kImuUnits3{Text("rad/s"), Text("rad/s"), Text("rad/s"),
                                Text("m/s^2"), Text("m/s^2"), Text("m/s^2")};
constexpr std::array kWrenchUnits{Text("N m"), Text("N m"), Text("N m"), Text("N"), Text("N"), Text("N")};

constexpr std::array kCoordinate{Text("coordinate")}, kPin{Text("joint")};
constexpr std::array kJoint{Text("joint"), Text("freedom")}, kInJoint{Text("joint"), Text("rpy")};
constexpr std::array kEnds{Text("from"), Text("to")};
constexpr std::array kOnBody{Text("body"), Text("at"), Text("point"), Text("angle")};
constexpr std::array kOfBody{Text("body"), Text("at"), Text("point")}, kOnLink{Text("link"), Text("xyz"), Text("rpy")};
constexpr std::array kOfLink{Text("link"), Text("xyz")};

// Units of encoders, tachometers and torque sensors are those of a turning joint; on a sliding one the reader puts m.
constexpr SensorTypeInfo kTypes[] = {
    {SensorType::encoder, "encoder", "value of a coordinate or joint", kAngle, kAngle, kRad, kRad, false, kCoordinate,
     kJoint},
    {SensorType::tachometer, "tachometer", "rate of a coordinate or joint", kRate, kRate, kRadS, kRadS, false,
     kCoordinate, kJoint},
    {SensorType::gyroscope, "gyroscope", "angular velocity of a body", kTurn, kTurn3, kRadS, kRadS, false, kOnBody,
     kOnLink},
    {SensorType::accelerometer, "accelerometer", "acceleration less gravity at a point of a body, in its own axes",
     kForce2, kForce3, kMetreS2, kMetreS2, true, kOnBody, kOnLink},
    {SensorType::imu, "imu", "gyroscope and accelerometer in one place", kImu2, kImu3, kImuUnits2, kImuUnits3, true,
     kOnBody, kOnLink},
    {SensorType::position, "position", "where a point of a body is (a marker, a camera)", kPlace2, kPlace3, kMetre,
     kMetre, false, kOfBody, kOfLink},
    {SensorType::distance, "distance", "between two points", kLength, kLength, kMetre, kMetre, false, kEnds, kEnds},
    {SensorType::torque, "torque", "of a motor or joint", kTorque, kTorque, kNm, kNm, true, kCoordinate, kJoint},
    {SensorType::load_cell, "load_cell", "force (and moment) through a joint", kReaction2, kWrench, kNewton,
     kWrenchUnits, true, kPin, kInJoint},
    {SensorType::tilt, "tilt", "of a body against the vertical", kTilt1, kTilt2, kRad, kRad, false, kOnBody, kOnLink},
};

}  // namespace

std::span<const SensorTypeInfo> sensor_types() { return kTypes; }

const SensorTypeInfo& info(SensorType type) { return kTypes[static_cast<int>(type)]; }

std::vector<std::string_view> sensor_keys(const SensorTypeInfo& type, bool spatial) {
  std::vector<std::string_view> keys{"name", "type"};
  const auto add = [&](std::span<const Text> more) { keys.insert(keys.end(), more.begin(), more.end()); };
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
