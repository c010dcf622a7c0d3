#pragma once

#include <cmath>
#include <span>
#include <vector>

namespace kinegraph::linear {

/// A sparse matrix stored by rows. Columns need not be sorted; none occurs twice in a row.
struct SparseRows {
  int columns = 0;
  std::vector<int> start{0};
  std::vector<int> column;
  std::vector<double> value;

  int rows() const { return static_cast<int>(start.size()) - 1; }
  int size_of(int row) const { return start[row + 1] - start[row]; }
  std::span<const int> columns_of(int row) const {
    return {column.data() + start[row], static_cast<std::size_t>(size_of(row))};
  }
  std::span<const double> values_of(int row) const {
    return {value.data() + start[row], static_cast<std::size_t>(size_of(row))};
  }

  void push(int c, double v) {
    column.push_back(c);
    value.push_back(v);
  }
  void end_row() { start.push_back(static_cast<int>(column.size())); }

  /// The non-zeros of a dense matrix (any Eigen expression).
  template <class Dense>
  static SparseRows from_dense(const Dense& a) {
    SparseRows rows;
    rows.columns = static_cast<int>(a.cols());
    for (int i = 0; i < a.rows(); ++i) {
      for (int j = 0; j < a.cols(); ++j) {
        if (a(i, j) != 0) rows.push(j, a(i, j));
      }
      rows.end_row();
    }
    return rows;
  }
};

}  // namespace kinegraph::linear
