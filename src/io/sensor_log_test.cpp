#include "kinegraph/io/sensor_log.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "kinegraph/io/model_file.hpp"

namespace kinegraph::sensor_log_test {
namespace {

/// A pendulum with a gyroscope, an imu and an encoder that comes 20 ms late.
Model pendulum(const std::string& sensors =
                   "sensors:\n"
                   "  - {name: gyro, type: gyroscope, body: arm}\n"
                   "  - {name: imu, type: imu, body: arm}\n"
                   "  - {type: encoder, coordinate: theta, delay: 20ms}\n") {
  const Result<Model> model = parse_planar_yaml(
      "points: [{name: A, x: 0, y: 0, fixed: true}, {name: P, x: 1, y: 0}]\n"
      "planar_bodies: [{name: arm, points: [A, P], mass: 1}]\n"
      "relative_coordinates: [{name: theta, type: absolute_angle, points: [A, P]}]\n" +
          sensors,
      "m.yaml");
  if (model) return *model;
  ADD_FAILURE() << model.failure().to_string();
  return {};
}

std::string faults(const std::string& text) {
  const Result<SensorLog> log = parse_sensor_log(text, "l.csv", pendulum());
  if (log) return "none";
  EXPECT_EQ(log.failure().exit_status(), 2);
  return log.failure().to_string();
}

TEST(SensorLog, ReadingsInTheOrderOfTheirTimes) {
  const Result<SensorLog> log = parse_sensor_log(
      "t,gyro.w,imu.w,imu.ax,imu.ay,theta.q\n"
      "0,1,,,,\n"
      "0.01,2,3,,4,\n"
      "0.02,,,,,5\n"
      "0.02,6,,,,\n",
      "l.csv", pendulum());
  ASSERT_TRUE(log) << log.failure().to_string();
  EXPECT_TRUE(log->warnings.empty());
  ASSERT_EQ(log->readings.size(), 5u);
  const auto& r = log->readings;
  const auto sensors = std::vector<int>{r[0].sensor, r[1].sensor, r[2].sensor, r[3].sensor, r[4].sensor};
  EXPECT_EQ(sensors, (std::vector<int>{0, 2, 0, 1, 0})) << "the encoder's reading is 20 ms old";
  EXPECT_EQ(r[1].t, 0);
  EXPECT_EQ(r[1].arrived, 0.02);
  EXPECT_EQ(r[1].y[0], 5);
  EXPECT_EQ(r[1].line, 4);
  EXPECT_EQ(r[3].t, 0.01);
  EXPECT_EQ(r[3].y[0], 3);
  EXPECT_TRUE(std::isnan(r[3].y[1])) << "a channel that is not given";
  EXPECT_EQ(r[3].y[2], 4);
  EXPECT_TRUE(std::isnan(r[3].y[3]));
  EXPECT_EQ(to_string(log->where(r[4])), "l.csv:5:1");
}

TEST(SensorLog, ColumnsOfTheMotionAreNotUsed) {
  const Result<SensorLog> log =
      parse_sensor_log("t,theta.v,gyro.w,P.x,A.fx,arm.qw\n0,nan,1,,x,2\n", "l.csv", pendulum());
  ASSERT_TRUE(log) << log.failure().to_string();
  ASSERT_EQ(log->readings.size(), 1u);
  ASSERT_EQ(log->warnings.size(), 1u);
  EXPECT_EQ(to_string(log->warnings[0]),
            "l.csv:1:3: warning: column 'theta.v' is no reading of a sensor: not used (and 3 more such: 'P.x', 'A.fx', "
            "'arm.qw')");
}

TEST(SensorLog, UnknownColumnsAndUnits) {
  EXPECT_EQ(faults("t,gyr.w\n0,1\n"), "l.csv:1:3: error: unknown sensor column 'gyr.w'; did you mean 'gyro.w'?");
  EXPECT_EQ(faults("t,lidar.d,gyro.w\n0,1,2\n"),
            "l.csv:1:3: error: unknown sensor column 'lidar.d'; expected some of gyro.w, imu.w, imu.ax, imu.ay, "
            "theta.q");
  EXPECT_EQ(faults("t,gyro.w [deg/s]\n0,1\n"),
            "l.csv:1:3: error: column 'gyro.w [deg/s]': units are not converted; expected 'gyro.w' in rad/s");
  EXPECT_EQ(faults("t,theta.q(deg),gyro.w\n0,1,2\n"),
            "l.csv:1:3: error: column 'theta.q(deg)': units are not converted; expected 'theta.q' in rad");
  EXPECT_EQ(faults("t gyro.w [deg/s]\n0 1 2\n"),
            "l.csv:1:10: error: column '[deg/s]': units are not converted; expected SI units");
  EXPECT_EQ(faults("t,imu.ax,gyro.w\n0,1,2\n"), "l.csv:1:3: error: sensor 'imu': missing columns 'imu.w', 'imu.ay'");
}

TEST(SensorLog, AllFaultsAtOnce) {
  EXPECT_EQ(faults("t,gyr.w,gyro.w\n0,1,nan\n1,1,2\n0.5,1,3\n"),
            "l.csv:1:3: error: unknown sensor column 'gyr.w'; did you mean 'gyro.w'?\n"
            "l.csv:2:5: error: expected a finite number for 'gyro.w', found 'nan'\n"
            "l.csv:4:1: error: the time must not go backwards: 0.5 follows 1");
  EXPECT_EQ(faults("t,gyro.w\n0,1\n0,2\n0,\n0,3\n"),
            "l.csv:3:1: error: second reading of sensor 'gyro' at t = 0; the first is in line 2\n"
            "l.csv:5:1: error: second reading of sensor 'gyro' at t = 0; the first is in line 2");
  EXPECT_EQ(faults("t,gyro.w\n0,1\n,2\n"), "l.csv:3:1: error: expected a number for 't', found nothing");
}

TEST(SensorLog, NothingInIt) {
  EXPECT_EQ(faults(""), "l.csv:1:1: error: the file is empty");
  EXPECT_EQ(faults("t,gyro.w\n"), "l.csv:1:1: error: no rows of numbers follow the header");
  EXPECT_EQ(faults("t,P.x\n0,1\n"),
            "l.csv:1:1: error: no column of a sensor; expected some of gyro.w, imu.w, imu.ax, imu.ay, theta.q");
  EXPECT_EQ(faults("t\n0\n"),
            "l.csv:1:1: error: no column of a sensor; expected some of gyro.w, imu.w, imu.ax, imu.ay, theta.q");
  EXPECT_EQ(faults("t,gyro.w\n0,\n1,\n"), "l.csv: error: no readings: all fields are empty");
  EXPECT_EQ(faults("gyro.w\n0\n"), "l.csv:1:1: error: expected 't' or 'time' as the first column, found 'gyro.w'");
  EXPECT_EQ(parse_sensor_log("t,a\n0,1", "l.csv", pendulum("")).failure().to_string(),
            "m.yaml: error: the model has no sensors");
}

TEST(SensorLog, SeveralFiles) {
  const auto folder = std::filesystem::temp_directory_path() / ("kinegraph_log_" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  const auto write = [&](const char* name, const char* text) {
    const std::string path = (folder / name).string();
    std::ofstream(path) << text;
    return path;
  };
  const std::string a = write("a.csv", "t,gyro.w\n0,1\n0.1,2\n"), b = write("b.csv", "t,theta.q\n0.05,3\n0.13,4\n");
  const Result<SensorLog> log = read_sensor_log({a, b}, pendulum());
  ASSERT_TRUE(log) << log.failure().to_string();
  ASSERT_EQ(log->readings.size(), 4u);
  EXPECT_EQ(log->readings[1].y[0], 3);
  EXPECT_EQ(log->readings[1].file, 1);
  EXPECT_EQ(log->readings[2].y[0], 2) << "the last, which came later, was measured at 0.11";
  const Result<SensorLog> twice = read_sensor_log({a, a}, pendulum());
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.failure().diagnostics.size(), 2u);
  EXPECT_EQ(twice.failure().diagnostics[0].message,
            "second reading of sensor 'gyro' at t = 0; the first is in line 2 of '" + a + "'");
  const Result<SensorLog> none = read_sensor_log({(folder / "c.csv").string()}, pendulum());
  ASSERT_FALSE(none);
  EXPECT_EQ(none.failure().diagnostics[0].message, "cannot read the file: no such file");
  EXPECT_FALSE(read_sensor_log({}, pendulum()));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace kinegraph::sensor_log_test
