#include "kinegraph/linear/sparse_lu.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <set>

namespace kinegraph::linear {

// Right-looking elimination on sparse rows. In step k pivot row p and column c are taken, and every other row t with an
// entry there becomes  aₜ ← aₜ − f aₚ,  f = aₜ(c)/aₚ(c).  The pivot is the entry of least (rₚ − 1)(n_c − 1), r and n
// being the entries left in its row and column (Markowitz 1957), among those of at least a tenth of their row's
// largest: then |f aₚ(j)| ≤ 10 |aₜ(c)| and entries do not run away. A row is void once nothing above the tolerance is
// left in it.
namespace {

constexpr double kSparsePivotShare = 0.1;
constexpr int kRowsLookedAt = 4;
constexpr double kDropped = 1e-15;  // relative to the terms that cancelled

}  // namespace

class SparseLu::Elimination {
 public:
  Elimination(SparseLu& lu, const SparseRows& a, double tolerance)
      : lu_(lu), tolerance_(tolerance), rows_(a.rows()), columns_(a.columns), place_(a.columns, -1) {
    lu.scale_.assign(a.rows(), 1.0);
    lu.step_of_row_.assign(a.rows(), -1);
    lu.step_of_column_.assign(a.columns, -1);
    lu.steps_of_column_.resize(a.columns);
    lu.lower_.resize(a.rows());
    for (int i = 0; i < a.rows(); ++i) load(a, i);
    for (int i = 0; i < a.rows(); ++i) enqueue(i);
  }

  void run() {
    while (!queue_.empty()) {
      const auto [row, column] = find_pivot();
      eliminate(row, column);
    }
    for (int i = 0; i < static_cast<int>(rows_.size()); ++i) {
      if (lu_.step_of_row_[i] < 0) lu_.void_rows_.push_back(i);
    }
    for (int c = 0; c < static_cast<int>(columns_.size()); ++c) {
      if (lu_.step_of_column_[c] < 0) lu_.free_columns_.push_back(c);
    }
  }

 private:
  void load(const SparseRows& a, int i) {
    double largest = 0;
    for (double v : a.values_of(i)) largest = std::max(largest, std::abs(v));
    if (!(largest > 0)) return;
    lu_.scale_[i] = 1 / largest;
    for (int k = a.start[i]; k < a.start[i + 1]; ++k) {
      if (a.value[k] == 0) continue;
      rows_[i].push_back({a.column[k], a.value[k] / largest});
      columns_[a.column[k]].push_back(i);
    }
  }

  static double largest(const std::vector<Item>& row) {
    double m = 0;
    for (const Item& item : row) m = std::max(m, std::abs(item.value));
    return m;
  }

  /// Puts a row up for pivoting, or takes it out of the matrix if it is void.
  void enqueue(int i) {
    if (largest(rows_[i]) > tolerance_) {
      queue_.emplace(static_cast<int>(rows_[i].size()), i);
      return;
    }
    for (const Item& item : rows_[i]) std::erase(columns_[item.index], i);
    rows_[i].clear();
  }

  std::pair<int, int> find_pivot() const {
    int best_row = -1, best_column = -1, looked = 0;
    double best_cost = 0, best_size = 0;
    for (auto [count, i] : queue_) {
      if (best_row >= 0 && (looked == kRowsLookedAt || best_cost == 0)) break;
      ++looked;
      const double enough = kSparsePivotShare * largest(rows_[i]);
      for (const Item& item : rows_[i]) {
        const double size = std::abs(item.value);
        if (size < enough) continue;
        const double cost = double(count - 1) * double(columns_[item.index].size() - 1);
        if (best_row >= 0 && (cost > best_cost || (cost == best_cost && size <= best_size))) continue;
        best_row = i, best_column = item.index, best_cost = cost, best_size = size;
      }
    }
    return {best_row, best_column};
  }

  void eliminate(int p, int c) {
    const int step = lu_.rank();
    lu_.pivot_row_.push_back(p);
    lu_.pivot_column_.push_back(c);
    lu_.step_of_row_[p] = step;
    lu_.step_of_column_[c] = step;
    queue_.erase({static_cast<int>(rows_[p].size()), p});
    for (const Item& item : rows_[p]) std::erase(columns_[item.index], p);

    std::vector<Item> pivot_row = std::move(rows_[p]);
    const auto at = std::find_if(pivot_row.begin(), pivot_row.end(), [&](const Item& i) { return i.index == c; });
    const double pivot = at->value;
    std::swap(*at, pivot_row.back());
    pivot_row.pop_back();

    const std::vector<int> targets = std::move(columns_[c]);
    columns_[c].clear();
    for (int t : targets) subtract(t, c, pivot_row, pivot, step);
    for (Item& item : pivot_row) {
      item.value /= pivot;
      lu_.steps_of_column_[item.index].push_back(step);
    }
    lu_.upper_.push_back(std::move(pivot_row));
  }

