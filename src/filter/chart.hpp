#pragma once

#include <Eigen/Core>
#include <vector>

namespace kinegraph::filter {

/// How small changes of a state are counted: δ = (δz, δż), f numbers each, with δz = C δq and δż = C δv.
///
///     independent coordinates: C picks `columns` of the velocities
///     on the manifold:         C = `rows`, and a basis N of the tangent with C N = 1
///
/// A chart belongs to the state for which it was chosen; near it, it serves as well.
struct Chart {
  std::vector<int> columns;  ///< f numbers of v; empty with `rows`
  Eigen::MatrixXd rows;      ///< f × velocities
  friend bool operator==(const Chart& a, const Chart& b) {
    return a.columns == b.columns && a.rows.rows() == b.rows.rows() && a.rows.cols() == b.rows.cols() &&
           a.rows == b.rows;
  }
};

enum class ChartKind { independent, manifold };

/// C d: what directions d of the velocities (columns) are in a chart (f × columns).
template <class In, class Out>
void to_chart(const Chart& chart, const In& d, Out&& out) {
  if (chart.columns.empty()) {
    out.noalias() = chart.rows * d;
  } else {
    for (std::size_t i = 0; i < chart.columns.size(); ++i) out.row(i) = d.row(chart.columns[i]);
  }
}

}  // namespace kinegraph::filter
