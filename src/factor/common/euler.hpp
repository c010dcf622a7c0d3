#pragma once

#include <utility>

#include "kinegraph/factor/common/linear_combination.hpp"

namespace kinegraph {

/// A quantity and its rate over one step, explicit.     e = xₖ₊₁ − xₖ − h ẋₖ      (000, eq. 22)
/// Slots: xₖ ẋₖ xₖ₊₁.
class Euler final : public LinearCombination {
 public:
  explicit Euler(int size, double h, Labels labels = {})
      : LinearCombination("euler", size, {-1, -h, 1}, std::move(labels)) {}
};

}  // namespace kinegraph
