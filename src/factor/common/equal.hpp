#pragma once

#include <utility>

#include "kinegraph/factor/common/linear_combination.hpp"

namespace kinegraph {

/// Two successive values are about the same: keeps a mechanism on its branch.     e = xₖ₊₁ − xₖ      (000, f_eq,
/// section 5.2) Slots: xₖ xₖ₊₁.
class Equal final : public LinearCombination {
 public:
  explicit Equal(int size, Labels labels = {}) : LinearCombination("equal", size, {-1, 1}, std::move(labels)) {}
};

}  // namespace kinegraph
