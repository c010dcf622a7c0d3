#include "kinegraph/linear/matching.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "kinegraph/base/numbers.hpp"

namespace kinegraph::linear {

// Maximum product is minimum cost with cᵢⱼ = −log |aᵢⱼ|. Shortest augmenting paths keep duals with
//
//     uᵢ + vⱼ ≤ cᵢⱼ,  equality where matched,  vⱼ ≤ 0,  vⱼ = 0 on free columns,
//
// which prove the matching cheapest among those of its size, and give the scaling rᵢ = exp uᵢ, cⱼ = exp vⱼ
// (Duff and Koster, On algorithms for permuting large entries to the diagonal of a sparse matrix, 2001).
namespace {

class Assignment {
 public:
  explicit Assignment(const SparseRows& a) : a_(a), cost_(a.value.size()) {
    std::transform(a.value.begin(), a.value.end(), cost_.begin(), [](double x) {
      const double size = std::abs(x);
      return size > 0 && std::isfinite(size) ? -std::log(size) : kInfinity;
    });
    row_dual_.assign(a.rows(), 0);
    column_dual_.assign(a.columns, 0);
    column_of_.assign(a.rows(), -1);
    row_of_.assign(a.columns, -1);
    distance_.assign(a.columns, kInfinity);
    reached_from_.assign(a.columns, -1);
  }

  Matching run() {
    start_greedily();
    for (int i = 0; i < a_.rows(); ++i) {
      if (column_of_[i] < 0) augment(i);
    }
    Matching m;
    m.column_of = column_of_;
    m.row_of = row_of_;
    m.size = static_cast<int>(std::count_if(column_of_.begin(), column_of_.end(), [](int j) { return j >= 0; }));
    for (double u : row_dual_) m.row_scale.push_back(std::exp(u));
    for (double v : column_dual_) m.column_scale.push_back(std::exp(v));
    return m;
  }

 private:
  void start_greedily() {
    for (int i = 0; i < a_.rows(); ++i) {
      double least = kInfinity;
      for (int k = a_.start[i]; k < a_.start[i + 1]; ++k) least = std::min(least, cost_[k]);
      if (least == kInfinity) continue;  // a row of zeros
      row_dual_[i] = least;
      for (int k = a_.start[i]; k < a_.start[i + 1]; ++k) {
        if (cost_[k] == least && row_of_[a_.column[k]] < 0) {
          match(i, a_.column[k]);
          break;
        }
      }
    }
  }

  /// Dijkstra over columns from a free row to the nearest free column, along reduced costs c − u − v ≥ 0.
  void augment(int free_row) {
    heap_.clear();
    settled_.clear();
    touched_.clear();
    double done = 0, best = kInfinity;
    int end = -1;
    for (int i = free_row; i >= 0;) {
      for (int k = a_.start[i]; k < a_.start[i + 1]; ++k) {
        const int j = a_.column[k];
        const double d = done + std::max(0.0, cost_[k] - row_dual_[i] - column_dual_[j]);
        if (!(d < best) || !(d < distance_[j])) continue;
        if (distance_[j] == kInfinity) touched_.push_back(j);
        distance_[j] = d;
        reached_from_[j] = i;
        if (row_of_[j] < 0) {
          best = d;
          end = j;
        } else {
          heap_.emplace_back(d, j);
          std::push_heap(heap_.begin(), heap_.end(), std::greater<>{});
        }
      }
      i = -1;
      while (!heap_.empty() && i < 0) {
        std::pop_heap(heap_.begin(), heap_.end(), std::greater<>{});
        const auto [d, j] = heap_.back();
        heap_.pop_back();
        if (d >= best) break;
        if (d > distance_[j]) continue;  // an older, longer way to j
        settled_.push_back(j);
        done = d;
        i = row_of_[j];
      }
    }
    if (end >= 0) flip_path(free_row, end, best);
    for (int j : touched_) distance_[j] = kInfinity;
  }

