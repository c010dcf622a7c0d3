#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "kinegraph/linear/sparse_rows.hpp"

namespace kinegraph::linear {

/// A least-squares cost ½ ‖R x − d‖² in square-root form, on some columns of a larger problem. R is an upper echelon:
/// each row starts to the right of the one above, so there are never more rows than columns.
struct SquareRoot {
  std::vector<int> columns;  ///< which unknowns the columns of R stand for
  Eigen::MatrixXd R;
  Eigen::VectorXd d;
};

/// Columns first … first + count of a matrix whose rows above `row` are done.
struct ColumnBlock {
  int row = 0, first = 0, count = 0;
};

/// Householder reflections that bring a block of columns to upper echelon form, in place and without allocating; the
/// columns to the right ride along. With `pivoting`, columns are taken by falling norm (rank is then safe, order is not
/// kept). A column is skipped when what is left of it is below `tolerance` of what it was, or of `floor`. Returns the
/// rank r: the rows from block.row + r on are zero in those columns.
int triangularise(Eigen::Ref<Eigen::MatrixXd> a, ColumnBlock block, bool pivoting, double tolerance = 1e-12,
                  double floor = 0);

/// Rank of a small dense matrix, rows scaled to unit length, by column-pivoted QR.
int dense_rank(const Eigen::MatrixXd& a, double tolerance = 1e-9);

/// ½ ‖A x − b‖² after minimising over the unknowns in `eliminate`: what they leave behind as a prior on the others.
/// Nothing is squared, so a tiny variance beside a large one survives. Undetermined unknowns are eliminated as well:
/// what does not constrain them is kept.
SquareRoot marginalise(const Eigen::MatrixXd& a, const Eigen::VectorXd& b, std::span<const int> eliminate);

/// The same for sparse rows, eliminated in the order given. Only unknowns that occur in A appear in the result.
SquareRoot marginalise(const SparseRows& a, const Eigen::VectorXd& b, std::span<const int> eliminate);

/// QR of a sparse matrix, row by row, in an elimination order of the caller's: every new row is rotated into the
/// triangle R. See qr.cpp.
class RowMergingQr {
 public:
  /// `order`: every column once, first eliminated first.
  explicit RowMergingQr(std::vector<int> order, double tolerance = 1e-12);

  void add_row(std::span<const int> columns, std::span<const double> values, double rhs);

  int rank() const { return rank_; }
  double residual_norm() const;  ///< ‖A x − b‖ at the minimum
  std::vector<int> undetermined()
      const;                      ///< columns without a pivot: x there is not fixed by the rows and earlier columns
  Eigen::VectorXd solve() const;  ///< the minimum with undetermined columns at 0
  SquareRoot after(int eliminated) const;  ///< prior on order[eliminated], … after minimising over those before

 private:
  struct Row {
    std::vector<int> place;  // in the order, increasing; place[0] is the pivot
    std::vector<double> value;
    double rhs = 0;
  };
  void rotate(Row& pivot, Row& row);

  std::vector<int> order_, position_;
  std::vector<Row> r_;  // by place of the pivot; empty where there is none
  Row incoming_, merged_pivot_, merged_row_;
  double tolerance_, rest_ = 0;
  int rank_ = 0;
};

}  // namespace kinegraph::linear
