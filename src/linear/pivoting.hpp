#pragma once

#include <span>
#include <vector>

#include "kinegraph/linear/ldlt.hpp"

namespace kinegraph::linear {

/// A node of the assembly tree, in rows of K.
struct ProposedFront {
  std::vector<int> rows;
  int parent = -1;
};

/// What was eliminated there, after the numbers have been seen.
struct PivotedFront {
  std::vector<int> pivots;       ///< rows of K, in order of elimination
  std::vector<PivotKind> kinds;  ///< per pivot
  std::vector<double> sizes;     ///< per pivot: |d|, or √|det D| for both of a pair, in units of K
  std::vector<int> border;       ///< rows of K eliminated later
};

struct Pivoting {
  std::vector<PivotedFront> fronts;  ///< one per proposed front, same tree
  int delayed = 0;
  bool definite = false;  ///< all pivots 1×1 and positive, no hard rows
};

/// Eliminates K once, with threshold pivoting, and says which pivots it took where. See pivoting.cpp.
Pivoting choose_pivots(const SymmetricPattern& pattern, std::span<const double> values, std::span<const double> scale,
                       std::span<const int> partner, std::span<const ProposedFront> fronts, double threshold);

}  // namespace kinegraph::linear
