#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kinegraph/model/model.hpp"
#include "kinegraph/model/trajectory.hpp"

namespace kinegraph::report {

/// What an equation leaves over a motion.
struct Residual {
  std::string factor;  ///< "distance P1-P2", "loop elbow", "trapezoidal theta.q"
  std::string kind;    ///< as drawings of graphs name it: "position constraint", "velocity constraint", "trapezoidal"
  std::string unit;
  double scale = 1;            ///< what would be large: a length, a range
  std::vector<double> values;  ///< per sample of `samples`

  double max() const;
  double rms() const;
  std::size_t worst() const;  ///< its place in `values`
};

/// The equations of a machine, evaluated anew on the numbers of a table: constraints and their rates of a planar
/// machine, loops of a robot, and the trapezoidal rule between successive rows
///
///     e = xₖ₊₁ − xₖ − (Δt/2)(ẋₖ + ẋₖ₊₁)      (000, eq. 23)
///
/// of all coordinates whose rate is in the table. Whatever method found the motion: it need not have used this rule.
struct Residuals {
  std::vector<int> samples;  ///< of the table, at most 2000
  std::vector<Residual> list;

  /// The largest of a kind near a moment, over its scale; −1: there is none of that kind.
  double share(const std::string& kind, double t, const Trajectory& trajectory) const;
  /// A table of the page: factor, unit, count, max, RMS, worst t.
  nlohmann::ordered_json table(const Trajectory& trajectory) const;
};

/// `timed`: the rows follow each other in time.
Residuals residuals(const Model& model, const Trajectory& trajectory, bool timed);

}  // namespace kinegraph::report
