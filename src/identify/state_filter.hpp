#pragma once

#include <Eigen/Core>

#include "kinegraph/identify/problem_rows.hpp"

namespace kinegraph::identify {

/// What rows up to a time tell of the two knots at its end, to first order about a motion: the information filter that
/// the elimination of knots forward in time is, stopped before later rows are added.
///
///     Λ (δₖ₋₁, δₖ) = −g      rows of a step add JᵀJ and Jᵀr on (δₖ₋₁, δₖ, δₖ₊₁), then δₖ₋₁ is eliminated
class StateFilter {
 public:
  void reset(int n);
  /// Rows on the two knots alone: readings that were taken when the second was reached.
  void add(const double* states, double residual);
  /// Rows on both and the next one.
  void add_next(RowBlock& rows);
  /// To the next pair. False: the first of the old one cannot be eliminated.
  bool advance();
  /// δₖ₋₁ and δₖ. False: they cannot be told.
  bool solve(Eigen::VectorXd& steps) const;

 private:
  int n_ = 0;
  Eigen::MatrixXd information_;  // of three knots, the last without rows until they are added; lower triangle
  Eigen::VectorXd gradient_;
};

}  // namespace kinegraph::identify
