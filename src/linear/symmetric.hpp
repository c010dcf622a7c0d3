#pragma once

#include <span>
#include <vector>

#include "kinegraph/base/sparse.hpp"

namespace kinegraph::linear {

/// What a row (and column) of the symmetric system
///
///     K = [ H  Jᵀ ]   stands for: a variable, whose diagonal is its curvature (≥ 0, often 0), or
///         [ J  −C ]   a hard row, an equality, whose diagonal is minus its compliance (often 0).
enum class RowKind : unsigned char { variable, hard };

/// Where a symmetric sparse matrix may be non-zero, in compressed columns. An off-diagonal entry is stored once, above
/// or below the diagonal as the caller likes; entries stored twice are summed.
struct SymmetricPattern {
  std::vector<int> start{0};  ///< size() + 1 numbers: column j holds the entries start[j] .. start[j+1]
  std::vector<int> row;       ///< per entry
  std::vector<RowKind> kind;  ///< per row of K

  int size() const { return static_cast<int>(kind.size()); }
  int entries() const { return static_cast<int>(row.size()); }

  /// Compresses a list of entries in any order, duplicates welcome. slot[e] tells where entry e's value belongs: zero
  /// the values, then add each contribution to values[slot[e]]. (i, j) and (j, i) share a slot, and every diagonal
  /// entry exists.
  static SymmetricPattern from_entries(std::vector<RowKind> kind, std::span<const Entry> entries,
                                       std::vector<int>& slot);
};

/// y += K x
void multiply_add(const SymmetricPattern& pattern, std::span<const double> values, const double* x, double* y);

}  // namespace kinegraph::linear
