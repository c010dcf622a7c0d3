// (002, section 4.8): thirteen parameters of a Furuta pendulum from a swing-up of 40 s, and open-loop replays of the
// models fitted with different weights κ (its Fig. 5).
#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "bench/clock.hpp"
#include "experiments/maximal_recording.hpp"
#include "experiments/record.hpp"
#include "kinegraph/model/robot_settings.hpp"
#include "kinegraph/task/identify.hpp"

using namespace kinegraph;
using namespace kinegraph::experiments;

namespace {

constexpr double kMostControl = 4;  // of the motor

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

const std::vector<std::pair<const char*, double>> kStarts = {
    {"arm.ixx", 0.01},      {"arm.iyy", 0.01},      {"arm.izz", 0.01},        {"pendulum.ixx", 0.01},
    {"pendulum.iyy", 0.01}, {"pendulum.izz", 0.01}, {"theta1.viscous", 1e-4}, {"theta2.viscous", 1e-4},
    {"theta1.dry", 1e-4},   {"theta2.dry", 1e-4},   {"theta1.gain", 0.1}};

using Fitted = std::vector<std::optional<Result<task::IdentifyResult>>>;

/// A fit with each value of an option, on all cores: what is timed comes before.
Fitted fit_each(const std::vector<double>& at, double task::IdentifyOptions::*option,
                const task::IdentifyOptions& options, const Model& guess, const Trajectory& recording) {
  Fitted all(at.size());
  tbb::parallel_for(std::size_t{0}, at.size(), [&](std::size_t i) {
    task::IdentifyOptions own = options;
    own.*option = at[i];
    all[i] = task::identify(guess, {recording}, {}, own);
  });
  return all;
}

/// (002, Fig. 4): what is fitted, and the error that is left, over an option.
void sweep(Record& page, const std::string& label, const std::vector<double>& at, double task::IdentifyOptions::*option,
           const task::IdentifyOptions& options, const Model& guess, const Trajectory& recording) {
  report::Plot values{
      "Fitted over true inertia", label, "fitted / true", {{"J_Byy", {}, {}}, {"J_Azz + J_Bxx", {}, {}}}};
  report::Plot errors{"Error of the readings", label, "RMS in rad", {{"θ₁", {}, {}}, {"θ₂", {}, {}}}};
  values.log_x = errors.log_x = errors.log_y = true;
  const Fitted all = fit_each(at, option, options, guess, recording);
  for (std::size_t k = 0; k < at.size(); ++k) {
    const double x = at[k];
    const auto& fitted = *all[k];
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

report::Curve until(report::Curve of, double end) {
  const auto count = static_cast<std::size_t>(std::upper_bound(of.x.begin(), of.x.end(), end) - of.x.begin());
  of.x.resize(count), of.y.resize(count);
  return of;
}

/// (002, Fig. 5). Upright the machine is unstable, so that every replay leaves the recording there: what tells them
/// apart is how far they are off on the way up, and for how long they follow.
void draw_replays(Record& page, const task::IdentifyOptions& options, const Model& guess, const Trajectory& recording) {
  constexpr double kShown = 20, kLost = 0.5, kEarly = 10;  // s, rad, s
  report::Plot costs{"Cost over the iterations, of the first", "iteration", "cost", {}};
  costs.log_y = true;
  Table table("furuta_kappa_replay", {"κ", "off by 0.5 rad after s", "RMSE θ₂ before 10 s in rad", "iterations"});
  report::Plot motions{"Open-loop replays of models fitted with different κ", "t in s", "θ₂ in rad", {}};
  report::Plot errors{"How far these replays are off", "t in s", "|θ₂ − recorded| in rad, largest of 0.5 s", {}};
  errors.log_y = true;
  const report::Curve truth = until(curve("recorded", recording, "theta2.q"), kShown);
  motions.curves.push_back(truth);
  const std::vector<double> kappas = {1, 10, 1000, 10000};
  task::IdentifyOptions kept = options;
  kept.keep = true;
  const Fitted all = fit_each(kappas, &task::IdentifyOptions::kappa, kept, guess, recording);
  for (std::size_t k = 0; k < kappas.size(); ++k) {
    const double kappa = kappas[k];
    const auto& fitted = *all[k];
    if (!fitted || fitted->summary.checks.empty()) continue;
    const std::string label = fmt::format("κ = {:g}", kappa);
    const report::Curve motion = until(curve(label, fitted->summary.checks[0].motion, "theta2.q"), kShown);
    report::Curve off{label, {}, {}}, way{label, {}, {}};
    double lost = kShown, squares = 0, largest = 0;
    int count = 0;
    for (std::size_t i = 0; i < std::min(motion.x.size(), truth.x.size()); ++i) {
      const double error = std::abs(motion.y[i] - truth.y[i]);
      if (error > kLost) lost = std::min(lost, motion.x[i]);
      if (motion.x[i] < kEarly) squares += error * error, ++count;
      largest = std::max(largest, error);
      if (i % 50 == 49) off.x.push_back(motion.x[i]), off.y.push_back(largest), largest = 0;
    }
    table.add({fmt::format("{:g}", kappa), fmt::format("{:.2f}", lost),
               fmt::format("{:.4f}", std::sqrt(squares / std::max(count, 1))),
               std::to_string(fitted->summary.iterations)});
    motions.curves.push_back(motion);
    errors.curves.push_back(off);
    for (const double cost : fitted->summary.costs) {
      way.x.push_back(static_cast<double>(way.x.size()));
      way.y.push_back(cost / fitted->summary.costs.front());
    }
    costs.curves.push_back(way);
  }
  page.show("002 Fig. 5", table);
  page.draw("002 Fig. 5", "furuta_swing_up_replays", motions);
  page.draw("002 Fig. 5", "furuta_swing_up_replay_errors", errors);
  page.draw("002 Fig. 5", "furuta_swing_up_costs", costs);
}

}  // namespace

int main() {
  Record page("furuta_swing_up");
  const Settings truth = {{"theta1.gain", 0.06}, {"theta1.dry", 0.002}, {"theta2.dry", 2e-4}};
  RecordingPlan plan;
  plan.joints = {"theta1", "theta2"};
  plan.driven = "theta1";
  plan.control = swing_up;
  const Model machine = furuta(0.1, truth);
  const Trajectory recording = record(machine, plan);
  Settings starts;
  for (const auto& [name, value] : kStarts) starts[name] = value;
  const Model guess = furuta(0.1, starts);

  task::IdentifyOptions options;
  for (const auto& [name, value] : kStarts) options.free.emplace_back().name = name;
  options.free.emplace_back().name = "gravity.direction";
  options.step = 0.01;
  options.held = true;
  options.compliance = plan.regularization.compliance;
  options.keep = false;
  const auto highest = curve("", recording, "theta2.q", 1 / M_PI);
  fmt::print("Pendulum between {:.2f} and {:.2f} half turns\n", *std::min_element(highest.y.begin(), highest.y.end()),
             *std::max_element(highest.y.begin(), highest.y.end()));
  const double begin = bench::cpu_seconds();
  const Result<task::IdentifyResult> result = task::identify(guess, {recording}, {}, options);
  const double seconds = bench::cpu_seconds() - begin;
  if (!result) {
    fmt::print(stderr, "{}\n", result.failure().to_string());
    return 1;
  }
  const task::IdentifySummary& found = result->summary;
  fmt::print(
      "Swing-up of 40 s, {} free coordinates, κ = {:.3g}: {} iterations, {:.3f} s from recording to answer (paper: 6 "
      "iterations, 6.6 s)\n",
      found.coordinates, found.kappa, found.iterations, seconds);
  const Settings values = machine.values();
  Table table("furuta_swing_up", {"", "true", "start", "fitted", "± sd", "what can be told"});
  for (const auto& q : found.quantities) {
    const auto value = values.find(setting_name(q.name));
    table.add({q.name, value == values.end() ? "" : fmt::format("{:g}", value->second), fmt::format("{:g}", q.start),
               q.identifiable ? fmt::format("{:.5g}", q.value) : "−",
               q.identifiable ? fmt::format("{:.2g}", q.sandwich) : "−", q.remark});
  }
  page.show("002 Table 4", table);
  page.compare({"002 Table 4", "swing-up: iterations", "", 6, static_cast<double>(found.iterations)});
  page.compare({"002 Table 4", "swing-up: processor time from recording to answer", "s", 6.6, seconds,
                "knots, first guess, iterations, deviations, what can be known, and the replay of the answer"});
  Table unknown("furuta_unknown", {"what cannot be told"});
  for (const auto& c : found.unknown) unknown.add({c.text});
  if (!found.unknown.empty()) page.show("002 Table 4", unknown);
  Table known("furuta_known", {"what can be told", "fitted", "± sd"});
  for (const auto& c : found.known) known.add({c.text, fmt::format("{:.5g}", c.value), fmt::format("{:.2g}", c.sd)});
  if (!found.known.empty()) page.show("002 Table 4", known);

  Table lengths("furuta_length", {"recording in s", "iterations", "processor time in s", "s per iteration"});
  for (const double to : {10.0, 20.0, 40.0}) {
    task::IdentifyOptions part = options;
    part.to = to;
    const double before = bench::cpu_seconds();
    const auto fitted = task::identify(guess, {recording}, {}, part);
    const double all = bench::cpu_seconds() - before;
    if (!fitted) continue;
    const int iterations = std::max(1, fitted->summary.iterations);
    lengths.add(
        {figure(to), std::to_string(iterations), fmt::format("{:.3f}", all), fmt::format("{:.4f}", all / iterations)});
  }
  page.show("002 Table 4", lengths);

  draw_replays(page, options, guess, recording);
  sweep(page, "κ", {0.1, 1, 10, 100, 1e3, 1e4, 1e5}, &task::IdentifyOptions::kappa, options, guess, recording);
  sweep(page, "compliance in m/N", {1e-6, 1e-5, 1e-4, 5e-4, 2e-3}, &task::IdentifyOptions::compliance, options, guess,
        recording);
  return found.converged ? 0 : 1;
}
