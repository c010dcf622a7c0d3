#include "kinegraph/linear/condensation.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace kinegraph::linear {
namespace {

constexpr double kThreshold = 0.3;  // a pivot is at least this share of the largest entry of its row
constexpr double kNothing = 1e-9;   // a row left with less than this share of itself waits until all others are pivoted
constexpr double kStale = 0.05;     // see the class comment
constexpr int kWaits = -2;          // as the pivot of a row
constexpr int kReserve = 256;       // rows of small systems never reallocate when pivots are chosen again

}  // namespace

Condensation::Condensation(int rows, int columns, std::vector<Entry> pattern)
    : rows_(rows), columns_(columns), pattern_(std::move(pattern)), excluded_(rows, 0), class_(rows, RowClass::other) {
  work_.resize(rows_);
  column_rows_.resize(columns_);
  if (columns_ <= kReserve) {
    for (auto& row : work_) row.reserve(columns_);
    for (auto& column : column_rows_) column.reserve(rows_);
    const std::size_t dense = static_cast<std::size_t>(rows_) * columns_;
    for (auto* list : {&scatter_place_, &scatter_value_}) list->reserve(pattern_.size());
    for (auto* list : {&target_, &upper_row_, &place_}) list->reserve(dense);
    target_.reserve(dense * 4);
    lu_.reserve(dense);
    updates_.reserve(dense);
    free_entry_.reserve(pattern_.size());
    heap_.reserve(dense * 2 + rows_);
  }
  for (auto* list : {&pivot_row_, &pivot_column_, &free_column_}) list->reserve(std::max(rows_, columns_));
  for (auto* list : {&reference_, &inverse_}) list->reserve(rows_);
  waiting_.reserve(rows_);
  pivots_.reserve(rows_);
  row_scale_.resize(rows_);
  accumulator_.resize(columns_);
  mark_.resize(columns_);
  column_count_.resize(columns_);
  pivot_of_column_.resize(columns_);
  pivot_of_row_.resize(rows_);
}

void Condensation::set_pattern(std::span<const Entry> pattern) {
  pattern_.assign(pattern.begin(), pattern.end());
  pivot_row_.clear();
}

void Condensation::exclude_rows(const std::vector<int>& rows) {
  std::fill(excluded_.begin(), excluded_.end(), 0);
  for (int r : rows) excluded_[r] = 1;
  pivot_row_.clear();
}

void Condensation::set_classes(std::vector<RowClass> classes) {
  class_ = std::move(classes);
  pivot_row_.clear();
}

void Condensation::choose(const double* values, std::span<const double> preference) {
  eliminate(values, preference);
  compile();
}

