// (002, section 4.8): thirteen parameters of a Furuta pendulum from a swing-up of 40 s, and open-loop replays of the
// models fitted with different weights κ (its Fig. 5).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/clock.hpp"
#include "experiments/maximal_recording.hpp"
#include "experiments/record.hpp"
#include "kinegraph/model/robot_settings.hpp"
#include "kinegraph/task/identify.hpp"

using namespace kinegraph;
using namespace kinegraph::experiments;

namespace {

/// Shapes the pendulum's energy by pushes along the arm in time with the swing, toward a value that itself goes up and
/// down between swinging low and standing upright, and keeps the arm near where it is.
double energy_shaping(double t, const std::vector<double>& q, const std::vector<double>& v) {
  constexpr double kInertia = 0.004 + 0.428 * 0.092 * 0.092, kWeight = 0.428 * 9.82 * 0.092;
  const double energy = 0.5 * kInertia * v[1] * v[1] - kWeight * std::cos(q[1]);
  const double wanted = kWeight * (0.6 + 0.5 * std::sin(0.4 * t));
  const double swing = 4.0 * (energy - wanted) / kWeight * std::copysign(1.0, v[1] * std::cos(q[1]));
  const double hold = -1.5 * q[0] - 0.4 * v[0];
  return std::clamp(swing + hold, -4.0, 4.0);
}

const std::vector<std::pair<const char*, double>> kStarts = {
    {"arm.ixx", 0.01},      {"arm.iyy", 0.01},      {"arm.izz", 0.01},        {"pendulum.ixx", 0.01},
    {"pendulum.iyy", 0.01}, {"pendulum.izz", 0.01}, {"theta1.viscous", 1e-4}, {"theta2.viscous", 1e-4},
    {"theta1.dry", 1e-4},   {"theta2.dry", 1e-4},   {"theta1.gain", 0.1}};

/// (002, Fig. 4): what is fitted, and the error that is left, over an option.
void sweep(Record& page, const std::string& label, const std::vector<double>& at, double task::IdentifyOptions::*option,
           task::IdentifyOptions options, const Model& guess, const Trajectory& recording) {
  report::Plot values{
      "Fitted over true inertia", label, "fitted / true", {{"J_Byy", {}, {}}, {"J_Azz + J_Bxx", {}, {}}}};
  report::Plot errors{"Error of the readings", label, "RMS in rad", {{"θ₁", {}, {}}, {"θ₂", {}, {}}}};
  values.log_x = errors.log_x = errors.log_y = true;
  for (const double x : at) {
    options.*option = x;
    const auto fitted = task::identify(guess, {recording}, {}, options);
    if (!fitted) continue;
    const auto value = [&](const std::string& name) {
      for (const auto& q : fitted->summary.quantities) {
        if (q.name == name) return q.value;
      }
      return 0.0;
    };
    const double found[2] = {value("pendulum.iyy") / 0.004, (value("arm.izz") + value("pendulum.ixx")) / 0.0031};
    for (std::size_t i = 0; i < 2; ++i) {
      values.curves[i].x.push_back(x), errors.curves[i].x.push_back(x);
      values.curves[i].y.push_back(found[i]);
      errors.curves[i].y.push_back(fitted->summary.channels[i].rms);
    }
  }
  const std::string name = option == &task::IdentifyOptions::kappa ? "kappa" : "compliance";
  page.draw("002 Fig. 4", "swing_up_values_" + name, values, "only the sum of J_Azz and J_Bxx can be told");
  page.draw("002 Fig. 4", "swing_up_errors_" + name, errors);
}

}  // namespace

