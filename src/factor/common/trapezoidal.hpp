#pragma once

#include <utility>

#include "kinegraph/factor/common/linear_combination.hpp"

namespace kinegraph {

/// A quantity and its rate over one step.     e = xₖ₊₁ − xₖ − (h/2)(ẋₖ + ẋₖ₊₁)      (000, eq. 23)
/// Slots: xₖ ẋₖ xₖ₊₁ ẋₖ₊₁.
class Trapezoidal final : public LinearCombination {
 public:
  explicit Trapezoidal(int size, double h, Labels labels = {})
      : LinearCombination("trapezoidal", size, {-1, -h / 2, 1, -h / 2}, std::move(labels)) {}
};

}  // namespace kinegraph
