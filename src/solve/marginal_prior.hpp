#pragma once

#include <Eigen/Core>
#include <vector>

#include "kinegraph/graph/graph.hpp"
#include "kinegraph/graph/values.hpp"

namespace kinegraph {

/// What eliminated variables leave behind on those they were tied to, as a factor:
///
///     e = R (x ⊖ x₀) − d
///
/// linear about the point x₀ at which they were eliminated, and kept there: were it moved, the same information would
/// be counted at two places, and directions that nothing observes would seem known.
class MarginalPrior final : public Factor {
 public:
  /// R has one column per tangent direction of the variables `keys` of `values`, in that order; x₀ is taken from there.
  MarginalPrior(std::string name, const Values& values, const std::vector<Key>& keys, Eigen::MatrixXd R,
                Eigen::VectorXd d);

  void evaluate(Slots x, double* residual, double* jacobian) const override;
  bool constant_jacobian() const override { return linear_; }

 private:
  struct Slot {
    Manifold manifold;
    std::vector<double> point;  // x₀
    int column;                 // its first in R
  };
  std::vector<Slot> slots_;
  Eigen::MatrixXd R_;
  Eigen::VectorXd d_;
  bool linear_ = true;
};

/// A marginalisation of variables of a graph: which factors went into it, and what replaces them.
struct Marginalisation {
  std::vector<int> used;                     ///< factors that touch an eliminated variable, increasing
  std::vector<Key> keys;                     ///< the variables on which they leave a prior; may be empty
  std::shared_ptr<const Factor> soft, hard;  ///< null where nothing is left
};

/// Eliminates variables at the present values: hard rows first, by pivoted QR, then the costs by QR (square-root form:
/// nothing is squared, so tiny variances beside large ones survive). Fails (no_answer) if something is not finite.
Result<Marginalisation> marginalise(const Graph& graph, const Values& values, const std::vector<Key>& eliminate);

}  // namespace kinegraph
