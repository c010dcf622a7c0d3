#include "kinegraph/task/identify_rest.hpp"

#include <cmath>

namespace kinegraph::task {
namespace {

using maximal::BodyNumbers, maximal::FreedomNumbers, maximal::JointNumbers, maximal::SpringNumbers;

bool is_rate(SensorType type) {
  return type == SensorType::tachometer || type == SensorType::gyroscope || type == SensorType::imu;
}

/// Whether forces other than weight hold the machine: weight alone fixes no mass.
bool is_loaded(const Fit& fit) {
  const maximal::Mechanism& mechanism = fit.parameters.mechanism();
  if (!mechanism.springs().empty()) return true;
  for (const maximal::Freedom& freedom : mechanism.freedoms()) {
    if (fit.machine.numbers[freedom.numbers + FreedomNumbers::stiffness] != 0) return true;
  }
  for (const identify::Run& run : fit.runs) {
    for (const step::StepInput& input : run.input) {
      if (!input.torque.isZero(0) || !input.control.isZero(0)) return true;
      for (const Eigen::Vector3d& force : input.force) {
        if (!force.isZero(0)) return true;
      }
    }
  }
  return false;
}

}  // namespace

bool stands_still(const std::vector<Sensor>& sensors, const std::vector<identify::Run>& runs,
                  const identify::Weights& weights) {
  constexpr double kNoise = 3;  // standard deviations
  const std::vector<identify::ChannelPlace> places = identify::channel_places(sensors);
  for (const identify::Run& run : runs) {
    for (std::size_t c = 0; c < places.size(); ++c) {
      double count = 0, sum = 0, squares = 0, first = 0;
      for (const identify::Reading& reading : run.readings) {
        const double y = reading.y[places[c].row];
        if (reading.sensor != places[c].sensor || std::isnan(y)) continue;
        if (count == 0) first = y;
        count += 1, sum += y - first, squares += (y - first) * (y - first);
      }
      if (count == 0) continue;
      const double mean = sum / count, spread = std::sqrt(std::max(squares / count - mean * mean, 0.0));
      if (spread > kNoise * weights.noise[c]) return false;
      if (is_rate(sensors[places[c].sensor].type) && std::abs(mean + first) > kNoise * weights.noise[c]) return false;
    }
  }
  return true;
}

bool acts_at_rest(const Fit& fit) {
  const identify::MachinePoint& machine = fit.machine;
  if (!machine.bias.isZero(0) || !machine.scale.isZero(0)) return true;
  const maximal::Mechanism& mechanism = fit.parameters.mechanism();
  const auto touched = [&](int first, int count) { return !machine.directions.middleRows(first, count).isZero(0); };
  if (touched(maximal::Mechanism::kGravity, 3)) return true;
  for (const maximal::Joint& joint : mechanism.joints()) {
    if (touched(joint.numbers, JointNumbers::count)) return true;
  }
  for (const maximal::Spring& spring : mechanism.springs()) {
    if (touched(spring.numbers, SpringNumbers::count)) return true;
  }
  const bool loaded = is_loaded(fit);
  for (const maximal::Freedom& freedom : mechanism.freedoms()) {
    if (touched(freedom.numbers + FreedomNumbers::stiffness, 2)) return true;
    if (loaded && touched(freedom.numbers + FreedomNumbers::gain, 1)) return true;
  }
  for (const maximal::Body& body : mechanism.bodies()) {
    if (loaded && touched(body.numbers, BodyNumbers::inertia)) return true;  // mass and centre
  }
  return false;
}

}  // namespace kinegraph::task