  void flip_path(int free_row, int end, double length) {
    tree_rows_.assign(1, free_row);
    for (int j : settled_) {
      column_dual_[j] += distance_[j] - length;
      tree_rows_.push_back(row_of_[j]);
    }
    for (int j = end; j >= 0;) {
      const int i = reached_from_[j];
      const int freed = column_of_[i];
      match(i, j);
      j = i == free_row ? -1 : freed;
    }
    for (int i : tree_rows_) row_dual_[i] = cost_of(i, column_of_[i]) - column_dual_[column_of_[i]];
  }

  double cost_of(int row, int column) const {
    const auto columns = a_.columns_of(row);
    return cost_[a_.start[row] + (std::find(columns.begin(), columns.end(), column) - columns.begin())];
  }

  void match(int i, int j) {
    column_of_[i] = j;
    row_of_[j] = i;
  }

  const SparseRows& a_;
  std::vector<double> cost_, row_dual_, column_dual_, distance_;
  std::vector<int> column_of_, row_of_, reached_from_, settled_, touched_, tree_rows_;
  std::vector<std::pair<double, int>> heap_;
};

}  // namespace

Matching maximum_product_matching(const SparseRows& a) { return Assignment(a).run(); }

// A matching σ of a symmetric K is a permutation; its cycles of length 1 are 1×1 pivots, of length 2 pairs. A longer
// cycle is cut into pairs of successive rows, and one single row if its length is odd, so that the product stays
// largest (Duff and Pralet, Strategies for scaling and pivoting for sparse symmetric indefinite problems, 2005). For a
// positive definite K no cycle beats the diagonal, since |kᵢⱼ|² ≤ kᵢᵢ kⱼⱼ: it needs no pairs and gets none.
namespace {

/// Full rows of S K S, with the diagonal of each row apart.
struct ScaledMatrix {
  SparseRows rows;
  std::vector<double> diagonal;

