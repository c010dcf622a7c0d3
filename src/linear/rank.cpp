#include "kinegraph/linear/rank.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "kinegraph/linear/sparse_lu.hpp"

namespace kinegraph::linear {

// Each void row of the LU gives a dependency, a vector y with Σᵢ yᵢ (row i) = 0. Which rows an LU leaves void depends
// on its pivots, but which rows follow from *earlier* ones does not: row i does exactly if some dependency has its last
// non-zero at i. So the dependencies are brought to echelon form from the last row up; their last rows are the
// redundant ones, and further elimination leaves in each only independent rows besides.
namespace {

constexpr double kNegligible = 1e-8;  // of a vector's largest entry

void drop_negligible(SparseVector& v) {
  double largest = 0;
  for (const auto& [i, x] : v) largest = std::max(largest, std::abs(x));
  std::erase_if(v, [&](const auto& entry) { return std::abs(entry.second) <= kNegligible * largest; });
}

/// v − f w
SparseVector subtract(const SparseVector& v, double f, const SparseVector& w) {
  SparseVector result;
  auto i = v.begin();
  auto j = w.begin();
  while (i != v.end() || j != w.end()) {
    if (j == w.end() || (i != v.end() && i->first < j->first)) {
      result.push_back(*i++);
    } else if (i == v.end() || j->first < i->first) {
      result.emplace_back(j->first, -f * j->second);
      ++j;
    } else {
      const double x = i->second, y = f * j->second;
      if (std::abs(x - y) > kNegligible * std::max(std::abs(x), std::abs(y))) result.emplace_back(i->first, x - y);
      ++i, ++j;
    }
  }
  return result;
}

void scale_last_to_one(SparseVector& v) {
  const double last = v.back().second;
  for (auto& entry : v) entry.second /= last;
}

/// Dependencies by their last row.
using Echelon = std::map<int, SparseVector>;

Echelon echelon(const SparseLu& lu) {
  Echelon found;
  for (int row : lu.void_rows()) {
    SparseVector y = lu.left_null(row);
    drop_negligible(y);
    for (auto other = found.find(y.back().first); other != found.end(); other = found.find(y.back().first)) {
      y = subtract(y, y.back().second, other->second);
      drop_negligible(y);
      if (y.empty()) break;
    }
    if (y.empty()) continue;
    scale_last_to_one(y);
    const int last = y.back().first;
    found.emplace(last, std::move(y));
  }
  for (auto& [last, y] : found) {  // earlier ones are reduced already, so taking one off brings in no other
    const SparseVector before = y;
    for (const auto& [row, factor] : before) {
      if (row != last && found.contains(row)) y = subtract(y, factor, found.at(row));
    }
  }
  return found;
}

/// Σᵢ yᵢ rᵢ, residuals scaled like the rows.
double mismatch(const SparseVector& y, const std::vector<double>& residual, const std::vector<double>& scale) {
  if (residual.empty()) return 0;
  double sum = 0;
  for (const auto& [i, x] : y) sum += x * residual[i] * scale[i];
  return std::abs(sum);
}

/// An unknown is determined exactly if every null vector vanishes there, whichever basis one takes.
std::vector<int> undetermined(const SparseLu& lu, int columns) {
  std::vector<char> moves(columns, 0);
  for (int c : lu.free_columns()) {
    SparseVector x = lu.right_null(c);
    drop_negligible(x);
    for (const auto& entry : x) moves[entry.first] = 1;
  }
  std::vector<int> result;
  for (int c = 0; c < columns; ++c) {
    if (moves[c]) result.push_back(c);
  }
  return result;
}

}  // namespace

RankReport rank(std::span<const RankPose> poses, const RankOptions& options) {
  RankReport report;
  if (poses.empty()) return report;
  report.rows = poses[0].rows.rows();
  report.columns = poses[0].rows.columns;
  SparseLu best(poses[0].rows, options.tolerance);
  report.rank_here = best.rank();
  for (std::size_t p = 1; p < poses.size(); ++p) {
    SparseLu lu(poses[p].rows, options.tolerance);
    if (lu.rank() <= best.rank()) continue;
    best = std::move(lu);
    report.pose = static_cast<int>(p);
  }
  report.rank = best.rank();
  for (const auto& [row, y] : echelon(best)) {
    RedundantRow redundant{row, {}, mismatch(y, poses[report.pose].residual, best.row_scale()), true};
    for (std::size_t k = 0; k + 1 < y.size(); ++k) redundant.follows_from.push_back(y[k].first);
    redundant.consistent = redundant.mismatch <= options.residual_tolerance;
    report.redundant.push_back(std::move(redundant));
  }
  report.undetermined = undetermined(best, report.columns);
  return report;
}

}  // namespace kinegraph::linear
