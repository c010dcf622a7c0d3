#pragma once

#include <Eigen/Core>
#include <vector>

namespace kinegraph::linear {

/// L + Σ dᵢ Lᵢ ⪰ 0 for small symmetric matrices; parameters that are not named have Lᵢ = 0.
struct MatrixInequality {
  struct Term {
    int parameter = 0;
    Eigen::MatrixXd matrix;
  };
  Eigen::MatrixXd constant;
  std::vector<Term> terms;
};

/// min ½ dᵀ S d + gᵀ d, S positive semidefinite, within bounds and matrix inequalities, strictly satisfied by d = 0.
struct BarrierProblem {
  Eigen::MatrixXd S;
  Eigen::VectorXd g;
  Eigen::VectorXd lower, upper;  ///< ∓ infinity: none; equal ones fix dᵢ = 0. Empty: no bounds at all
  std::vector<MatrixInequality> inequalities;
  /// Of the way to a boundary that the step may go at most, so that the next problem too starts inside.
  double fraction = 0.995;
};

enum class BoundState : unsigned char { inside, lower, upper, fixed };

struct BarrierStep {
  Eigen::VectorXd d;               ///< strictly inside; 0 where nothing better is known
  std::vector<BoundState> bounds;  ///< which bounds hold it back, per parameter
  std::vector<bool> inequalities;  ///< which matrix inequalities hold it back
  double value = 0;                ///< ½ dᵀ S d + gᵀ d ≤ 0
  int iterations = 0;
  bool converged = false;
};

/// A bounded number of Newton steps, each of O(p³). Parameters that neither S nor a constraint says anything of stay
/// where they are, as do those whose start is beyond a bound. If a matrix inequality is not satisfied at the start, or
/// a number is not finite, d = 0.
BarrierStep barrier_step(const BarrierProblem& problem);

}  // namespace kinegraph::linear
