#include "identify_report.hpp"

#include <algorithm>
#include <cmath>

#include "kinegraph/task/simulate.hpp"

namespace kinegraph::cli {
namespace {

/// The columns of a recording that drive the machine, from `begin` on, with times counted from there.
std::optional<Trajectory> inputs(const Trajectory& recording, double begin) {
  std::vector<std::string> names;
  std::vector<int> columns;
  for (int i = 0; i < recording.series(); ++i) {
    const std::string& name = recording.names()[i];
    const bool drives =
        name.ends_with(".tau") || name.ends_with(".u") || name.ends_with(".fx") || name.ends_with(".fy");
    if (drives) names.push_back(name), columns.push_back(i);
  }
  if (names.empty()) return std::nullopt;
  Trajectory given(names);
  for (int k = 0; k < recording.samples(); ++k) {
    const auto known = [&](int c) { return std::isfinite(recording.at(k, c)); };
    if (recording.times()[k] < begin || !std::all_of(columns.begin(), columns.end(), known)) continue;
    double* row = given.append(recording.times()[k] - begin);
    for (const int c : columns) *row++ = recording.at(k, c);
  }
  return given;
}

/// The motion with the numbers that the search started from; nothing where it cannot be simulated.
std::optional<Trajectory> before_fit(const Model& model, const Trajectory& recording, const Trajectory& found,
                                     const task::IdentifyResult& result) {
  const Result<Model> started = model.with(result.start);
  if (!started || found.samples() < 2 || !(result.summary.step > 0)) return std::nullopt;
  task::SimulateOptions options;
  options.formulation = "maximal";
  options.step = result.summary.step;
  options.time = found.times().back() - found.times().front();
  options.input = inputs(recording, found.times().front());
  Result<task::SimulateResult> motion = task::simulate(*started, options);
  if (!motion) return std::nullopt;
  Trajectory shifted(motion->trajectory.names());
  for (int k = 0; k < motion->trajectory.samples(); ++k) {
    double* row = shifted.append(motion->trajectory.times()[k] + found.times().front());
    std::copy_n(motion->trajectory.row(k), motion->trajectory.series(), row);
  }
  return shifted;
}

}  // namespace

void fill_identify_report(const Model& model, const std::vector<Trajectory>& recordings,
                          const task::IdentifyResult& result, ReportContent& report) {
  if (result.motions.empty() || recordings.empty()) return;
  const Trajectory &found = result.motions.front(), &recording = recordings.front();
  report.beside = report::beside(found, recording, "measured", true);
  if (const auto before = before_fit(model, recording, found, result)) {
    for (report::Beside& b : report::beside(found, *before, "before the fit", false)) {
      report.beside.push_back(std::move(b));
    }
  }
}

}  // namespace kinegraph::cli
