#pragma once

#include <algorithm>
#include <vector>

#include "kinegraph/base/sparse.hpp"

namespace kinegraph::natural {

/// Collects the places of a sparse matrix, in any order and more than once, and sorts them row by row.
class PatternBuilder {
 public:
  /// Ignores rows and columns of fixed points (−1).
  void add(int row, int column) {
    if (row >= 0 && column >= 0) entries_.push_back({row, column});
  }
  void add(const std::vector<Entry>& entries) { entries_.insert(entries_.end(), entries.begin(), entries.end()); }

  std::vector<Entry> finish() {
    std::sort(entries_.begin(), entries_.end(), before);
    const auto same = [](const Entry& a, const Entry& b) { return a.row == b.row && a.column == b.column; };
    entries_.erase(std::unique(entries_.begin(), entries_.end(), same), entries_.end());
    return std::move(entries_);
  }

  /// The position of an entry in a finished pattern; −1 if it is not there.
  static int find(const std::vector<Entry>& pattern, int row, int column) {
    const auto it = std::lower_bound(pattern.begin(), pattern.end(), Entry{row, column}, before);
    const bool found = it != pattern.end() && it->row == row && it->column == column;
    return found ? static_cast<int>(it - pattern.begin()) : -1;
  }

 private:
  static bool before(const Entry& a, const Entry& b) { return a.row != b.row ? a.row < b.row : a.column < b.column; }
  std::vector<Entry> entries_;
};

}  // namespace kinegraph::natural