// Gaussian elimination row by row: the active row with the fewest entries is next (least fill), and within it the entry
// above the threshold whose column is shared by the fewest rows. Entries that cancel stay: the pattern found here must
// hold for every later set of values.
void Condensation::eliminate(const double* values, std::span<const double> preference) {
  for (auto& row : work_) row.clear();
  for (auto& column : column_rows_) column.clear();
  std::fill(column_count_.begin(), column_count_.end(), 0);
  std::fill(pivot_of_column_.begin(), pivot_of_column_.end(), -1);
  std::fill(pivot_of_row_.begin(), pivot_of_row_.end(), -1);
  std::fill(row_scale_.begin(), row_scale_.end(), 0.0);
  pivot_row_.clear();
  pivot_column_.clear();
  reference_.clear();

  for (std::size_t e = 0; e < pattern_.size(); ++e) {
    const auto [r, c] = pattern_[e];
    if (c < 0 || excluded_[r]) continue;
    work_[r].push_back({c, values[e]});
    column_rows_[c].push_back(r);
    ++column_count_[c];
    row_scale_[r] = std::max(row_scale_[r], std::abs(values[e]));
  }

  heap_.clear();
  const auto later = std::greater<std::pair<int, int>>();
  const auto active_count = [&](int r) {  // class first, then entries
    int n = static_cast<int>(class_[r]) * columns_;
    for (const WorkEntry& e : work_[r]) n += pivot_of_column_[e.column] < 0;
    return n;
  };
  for (int r = 0; r < rows_; ++r) {
    if (!excluded_[r]) heap_.emplace_back(active_count(r), r);
  }
  std::make_heap(heap_.begin(), heap_.end(), later);

  waiting_.clear();
  bool last_rows = false;  // the waiting ones: at a singular position, whatever column is left must do
  while (!heap_.empty() || (!last_rows && !waiting_.empty())) {
    if (heap_.empty()) {
      last_rows = true;
      for (int r : waiting_) heap_.emplace_back(active_count(r), r);
      std::make_heap(heap_.begin(), heap_.end(), later);
    }
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const auto [count, r] = heap_.back();
    heap_.pop_back();
    if (pivot_of_row_[r] >= 0 || (pivot_of_row_[r] == kWaits && !last_rows)) continue;
    const int now = active_count(r);
    if (now != count) {  // it has filled in, or lost a column, since it was queued
      heap_.emplace_back(now, r);
      std::push_heap(heap_.begin(), heap_.end(), later);
      continue;
    }

    const auto weight = [&](int c) { return preference.empty() ? 1.0 : preference[c]; };
    double largest = 0;
    for (const WorkEntry& e : work_[r]) {
      if (pivot_of_column_[e.column] < 0) largest = std::max(largest, weight(e.column) * std::abs(e.value));
    }
    if (largest <= kNothing * row_scale_[r] && !last_rows) {
      waiting_.push_back(r);
      pivot_of_row_[r] = kWaits;
      continue;
    }
    int best = -1, best_count = 0;
    double best_size = -1, pivot = 0;
    for (const WorkEntry& e : work_[r]) {
      if (pivot_of_column_[e.column] >= 0 || weight(e.column) == 0) continue;
      const double size = weight(e.column) * std::abs(e.value);
      if (size < kThreshold * largest) continue;
      const int shared = column_count_[e.column];
      if (best < 0 || shared < best_count || (shared == best_count && size > best_size)) {
        best = e.column, best_count = shared, best_size = size, pivot = e.value;
      }
    }
    if (best < 0) {  // none of its own columns is left: it takes any, with a pivot of zero
      for (int c = 0; c < columns_ && best < 0; ++c) {
        if (pivot_of_column_[c] < 0 && weight(c) != 0) best = c;
      }
      if (best < 0) {
        pivot_of_row_[r] = rows_;
        continue;
      }
      work_[r].push_back({best, 0.0});
      column_rows_[best].push_back(r);
      ++column_count_[best];
    }

    const int k = static_cast<int>(pivot_row_.size());
    pivot_of_row_[r] = k;
    pivot_of_column_[best] = k;
    pivot_row_.push_back(r);
    pivot_column_.push_back(best);
    reference_.push_back(std::abs(pivot));

    const double epsilon = epsilon_of(r) * row_scale_[r];
    const double inverse = std::abs(pivot) > epsilon ? 1 / pivot : 0;
    for (std::size_t at = 0; at < column_rows_[best].size(); ++at) {
      const int i = column_rows_[best][at];
      if (pivot_of_row_[i] >= 0) continue;
      for (const WorkEntry& e : work_[i]) {
        accumulator_[e.column] = e.value;
        mark_[e.column] = 1;
      }
      const double multiplier = accumulator_[best] * inverse;
      for (const WorkEntry& e : work_[r]) {
        if (pivot_of_column_[e.column] >= 0) continue;
        if (!mark_[e.column]) {
          mark_[e.column] = 1;
          accumulator_[e.column] = 0;
          work_[i].push_back({e.column, 0});
          column_rows_[e.column].push_back(i);
          ++column_count_[e.column];
        }
        accumulator_[e.column] -= multiplier * e.value;
      }
      for (WorkEntry& e : work_[i]) {
        if (e.column != best) e.value = accumulator_[e.column];
        mark_[e.column] = 0;
      }
      heap_.emplace_back(active_count(i), i);
      std::push_heap(heap_.begin(), heap_.end(), later);
    }
    for (const WorkEntry& e : work_[r]) --column_count_[e.column];
  }

  free_column_.clear();
  for (int c = 0; c < columns_; ++c) {
    if (pivot_of_column_[c] < 0) free_column_.push_back(c);
  }
}

