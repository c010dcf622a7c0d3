#include "experiments/swinging_arm.hpp"

#include <fmt/format.h>

#include <cmath>
#include <fstream>

#include "bench/clock.hpp"
#include "kinegraph/io/model_file.hpp"
#include "kinegraph/task/estimate.hpp"
#include "kinegraph/task/sensed_simulation.hpp"
#include "kinegraph/task/spatial_inverse.hpp"

namespace kinegraph::experiments {
namespace {

using bench::require;

std::vector<std::string> moving_joints(const Model& model) {
  std::vector<std::string> joints;
  for (const Joint& joint : model.robot.joints) {
    if (freedoms(joint.type) == 1 && !joint.mimic) joints.push_back(joint.name);
  }
  return joints;
}

/// The sensors of models/arm7.sensors.yaml, for another arm.
std::string sidecar(const Model& model) {
  std::string sensors = "sensors:\n", disturbances = "disturbances:\n";
  for (const std::string& joint : moving_joints(model)) {
    sensors += fmt::format("  - {{type: encoder, joint: {}, noise: 1mrad, rate: 200Hz}}\n", joint);
    disturbances += fmt::format("  - {{joint: {}, density: 0.5}}\n", joint);
  }
  sensors += fmt::format(
      "  - {{name: imu, type: imu, link: {}, rate: 400Hz, gyro_noise: 0.3deg/s, gyro_bias_sd: 0.5deg/s, "
      "gyro_bias_walk: 0.02deg/s, accel_noise: 0.05 m/s^2, accel_bias_sd: 0.1 m/s^2, accel_bias_walk: 0.005 m/s^2}}\n",
      model.robot.links.back().name);
  return sensors + disturbances;
}

Model read_arm(const std::filesystem::path& path, const std::filesystem::path& folder) {
  Model bare = require(read_model(path), "model");
  if (!bare.sensors.empty()) return bare;
  std::filesystem::create_directories(folder);
  ReadOptions options;
  options.sensors = folder / (path.stem().string() + ".sensors.yaml");
  std::ofstream(options.sensors) << sidecar(bare);
  return require(read_model(path, options), "model with sensors");
}

Trajectory smooth_motion(const Model& model, double time) {
  std::vector<std::string> names;
  const std::vector<std::string> joints = moving_joints(model);
  for (const std::string& joint : joints) {
    for (const char* quantity : {".q", ".v", ".a"}) names.push_back(joint + quantity);
  }
  Trajectory motion(names);
  for (int k = 0; k <= static_cast<int>(std::lround(time / SwingingArm::kStep)); ++k) {
    const double t = k * SwingingArm::kStep;
    double* row = motion.append(t);
    for (std::size_t j = 0; j < joints.size(); ++j) {
      const double w = 1.3 + 0.37 * static_cast<double>(j), size = 0.5, phase = 0.9 * static_cast<double>(j);
      *row++ = 0.3 + size * std::sin(w * t + phase);
      *row++ = size * w * std::cos(w * t + phase);
      *row++ = -size * w * w * std::sin(w * t + phase);
    }
  }
  return motion;
}

std::vector<task::LogReading> log_of(const Model& model, const Trajectory& readings) {
  std::vector<task::LogReading> log;
  for (int k = 0; k < readings.samples(); ++k) {
    int column = 0;
    for (std::size_t s = 0; s < model.sensors.size(); ++s) {
      task::LogReading r{readings.times()[k], {readings.times()[k], static_cast<int>(s), {}}};
      for (std::size_t c = 0; c < model.sensors[s].channels.size(); ++c) r.measurement.y[c] = readings.at(k, column++);
      if (!std::isnan(r.measurement.y[0])) log.push_back(r);
    }
  }
  return log;
}

double error(const Trajectory& estimate, const Trajectory& truth) {
  double squares = 0;
  long count = 0;
  for (int c = 0; c < truth.series(); ++c) {
    if (!truth.names()[c].ends_with(".q")) continue;
    const int at = estimate.find(truth.names()[c]);
    for (int k = 0, i = 0; k < estimate.samples(); ++k) {
      while (i + 1 < truth.samples() && truth.times()[i] < estimate.times()[k] - 1e-6) ++i;
      if (std::abs(truth.times()[i] - estimate.times()[k]) > 1e-6) continue;
      const double e = estimate.at(k, at) - truth.at(i, c);
      squares += e * e;
      ++count;
    }
  }
  return std::sqrt(squares / static_cast<double>(count));
}

}  // namespace

SwingingArm::SwingingArm(const std::filesystem::path& model, double time, const std::filesystem::path& folder)
    : time_(time), clean_(read_arm(model, folder)) {
  const Trajectory motion = smooth_motion(clean_, time);
  torques_ = require(task::spatial_inverse(clean_, motion, {}), "inverse").trajectory;
  Settings start;
  for (int c = 0; c < motion.series(); ++c) {
    if (!motion.names()[c].ends_with(".a")) start[motion.names()[c]] = motion.at(0, c);
  }
  clean_ = require(clean_.with(start), "start");
}

SwingingArm::Verdict SwingingArm::judge(const std::string& filter, double outliers, const std::string& loss,
                                        int threads, unsigned long seed) const {
  Settings wrong;
  for (const Sensor& sensor : clean_.sensors) {
    if (sensor.type != SensorType::encoder || outliers == 0) continue;
    wrong[sensor.name + ".outliers"] = outliers;
    wrong[sensor.name + ".outlier_size"] = kOutlier;
  }
  const Model model = require(clean_.with(wrong), "outliers");
  task::SensedOptions sensed;
  sensed.disturbed = true;
  sensed.seed = seed;
  sensed.motion.time = time_;
  sensed.motion.step = kStep;
  sensed.motion.method = "step";
  sensed.motion.formulation = "screw";
  sensed.motion.input = torques_;
  const task::SensedResult truth = require(task::simulate_sensed(model, sensed), "simulate");

  task::EstimateOptions options;
  options.filter = filter;
  options.start = "file";
  options.loss = loss;
  options.threads = threads;
  options.machine.input = torques_;
  options.machine.time = time_;
  const task::EstimateResult result =
      require(task::estimate(model, log_of(model, truth.readings), options), "estimate");
  return {error(result.trajectory, truth.motion.trajectory), result.summary.iterations, result.summary.wall_s,
          result.summary.warnings};
}

}  // namespace kinegraph::experiments
