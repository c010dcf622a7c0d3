// A closed loop: the four-bar of paper 000 with dry friction in the rocker's pivot, driven by a known torque for 10 s;
// only the crank's angle is measured, with 0.001 rad of noise.
#include <fmt/format.h>

#include <cmath>

#include "experiments/maximal_recording.hpp"
#include "experiments/record.hpp"
#include "kinegraph/task/identify.hpp"

using namespace kinegraph;
using namespace kinegraph::experiments;

namespace {

/// Known to the controller and recorded.
double torque(double t, const std::vector<double>&, const std::vector<double>&) {
  return 6 * std::sin(1.1 * t) + 5 * std::sin(2.7 * t + 1) + 3 * std::cos(5.3 * t);
}

}  // namespace

int main() {
  Record page("fourbar_friction");
  const Model machine = read("fourbar_friction.yaml", {});
  RecordingPlan plan;
  plan.time = 10;
  plan.joints = {"theta"};
  plan.driven = "theta";
  plan.control = torque;
  plan.control_every = 10;
  plan.every = 10;
  plan.regularization = {.compliance = 1e-9, .angular_compliance = 1e-9};
  const Trajectory recording = record(machine, plan);

  struct Truth {
    const char* name;
    double value, start;
  };
  const Truth truths[] = {
      {"D.dry", 2, 0.5}, {"crank.I0", 1.0 / 3, 0.5}, {"coupler.I0", 8.0 / 3, 4}, {"rocker.I0", 4.0 / 3 * 13, 25}};
  Settings starts;
  task::IdentifyOptions options;
  for (const Truth& truth : truths) {
    starts[truth.name] = truth.start;
    options.free.push_back({truth.name});
  }
  options.step = 0.002;
  options.keep = false;
  const Result<task::IdentifyResult> result = task::identify(*machine.with(starts), {recording}, {}, options);
  if (!result) {
    fmt::print(stderr, "{}\n", result.failure().to_string());
    return 1;
  }
  Table table("fourbar_friction", {"", "true", "start", "fitted", "± sd", "error in %"});
  const char* const kResult = "Dry friction in a closed loop: the four-bar";
  if (!result->summary.converged) {
    page.missing(kResult, fmt::format("not reached: the fit has not converged in {} iterations ({})",
                                      result->summary.iterations, result->summary.why_stopped));
  }
  for (std::size_t i = 0; i < std::size(truths); ++i) {
    const auto& q = result->summary.quantities[i];
    const double error = 100 * (q.value / truths[i].value - 1), most = i == 0 ? 5 : 2;
    if (!(std::abs(error) < most)) {
      page.missing(kResult, fmt::format("not reached: {} is {:.3g} % off, asked for {:g} %", q.name, error, most));
    }
    table.add({truths[i].name, fmt::format("{:.4g}", truths[i].value), fmt::format("{:g}", q.start),
               fmt::format("{:.5g}", q.value), fmt::format("{:.2g}", q.sd), fmt::format("{:.2f}", error)});
  }
  fmt::print("Four-bar with dry friction, 10 s, encoder on the crank: {} iterations, {:.2f} s\n",
             result->summary.iterations, result->summary.solve_s);
  page.show(kResult, table);
}
