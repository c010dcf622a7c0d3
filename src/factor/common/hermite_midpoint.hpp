#pragma once

#include <utility>

#include "kinegraph/factor/common/linear_combination.hpp"

namespace kinegraph {

/// The middle of one step, on the cubic through both ends and their rates.
///
///     e = xₘ − ½ (xₖ + xₖ₊₁) − (h/8)(ẋₖ − ẋₖ₊₁)      (Hargraves and Paris 1987; Betts, Practical methods, section 4.5)
///
/// With Simpson it is the Hermite-Simpson rule, fourth order, in its separated form. Slots: xₖ ẋₖ xₖ₊₁ ẋₖ₊₁ xₘ.
class HermiteMidpoint final : public LinearCombination {
 public:
  explicit HermiteMidpoint(int size, double h, Labels labels = {})
      : LinearCombination("hermite", size, {-0.5, -h / 8, -0.5, h / 8, 1}, std::move(labels)) {}
};

}  // namespace kinegraph
