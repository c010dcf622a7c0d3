#include "kinegraph/io/sensors_file.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "kinegraph/io/model_file.hpp"
#include "test/shared.hpp"

namespace kinegraph::io::sensors_file_test {
namespace {

/// ground, arm, hand, tip: shoulder (revolute), wrist (universal), weld (fixed); rail (prismatic) carries cart;
/// follower mimics shoulder.
Model robot() {
  Model model;
  model.file = "r.urdf";
  Robot& r = model.robot;
  const auto link = [&](const char* name) { r.links.emplace_back().name = name; };
  for (const char* name : {"ground", "arm", "hand", "tip", "cart", "wheel"}) link(name);
  const auto joint = [&](const char* name, JointType type, int parent, int child) {
    Joint& j = r.joints.emplace_back();
    j.name = name, j.type = type, j.parent = LinkIndex(parent), j.child = LinkIndex(child);
  };
  joint("shoulder", JointType::revolute, 0, 1);
  joint("wrist", JointType::universal, 1, 2);
  joint("weld", JointType::fixed, 2, 3);
  joint("rail", JointType::prismatic, 0, 4);
  joint("follower", JointType::revolute, 4, 5);
  r.joints.back().mimic = Mimic{JointIndex(0), 2, 0};
  return model;
}

Model floating() {
  Model model = robot();
  model.robot.base = Robot::Base::floating;
  return model;
}

Model read(const std::string& text, Model model = robot()) {
  Result<Model> result = parse_sensors(text, "r.sensors.yaml", std::move(model));
  if (result) return *std::move(result);
  ADD_FAILURE() << result.failure().to_string();
  return {};
}

std::string faults(const std::string& text, Model model = robot()) {
  const Result<Model> result = parse_sensors(text, "r.sensors.yaml", std::move(model));
  if (result) return "none";
  EXPECT_EQ(result.failure().exit_status(), 2);
  return result.failure().to_string();
}
std::string sensor_faults(const std::string& sensor) { return faults("sensors:\n  - {" + sensor + "}"); }

std::vector<std::string> channels(const Sensor& sensor) {
  std::vector<std::string> names;
  for (const SensorChannel& channel : sensor.channels) names.push_back(channel.name + " " + channel.unit);
  return names;
}
using Names = std::vector<std::string>;

TEST(SensorsFile, EveryTypeWithItsChannels) {
  const Model model = read(
      "sensors:\n"
      "  - {type: encoder, joint: shoulder, noise: 1mrad}\n"
      "  - {type: encoder, joint: wrist, freedom: 2}\n"
      "  - {type: encoder, joint: rail}\n"
      "  - {type: encoder, joint: follower}\n"
      "  - {type: tachometer, joint: rail}\n"
      "  - {type: gyroscope, link: arm, rpy: [0, 0, 90deg]}\n"
      "  - {type: accelerometer, link: arm, xyz: [1, 2mm, 3]}\n"
      "  - {type: imu, link: hand, gyro_noise: 1, accel_noise: 2}\n"
      "  - {type: position, link: tip, xyz: [0, 0, 1]}\n"
      "  - {type: distance, from: {link: tip, xyz: [1, 0, 0]}, to: {link: world, xyz: [0, 0, 2]}}\n"
      "  - {type: torque, joint: rail}\n"
      "  - {type: load_cell, joint: shoulder}\n"
      "  - {type: tilt, link: cart}\n");
  ASSERT_EQ(model.sensors.size(), 13u);
  const auto& s = model.sensors;
  EXPECT_EQ(channels(s[0]), (Names{"shoulder.q rad"}));
  EXPECT_EQ(s[0].coordinate, 0);
  EXPECT_EQ(s[0].channels[0].noise, 1e-3);
  EXPECT_TRUE(s[0].channels[0].circular);
  EXPECT_EQ(channels(s[1]), (Names{"wrist_2.q rad"}));
  EXPECT_EQ(s[1].coordinate, 1);
  EXPECT_EQ(s[1].freedom, 1);
  EXPECT_EQ(channels(s[2]), (Names{"rail.q m"}));
  EXPECT_FALSE(s[2].channels[0].circular);
  EXPECT_EQ(s[3].coordinate, 4);
  EXPECT_EQ(channels(s[4]), (Names{"tachometer0.v m/s"}));
  EXPECT_EQ(channels(s[5]), (Names{"gyroscope0.wx rad/s", "gyroscope0.wy rad/s", "gyroscope0.wz rad/s"}));
  EXPECT_EQ(s[5].on.body, 1);
  EXPECT_TRUE((s[5].R_BS * Vector3d::UnitX()).isApprox(Vector3d::UnitY(), 1e-15));
  EXPECT_EQ(channels(s[6]), (Names{"accelerometer0.ax m/s^2", "accelerometer0.ay m/s^2", "accelerometer0.az m/s^2"}));
  EXPECT_EQ(s[6].on.at, Vector3d(1, 2e-3, 3));
  ASSERT_EQ(s[7].channels.size(), 6u);
  EXPECT_EQ(s[7].channels[2].name, "imu0.wz");
  EXPECT_EQ(s[7].channels[2].noise, 1);
  EXPECT_EQ(s[7].channels[3].name, "imu0.ax");
  EXPECT_EQ(s[7].channels[3].noise, 2);
  EXPECT_EQ(channels(s[8]), (Names{"position0.x m", "position0.y m", "position0.z m"}));
  EXPECT_EQ(s[8].on.body, 3);
  EXPECT_EQ(s[9].on.body, 3);
  EXPECT_EQ(s[9].other.body, -1);
  EXPECT_EQ(s[9].other.at, Vector3d(0, 0, 2));
  EXPECT_EQ(channels(s[10]), (Names{"torque0.tau N"}));
  EXPECT_EQ(channels(s[11]), (Names{"load_cell0.mx N m", "load_cell0.my N m", "load_cell0.mz N m", "load_cell0.fx N",
                                    "load_cell0.fy N", "load_cell0.fz N"}));
  EXPECT_EQ(s[11].reaction, "shoulder");
  EXPECT_EQ(channels(s[12]), (Names{"tilt0.roll rad", "tilt0.pitch rad"}));
  EXPECT_TRUE(s[12].channels[0].circular);
  EXPECT_FALSE(s[12].channels[1].circular);
}

TEST(SensorsFile, DisturbancesAndUnknownsAndAFloatingBase) {
  const Model model = read(
      "disturbances:\n"
      "  - {joint: shoulder, density: 1}\n"
      "  - {joint: wrist, freedom: 2, force_density: 2}\n"
      "  - {joint: base, freedom: 4, force_density: 3}\n"
      "unknowns: [{name: push, joint: base, freedom: 6, sd: 1}]\n",
      floating());
  ASSERT_EQ(model.disturbances.size(), 3u);
  EXPECT_EQ(model.disturbances[1].name, "wrist_2");
  EXPECT_EQ(model.disturbances[1].place.index, 1);
  EXPECT_EQ(model.disturbances[1].place.freedom, 1);
  EXPECT_EQ(model.disturbances[1].kind, Disturbance::Kind::force);
  EXPECT_EQ(model.disturbances[2].name, "base_4");
  ASSERT_EQ(model.robot.joints.size(), 6u) << "a base that is named becomes a joint";
  EXPECT_EQ(model.robot.joints[5].name, "base");
  EXPECT_EQ(model.disturbances[2].place.index, 5);
  EXPECT_EQ(model.disturbances[2].place.freedom, 3);
  EXPECT_EQ(model.unknowns[0].place.index, 5);
  EXPECT_EQ(model.unknowns[0].place.freedom, 5);
  const Result<Model> set = model.with({{"push.sd", 2}, {"base.x", 1}});
  ASSERT_TRUE(set) << set.failure().to_string();
  EXPECT_EQ(set->unknowns[0].sd, 2);
  EXPECT_EQ(set->robot.joints.size(), 6u);
  EXPECT_EQ(set->robot.joints[5].initial_q[4], 1);
}

TEST(SensorsFile, EveryNumberCanBeSet) {
  const Model model = read(
      "sensors:\n"
      "  - {type: encoder, joint: shoulder, noise: 1}\n"
      "  - {name: imu, type: imu, link: hand}\n"
      "  - {name: d, type: distance, from: {link: tip}, to: {link: arm}}\n");
  const Result<Model> set = model.with({{"shoulder.noise", 0.5},
                                        {"shoulder.damping", 3},
                                        {"imu.gyro_bias_sd", 0.1},
                                        {"imu.xyz_z", 2},
                                        {"imu.rpy_x", std::numbers::pi},
                                        {"d.to_y", 4}});
  ASSERT_TRUE(set) << set.failure().to_string();
  EXPECT_EQ(set->sensors[0].channels[0].noise, 0.5);
  EXPECT_EQ(set->robot.joints[0].dynamics[0].damping, 3);
  EXPECT_EQ(set->sensors[1].channels[0].bias_sd, 0.1);
  EXPECT_EQ(set->sensors[1].on.at, Vector3d(0, 0, 2));
  EXPECT_LT(set->sensors[1].R_BS(1, 1), -0.999);
  EXPECT_EQ(set->sensors[2].other.at, Vector3d(0, 4, 0));
  const Result<Model> again = set->with({{"imu.rate", 7}});
  ASSERT_TRUE(again);
  EXPECT_EQ(again->sensors[1].rate, 7);
  EXPECT_EQ(again->sensors[0].channels[0].noise, 0.5) << "what was set before stays";
  EXPECT_EQ(again->robot.joints[0].dynamics[0].damping, 3);
  EXPECT_EQ(model.with({{"imu.gyro_nois", 1}}).failure().to_string(),
            "error: cannot set 'imu.gyro_nois': no such parameter, quantity or initial value; did you mean "
            "'imu.gyro_noise'?");
  EXPECT_EQ(model.with({{"shoulder.noise", -1}}).failure().to_string(), "error: shoulder.noise: must be >= 0, is -1");
  EXPECT_EQ(model.with({{"imu.rate", std::nan("")}}).failure().to_string(), "error: imu.rate: is not a number");
}

TEST(SensorsFile, Faults) {
  EXPECT_EQ(sensor_faults("type: encoder, joint: sholder"),
            "r.sensors.yaml:2:28: error: unknown joint 'sholder'; did you mean 'shoulder'?");
  EXPECT_EQ(sensor_faults("type: imu, link: hnd"),
            "r.sensors.yaml:2:23: error: unknown link 'hnd'; did you mean 'hand'?");
  EXPECT_EQ(sensor_faults("type: gyro, link: hand"),
            "r.sensors.yaml:2:12: error: unknown type 'gyro'; expected one of "
            "encoder, tachometer, gyroscope, accelerometer, imu, position, "
            "distance, torque, load_cell, tilt");
  EXPECT_EQ(sensor_faults("type: imu"), "r.sensors.yaml:2:5: error: missing key 'link' of the imu 'imu0'");
  EXPECT_EQ(sensor_faults("type: encoder, joint: weld"), "r.sensors.yaml:2:28: error: joint 'weld' is fixed");
  EXPECT_EQ(sensor_faults("type: torque, joint: follower"),
            "r.sensors.yaml:2:27: error: joint 'follower' mimics 'shoulder', which has the force; name that one");
  EXPECT_EQ(sensor_faults("type: load_cell, joint: weld"),
            "r.sensors.yaml:2:30: error: joint 'weld' is fixed: forces inside a rigid body are not computed; name the "
            "joint that moves it");
  EXPECT_EQ(sensor_faults("type: encoder, joint: wrist, freedom: 3"),
            "r.sensors.yaml:2:44: error: freedom: expected a number from 1 to 2 of joint 'wrist', found '3'");
  EXPECT_EQ(sensor_faults("type: imu, link: hand, xyz: [1, 2], rpy: [1, x, .nan]"),
            "r.sensors.yaml:2:34: error: xyz: expected [x, y, z], found 2 values\n"
            "r.sensors.yaml:2:51: error: unknown name 'x'\n"
            "r.sensors.yaml:2:54: error: '.nan' is not a finite number");
  EXPECT_EQ(sensor_faults("type: tilt, link: hand, joint: wrist, rate: -1"),
            "r.sensors.yaml:2:37: error: joint: not a key of type tilt, which takes name, type, link, xyz, rpy, noise, "
            "quantum, scale, bias, bias_sd, bias_walk, rate, delay, dropout, outliers, outlier_size\n"
            "r.sensors.yaml:2:50: error: tilt0.rate: must be > 0, is -1");
  EXPECT_EQ(sensor_faults("type: distance, from: hand, to: {xyz: [0, 0, 0], lnk: arm}"),
            "r.sensors.yaml:2:28: error: from: expected a map {link: …, xyz: […]}, found 'hand'\n"
            "r.sensors.yaml:2:38: error: missing key 'link' of to\n"
            "r.sensors.yaml:2:55: error: unknown key 'lnk'; did you mean 'link'?");
  EXPECT_EQ(sensor_faults("type: distance, from: {link: hand}, to: {link: hand}"),
            "r.sensors.yaml:2:5: error: distance 'distance0': both ends are on the same link");
  EXPECT_EQ(sensor_faults("name: arm, type: position, link: hand"),
            "r.sensors.yaml:2:5: error: sensor 'arm': its column 'arm.x' is also one of the machine's motion; give it "
            "another name");
  EXPECT_EQ(faults("sensors: [{type: encoder, joint: base}]", floating()),
            "r.sensors.yaml:1:34: error: an encoder cannot read joint 'base': it is floating");
  EXPECT_EQ(faults("disturbances: [{joint: base, density: 1}]"), "r.sensors.yaml:1:24: error: unknown joint 'base'");
  EXPECT_EQ(faults("unknowns: [{name: rail, joint: rail, sd: 1}]"),
            "r.sensors.yaml:1:12: error: unknown force 'rail': its column 'rail.tau' is also one of the machine's "
            "motion; give it another name");
  EXPECT_EQ(faults("sensor: []"), "r.sensors.yaml:1:1: error: unknown key 'sensor'; did you mean 'sensors'?");
  EXPECT_EQ(
      faults("[]"),
      "r.sensors.yaml:1:1: error: expected a map with sensors, disturbances, unknowns or joint_friction, found a list");
  EXPECT_EQ(faults("sensors: [{"), "r.sensors.yaml:1:1: error: not YAML: end of map flow not found");
}

TEST(SensorsFile, JointFriction) {
  Model given = robot();
  given.robot.joints[0].dynamics = {JointDynamics{}};
  given.robot.joints[0].dynamics[0].damping = 0.5;  // as its file says
  const Model model = read(
      "joint_friction:\n"
      "  - {joint: shoulder, dry: 2*3, stribeck: shoulder.friction/2, stribeck_speed: 0.1, armature: 1e-3, gain: -7}\n"
      "  - {joint: wrist, freedom: 2, viscous: 1, quadratic: 2, load_friction: 3}\n",
      given);
  const JointDynamics& shoulder = model.robot.joints[0].dynamics.at(0);
  EXPECT_EQ(shoulder.damping, 0.5);
  EXPECT_EQ(shoulder.friction, 6);
  EXPECT_EQ(shoulder.stribeck, 3);
  EXPECT_EQ(shoulder.stribeck_speed, 0.1);
  EXPECT_EQ(shoulder.armature, 1e-3);
  EXPECT_EQ(shoulder.gain, -7);
  ASSERT_EQ(model.robot.joints[1].dynamics.size(), 2u);
  EXPECT_EQ(model.robot.joints[1].dynamics[0].damping, 0);
  EXPECT_EQ(model.robot.joints[1].dynamics[1].damping, 1);
  EXPECT_EQ(model.robot.joints[1].dynamics[1].quadratic, 2);
  EXPECT_EQ(model.robot.joints[1].dynamics[1].load_friction, 3);

  // By either name, whether the sidecar has the number or not; what it says of others stays.
  const auto set = model.with({{"shoulder.dry", 8}, {"shoulder.viscous", 9}, {"wrist.quadratic2", 4}});
  ASSERT_TRUE(set) << set.failure().to_string();
  EXPECT_EQ(set->robot.joints[0].dynamics[0].friction, 8);
  EXPECT_EQ(set->robot.joints[0].dynamics[0].stribeck, 4);
  EXPECT_EQ(set->robot.joints[0].dynamics[0].damping, 9);
  EXPECT_EQ(set->robot.joints[1].dynamics[1].quadratic, 4);
  const auto again = set->with({{"shoulder.friction", 10}, {"rail.gain", 2}});
  ASSERT_TRUE(again) << again.failure().to_string();
  EXPECT_EQ(again->robot.joints[0].dynamics[0].friction, 10);
  EXPECT_EQ(again->robot.joints[0].dynamics[0].damping, 9);
  EXPECT_EQ(again->robot.joints[3].dynamics.at(0).gain, 2);
  EXPECT_EQ(model.with({{"shoulder.stribeck", -1}}).failure().to_string(),
            "error: shoulder.stribeck: must be >= 0, is -1");
}

TEST(SensorsFile, FaultsOfJointFriction) {
  const auto friction = [](const std::string& text) { return faults("joint_friction:\n  - {" + text + "}"); };
  EXPECT_EQ(friction("joint: shoulder, dry: -1"), "r.sensors.yaml:2:28: error: shoulder.dry: must be >= 0, is -1");
  EXPECT_EQ(friction("joint: wrist, freedom: 1, stribeck_speed: 0"),
            "r.sensors.yaml:2:48: error: wrist.stribeck_speed: must be > 0, is 0");
  EXPECT_EQ(friction("joint: sholder, dry: 1"),
            "r.sensors.yaml:2:13: error: unknown joint 'sholder'; did you mean 'shoulder'?");
  EXPECT_EQ(friction("joint: weld, dry: 1"), "r.sensors.yaml:2:13: error: joint 'weld' is fixed");
  EXPECT_EQ(friction("joint: follower, dry: 1"),
            "r.sensors.yaml:2:13: error: joint 'follower' mimics 'shoulder', which has the force; name that one");
  EXPECT_EQ(friction("joint: rail, vicous: 1"),
            "r.sensors.yaml:2:19: error: unknown key 'vicous'; did you mean 'viscous'?");
  EXPECT_EQ(friction("joint: wrist, dry: 1}\n  - {joint: wrist, freedom: 1, viscous: 1"),
            "r.sensors.yaml:3:13: error: joint 'wrist_1' has two frictions; the first is in line 2");
  EXPECT_EQ(friction("dry: 1"), "r.sensors.yaml:2:5: error: missing key 'joint' of a joint friction");
}

TEST(SensorsFile, ScaleAndOffsetCanBeSet) {
  const Model model = read("sensors: [{type: encoder, joint: shoulder, scale: 2}]");
  const auto set = model.with({{"shoulder.scale", 3}, {"shoulder.bias", 0.5}});
  ASSERT_TRUE(set) << set.failure().to_string();
  EXPECT_EQ(set->sensors[0].channels[0].scale, 3);
  EXPECT_EQ(set->sensors[0].channels[0].bias, 0.5);
  EXPECT_EQ(model.with({{"shoulder.scale", 0}}).failure().to_string(), "error: shoulder.scale: must not be 0, is 0");
}

TEST(SensorsFile, Furuta) {
  const Result<Model> model = read_model(source_file("models/furuta.urdf"));
  ASSERT_TRUE(model) << model.failure().to_string();
  const Robot& r = model->robot;
  const Joint &theta1 = r.joints[0], &theta2 = r.joints[1];
  EXPECT_EQ(theta1.dynamics.at(0).armature, 1e-4);
  EXPECT_EQ(theta1.dynamics[0].damping, 1e-3);
  EXPECT_EQ(theta2.dynamics.at(0).damping, 1e-4);
  // At zero it hangs: its centre below the end of the arm. Its hinge is along the arm.
  const int pendulum = r.find_link("pendulum"), arm = r.find_link("arm");
  EXPECT_TRUE((r.X_WL[pendulum] * r.links[pendulum].inertia.com).isApprox(Vector3d(0.376, 0, 0.5 - 0.092), 1e-12));
  EXPECT_TRUE((r.X_WL[arm].rotation() * theta2.X_PF.rotation() * theta2.axis).isApprox(Vector3d::UnitX(), 1e-12));
  EXPECT_EQ(model->sensors.size(), 2u);
  EXPECT_EQ(model->sensors[1].channels[0].noise, 1e-3);
}

TEST(SensorsFile, Pendulum) {
  const Result<Model> model = read_model(source_file("models/pendulum.urdf"));
  ASSERT_TRUE(model) << model.failure().to_string();
  EXPECT_EQ(model->robot.joints[0].dynamics.at(0).friction, 3e-4);
  EXPECT_EQ(model->robot.joints[0].dynamics[0].stribeck_speed, 0.5);
  EXPECT_EQ(model->sensors.at(0).channels[0].name, "theta.q");
}

TEST(SensorsFile, IsFoundBesideTheRobot) {
  const Result<Model> arm = read_model(source_file("models/arm7.urdf"));
  ASSERT_TRUE(arm) << arm.failure().to_string();
  ASSERT_EQ(arm->sensors.size(), 8u);
  EXPECT_EQ(arm->sensors[6].channels[0].name, "joint7.q");
  EXPECT_EQ(arm->sensors[7].channels[5].name, "imu.az");
  EXPECT_GT(arm->sensors[7].channels[0].bias_walk, 0);
  EXPECT_EQ(arm->disturbances.size(), 7u);
  ReadOptions options;
  options.sensors = "nowhere.yaml";
  const Result<Model> none = read_model(source_file("models/arm7.urdf"), options);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.failure().to_string(), "nowhere.yaml: error: cannot read the file: no such file");
}

}  // namespace
}  // namespace kinegraph::io::sensors_file_test
