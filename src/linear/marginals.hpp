#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "kinegraph/base/result.hpp"
#include "kinegraph/linear/ldlt.hpp"

namespace kinegraph::linear {

/// Covariances of chosen unknowns: blocks of K⁻¹, without inverting the whole. With hard rows K = [H Jᵀ; J −C], the
/// block of the variables is their covariance under the constraints. See marginals.cpp.
///
/// Only the fronts between the asked unknowns and the root of the elimination tree are worked out, each once.
class Marginals {
 public:
  /// The elimination must be factored without regularisation, and stay so as long as it is asked.
  explicit Marginals(Elimination& elimination);

  /// Covariance of these rows of K, in this order. Fails (no_answer) if K does not determine them: zero pivots, or an
  /// inertia that is not that of a minimum.
  Result<Eigen::MatrixXd> covariance(std::span<const int> rows);

 private:
  const Eigen::MatrixXd& front_inverse(int front);
  void invert_front(int front);
  int common_front(std::span<const int> positions) const;

  Elimination* elimination_;
  std::vector<Eigen::MatrixXd> inverse_;  // per front: K⁻¹ on its rows; empty until asked
};

}  // namespace kinegraph::linear
