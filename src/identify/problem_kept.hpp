#pragma once

#include <vector>

#include "kinegraph/identify/problem_rows.hpp"

namespace kinegraph::identify {

/// Rows as an Arrowhead takes them: on the unknown knots `first …`, of which there are `width`.
struct ArrowRows {
  int k = 0;  ///< the step to which they belong
  RowKind kind = RowKind::start;
  int first = 0;
  const double *states = nullptr, *border = nullptr, *residual = nullptr;
  int count = 0, width = 0;
};

/// All rows of an evaluation, for when they are wanted again.
class KeptRows {
 public:
  void clear() { entries_.clear(), numbers_.clear(), steps_.clear(); }
  bool empty() const { return entries_.empty(); }
  /// Of n unknowns per knot and p parameters, `numbers` in all or some more.
  void reset(int n, int p, std::size_t numbers) {
    clear();
    n_ = n, p_ = p;
    numbers_.reserve(numbers);
  }
  void add(const ArrowRows& rows) {
    if (rows.kind == RowKind::step) steps_.push_back(entries_.size());
    entries_.push_back({rows, numbers_.size()});
    const std::ptrdiff_t count = rows.count;
    numbers_.insert(numbers_.end(), rows.states, rows.states + count * rows.width * n_);
    numbers_.insert(numbers_.end(), rows.border, rows.border + count * p_);
    numbers_.insert(numbers_.end(), rows.residual, rows.residual + count);
  }

  int unknowns() const { return n_; }
  int parameters() const { return p_; }
  int steps() const { return static_cast<int>(steps_.size()); }
  ArrowRows step(int k) const { return at(entries_[steps_[k]]); }
  template <class Visit>
  void each(const Visit& visit) const {
    for (const Entry& entry : entries_) visit(at(entry));
  }

 private:
  struct Entry {
    ArrowRows rows;  // without pointers
    std::size_t begin;
  };
  ArrowRows at(const Entry& entry) const {
    ArrowRows rows = entry.rows;
    rows.states = numbers_.data() + entry.begin;
    rows.border = rows.states + static_cast<std::ptrdiff_t>(rows.count) * rows.width * n_;
    rows.residual = rows.border + static_cast<std::ptrdiff_t>(rows.count) * p_;
    return rows;
  }

  int n_ = 0, p_ = 0;
  std::vector<Entry> entries_;
  std::vector<std::size_t> steps_;  // entries of rows of steps
  std::vector<double> numbers_;     // states, border and residuals of each
};

}  // namespace kinegraph::identify
