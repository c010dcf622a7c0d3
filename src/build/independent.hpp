#pragma once

#include <vector>

#include "kinegraph/mechanics/natural/system.hpp"

namespace kinegraph::build {

/// Which coordinates are independent (000, section 2.2): those that Gaussian elimination of Φ_q with full pivoting
/// leaves without a pivot. Rows are scaled to one; the columns of declared relative coordinates are scaled down, so
/// that they are pivoted last and stay independent as long as they can. Nothing allocates after construction.
class IndependentChoice {
 public:
  explicit IndependentChoice(const natural::System& system, int relative_coordinates,
                             const std::vector<int>& redundant = {});

  /// Coordinates that are to be independent as long as they can, before the declared relative ones.
  void prefer(const std::vector<int>& columns);

  /// Chooses at a pose. The choice is good when quality() is near one, and useless at zero.
  const std::vector<int>& choose(const double* q, double t);
  /// How well coordinates chosen before still serve at this pose: the smallest pivot without them, rows scaled to one.
  double quality(const double* q, double t, const std::vector<int>& independent);
  /// The smallest pivot of full pivoting at a pose, rows scaled to one: how far Φ_q is from losing rank.
  double margin(const double* q, double t);

 private:
  double eliminate(const std::vector<char>* banned);
  void load(const double* q, double t, bool scaled);

  const natural::System& system_;
  int n_, m_;
  std::vector<char> excluded_, banned_, used_column_, used_row_;
  std::vector<double> matrix_, phi_, phi_q_, scale_;
  std::vector<int> independent_;
};

}  // namespace kinegraph::build
