#include "kinegraph/linear/symmetric.hpp"

#include <algorithm>

namespace kinegraph::linear {

SymmetricPattern SymmetricPattern::from_entries(std::vector<RowKind> kind, std::span<const Entry> entries,
                                                std::vector<int>& slot) {
  SymmetricPattern pattern;
  const int n = static_cast<int>(kind.size());
  pattern.kind = std::move(kind);

  // Bucket the entries by column (the smaller index), then sort each bucket by row. Entry −1 is the diagonal itself.
  std::vector<int> first(n + 1, 0);
  for (const Entry& e : entries) ++first[std::min(e.row, e.column) + 1];
  for (int j = 0; j < n; ++j) first[j + 1] += first[j];
  std::vector<std::pair<int, int>> bucket(entries.size());  // (row, entry)
  std::vector<int> next(first.begin(), first.end() - 1);
  for (std::size_t e = 0; e < entries.size(); ++e) {
    const auto [low, high] = std::minmax(entries[e].row, entries[e].column);
    bucket[next[low]++] = {high, static_cast<int>(e)};
  }
  slot.assign(entries.size(), -1);
  for (int j = 0; j < n; ++j) {
    std::sort(bucket.begin() + first[j], bucket.begin() + first[j + 1]);
    pattern.row.push_back(j);
    for (int k = first[j]; k < first[j + 1]; ++k) {
      if (pattern.row.back() != bucket[k].first) pattern.row.push_back(bucket[k].first);
      slot[bucket[k].second] = pattern.entries() - 1;
    }
    pattern.start.push_back(pattern.entries());
  }
  return pattern;
}

void multiply_add(const SymmetricPattern& pattern, std::span<const double> values, const double* x, double* y) {
  for (int j = 0; j < pattern.size(); ++j) {
    double sum = 0;
    const double xj = x[j];
    for (int k = pattern.start[j]; k < pattern.start[j + 1]; ++k) {
      const int i = pattern.row[k];
      sum += values[k] * x[i];
      if (i != j) y[i] += values[k] * xj;
    }
    y[j] += sum;
  }
}

}  // namespace kinegraph::linear
