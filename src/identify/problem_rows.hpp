#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace kinegraph::identify {

/// What rows are of: the first state, a step, readings within a step.
enum class RowKind { start, step, reading };

/// Rows of least squares on three successive knots and the parameters, row by row, as linear::Arrowhead takes them.
class RowBlock {
 public:
  /// n unknowns per knot, p parameters; forgets all rows.
  void reset(int n, int p) {
    wide_ = 3 * n, p_ = p, count_ = 0;
    states_.clear(), border_.clear(), residual_.clear();
  }
  void clear() { count_ = 0; }
  /// A row of zeros. Memory is kept: after the first steps nothing allocates.
  void add(double residual) {
    add_open(residual);
    std::fill_n(states(count_ - 1), wide_, 0.0);
    std::fill_n(border(count_ - 1), p_, 0.0);
  }
  /// A row of which all numbers are to be set.
  void add_open(double residual) {
    const std::size_t rows = static_cast<std::size_t>(++count_);
    if (residual_.size() < rows) {
      residual_.resize(rows), states_.resize(rows * wide_), border_.resize(rows * p_);
    }
    residual_[rows - 1] = residual;
  }

  int count() const { return count_; }
  int wide() const { return wide_; }
  int parameters() const { return p_; }
  double* states(int row) { return states_.data() + static_cast<std::size_t>(row) * wide_; }
  double* border(int row) { return border_.data() + static_cast<std::size_t>(row) * p_; }
  double* residual() { return residual_.data(); }

 private:
  int wide_ = 0, p_ = 0, count_ = 0;
  std::vector<double> states_, border_, residual_;
};

}  // namespace kinegraph::identify