int main() {
  Record page("furuta_swing_up");
  const Settings truth = {{"theta1.gain", 0.06}, {"theta1.dry", 0.002}, {"theta2.dry", 2e-4}};
  RecordingPlan plan;
  plan.joints = {"theta1", "theta2"};
  plan.driven = "theta1";
  plan.control = energy_shaping;
  const Model machine = furuta(0.1, truth);
  const Trajectory recording = record(machine, plan);
  Settings starts;
  for (const auto& [name, value] : kStarts) starts[name] = value;
  const Model guess = furuta(0.1, starts);

  task::IdentifyOptions options;
  for (const auto& [name, value] : kStarts) options.free.emplace_back().name = name;
  options.free.emplace_back().name = "gravity.direction";
  options.step = 0.01;
  options.kappa = 100;
  options.held = true;
  options.compliance = plan.regularization.compliance;
  options.keep = false;
  const double begin = bench::cpu_seconds();
  const Result<task::IdentifyResult> result = task::identify(guess, {recording}, {}, options);
  const double seconds = bench::cpu_seconds() - begin;
  if (!result) {
    fmt::print(stderr, "{}\n", result.failure().to_string());
    return 1;
  }
  const task::IdentifySummary& found = result->summary;
  fmt::print(
      "Swing-up of 40 s, {} free coordinates: {} iterations, {:.3f} s, {:.3f} s each (paper: 6 iterations, 6.6 s)\n",
      found.coordinates, found.iterations, seconds, seconds / std::max(1, found.iterations));
  const Settings values = machine.values();
  Table table("furuta_swing_up", {"", "true", "start", "fitted", "± sd", "what can be told"});
  for (const auto& q : found.quantities) {
    const auto value = values.find(setting_name(q.name));
    table.add({q.name, value == values.end() ? "" : fmt::format("{:g}", value->second), fmt::format("{:g}", q.start),
               q.identifiable ? fmt::format("{:.5g}", q.value) : "−",
               q.identifiable ? fmt::format("{:.2g}", q.sd) : "−", q.remark});
  }
  page.show("002 Table 4", table);
  page.compare({"002 Table 4", "swing-up: iterations", "", 6, static_cast<double>(found.iterations)});
  page.compare({"002 Table 4", "swing-up: processor time of the fit", "s", 6.6, seconds});
  for (const auto& c : found.unknown) fmt::print("  cannot be told: {}\n", c.text);
  Table known("furuta_known", {"what can be told", "fitted", "± sd"});
  for (const auto& c : found.known) known.add({c.text, fmt::format("{:.5g}", c.value), fmt::format("{:.2g}", c.sd)});
  if (!found.known.empty()) page.show("002 Table 4", known);

  Table lengths("furuta_length", {"recording in s", "s per iteration", "µs per step"});
  for (const double to : {10.0, 20.0, 40.0}) {
    task::IdentifyOptions part = options;
    part.to = to;
    const auto fitted = task::identify(guess, {recording}, {}, part);
    if (!fitted) continue;
    const double each = fitted->summary.solve_s / std::max(1, fitted->summary.iterations);
    lengths.add({figure(to), fmt::format("{:.4f}", each), fmt::format("{:.1f}", each / to * 0.01 * 1e6)});
  }
  page.show("002 Table 4", lengths);

  report::Plot costs{"Cost over the iterations, of the first", "iteration", "cost", {}};
  costs.log_y = true;
  Table replays("furuta_kappa_replay", {"κ", "replay RMSE θ₁ in rad", "θ₂ in rad", "iterations"});
  report::Plot motions{"Open-loop replays of models fitted with different κ", "t in s", "θ₂ in rad", {}};
  motions.curves.push_back(curve("recorded", recording, "theta2.q"));
  for (const double kappa : {1.0, 10.0, 1000.0, 10000.0}) {
    task::IdentifyOptions weighed = options;
    weighed.kappa = kappa;
    weighed.keep = true;
    const auto fitted = task::identify(guess, {recording}, {}, weighed);
    if (!fitted || fitted->summary.checks.empty()) continue;
    std::vector<std::string> row = {fmt::format("{:g}", kappa)};
    for (const auto& channel : fitted->summary.checks[0].replay) row.push_back(fmt::format("{:.4f}", channel.rmse));
    row.push_back(std::to_string(fitted->summary.iterations));
    replays.add(row);
    motions.curves.push_back(curve(fmt::format("κ = {:g}", kappa), fitted->summary.checks[0].motion, "theta2.q"));
    report::Curve way{fmt::format("κ = {:g}", kappa), {}, {}};
    for (const double cost : fitted->summary.costs) {
      way.x.push_back(static_cast<double>(way.x.size()));
      way.y.push_back(cost / fitted->summary.costs.front());
    }
    costs.curves.push_back(way);
  }
  page.show("002 Fig. 5", replays);
  page.draw("002 Fig. 5", "furuta_swing_up_replays", motions);
  page.draw("002 Fig. 5", "furuta_swing_up_costs", costs);
  sweep(page, "κ", {0.1, 1, 10, 100, 1e3, 1e4, 1e5}, &task::IdentifyOptions::kappa, options, guess, recording);
  sweep(page, "compliance in m/N", {1e-6, 1e-5, 1e-4, 5e-4, 2e-3}, &task::IdentifyOptions::compliance, options, guess,
        recording);
  return found.converged ? 0 : 1;
}
