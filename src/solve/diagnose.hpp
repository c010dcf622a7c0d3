#pragma once

#include <string>
#include <vector>

#include "kinegraph/solve/linearize.hpp"

namespace kinegraph {

/// Whether a graph determines its unknowns, and if not, what is missing.
struct Diagnosis {
  std::string counts;  ///< "12 unknowns, 10 equations (8 hard, 2 soft)"
  int unknowns = 0;
  int rank = 0;                            ///< of all equations together
  bool singular_here = false;              ///< the rank is smaller at the present values than nearby
  std::vector<std::string> undetermined;   ///< unknowns that can move freely, with the factors that touch them
  std::vector<std::string> redundant;      ///< hard rows that follow from others
  std::vector<std::string> contradictory;  ///< hard rows that contradict those they would follow from, and by how much

  bool determined() const { return rank == unknowns; }
  /// `3 unknowns, 2 equations (0 hard, 2 soft), rank 2: nothing determines user1@0 (in anchor, range)`
  std::string to_string() const;
};

/// Rank by pivoted elimination at the present values and at perturbed ones nearby (a single pose gives false alarms at
/// singular positions). Leaves the values as they were.
Diagnosis diagnose(Linearization& linearization);
Result<Diagnosis> diagnose(const Graph& graph, const Values& values);

}  // namespace kinegraph
