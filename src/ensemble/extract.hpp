#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kinegraph/ensemble/outcome.hpp"
#include "kinegraph/model/trajectory.hpp"

namespace kinegraph::ensemble {

/// The statistics that the end of a path may ask for, of a column of the trajectory or of a list of numbers:
/// min max mean sd rms first last count, and p0 … p100, the percentiles (p2.5).
std::vector<std::string> statistic_names();

/// An output of a case: "energy_drift", "torque_peak.0", "torque_peak.max", "quantities.arm.mass.value" (of a list of
/// maps the one with that name), or a statistic of a column, "columns.theta.q.max".
struct Extracted {
  bool found = false;
  std::string why;  ///< if not: what the path meets instead; empty if nothing
  Cell cell;        ///< undefined numbers are nothing
};
Extracted extract(const nlohmann::ordered_json& summary, const Trajectory& trajectory, const std::string& path);

/// Whether a path asks for a column: only then the trajectory is needed.
bool asks_for_column(const std::string& path);

/// All paths that lead to a value, to find the nearest to a misspelt one.
std::vector<std::string> paths_of(const nlohmann::ordered_json& summary, const Trajectory& trajectory);

}  // namespace kinegraph::ensemble
