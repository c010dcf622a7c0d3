#pragma once

#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kinegraph/model/model.hpp"
#include "kinegraph/model/trajectory.hpp"

namespace kinegraph::report {

/// Numbers to draw beside a series: the truth, or what a sensor read.
struct Beside {
  std::string of;     ///< the series' name: "theta.q"
  std::string label;  ///< "measured", "truth"
  bool dots = false;  ///< single readings, not joined by a line
  std::vector<double> times, values;
};

/// All columns of a table that a page also has series of, to be drawn beside them.
std::vector<Beside> beside(const Trajectory& shown, const Trajectory& other, const std::string& label, bool dots);

/// What a column of a trajectory is, by its name and the model: "theta.q" is a joint position in rad.
struct Quantity {
  std::string unit;   ///< "rad/s"; empty: none
  std::string group;  ///< the plot in which it is drawn: "Joint velocity"
  int rank = 0;       ///< plots of smaller rank come first
};
Quantity quantity_of(const Model& model, const std::string& name);

/// Where a series must stay; NaN: no limit on that side.
struct Range {
  double low = std::numeric_limits<double>::quiet_NaN(), high = std::numeric_limits<double>::quiet_NaN();
};
using Ranges = std::map<std::string, Range>;

/// Limits that the model gives its joints, by the names of columns: "elbow.q", "elbow.v", "elbow.tau".
Ranges limits_of(const Model& model);

/// Fewer points with the same picture: of each stretch of samples the smallest and the largest value stay, in their
/// order. Empty where there are no more than `most` samples: all stay.
///
///     stretch k: samples [k n/m, (k+1) n/m),   m = most/2
struct Thinning {
  std::vector<std::size_t> first;  ///< of each stretch, and one past the last; empty: nothing is left out

  Thinning(std::size_t samples, std::size_t most);
  bool all() const { return first.empty(); }
  std::vector<double> times(const std::vector<double>& t) const;      ///< start and middle of each stretch
  std::vector<std::size_t> pick(const std::vector<double>& y) const;  ///< of each stretch two samples
};

/// The section `series` of a page (docs/report.md): every column with its unit, plot and deviation.
nlohmann::ordered_json series_section(const Model& model, const Trajectory& trajectory,
                                      const std::vector<Beside>& beside, const Ranges& limits = {});

/// The section `timing` of a page: when the forces NAME.fx .fy .fz of a table are not zero, a row of bars for each
/// name. Null where the table has none of them.
nlohmann::ordered_json timing_section(const Trajectory& trajectory, const std::vector<std::string>& names);

}  // namespace kinegraph::report
