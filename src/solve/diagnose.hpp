#pragma once

#include <string>
#include <vector>

#include "kinegraph/solve/linearize.hpp"

namespace kinegraph {

/// Why a graph does not determine its unknowns.
struct Diagnosis {
  std::string counts;                  ///< "12 unknowns, 10 equations (8 hard, 2 soft)"
  int rank = 0;                        ///< of all equations together
  std::vector<std::string> free;       ///< unknowns that nothing determines
  std::vector<std::string> redundant;  ///< hard rows that follow from others

  std::string to_string() const;
};
Diagnosis diagnose(Linearization& linearization);

}  // namespace kinegraph