  void subtract(int t, int c, const std::vector<Item>& pivot_row, double pivot, int step) {
    std::vector<Item>& row = rows_[t];
    queue_.erase({static_cast<int>(row.size()), t});
    const auto at = std::find_if(row.begin(), row.end(), [&](const Item& i) { return i.index == c; });
    const double f = at->value / pivot;
    lu_.lower_[t].push_back({step, f});
    std::swap(*at, row.back());
    row.pop_back();
    for (std::size_t k = 0; k < row.size(); ++k) place_[row[k].index] = static_cast<int>(k);
    const std::size_t before = row.size();
    for (const Item& item : pivot_row) {
      const double change = f * item.value;
      if (place_[item.index] < 0) {
        row.push_back({item.index, -change});
        columns_[item.index].push_back(t);
        continue;
      }
      double& value = row[place_[item.index]].value;
      value -= change;
      if (std::abs(value) <= kDropped * std::abs(change)) value = 0;
    }
    for (std::size_t k = 0; k < before; ++k) place_[row[k].index] = -1;
    std::erase_if(row, [&](const Item& item) {
      if (item.value == 0) std::erase(columns_[item.index], t);
      return item.value == 0;
    });
    enqueue(t);
  }

  SparseLu& lu_;
  const double tolerance_;
  std::vector<std::vector<Item>> rows_;
  std::vector<std::vector<int>> columns_;  // rows with an entry there, pivot rows taken out
  std::set<std::pair<int, int>> queue_;    // (entries, row) of rows that may be pivots
  std::vector<int> place_;                 // scratch: where a row holds a column
};

SparseLu::SparseLu(const SparseRows& a, double tolerance) { Elimination(*this, a, tolerance).run(); }

// Void row i ended as  0 = eᵢᵀ E_r … E₁ (S A),  E_k = I − Σₜ fₜₖ eₜ e_pᵀ. So y is carried through the steps from last
// to first: y(p_k) ← y(p_k) − Σₜ fₜₖ y(t). Only steps that touch a non-zero y(t) are visited.
SparseVector SparseLu::left_null(int void_row) const {
  std::vector<double> y(step_of_row_.size(), 0.0);
  std::priority_queue<int> steps;
  SparseVector result;
  const auto pass_on = [&](int row) {
    if (y[row] == 0) return;
    result.emplace_back(row, y[row]);
    for (const Item& item : lower_[row]) {
      y[pivot_row_[item.index]] -= item.value * y[row];
      steps.push(item.index);
    }
  };
  y[void_row] = 1;
  pass_on(void_row);
  while (!steps.empty()) {
    const int step = steps.top();
    while (!steps.empty() && steps.top() == step) steps.pop();
    pass_on(pivot_row_[step]);
  }
  std::sort(result.begin(), result.end());
  return result;
}

// Back-substitution in U x = 0 from a free column up: x(c_k) = −Σⱼ u(k,j) x(j) / u(k,k), visiting only steps whose row
// holds a non-zero x(j).
SparseVector SparseLu::right_null(int free_column) const {
  std::vector<double> x(step_of_column_.size(), 0.0);
  std::priority_queue<int> steps;
  SparseVector result;
  const auto pass_on = [&](int column) {
    if (x[column] == 0) return;
    result.emplace_back(column, x[column]);
    for (int step : steps_of_column_[column]) steps.push(step);
  };
  x[free_column] = 1;
  pass_on(free_column);
  while (!steps.empty()) {
    const int step = steps.top();
    while (!steps.empty() && steps.top() == step) steps.pop();
    double sum = 0, terms = 0;
    for (const Item& item : upper_[step]) {
      sum += item.value * x[item.index];
      terms += std::abs(item.value * x[item.index]);
    }
    x[pivot_column_[step]] = std::abs(sum) <= kDropped * 10 * terms ? 0 : -sum;
    pass_on(pivot_column_[step]);
  }
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace kinegraph::linear
