#pragma once

#include <string>
#include <vector>

#include "kinegraph/graph/factor.hpp"
#include "kinegraph/graph/manifold.hpp"

namespace kinegraph {

/// One vector per slot of a factor.
using SlotValues = std::vector<std::vector<double>>;

struct JacobianCheckOptions {
  double tolerance = 1e-8;            ///< relative to the largest derivative or residual of the row
  double step = 0.05;                 ///< the first difference, relative to max(1, |x|); halved as long as it helps
  std::vector<Manifold> manifolds{};  ///< per slot; none: all are vectors
  std::vector<int> known_slots{};     ///< never solved for (the time): the factor states no derivative for them
};

struct JacobianCheck {
  double worst = 0;     ///< the largest relative error
  std::string message;  ///< empty if all is well; else one line per wrong entry, the first few

  bool ok() const { return message.empty(); }
};

/// Compares a factor's Jacobian with differences of its residual at `x`, entries outside the pattern included: they
/// must be zero. Also finds patterns with entries out of range or given twice, residuals that change when a Jacobian
/// is asked for, numbers that are not finite, and a Jacobian wrongly called constant.
JacobianCheck check_jacobians(const Factor& factor, const SlotValues& x, const JacobianCheckOptions& options = {});

/// Values for every slot, evenly distributed in [−scale, scale], the same for the same seed.
SlotValues random_slots(const Factor& factor, unsigned seed, double scale = 1.0);

}  // namespace kinegraph
