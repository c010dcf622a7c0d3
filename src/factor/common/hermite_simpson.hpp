#pragma once

#include <utility>

#include "kinegraph/factor/common/linear_combination.hpp"

namespace kinegraph {

/// A quantity over one step from its rate and second rate at both ends: Simpson's rule, the rate in the middle being on
/// the cubic through both ends (Hargraves and Paris 1987, compressed).
///
///     e = xₖ₊₁ − xₖ − (h/6)(ẋₖ + 4 ẋₘ + ẋₖ₊₁),  ẋₘ = ½ (ẋₖ + ẋₖ₊₁) + (h/8)(ẍₖ − ẍₖ₊₁)
///
/// Slots: xₖ ẋₖ ẍₖ xₖ₊₁ ẋₖ₊₁ ẍₖ₊₁.
class HermiteSimpson final : public LinearCombination {
 public:
  explicit HermiteSimpson(int size, double h, Labels labels = {})
      : LinearCombination("simpson", size, {-1, -h / 2, -h * h / 12, 1, -h / 2, h * h / 12}, std::move(labels)) {}
};

}  // namespace kinegraph
