// An arm of seven joints with encoders, 5 % of whose readings are wrong, and an IMU on its tool: what the batch
// smoother makes of them, with and without a robust loss. The arm follows a smooth motion by recorded torques.
//
//     arm_outliers [MODEL.urdf]      default: models/arm7.urdf; sensors of another arm: MODEL.sensors.yaml
#include <fmt/format.h>

#include <cmath>

#include "bench/clock.hpp"
#include "experiments/table.hpp"
#include "kinegraph/io/model_file.hpp"
#include "kinegraph/task/estimate.hpp"
#include "kinegraph/task/sensed_simulation.hpp"
#include "kinegraph/task/spatial_inverse.hpp"

namespace {

using namespace kinegraph;
using bench::require;
constexpr double kTime = 2, kStep = 2.5e-3, kOutlier = 0.2;

/// Every joint swings with a rate of its own.
Trajectory smooth_motion(const Model& model) {
  std::vector<std::string> names, joints;
  for (const Joint& joint : model.robot.joints) {
    if (freedoms(joint.type) != 1 || joint.mimic) continue;
    joints.push_back(joint.name);
    for (const char* quantity : {".q", ".v", ".a"}) names.push_back(joint.name + quantity);
  }
  Trajectory motion(names);
  for (int k = 0; k <= static_cast<int>(std::lround(kTime / kStep)); ++k) {
    const double t = k * kStep;
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

/// Root mean square over all joint angles and times, rad.
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

int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : KINEGRAPH_SOURCE_DIR "/models/arm7.urdf";
  const Model arm = require(read_model(path), "model");
  const Trajectory motion = smooth_motion(arm);
  const Trajectory torques = require(task::spatial_inverse(arm, motion, {}), "inverse").trajectory;
  Settings start, outliers;
  for (int c = 0; c < motion.series(); ++c) {
    if (!motion.names()[c].ends_with(".a")) start[motion.names()[c]] = motion.at(0, c);
  }
  for (const Sensor& sensor : arm.sensors) {
    if (sensor.type != SensorType::encoder) continue;
    outliers[sensor.name + ".outliers"] = 0.05;
    outliers[sensor.name + ".outlier_size"] = kOutlier;
  }
  const Model clean = require(arm.with(start), "start"), dirty = require(clean.with(outliers), "outliers");

  fmt::print("{}: encoders and an IMU on the tool, {} s; 5 % of the encoder readings wrong by {} rad\n", arm.name,
             kTime, kOutlier);
  task::SensedOptions sensed;
  sensed.disturbed = true;
  sensed.motion.time = kTime;
  sensed.motion.step = kStep;
  sensed.motion.method = "step";
  sensed.motion.formulation = "screw";
  sensed.motion.input = torques;
  struct Case {
    const char* name;
    const Model& model;
    const char* loss;
  };
  experiments::Table table("arm_outliers", {"log", "loss", "RMSE in mrad", "ratio", "time in s"});
  double least = 0;
  for (const Case& c :
       {Case{"clean", clean, "none"}, Case{"5 % outliers", dirty, "none"}, Case{"5 % outliers", dirty, "huber"},
        Case{"5 % outliers", dirty, "cauchy"}, Case{"5 % outliers", dirty, "geman-mcclure"}}) {
    const task::SensedResult truth = require(task::simulate_sensed(c.model, sensed), "simulate");
    task::EstimateOptions options;
    options.filter = "batch";
    options.start = "file";
    options.loss = c.loss;
    options.machine.input = torques;
    options.machine.time = kTime;
    const task::EstimateResult result =
        require(task::estimate(c.model, log_of(c.model, truth.readings), options), "estimate");
    for (const std::string& warning : result.summary.warnings) fmt::print("  {}, {}: {}\n", c.name, c.loss, warning);
    const double rmse = error(result.trajectory, truth.motion.trajectory);
    if (least == 0) least = rmse;
    table.add({c.name, c.loss, experiments::figure(1e3 * rmse), experiments::figure(rmse / least),
               experiments::figure(result.summary.wall_s)});
  }
  table.show();
  fmt::print("  asked: robust ≤ 1.2 × the clean error, without a robust loss ≥ 3 × worse\n");
}