// Lays out each pivot row as [L | diagonal | U], U sorted by pivot, and lists for every pivot the rows below it that it
// updates, with the places where its U part lands.
void Condensation::compile() {
  const int rank = this->rank();
  for (int i = 0; i < static_cast<int>(free_column_.size()); ++i) pivot_of_column_[free_column_[i]] = rank + i;

  lu_.clear();
  upper_row_.clear();
  pivots_.clear();
  updates_.clear();
  target_.clear();
  scatter_place_.clear();
  scatter_value_.clear();
  free_entry_.clear();
  inverse_.assign(rank, 0.0);

  for (int k = 0; k < rank; ++k) {  // the rows: fill in free columns lives in the right-hand sides, not here
    auto& row = work_[pivot_row_[k]];
    std::sort(row.begin(), row.end(), [&](const WorkEntry& a, const WorkEntry& b) {
      return pivot_of_column_[a.column] < pivot_of_column_[b.column];
    });
    PivotRow p{};
    p.source = pivot_row_[k];
    for (const WorkEntry& e : row) {
      const int j = pivot_of_column_[e.column];
      if (j >= rank) break;
      if (j == k) p.diagonal = static_cast<int>(upper_row_.size());
      upper_row_.push_back(j);
    }
    p.upper_end = static_cast<int>(upper_row_.size());
    pivots_.push_back(p);
  }
  lu_.assign(upper_row_.size(), 0.0);

  const auto begin_of = [&](int k) { return k == 0 ? 0 : pivots_[k - 1].upper_end; };
  place_.assign(rank, -1);
  for (int k = 0; k < rank; ++k) {
    PivotRow& p = pivots_[k];
    p.update_begin = static_cast<int>(updates_.size());
    for (int r : column_rows_[pivot_column_[k]]) {
      const int i = pivot_of_row_[r];
      if (i <= k || i >= rank) continue;
      for (int at = begin_of(i); at < pivots_[i].upper_end; ++at) place_[upper_row_[at]] = at;
      updates_.push_back({i, place_[k], static_cast<int>(target_.size())});
      for (int at = p.diagonal + 1; at < p.upper_end; ++at) target_.push_back(place_[upper_row_[at]]);
    }
    p.update_end = static_cast<int>(updates_.size());
  }

  std::fill(place_.begin(), place_.end(), -1);
  for (int v = 0; v < static_cast<int>(pattern_.size()); ++v) {
    const auto [r, c] = pattern_[v];
    if (c < 0 || excluded_[r] || pivot_of_row_[r] >= rank) continue;
    const int i = pivot_of_row_[r], j = pivot_of_column_[c];
    if (j >= rank) {
      free_entry_.push_back({i, j - rank, v});
      continue;
    }
    int at = begin_of(i);
    while (upper_row_[at] != j) ++at;
    scatter_place_.push_back(at);
    scatter_value_.push_back(v);
  }
}

bool Condensation::factor(const double* values) {
  std::fill(lu_.begin(), lu_.end(), 0.0);
  for (std::size_t i = 0; i < scatter_place_.size(); ++i) lu_[scatter_place_[i]] = values[scatter_value_[i]];

  double* lu = lu_.data();
  const int* target = target_.data();
  bool fresh = true;
  smallest_pivot_ = 1e300;
  passed_over_ = -1;
  for (std::size_t k = 0; k < pivots_.size(); ++k) {
    const PivotRow& p = pivots_[k];
    const double pivot = lu[p.diagonal];
    const double size = std::abs(pivot);
    const double epsilon = epsilon_of(p.source) * row_scale_[p.source];
    const bool kept = size >= kStale * reference_[k] && size * kStale <= reference_[k];
    fresh = fresh && (kept || std::max(size, reference_[k]) < epsilon);
    const double inverse = size > epsilon ? 1 / pivot : 0;
    if (inverse == 0) passed_over_ = p.source;
    smallest_pivot_ = std::min(smallest_pivot_, size / (row_scale_[p.source] + 1e-300));
    inverse_[k] = inverse;
    const int count = p.upper_end - p.diagonal - 1;
    const double* upper = lu + p.diagonal + 1;
    for (int u = p.update_begin; u < p.update_end; ++u) {
      const Update& update = updates_[u];
      const double multiplier = (lu[update.multiplier] *= inverse);
      const int* to = target + update.first;
      for (int j = 0; j < count; ++j) lu[to[j]] -= multiplier * upper[j];
    }
  }
  return fresh;
}

template <int Width>
void Condensation::substitute(double* x, int width) const {
  const int w = Width > 0 ? Width : width;
  const double* lu = lu_.data();
  const int rank = static_cast<int>(pivots_.size());
  for (int k = 0; k < rank; ++k) {
    const PivotRow& p = pivots_[k];
    const double* from = x + k * w;
    for (int u = p.update_begin; u < p.update_end; ++u) {
      const double l = lu[updates_[u].multiplier];
      double* to = x + updates_[u].row * w;
      for (int j = 0; j < w; ++j) to[j] -= l * from[j];
    }
  }
  for (int k = rank - 1; k >= 0; --k) {
    const PivotRow& p = pivots_[k];
    double* to = x + k * w;
    for (int at = p.diagonal + 1; at < p.upper_end; ++at) {
      const double a = lu[at];
      const double* from = x + upper_row_[at] * w;
      for (int j = 0; j < w; ++j) to[j] -= a * from[j];
    }
    for (int j = 0; j < w; ++j) to[j] *= inverse_[k];
  }
}

void Condensation::solve(double* x, int width) const {
  switch (width) {
    case 1:
      return substitute<1>(x, width);
    case 2:
      return substitute<2>(x, width);
    case 3:
      return substitute<3>(x, width);
    case 4:
      return substitute<4>(x, width);
    case 5:
      return substitute<5>(x, width);
    default:
      return substitute<0>(x, width);
  }
}

}  // namespace kinegraph::linear
