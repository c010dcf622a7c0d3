#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "kinegraph/io/model_file.hpp"
#include "test/shared.hpp"

namespace kinegraph::yaml_sensors_test {
namespace {

constexpr double kDegree = std::numbers::pi / 180;

/// A crank A-P1, a plate P1-P2-P3 and a bar P2-D; the lines that follow start at line 15.
std::string machine(const std::string& lines) {
  return "points:\n"
         "  - {name: A, x: 0, y: 0, fixed: true}\n"
         "  - {name: P1, x: 1, y: 0}\n"
         "  - {name: P2, x: 1, y: 2}\n"
         "  - {name: D, x: 4, y: 0, fixed: true}\n"
         "  - {name: P3, x: 2, y: 1}\n"
         "planar_bodies:\n"
         "  - {name: crank, points: [A, P1], mass: 1}\n"
         "  - {name: plate, points: [P1, P2, P3], mass: 1, I0: 9, cog: [0, 0]}\n"
         "  - {name: bar, points: [P2, D], mass: 1}\n"
         "relative_coordinates:\n"
         "  - {name: theta, type: absolute_angle, points: [A, P1]}\n"
         "  - {name: slide, type: relative_position, points: [A, D, P1]}\n"
         "motors: [{name: drive, coordinate: theta}]\n" +
         lines;
}

Model read(const std::string& lines) {
  const Result<Model> model = parse_planar_yaml(machine(lines), "m.yaml");
  if (model) return *model;
  ADD_FAILURE() << model.failure().to_string();
  return {};
}

std::string faults(const std::string& lines) {
  const Result<Model> model = parse_planar_yaml(machine(lines), "m.yaml");
  if (model) return "none";
  EXPECT_EQ(model.failure().exit_status(), 2);
  return model.failure().to_string();
}

/// A sensor in line 16, from column 6 on.
std::string sensor_faults(const std::string& sensor) { return faults("sensors:\n  - {" + sensor + "}"); }

std::vector<std::string> channels(const Sensor& sensor) {
  std::vector<std::string> names;
  for (const SensorChannel& channel : sensor.channels) names.push_back(channel.name + " " + channel.unit);
  return names;
}
using Names = std::vector<std::string>;

TEST(YamlSensors, EveryTypeWithItsChannels) {
  const Model model = read(
      "sensors:\n"
      "  - {type: encoder, coordinate: theta}\n"
      "  - {type: encoder, coordinate: slide.q}\n"
      "  - {type: tachometer, coordinate: theta}\n"
      "  - {type: tachometer, coordinate: slide}\n"
      "  - {type: gyroscope, body: crank}\n"
      "  - {name: acc, type: accelerometer, body: crank, at: [length/4, 0.1], angle: 90deg}\n"
      "  - {type: imu, body: plate, point: P3}\n"
      "  - {type: position, point: P2}\n"
      "  - {name: P3, type: position, body: plate, point: P3}\n"
      "  - {name: d, type: distance, from: A, to: P3}\n"
      "  - {name: drive, type: torque, coordinate: theta}\n"
      "  - {name: cell, type: load_cell, joint: A}\n"
      "  - {type: tilt, body: bar}\n");
  ASSERT_EQ(model.sensors.size(), 13u);
  const auto& s = model.sensors;
  EXPECT_EQ(channels(s[0]), (Names{"theta.q rad"}));
  EXPECT_TRUE(s[0].channels[0].circular);
  EXPECT_EQ(s[0].coordinate, 0);
  EXPECT_EQ(channels(s[1]), (Names{"slide.q m"}));
  EXPECT_FALSE(s[1].channels[0].circular);
  EXPECT_EQ(channels(s[2]), (Names{"tachometer0.v rad/s"}));
  EXPECT_EQ(channels(s[3]), (Names{"tachometer1.v m/s"}));
  EXPECT_EQ(channels(s[4]), (Names{"gyroscope0.w rad/s"}));
  EXPECT_EQ(s[4].on.body, 0);
  EXPECT_EQ(s[4].rate, 100);
  EXPECT_EQ(channels(s[5]), (Names{"acc.ax m/s^2", "acc.ay m/s^2"}));
  EXPECT_EQ(s[5].on.at, Eigen::Vector3d(0.25, 0.1, 0)) << "formulas may use the body's own numbers";
  EXPECT_TRUE((s[5].R_BS * Eigen::Vector3d::UnitX()).isApprox(Eigen::Vector3d::UnitY(), 1e-15));
  EXPECT_EQ(channels(s[6]), (Names{"imu0.w rad/s", "imu0.ax m/s^2", "imu0.ay m/s^2"}));
  EXPECT_EQ(s[6].on.body, 1);
  EXPECT_EQ(s[6].on.at, Eigen::Vector3d(1, -1, 0)) << "P3 in the axes of the plate";
  EXPECT_EQ(channels(s[7]), (Names{"position0.x m", "position0.y m"}));
  EXPECT_EQ(s[7].on.body, 1);
  EXPECT_EQ(s[7].on.at, Eigen::Vector3d(2, 0, 0));
  EXPECT_EQ(channels(s[8]), (Names{"P3.x m", "P3.y m"})) << "a marker may have the name of its point";
  EXPECT_EQ(channels(s[9]), (Names{"d.length m"}));
  EXPECT_EQ(s[9].on.body, -1);
  EXPECT_EQ(s[9].other.body, 1);
  EXPECT_EQ(channels(s[10]), (Names{"drive.tau N m"}));
  EXPECT_EQ(s[10].motor, 0);
  EXPECT_EQ(channels(s[11]), (Names{"cell.fx N", "cell.fy N"}));
  EXPECT_EQ(s[11].reaction, "A");
  EXPECT_EQ(channels(s[12]), (Names{"tilt0.angle rad"}));
  EXPECT_TRUE(s[12].channels[0].circular);
}

TEST(YamlSensors, ErrorsOfReadings) {
  const Model model = read(
      "parameters: {n: 0.5}\n"
      "sensors:\n"
      "  - {name: gyro, type: gyroscope, body: crank, noise: 0.3deg/s, quantum: n/10, bias: -1deg/s, bias_sd: 2*n,\n"
      "     bias_walk: 3, rate: 0.2 kHz, delay: 5ms, dropout: 0.1, outliers: 0.2, outlier_size: 7}\n"
      "  - {name: imu, type: imu, body: bar, gyro_noise: 1, gyro_quantum: 2, gyro_scale: 1.5, gyro_bias: 3, "
      "gyro_bias_sd: 4,\n"
      "     gyro_bias_walk: 5, accel_noise: 6, accel_quantum: 7, accel_bias: 8, accel_bias_sd: 9,\n"
      "     accel_bias_walk: gyro.noise}\n");
  ASSERT_EQ(model.sensors.size(), 2u);
  const Sensor &gyro = model.sensors[0], &imu = model.sensors[1];
  const SensorChannel& w = gyro.channels[0];
  EXPECT_DOUBLE_EQ(w.noise, 0.3 * kDegree);
  EXPECT_DOUBLE_EQ(w.quantum, 0.05);
  EXPECT_DOUBLE_EQ(w.bias, -kDegree);
  EXPECT_EQ(w.bias_sd, 1);
  EXPECT_EQ(w.bias_walk, 3);
  EXPECT_EQ(gyro.rate, 200);
  EXPECT_EQ(gyro.delay, 5e-3);
  EXPECT_EQ(gyro.dropout, 0.1);
  EXPECT_EQ(gyro.outliers, 0.2);
  EXPECT_EQ(gyro.outlier_size, 7);
  const auto numbers = [](const SensorChannel& c) {
    return std::vector<double>{c.noise, c.quantum, c.scale, c.bias, c.bias_sd, c.bias_walk};
  };
  EXPECT_EQ(numbers(imu.channels[0]), (std::vector<double>{1, 2, 1.5, 3, 4, 5}));
  for (int k = 1; k < 3; ++k) {
    EXPECT_EQ(numbers(imu.channels[k]), (std::vector<double>{6, 7, 1, 8, 9, w.noise})) << k;
  }
}

TEST(YamlSensors, ScaleAndOffsetCanBeSet) {
  const Model model = read(
      "parameters: {k: 2}\n"
      "sensors:\n"
      "  - {type: encoder, coordinate: theta, scale: k/4}\n"
      "  - {name: imu, type: imu, body: bar}\n");
  EXPECT_EQ(model.sensors[0].channels[0].scale, 0.5);
  EXPECT_EQ(model.sensors[1].channels[0].scale, 1);
  const auto set = model.with({{"theta.scale", 3}, {"theta.bias", -1}, {"imu.accel_scale", 2}, {"imu.gyro_bias", 5}});
  ASSERT_TRUE(set) << set.failure().to_string();
  EXPECT_EQ(set->sensors[0].channels[0].scale, 3);
  EXPECT_EQ(set->sensors[0].channels[0].bias, -1);
  EXPECT_EQ(set->sensors[1].channels[0].scale, 1);
  EXPECT_EQ(set->sensors[1].channels[0].bias, 5);
  EXPECT_EQ(set->sensors[1].channels[2].scale, 2);
  EXPECT_EQ(model.with({{"k", 8}})->sensors[0].channels[0].scale, 2);
  EXPECT_EQ(model.with({{"theta.scale", 0}}).failure().to_string(), "error: theta.scale: must not be 0, is 0");
  EXPECT_EQ(sensor_faults("type: imu, body: bar, accel_scale: 0"),
            "m.yaml:16:41: error: imu0.accel_scale: must not be 0, is 0");
}

TEST(YamlSensors, DisturbancesAndUnknowns) {
  const Model model = read(
      "disturbances:\n"
      "  - {coordinate: theta, density: 2}\n"
      "  - {coordinate: P2.y, force_density: 3}\n"
      "unknowns:\n"
      "  - {name: friction, coordinate: theta.q, sd: 4, walk: 5}\n"
      "  - {coordinate: P1.x, walk: 6}\n");
  ASSERT_EQ(model.disturbances.size(), 2u);
  ASSERT_EQ(model.unknowns.size(), 2u);
  const Disturbance &a = model.disturbances[0], &b = model.disturbances[1];
  EXPECT_EQ(a.name, "theta");
  EXPECT_EQ(a.place.what, static_cast<int>(CoordinateRef::What::relative));
  EXPECT_EQ(a.place.index, 0);
  EXPECT_EQ(a.kind, Disturbance::Kind::acceleration);
  EXPECT_EQ(a.density, 2);
  EXPECT_EQ(b.name, "P2.y");
  EXPECT_EQ(b.place.what, static_cast<int>(CoordinateRef::What::point_y));
  EXPECT_EQ(b.place.index, 2);
  EXPECT_EQ(b.kind, Disturbance::Kind::force);
  EXPECT_EQ(b.density, 3);
  EXPECT_EQ(model.unknowns[0].name, "friction");
  EXPECT_EQ(model.unknowns[0].sd, 4);
  EXPECT_EQ(model.unknowns[0].walk, 5);
  EXPECT_EQ(model.unknowns[1].name, "unknown1");
  EXPECT_EQ(model.unknowns[1].place.what, static_cast<int>(CoordinateRef::What::point_x));
  EXPECT_EQ(model.unknowns[1].place.index, 1);
}

TEST(YamlSensors, EveryNumberCanBeSet) {
  const Model model = read(
      "sensors:\n"
      "  - {name: gyro, type: gyroscope, body: crank, noise: 1}\n"
      "  - {name: imu, type: imu, body: bar}\n"
      "disturbances: [{coordinate: theta, density: 2}, {coordinate: P2.y, force_density: 3}]\n"
      "unknowns: [{name: friction, coordinate: theta, sd: 4}]\n");
  const Result<Model> set = model.with({{"gyro.noise", 0.5},
                                        {"gyro.rate", 50},
                                        {"gyro.at_x", 0.3},
                                        {"gyro.angle", std::numbers::pi},
                                        {"imu.accel_bias_sd", 0.7},
                                        {"theta.density", 8},
                                        {"P2.y.force_density", 9},
                                        {"friction.walk", 10}});
  ASSERT_TRUE(set) << set.failure().to_string();
  EXPECT_EQ(set->sensors[0].channels[0].noise, 0.5);
  EXPECT_EQ(set->sensors[0].rate, 50);
  EXPECT_EQ(set->sensors[0].on.at.x(), 0.3);
  EXPECT_LT(set->sensors[0].R_BS(0, 0), -0.999);
  EXPECT_EQ(set->sensors[1].channels[0].bias_sd, 0);
  EXPECT_EQ(set->sensors[1].channels[2].bias_sd, 0.7);
  EXPECT_EQ(set->disturbances[0].density, 8);
  EXPECT_EQ(set->disturbances[1].density, 9);
  EXPECT_EQ(set->unknowns[0].walk, 10);
  EXPECT_EQ(model.with({{"gyro.nois", 1}}).failure().to_string(),
            "error: cannot set 'gyro.nois': no such parameter, quantity or initial value; did you mean 'gyro.noise'?");
  EXPECT_EQ(model.with({{"gyro.noise", -1}}).failure().to_string(), "error: gyro.noise: must be >= 0, is -1");
  EXPECT_EQ(model.with({{"gyro.rate", std::nan("")}}).failure().to_string(), "error: gyro.rate: is not a number");
}

TEST(YamlSensors, UnknownNames) {
  EXPECT_EQ(sensor_faults("type: gyroscop, body: crank"),
            "m.yaml:16:12: error: unknown type 'gyroscop'; did you mean 'gyroscope'?");
  EXPECT_EQ(sensor_faults("type: thermometer"),
            "m.yaml:16:12: error: unknown type 'thermometer'; expected one of encoder, tachometer, gyroscope, "
            "accelerometer, imu, position, distance, torque, load_cell, tilt");
  EXPECT_EQ(sensor_faults("body: crank"), "m.yaml:16:5: error: missing key 'type' of a sensor");
  EXPECT_EQ(sensor_faults("type: gyroscope"), "m.yaml:16:5: error: missing key 'body' of the gyroscope 'gyroscope0'");
  EXPECT_EQ(sensor_faults("type: encoder"), "m.yaml:16:5: error: missing key 'coordinate' of the encoder 'encoder0'");
  EXPECT_EQ(sensor_faults("type: gyroscope, body: cranc"),
            "m.yaml:16:29: error: unknown body 'cranc'; did you mean 'crank'?");
  EXPECT_EQ(sensor_faults("type: imu, body: cranc, at: [length/2, 0]"),
            "m.yaml:16:23: error: unknown body 'cranc'; did you mean 'crank'?");
  EXPECT_EQ(sensor_faults("type: encoder, coordinate: thta"),
            "m.yaml:16:33: error: unknown relative coordinate 'thta'; did you mean 'theta'?");
  EXPECT_EQ(sensor_faults("type: position, point: P7"), "m.yaml:16:29: error: unknown point 'P7'; did you mean 'P1'?");
  EXPECT_EQ(sensor_faults("type: gyroscope, body: crank, nose: 1"),
            "m.yaml:16:36: error: unknown key 'nose'; did you mean 'noise'?");
  EXPECT_EQ(sensor_faults("type: load_cell, joint: P2.bar"), "m.yaml:16:30: error: unknown joint 'P2.bar'");
  EXPECT_EQ(sensor_faults("type: load_cell, joint: P4"), "m.yaml:16:30: error: unknown joint 'P4'; did you mean 'P1'?");
  EXPECT_EQ(faults("sensors: 3"), "m.yaml:15:10: error: sensors: expected a list, found '3'");
  EXPECT_EQ(faults("sensors: [gyro]"), "m.yaml:15:11: error: sensors: expected a map such as {type: …}, found 'gyro'");
  EXPECT_EQ(faults("sensor: []"), "m.yaml:15:1: error: unknown key 'sensor'; did you mean 'sensors'?");
}

TEST(YamlSensors, KeysThatDoNotFitTheType) {
  EXPECT_EQ(
      sensor_faults("type: encoder, coordinate: theta, angle: 1"),
      "m.yaml:16:47: error: angle: not a key of type encoder, which takes name, type, coordinate, noise, quantum, "
      "scale, bias, bias_sd, bias_walk, rate, delay, dropout, outliers, outlier_size");
  EXPECT_EQ(sensor_faults("type: imu, body: bar, noise: 1"),
            "m.yaml:16:35: error: noise: not a key of type imu, which takes name, type, body, at, point, angle, "
            "gyro_noise, gyro_quantum, gyro_scale, gyro_bias, gyro_bias_sd, gyro_bias_walk, accel_noise, "
            "accel_quantum, accel_scale, accel_bias, "
            "accel_bias_sd, accel_bias_walk, rate, delay, dropout, outliers, outlier_size");
}

TEST(YamlSensors, Places) {
  EXPECT_EQ(sensor_faults("type: imu, body: crank, at: [0, 0], point: A"),
            "m.yaml:16:49: error: point: expected either at or point");
  EXPECT_EQ(sensor_faults("type: imu, body: crank, at: [0, 0, 1]"),
            "m.yaml:16:34: error: at: expected [x, y], found 3 values");
  EXPECT_EQ(sensor_faults("type: imu, body: crank, point: P2"),
            "m.yaml:16:37: error: point 'P2' is none of body 'crank', which has A, P1");
  EXPECT_EQ(sensor_faults("type: position, point: A"), "m.yaml:16:29: error: point 'A' is fixed");
  EXPECT_EQ(sensor_faults("type: distance, from: A"),
            "m.yaml:16:5: error: missing key 'to' of the distance 'distance0'");
  EXPECT_EQ(sensor_faults("type: distance, from: A, to: A"),
            "m.yaml:16:5: error: distance 'distance0': both ends are the same point");
  EXPECT_EQ(sensor_faults("type: distance, from: A, to: D"),
            "m.yaml:16:5: error: distance 'distance0': both ends are fixed");
  EXPECT_EQ(sensor_faults("type: distance, from: P1, to: P3"),
            "m.yaml:16:5: error: distance 'distance0': both ends are on the same body");
  EXPECT_EQ(sensor_faults("type: torque, coordinate: slide"),
            "m.yaml:16:32: error: no motor acts on coordinate 'slide'");
}

TEST(YamlSensors, Rules) {
  EXPECT_EQ(sensor_faults("type: encoder, coordinate: theta, noise: -1, quantum: -2, bias_sd: -3, bias_walk: -4"),
            "m.yaml:16:47: error: theta.noise: must be >= 0, is -1\n"
            "m.yaml:16:60: error: theta.quantum: must be >= 0, is -2\n"
            "m.yaml:16:73: error: theta.bias_sd: must be >= 0, is -3\n"
            "m.yaml:16:88: error: theta.bias_walk: must be >= 0, is -4");
  EXPECT_EQ(sensor_faults("type: encoder, coordinate: theta, rate: 0, delay: -1, dropout: 2, outliers: -1"),
            "m.yaml:16:46: error: theta.rate: must be > 0, is 0\n"
            "m.yaml:16:56: error: theta.delay: must be >= 0, is -1\n"
            "m.yaml:16:69: error: theta.dropout: must be between 0 and 1, is 2\n"
            "m.yaml:16:82: error: theta.outliers: must be between 0 and 1, is -1");
  EXPECT_EQ(sensor_faults("name: i, type: imu, body: bar, gyro_noise: -1, accel_bias_walk: -2"),
            "m.yaml:16:49: error: i.gyro_noise: must be >= 0, is -1\n"
            "m.yaml:16:70: error: i.accel_bias_walk: must be >= 0, is -2");
  EXPECT_EQ(sensor_faults("type: encoder, coordinate: theta, noise: 1/0, rate: t"),
            "m.yaml:16:47: error: theta.noise: '1/0' is infinite\n"
            "m.yaml:16:58: error: 'theta.rate' cannot depend on the time t; only laws, torques and loads can");
  const Model model = read("sensors: [{type: encoder, coordinate: theta, outliers: 0.1}]");
  ASSERT_EQ(model.warnings.size(), 1u);
  EXPECT_EQ(to_string(model.warnings[0]), "m.yaml:15:56: warning: theta.outliers has no effect: outlier_size is 0");
}

TEST(YamlSensors, NamesAndColumns) {
  EXPECT_EQ(faults("sensors:\n"
                   "  - {name: a, type: gyroscope, body: bar}\n"
                   "  - {name: a, type: tilt, body: bar}\n"
                   "  - {name: 2a, type: tilt, body: bar}\n"),
            "m.yaml:17:12: error: duplicate name 'a'\n"
            "m.yaml:18:12: error: name '2a': expected letters, digits and '_', not starting with a digit");
  EXPECT_EQ(sensor_faults("name: slide, type: encoder, coordinate: theta"),
            "m.yaml:16:5: error: sensor 'slide': its column 'slide.q' is also one of the machine's motion; give it "
            "another name");
  EXPECT_EQ(sensor_faults("name: P1, type: accelerometer, body: crank, point: P1"),
            "m.yaml:16:5: error: sensor 'P1': its column 'P1.ax' is also one of the machine's motion; give it another "
            "name");
  EXPECT_EQ(sensor_faults("name: D, type: load_cell, joint: A"),
            "m.yaml:16:5: error: sensor 'D': its column 'D.fx' is also one of the machine's motion; give it another "
            "name");
  EXPECT_EQ(sensor_faults("name: theta, type: gyroscope, body: crank"), "none");
}

TEST(YamlSensors, FaultsOfDisturbancesAndUnknowns) {
  EXPECT_EQ(faults("disturbances: [{density: 1}, {coordinate: thta, density: 1}, {coordinate: A.x, density: 1}]"),
            "m.yaml:15:16: error: missing key 'coordinate' of a disturbance\n"
            "m.yaml:15:43: error: unknown coordinate 'thta'; did you mean 'theta'?\n"
            "m.yaml:15:62: error: disturbance on 'A.x': the point is fixed");
  EXPECT_EQ(faults("disturbances: [{coordinate: theta}, {coordinate: slide, density: 1, force_density: 2}]"),
            "m.yaml:15:16: error: disturbance on 'theta': expected one of density or force_density\n"
            "m.yaml:15:37: error: disturbance on 'slide': expected either density or force_density");
  EXPECT_EQ(faults("disturbances: [{coordinate: theta, density: 1}, {coordinate: theta.q, force_density: -2}]"),
            "m.yaml:15:49: error: 'theta' has two disturbances\n"
            "m.yaml:15:86: error: theta.force_density: must be >= 0, is -2");
  EXPECT_EQ(faults("unknowns: [{coordinate: theta}, {name: f, coordinate: P1.z, sd: -1}]"),
            "m.yaml:15:12: error: unknown force 'unknown0': sd or walk must be > 0, else it is known to be zero\n"
            "m.yaml:15:55: error: unknown coordinate 'P1.z'; did you mean 'P1.x'?\n"
            "m.yaml:15:65: error: f.sd: must be >= 0, is -1");
  EXPECT_EQ(faults("unknowns: [{name: drive, coordinate: theta, sd: 1}]"),
            "m.yaml:15:12: error: unknown force 'drive': its column 'drive.tau' is also one of the machine's motion; "
            "give it another name");
  EXPECT_EQ(faults("drivers: [{coordinate: theta, law: t}]\nunknowns: [{coordinate: theta, sd: 1}]"),
            "m.yaml:16:12: error: unknown force 'unknown0': a driver prescribes the coordinate");
}

TEST(YamlSensors, ModelsOfTheRepository) {
  const Result<Model> fourbar = read_model(source_file("models/fourbar_gyro.yaml"));
  ASSERT_TRUE(fourbar) << fourbar.failure().to_string();
  EXPECT_TRUE(fourbar->warnings.empty());
  ASSERT_EQ(fourbar->sensors.size(), 2u);
  EXPECT_EQ(fourbar->sensors[0].channels[0].name, "gyro.w");
  EXPECT_DOUBLE_EQ(fourbar->sensors[0].channels[0].noise, 0.3 * kDegree);
  EXPECT_EQ(fourbar->sensors[0].rate, 200);
  EXPECT_DOUBLE_EQ(fourbar->bodies[fourbar->sensors[0].on.body].length, 0.540);
  EXPECT_EQ(fourbar->sensors[1].channels[0].name, "theta.q");
  EXPECT_EQ(fourbar->disturbances.size(), 1u);
  const Result<Model> crank = read_model(source_file("models/balanced_crank.yaml"));
  ASSERT_TRUE(crank) << crank.failure().to_string();
  EXPECT_TRUE(crank->warnings.empty());
  EXPECT_EQ(crank->bodies[0].cog, Vector2d(0, 0));
  EXPECT_EQ(crank->gravity, Vector2d(0, 0));
}

}  // namespace
}  // namespace kinegraph::yaml_sensors_test
