#include "kinegraph/task/identify_residuals.hpp"

#include <fmt/format.h>

#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "kinegraph/base/names.hpp"
#include "kinegraph/base/whiteness.hpp"
#include "kinegraph/mechanics/maximal/conversion.hpp"

namespace kinegraph::task {
namespace {

using Eigen::MatrixXd, Eigen::VectorXd;

constexpr long kLeast = 10;  // numbers of which something can be said

/// The residuals of one channel of all runs.
std::vector<double> residuals_of(const Fit& fit, int channel) {
  std::vector<double> all;
  for (const identify::Problem& problem : fit.problems) {
    const std::vector<double> one = problem.residuals(channel);
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

double root_mean_square(const std::vector<double>& numbers) {
  double sum = 0;
  for (const double x : numbers) sum += x * x;
  return numbers.empty() ? 0 : std::sqrt(sum / static_cast<double>(numbers.size()));
}

std::string freedom_name(const maximal::Mechanism& mechanism, int freedom) {
  return mechanism.joints()[mechanism.freedoms()[freedom].joint].name;
}

/// Inputs of one freedom, by step.
VectorXd inputs_of(const identify::Run& run, int freedom) {
  VectorXd u(run.knots() - 1);
  for (int k = 0; k < run.knots() - 1; ++k) u[k] = run.input[k].torque[freedom] + run.input[k].control[freedom];
  return u;
}

/// More than a twentieth of the steps at the largest or the smallest value, of many different ones.
bool saturates(const VectorXd& u) {
  std::vector<double> sorted(u.data(), u.data() + u.size());
  std::sort(sorted.begin(), sorted.end());
  const double most = std::max(std::abs(sorted.front()), std::abs(sorted.back()));
  const auto different = std::unique(sorted.begin(), sorted.end()) - sorted.begin();
  if (most == 0 || different < 10) return false;
  const auto at_most = (u.array().abs() >= most * (1 - 1e-9)).count();
  return static_cast<double>(at_most) > 0.05 * static_cast<double>(u.size());
}

/// How much of the input's changes a linear law of positions and rates explains.
double explained(const VectorXd& u, const MatrixXd& states) {
  const double mean = u.mean(), spread = (u.array() - mean).square().sum();
  if (!(spread > 0) || u.size() < 4 * states.cols()) return 0;
  const VectorXd left = u - states * states.colPivHouseholderQr().solve(u);
  return 1 - left.squaredNorm() / spread;
}

/// Per step: joint positions, rates and one.
MatrixXd states_of(const Fit& fit, const identify::Run& run, const std::vector<double>& poses) {
  const maximal::Mechanism& mechanism = fit.parameters.mechanism();
  const screw::Tree& tree = mechanism.tree();
  const int bodies = static_cast<int>(mechanism.bodies().size()), steps = run.knots() - 1;
  MatrixXd states(steps, tree.stored() + tree.freedoms() + 1);
  VectorXd q = tree.start_position(), v(tree.freedoms()), twist(mechanism.tangent());
  for (int k = 0; k < steps; ++k) {
    const double* pose = poses.data() + static_cast<std::size_t>(k + 1) * mechanism.stored();
    maximal::local(bodies, pose - mechanism.stored(), pose, twist.data());
    twist /= run.step(std::max(k - 1, 0));
    maximal::coordinates_of(mechanism, fit.machine.numbers, pose, q.data());
    maximal::rates_of(mechanism, fit.machine.numbers, pose, twist.data(), v.data());
    states.row(k) << q.transpose(), v.transpose(), 1.0;
  }
  return states;
}

}  // namespace

double residual_size(std::vector<double> residuals, bool outliers) {
  if (residuals.empty()) return 0;
  if (!outliers) {
    double sum = 0;
    for (const double r : residuals) sum += r * r;
    return std::sqrt(sum / static_cast<double>(residuals.size()));
  }
  constexpr double kMedian = 0.6745;  // of |x|, x of variance 1
  for (double& r : residuals) r = std::abs(r);
  const auto middle = residuals.begin() + static_cast<std::ptrdiff_t>(residuals.size() / 2);
  std::nth_element(residuals.begin(), middle, residuals.end());
  return *middle / kMedian;
}

Whiteness whiteness(const std::vector<double>& numbers, int lags) {
  Whiteness out;
  const long n = static_cast<long>(numbers.size());
  lags = static_cast<int>(std::min<long>(lags, n / 4));
  double mean = 0, squares = 0;
  for (const double x : numbers) mean += x;
  if (n > 0) mean /= static_cast<double>(n);
  for (const double x : numbers) squares += (x - mean) * (x - mean);
  if (n < kLeast || !(squares > 0)) return out;
  for (int lag = 1; lag <= lags; ++lag) {
    double sum = 0;
    for (long i = lag; i < n; ++i) sum += (numbers[i] - mean) * (numbers[i - lag] - mean);
    out.correlation.push_back(sum / squares);
  }
  const LjungBox test = ljung_box(out.correlation, n);
  out.ljung_box = test.statistic, out.p_value = test.p_value;
  return out;
}

std::vector<IdentifySummary::Channel> residual_channels(const Fit& fit, const identify::Weights& weights) {
  constexpr double kDoubt = 1e-3;    // probability below which numbers are not white
  constexpr double kMatters = 0.05;  // correlation that does
  std::vector<IdentifySummary::Channel> out;
  const std::vector<Sensor>& sensors = fit.machine.sensors;
  const std::vector<identify::ChannelPlace> places = identify::channel_places(sensors);
  for (int c = 0; c < static_cast<int>(places.size()); ++c) {
    const std::vector<double> left = residuals_of(fit, c);
    if (left.empty()) continue;
    const SensorChannel& channel = sensors[places[c].sensor].channels[places[c].row];
    const Whiteness white = whiteness(left);
    const auto large = [](double r) { return std::abs(r) > kMatters; };
    IdentifySummary::Channel of{channel.name,           channel.unit,     static_cast<long>(left.size()),
                                root_mean_square(left), weights.noise[c], white.correlation,
                                white.ljung_box,        white.p_value,    true};
    of.white = white.p_value > kDoubt || std::none_of(white.correlation.begin(), white.correlation.end(), large);
    out.push_back(std::move(of));
  }
  return out;
}

std::vector<std::string> input_warnings(const Fit& fit) {
  constexpr double kFollows = 0.9;
  const maximal::Mechanism& mechanism = fit.parameters.mechanism();
  std::vector<std::string> warnings;
  for (int f = 0; f < static_cast<int>(mechanism.freedoms().size()); ++f) {
    bool saturated = false, follows = false;
    for (std::size_t r = 0; r < fit.runs.size(); ++r) {
      const VectorXd u = inputs_of(fit.runs[r], f);
      if (u.size() == 0 || u.isConstant(u[0])) continue;
      saturated = saturated || saturates(u);
      follows = follows || explained(u, states_of(fit, fit.runs[r], fit.poses[r])) > kFollows;
    }
    const std::string name = quote(freedom_name(mechanism, f));
    if (saturated) {
      warnings.push_back(
          fmt::format("the input of {} stays at its largest for long: if that is the amplifier's limit, "
                      "the recorded command is not what the motor got",
                      name));
    }
    if (follows) {
      warnings.push_back(
          fmt::format("the input of {} follows the motion, as a controller's does: in closed loop "
                      "parameters may be hard to tell apart, noise can bias them, and a replay without "
                      "the controller need not stay near the recording",
                      name));
    }
  }
  return warnings;
}

}  // namespace kinegraph::task
