#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "kinegraph/linear/ldlt.hpp"
#include "kinegraph/solve/linearize.hpp"

namespace kinegraph {

/// In which order the system is eliminated.
struct OrderingOptions {
  linear::OrderingMethod method = linear::OrderingMethod::amd;
  std::vector<Key> order;  ///< with OrderingMethod::user: every unknown variable once, first eliminated first
};

/// The Newton system of a linearisation, with damping Λ ≥ 0 on the unknowns and a compliance C ≥ 0 on the hard rows:
///
///     [ H + Λ  Jᵀ ] [ d ]   [ −g ]
///     [ J      −C ] [ y ] = [ −c ]
///
/// One symbolic plan serves all its factorisations.
class KktSystem {
 public:
  /// Plans on the present matrix of the linearisation, damped as the first factorisation will be.
  static Result<KktSystem> make(const Linearization& linearization, const OrderingOptions& ordering,
                                const Eigen::VectorXd& damping, const Eigen::VectorXd& compliance);

  /// Factors the linearisation's present matrix. True if there is one solution and it is a minimum: as many positive
  /// pivots as unknowns, as many negative ones as hard rows.
  bool factor(const Linearization& linearization, const Eigen::VectorXd& damping, const Eigen::VectorXd& compliance);
  /// In place: (−g, −c) becomes (d, y). False if the answer is not finite.
  bool solve(Eigen::VectorXd& rhs);

  const linear::Plan& plan() const { return *plan_; }
  linear::Elimination& elimination() { return *elimination_; }

 private:
  void damp(const Linearization& linearization, const Eigen::VectorXd& damping, const Eigen::VectorXd& compliance);

  std::vector<double> matrix_;
  std::unique_ptr<linear::Plan> plan_;  // at a fixed address: the elimination points to it
  std::unique_ptr<linear::Elimination> elimination_;
};

}  // namespace kinegraph
