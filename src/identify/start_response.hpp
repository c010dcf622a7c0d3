#pragma once

#include <Eigen/Core>

#include "kinegraph/identify/problem_rows.hpp"

namespace kinegraph::identify {

/// How a motion that follows its model answers to a change of its first two knots and of the parameters.
///
///     0 = J₀ δₖ₋₁ + J₁ δₖ + J₂ δₖ₊₁ + J_χ χ        δₖ = Xₖ (δ₋₁, δ₀, χ)
///     Xₖ₊₁ = −J₂⁻¹ (J₀ Xₖ₋₁ + J₁ Xₖ + [0 0 J_χ])    with the rows of a step: J₂ has a block of 3 per body and half
///
/// Rows of readings are condensed with it to rows on the two knots and the parameters.
class StartResponse {
 public:
  void reset(int n, int p);
  void advance(RowBlock& step, int k);                     ///< with the rows of step k, in turn
  void condense(RowBlock& block, RowKind kind);            ///< to states() and border()
  const double* states() const { return states_.data(); }  ///< rows × 2n
  const double* border() const { return border_.data(); }  ///< rows × p

 private:
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  int n_ = 0, p_ = 0;
  Matrix before_, now_, next_;  // X of three successive knots
  Matrix product_, rows_, states_, border_;
};

}  // namespace kinegraph::identify
