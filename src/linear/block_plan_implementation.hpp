#pragma once

#include <optional>

#include "kinegraph/linear/block_program.hpp"

namespace kinegraph::linear {

struct BlockPlan::Implementation {
  Implementation(const BlockStructure& structure, const std::vector<std::vector<int>>& order);

  BlockStructure structure;
  BlockLayout layout;
  BlockProgram main;
  /// For numbers at which a pivot block of `main` vanishes: it chooses among rows.
  std::optional<BlockProgram> careful;
  int steps = 0;
};

}  // namespace kinegraph::linear
