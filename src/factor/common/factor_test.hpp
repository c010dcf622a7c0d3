#pragma once

// For the tests of factors: evaluates one, and states what its Jacobian must be like.

#include <gtest/gtest.h>

#include "kinegraph/graph/check_jacobians.hpp"

namespace kinegraph {

inline std::vector<double> residual(const Factor& factor, const SlotValues& x) {
  std::vector<const double*> slots;
  for (const auto& slot : x) slots.push_back(slot.data());
  std::vector<double> e(factor.rows());
  factor.evaluate(slots, e.data(), nullptr);
  return e;
}

/// The Jacobian is right at several values where the residual is not zero.
inline void expect_exact_jacobians(const Factor& factor, const JacobianCheckOptions& options = {}) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const SlotValues x = random_slots(factor, seed, 1.5);
    for (const double e : residual(factor, x)) EXPECT_NE(e, 0);
    const JacobianCheck check = check_jacobians(factor, x, options);
    EXPECT_TRUE(check.ok()) << check.message;
  }
}

}  // namespace kinegraph
