#pragma once

#include <optional>
#include <vector>

#include "kinegraph/graph/chain.hpp"
#include "kinegraph/solve/kkt.hpp"

namespace kinegraph {

/// A window of a chain as one sparse system: for mechanisms with so many degrees of freedom that the dense blocks of
/// slice-first elimination would cost more than they save. Hard rows and soft rows together are factored by the block
/// LDLᵀ with a fill-reducing order, whose cost is linear in the number of bodies.
class Unrolled {
 public:
  Unrolled(const Chain& chain, int knots);

  int knots() const { return knots_; }
  /// The values, knot by knot with the middles between: knot 0 (frozen), middle 0, knot 1, …
  double* values() { return values_.buffer().data(); }

  struct Step {
    bool solved = false;
    double residual = 0;  ///< largest hard residual before the step, relative to the terms of its row
    double worst = 0;     ///< the same, absolute
    double moved = 0;     ///< largest change, relative to its variable's largest value
  };
  /// One Gauss-Newton step.
  Step step();

 private:
  void scale_rows();

  int knots_;
  Graph graph_;
  Values values_;
  std::optional<Linearization> linearization_;
  std::optional<KktSystem> kkt_;
  Eigen::VectorXd hard_, scale_, rhs_, damping_, compliance_;
  std::vector<double> typical_;
};

}  // namespace kinegraph
