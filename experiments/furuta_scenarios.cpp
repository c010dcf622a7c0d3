#include "experiments/furuta_scenarios.hpp"

#include <algorithm>
#include <cmath>

namespace kinegraph::experiments {
namespace {

constexpr double kMostControl = 4;  // of the motor
const Settings kTruth = {{"theta1.gain", 0.06}, {"theta1.dry", 0.002}, {"theta2.dry", 2e-4}};

const std::vector<std::pair<const char*, double>> kStarts = {
    {"arm.ixx", 0.01},      {"arm.iyy", 0.01},      {"arm.izz", 0.01},        {"pendulum.ixx", 0.01},
    {"pendulum.iyy", 0.01}, {"pendulum.izz", 0.01}, {"theta1.viscous", 1e-4}, {"theta2.viscous", 1e-4},
    {"theta1.dry", 1e-4},   {"theta2.dry", 1e-4},   {"theta1.gain", 0.1}};

bool is_known(const std::string& name, bool all_inertias) { return !all_inertias && name == "pendulum.ixx"; }

/// Energy shaping: pushes in time with the swing until the whole energy is what is wanted, which goes up and down
/// between swinging low and going over the top. The arm is drawn to where it began.
double swing_up(double t, const std::vector<double>& q, const std::vector<double>& v) {
  constexpr double kArm = 0.003 + 0.238 * 0.128 * 0.128 + 0.428 * 0.376 * 0.376, kBoth = 0.428 * 0.376 * 0.092;
  constexpr double kPendulum = 0.004 + 0.428 * 0.092 * 0.092, kWeight = 0.428 * 9.82 * 0.092;
  const double c = std::cos(q[1]), s = std::sin(q[1]);
  const double energy = 0.5 * (kArm + kPendulum * s * s) * v[0] * v[0] + kBoth * c * v[0] * v[1] +
                        0.5 * kPendulum * v[1] * v[1] - kWeight * c;
  const double wanted = kWeight * (0.7 + 0.6 * std::sin(0.5 * t));
  const double swing = 4 * std::clamp(3 * (energy - wanted) / kWeight, -1.0, 1.0) * std::copysign(1.0, v[1] * c);
  return std::clamp(swing - q[0] - 0.1 * v[0], -kMostControl, kMostControl);
}

/// Of one second, as the paper's; its height is not printed.
double pulse(double t, const std::vector<double>&, const std::vector<double>&) {
  return t >= 1 && t < 2 ? kMostControl : 0;
}

}  // namespace

Model furuta_truth() { return furuta(0.1, kTruth); }

Trajectory furuta_recording(Scenario scenario) {
  RecordingPlan plan;
  plan.joints = {"theta1", "theta2"};
  if (scenario == Scenario::release) return record(furuta(M_PI - 0.03, kTruth), plan);
  plan.driven = "theta1";
  plan.control = scenario == Scenario::pulse ? pulse : swing_up;
  return record(furuta_truth(), plan);
}

Model furuta_guess(bool all_inertias) {
  Settings starts;
  for (const auto& [name, value] : kStarts) {
    if (!is_known(name, all_inertias)) starts[name] = value;
  }
  return furuta(0.1, starts);
}

task::IdentifyOptions furuta_options(bool all_inertias) {
  task::IdentifyOptions options;
  for (const auto& [name, value] : kStarts) {
    if (!is_known(name, all_inertias)) options.free.emplace_back().name = name;
  }
  options.free.emplace_back().name = "gravity.direction";
  options.step = 0.01;
  options.held = true;
  options.compliance = RecordingPlan{}.regularization.compliance;
  options.keep = false;
  return options;
}

double reading_square(const task::IdentifySummary& found) {
  double squares = 0;
  for (const auto& channel : found.channels) squares += static_cast<double>(channel.count) * channel.rms * channel.rms;
  return squares / static_cast<double>(found.knots);
}

}  // namespace kinegraph::experiments
