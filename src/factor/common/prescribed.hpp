#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "kinegraph/factor/common/select.hpp"

namespace kinegraph {

/// Coordinates follow a recorded motion.     e = x[idx] − x*      (000, section 7.2)      Slots: x x*.
inline std::shared_ptr<const Factor> prescribed(int size, std::vector<int> indices, Labels labels = {}) {
  return std::make_shared<Select>(size, std::move(indices), "prescribed", std::move(labels));
}

}  // namespace kinegraph