  double at(int i, int j) const {
    if (i == j) return diagonal[i];
    const auto columns = rows.columns_of(i);
    double sum = 0;
    for (std::size_t k = 0; k < columns.size(); ++k) sum += columns[k] == j ? rows.values_of(i)[k] : 0.0;
    return sum;
  }
};

/// S such that the largest entry of each row of S K S is near 1: three sweeps of sᵢ ← sᵢ / √maxⱼ |sᵢ kᵢⱼ sⱼ|.
std::vector<double> equilibrate(const SymmetricPattern& p, std::span<const double> values) {
  std::vector<double> scale(p.size(), 1.0), largest(p.size());
  for (int sweep = 0; sweep < 3; ++sweep) {
    std::fill(largest.begin(), largest.end(), 0.0);
    for (int j = 0; j < p.size(); ++j) {
      for (int k = p.start[j]; k < p.start[j + 1]; ++k) {
        const int i = p.row[k];
        const double x = std::abs(values[k]) * scale[i] * scale[j];
        largest[i] = std::max(largest[i], x);
        largest[j] = std::max(largest[j], x);
      }
    }
    for (int i = 0; i < p.size(); ++i) {
      if (largest[i] > 0 && std::isfinite(largest[i])) scale[i] /= std::sqrt(largest[i]);
    }
  }
  return scale;
}

ScaledMatrix scaled_rows(const SymmetricPattern& p, std::span<const double> values, std::span<const double> scale) {
  const int n = p.size();
  ScaledMatrix m;
  m.rows.columns = n;
  m.diagonal.assign(n, 0.0);
  std::vector<int> count(n, 1);
  for (int j = 0; j < n; ++j) {
    for (int k = p.start[j]; k < p.start[j + 1]; ++k) {
      const int i = p.row[k];
      if (i == j) {
        m.diagonal[j] += values[k] * scale[j] * scale[j];
      } else {
        ++count[i];
        ++count[j];
      }
    }
  }
  m.rows.start.resize(n + 1);
  for (int i = 0; i < n; ++i) m.rows.start[i + 1] = m.rows.start[i] + count[i];
  m.rows.column.resize(m.rows.start[n]);
  m.rows.value.resize(m.rows.start[n]);
  std::vector<int> next(m.rows.start.begin(), m.rows.start.end() - 1);
  const auto put = [&](int i, int j, double v) {
    m.rows.column[next[i]] = j;
    m.rows.value[next[i]++] = v;
  };
  for (int i = 0; i < n; ++i) put(i, i, m.diagonal[i]);
  for (int j = 0; j < n; ++j) {
    for (int k = p.start[j]; k < p.start[j + 1]; ++k) {
      const int i = p.row[k];
      if (i == j) continue;
      put(i, j, values[k] * scale[i] * scale[j]);
      put(j, i, values[k] * scale[i] * scale[j]);
    }
  }
  return m;
}

double log_size(double x) { return std::max(-60.0, std::log(std::abs(x))); }

/// Cuts the cycle c₀ → c₁ → … → c₀ of σ. With wₜ = log |k(cₜ, cₜ₊₁)| and cₛ left single (odd length) the pairs give
/// W(s) = wₛ₊₁ + wₛ₊₃ + … + wₛ₊ₗ₋₂, and W(s+2) = W(s) − wₛ₊₁ + wₛ: all s in one walk of step 2.
void cut_cycle(const std::vector<int>& cycle, const ScaledMatrix& m, std::vector<int>& partner) {
  const int length = static_cast<int>(cycle.size());
  std::vector<double> w(length);
  for (int t = 0; t < length; ++t) w[t] = log_size(m.at(cycle[t], cycle[(t + 1) % length]));
  int first = 0;  // pairs are (first, first+1), (first+2, first+3), …
  if (length % 2 == 0) {
    double even = 0, odd = 0;
    for (int t = 0; t < length; ++t) (t % 2 == 0 ? even : odd) += w[t];
    first = even >= odd ? 0 : 1;
  } else {
    double sum = 0;
    for (int t = 1; t < length - 1; t += 2) sum += w[t];
    double best = -kInfinity;
    for (int step = 0, s = 0; step < length; ++step) {
      const double total = sum + log_size(m.diagonal[cycle[s]]);
      if (total > best) {
        best = total;
        first = (s + 1) % length;
      }
      sum += w[s] - w[(s + 1) % length];
      s = (s + 2) % length;
    }
  }
  for (int t = 0; t + 1 < length; t += 2) {
    const int i = cycle[(first + t) % length], j = cycle[(first + t + 1) % length];
    partner[i] = j;
    partner[j] = i;
  }
}

}  // namespace

int Pairing::pairs() const {
  int count = 0;
  for (int i = 0; i < static_cast<int>(partner.size()); ++i) count += partner[i] > i;
  return count;
}

Pairing pair_pivots(const SymmetricPattern& pattern, std::span<const double> values) {
  const int n = pattern.size();
  Pairing pairing;
  pairing.scale = equilibrate(pattern, values);
  const ScaledMatrix m = scaled_rows(pattern, values, pairing.scale);
  const Matching matching = maximum_product_matching(m.rows);

  pairing.partner = std::vector<int>(n);
  for (int i = 0; i < n; ++i) pairing.partner[i] = i;
  std::vector<char> seen(n, 0);
  std::vector<int> cycle;
  for (int i = 0; i < n; ++i) {
    cycle.clear();
    for (int j = i; j >= 0 && !seen[j]; j = matching.column_of[j]) {
      seen[j] = 1;
      cycle.push_back(j);
    }
    // Where rows are left unmatched (K is structurally singular) this is a path: the leftover row stays single.
    if (cycle.size() > 1) cut_cycle(cycle, m, pairing.partner);
  }
  for (int i = 0; i < n; ++i) {
    const int j = pairing.partner[i];
    if (j <= i) continue;
    const double off = m.at(i, j);
    if (std::abs(m.diagonal[i] * m.diagonal[j]) >= off * off) pairing.partner[i] = i, pairing.partner[j] = j;
  }
  for (int i = 0; i < n; ++i) {
    const double dual = std::sqrt(matching.row_scale[i] * matching.column_scale[i]);
    if (matching.column_of[i] >= 0 && std::isfinite(dual) && dual > 0) pairing.scale[i] *= dual;
  }
  return pairing;
}

}  // namespace kinegraph::linear
