#include "kinegraph/graph/factor.hpp"

namespace kinegraph {

std::vector<JacobianEntry> Factor::dense(int rows, const std::vector<int>& tangent_sizes) {
  std::vector<JacobianEntry> pattern;
  for (int slot = 0; slot < static_cast<int>(tangent_sizes.size()); ++slot)
    for (int column = 0; column < tangent_sizes[slot]; ++column)
      for (int row = 0; row < rows; ++row) pattern.push_back({row, slot, column});
  return pattern;
}

}  // namespace kinegraph
