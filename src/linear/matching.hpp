#pragma once

#include <span>
#include <vector>

#include "kinegraph/linear/sparse_rows.hpp"
#include "kinegraph/linear/symmetric.hpp"

namespace kinegraph::linear {

/// Rows matched with columns so that the product of the matched |aᵢⱼ| is as large as it can be.
struct Matching {
  std::vector<int> column_of;                   ///< per row, −1 where the row cannot be matched
  std::vector<int> row_of;                      ///< per column, −1 where it is not
  std::vector<double> row_scale, column_scale;  ///< rᵢ |aᵢⱼ| cⱼ ≤ 1 everywhere, = 1 on matched entries
  int size = 0;                                 ///< matched rows: the structural rank if no matrix entry is zero
};

/// Among the matchings of most rows (there may be fewer rows than columns), the one of largest product.
Matching maximum_product_matching(const SparseRows& a);

/// Which rows of a symmetric K are to be pivoted together, and a scaling.
struct Pairing {
  std::vector<int> partner;   ///< per row: the other row of its 2×2 pivot, or itself
  std::vector<double> scale;  ///< S K S has no entry much above 1, and matched entries near 1

  int pairs() const;
};

/// A row whose diagonal is weak (a hard row, a variable without curvature) is paired with the row that the matching of
/// K with itself gives it.
Pairing pair_pivots(const SymmetricPattern& pattern, std::span<const double> values);

}  // namespace kinegraph::linear
