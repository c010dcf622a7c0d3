#pragma once

#include <utility>

#include "kinegraph/factor/common/linear_combination.hpp"

namespace kinegraph {

/// A quantity over one step from its rate at both ends and in the middle: exact for cubic rates.
///
///     e = xₖ₊₁ − xₖ − (h/6)(ẋₖ + 4 ẋₘ + ẋₖ₊₁)      (Simpson; Hargraves and Paris 1987)
///
/// Slots: xₖ xₖ₊₁ ẋₖ ẋₘ ẋₖ₊₁.
class Simpson final : public LinearCombination {
 public:
  explicit Simpson(int size, double h, Labels labels = {})
      : LinearCombination("simpson", size, {-1, 1, -h / 6, -4 * h / 6, -h / 6}, std::move(labels)) {}
};

}  // namespace kinegraph
