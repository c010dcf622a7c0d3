#pragma once

#include <span>
#include <vector>

#include "kinegraph/linear/sparse_rows.hpp"

namespace kinegraph::linear {

/// The same equations linearised at one pose. The residual may be left empty.
struct RankPose {
  SparseRows rows;
  std::vector<double> residual;  ///< of A x = −residual, one number per row
};

struct RankOptions {
  double tolerance = 1e-9;  ///< what is left of a row of largest entry 1 and counts as nothing
  double residual_tolerance =
      1e-8;  ///< mismatch of a redundant row (scaled to largest entry 1) that is still consistent
};

/// A row that follows from rows before it.
struct RedundantRow {
  int row = -1;
  std::vector<int> follows_from;  ///< independent rows, increasing
  double mismatch = 0;  ///< by how much its residual contradicts theirs, in units of the row scaled to largest entry 1
  bool consistent = true;
};

struct RankReport {
  int rows = 0, columns = 0;            ///< equations and unknowns
  int rank = 0;                         ///< the largest over the poses
  int rank_here = 0;                    ///< at the first pose
  std::vector<RedundantRow> redundant;  ///< in order of rows; as many as rows − rank
  std::vector<int> undetermined;        ///< unknowns that can move without violating any equation
  int pose = 0;                         ///< the first pose of that rank: the one the lists are from

  bool singular_here() const { return rank_here < rank; }
  int freedom() const { return columns - rank; }
};

/// Rank of equations given at several poses: the first as it is, the others perturbed. One pose alone gives false
/// alarms at singular positions, so the largest rank wins. See rank.cpp.
RankReport rank(std::span<const RankPose> poses, const RankOptions& options = {});

}  // namespace kinegraph::linear
