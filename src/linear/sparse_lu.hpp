#pragma once

#include <utility>
#include <vector>

#include "kinegraph/linear/sparse_rows.hpp"

namespace kinegraph::linear {

/// A vector by its non-zero entries: (index, value), indices increasing.
using SparseVector = std::vector<std::pair<int, double>>;

/// LU of a rectangular sparse matrix, rows scaled to a largest entry of 1, pivots chosen for sparsity among those large
/// enough in their row. Made to ask about rank: which rows follow from others, which columns are left open. See
/// sparse_lu.cpp.
class SparseLu {
 public:
  /// A row is void when elimination has left no entry above `tolerance`.
  explicit SparseLu(const SparseRows& a, double tolerance = 1e-9);

  int rank() const { return static_cast<int>(pivot_row_.size()); }
  const std::vector<int>& void_rows() const { return void_rows_; }        ///< rows that follow from pivot rows
  const std::vector<int>& free_columns() const { return free_columns_; }  ///< columns without a pivot
  const std::vector<double>& row_scale() const { return scale_; }

  /// y with yᵀ (S A) = 0, y = 1 at the given void row, else non-zero at pivot rows only. S is the row scaling.
  SparseVector left_null(int void_row) const;
  /// x with A x = 0, x = 1 at the given free column, else non-zero at pivot columns only.
  SparseVector right_null(int free_column) const;

 private:
  struct Item {
    int index;
    double value;
  };
  class Elimination;

  std::vector<double> scale_;
  std::vector<int> pivot_row_, pivot_column_;  // by step
  std::vector<int> step_of_row_, step_of_column_;
  std::vector<std::vector<Item>> upper_;           // by step: the pivot row without its pivot, (column, value / pivot)
  std::vector<std::vector<int>> steps_of_column_;  // by column: the steps whose upper_ holds it
  std::vector<std::vector<Item>> lower_;           // by row: (step, multiple of that pivot row that was subtracted)
  std::vector<int> void_rows_, free_columns_;
};

}  // namespace kinegraph::linear
