#pragma once

#include <vector>

namespace kinegraph::linear {

/// Solves K x = b for a small dense K of any rank. If there are many solutions it takes the one in which the first
/// `primary` unknowns are shortest and, among those, the others are; if there is none, the least-squares one of the
/// scaled rows. Rows and columns come in blocks, and are scaled block by block: a row that is round-off alone has no
/// size of its own. Allocates when it is made, never after. See last_front.cpp.
class LastFront {
 public:
  /// An entry ±1 that is alone in its row (its unknown is what that row says), or alone in its column (the row says
  /// what its unknown is, once the others are known; such an unknown does not count in the norm). Known beforehand, so
  /// that they need no factorisation.
  struct Single {
    int row = 0, column = 0;
    double sign = 1;
    bool in_row = false;
  };
  LastFront(std::vector<int> row_blocks, std::vector<int> column_blocks, int primary, std::vector<Single> singles = {});

  /// K and, as its last column, b: column-major, from column to column rows(). Overwritten by solve().
  double* matrix() { return matrix_.data(); }
  int rows() const { return rows_; }
  int columns() const { return columns_; }

  /// `history`: per row block, how large its numbers have been. Less than 1e-12 of that is round-off.
  void solve(const double* history);

  int rank() const { return rank_; }
  const double* solution() const { return solution_.data(); }

 private:
  void take_out_singles();
  void put_back_singles();
  void solve_inner(const double* history);
  void scale(const double* history);
  template <class Use>
  void each_stretch(const Use& use);
  void multiply_with_factors();
  int triangulate(double* a, int rows, int columns, int carried, int lead, int* order);
  void shortest(const double* a, int rows, int columns, int lead, const double* b, double* x);

  std::vector<Single> singles_;
  std::vector<int> kept_rows_, kept_columns_;  // those without singles
  int rows_, columns_, primary_, inner_primary_ = 0;
  std::vector<int> row_blocks_, column_blocks_;  // of what is kept
  std::vector<int> row_block_numbers_;           // as they were given
  int rank_ = 0;
  std::vector<double> matrix_, inner_, solution_, x_, column_scale_, equations_, tall_, reflector_, part_, side_;
  std::vector<double> row_factor_, side_factor_, column_factor_, largest_;  // per block
  std::vector<int> order_;
};

}  // namespace kinegraph::linear
