#include <algorithm>
#include <cmath>

#include "kinegraph/filter/natural_dense.hpp"
#include "kinegraph/filter/natural_saddle.hpp"

namespace kinegraph::filter {
namespace {

constexpr double kNoInertia = 1e-13;     // a pivot of a coordinate below this share of what it may be is none
constexpr double kNoConstraint = 4e-15;  // of a multiplier: it falls with the square of the way to a singular position

}  // namespace

NaturalSaddle::NaturalSaddle(const natural::System& system, int relative_coordinates, const std::vector<int>& redundant)
    : n_(system.coordinates()),
      m_(system.constraints()),
      substituted_(n_, 0),
      ordinary_(m_, 1),
      weight_(m_, 0.0),
      inertia_(n_, 0.0),
      phi_(system.jacobian_pattern().size(), 0.0) {
  find_pairs(system, relative_coordinates, redundant);
  reduce_rows(system);
  weigh(system);
  compile(system);
}

// Rows of relative coordinates come before those of drivers, so the first row that reads one is its own.
void NaturalSaddle::find_pairs(const natural::System& system, int relative_coordinates,
                               const std::vector<int>& redundant) {
  for (int r : redundant) ordinary_[r] = 0;
  left_out_ = redundant;
  const auto pattern = system.jacobian_pattern();
  for (int c = n_ - relative_coordinates; c < n_; ++c) {
    const auto own = std::find_if(pattern.begin(), pattern.end(), [&](const Entry& e) { return e.column == c; });
    if (own == pattern.end() || !ordinary_[own->row]) continue;
    Pair pair{c, own->row, static_cast<int>(own - pattern.begin()), static_cast<int>(pair_entry_.size()), 0};
    for (int i = 0; i < static_cast<int>(pattern.size()); ++i) {
      if (pattern[i].row == pair.row && pattern[i].column != c) pair_entry_.push_back({i, pattern[i].column});
    }
    pair.end = static_cast<int>(pair_entry_.size());
    pairs_.push_back(pair);
    substituted_[c] = 1;
    ordinary_[pair.row] = 0;
  }
  pair_inverse_.assign(pairs_.size(), 0.0);
}

// What is left of the other rows once the relative coordinates are substituted:  Φ̃_r = Φ_r,p − Φ_r,θ Φ_p / g
void NaturalSaddle::reduce_rows(const natural::System& system) {
  const auto pattern = system.jacobian_pattern();
  for (int r = 0; r < m_; ++r) {
    reduced_begin_.push_back(static_cast<int>(reduced_column_.size()));
    if (!ordinary_[r]) continue;
    const auto place_of = [&](int column) {
      int at = reduced_begin_.back();
      while (at < static_cast<int>(reduced_column_.size()) && reduced_column_[at] != column) ++at;
      if (at == static_cast<int>(reduced_column_.size())) {
        reduced_column_.push_back(column);
        reduced_source_.push_back(-1);
      }
      return at;
    };
    for (int i = 0; i < static_cast<int>(pattern.size()); ++i) {
      if (pattern[i].row == r && !substituted_[pattern[i].column]) reduced_source_[place_of(pattern[i].column)] = i;
    }
    for (int i = 0; i < static_cast<int>(pattern.size()); ++i) {
      if (pattern[i].row != r || !substituted_[pattern[i].column]) continue;
      for (int p = 0; p < static_cast<int>(pairs_.size()); ++p) {
        if (pairs_[p].coordinate != pattern[i].column) continue;
        couplings_.push_back({r, p, i});
        for (int e = pairs_[p].begin; e < pairs_[p].end; ++e)
          fills_.push_back({place_of(pair_entry_[e].coordinate), i, pair_entry_[e].value, p});
      }
    }
  }
  reduced_begin_.push_back(static_cast<int>(reduced_column_.size()));
  reduced_.assign(reduced_column_.size(), 0.0);
}

// W brings Φ_qᵀ W Φ_q to the size of M: from the pose as drawn, for good.
void NaturalSaddle::weigh(const natural::System& system) {
  double largest = 0;
  for (std::size_t k = 0; k < system.mass_values().size(); ++k) {
    const auto [row, column] = system.mass_pattern()[k];
    if (row == column) largest = std::max(largest, inertia_[row] = system.mass_values()[k]);
  }
  if (largest == 0) largest = 1;
  const double length = system.typical_length();
  const Eigen::VectorXd guess = system.guess();
  system.position(guess.data(), 0, nullptr, phi_.data());
  for (const Pair& pair : pairs_) phi_[pair.pivot] = phi_[pair.pivot] == 0 ? length : phi_[pair.pivot];
  reduce();
  for (int r = 0; r < m_; ++r) {
    if (!ordinary_[r]) continue;
    double norm = 0, mass = 0;
    for (int at = reduced_begin_[r]; at < reduced_begin_[r + 1]; ++at) {
      norm += reduced_[at] * reduced_[at];
      mass = std::max(mass, inertia_[reduced_column_[at]]);
    }
    weight_[r] = (mass > 0 ? mass : largest) / (norm > 0 ? norm : length * length);
  }
  for (int c = 0; c < n_; ++c) {
    if (inertia_[c] == 0) inertia_[c] = substituted_[c] ? largest * length * length : largest;
  }
}

// Minimum degree, with every multiplier after its coordinates.
std::vector<int> NaturalSaddle::order(const natural::System& system, std::vector<char>& adjacent) const {
  const int size = n_ + m_;
  adjacent.assign(static_cast<std::size_t>(size) * size, 0);
  const auto join = [&](int i, int j) { adjacent[i * size + j] = adjacent[j * size + i] = 1; };
  for (const Entry& e : system.mass_pattern()) join(e.row, e.column);
  for (int r = 0; r < m_; ++r) {
    for (int a = reduced_begin_[r]; a < reduced_begin_[r + 1]; ++a) {
      join(n_ + r, reduced_column_[a]);
      for (int b = reduced_begin_[r]; b < reduced_begin_[r + 1]; ++b) join(reduced_column_[a], reduced_column_[b]);
    }
  }
  std::vector<char> left(size, 0);
  for (int c = 0; c < n_; ++c) left[c] = !substituted_[c];
  for (int r = 0; r < m_; ++r) left[n_ + r] = ordinary_[r];
  std::vector<int> waits(m_, 0), result;  // coordinates of a row that are not yet eliminated
  for (int r = 0; r < m_; ++r) waits[r] = reduced_begin_[r + 1] - reduced_begin_[r];
  for (;;) {
    int best = -1, best_degree = 0;
    for (int i = size - 1; i >= 0; --i) {
      if (!left[i] || (i >= n_ && waits[i - n_] > 0)) continue;
      int degree = 0;
      for (int j = 0; j < size; ++j) degree += left[j] && adjacent[i * size + j];
      if (best < 0 || degree < best_degree) best = i, best_degree = degree;
    }
    if (best < 0) return result;
    result.push_back(best);
    left[best] = 0;
    for (int r = 0; best < n_ && r < m_; ++r) {
      for (int a = reduced_begin_[r]; a < reduced_begin_[r + 1]; ++a) waits[r] -= reduced_column_[a] == best;
    }
    for (int i = 0; i < size; ++i) {
      for (int j = 0; j < i; ++j) {
        if (left[i] && left[j] && adjacent[best * size + i] && adjacent[best * size + j]) join(i, j);
      }
    }
  }
}

// L column by column in the order of elimination, and where each product of two entries of a column lands.
void NaturalSaddle::compile(const natural::System& system) {
  std::vector<char> adjacent;
  const std::vector<int> sequence = order(system, adjacent);
  dense_ = sequence.size() <= kNaturalMostDense;
  if (dense_) std::fill(adjacent.begin(), adjacent.end(), 1);
  const int size = n_ + m_;
  std::vector<int> rank(size, size), place(static_cast<std::size_t>(size) * size, -1);
  for (std::size_t k = 0; k < sequence.size(); ++k) rank[sequence[k]] = static_cast<int>(k);
  for (int variable : sequence) {
    Column column{};
    column.variable = variable;
    column.diagonal = static_cast<int>(place_variable_.size());
    sign_.push_back(variable < n_ ? 1 : -1);
    least_.push_back(variable < n_ ? kNoInertia * inertia_[variable] : kNoConstraint / weight_[variable - n_]);
    place[variable * size + variable] = column.diagonal;
    place_variable_.push_back(variable);
    column.begin = column.diagonal + 1;
    for (std::size_t k = rank[variable] + 1; k < sequence.size(); ++k) {
      const int other = sequence[k];
      if (!adjacent[variable * size + other]) continue;
      place[variable * size + other] = place[other * size + variable] = static_cast<int>(place_variable_.size());
      place_variable_.push_back(other);
    }
    column.end = static_cast<int>(place_variable_.size());
    columns_.push_back(column);
  }
  for (const Column& c : columns_) {
    for (int a = c.begin; a < c.end; ++a) {
      for (int b = a; b < c.end; ++b) target_.push_back(place[place_variable_[a] * size + place_variable_[b]]);
    }
  }
  base_.assign(place_variable_.size(), 0.0);
  for (std::size_t k = 0; k < system.mass_values().size(); ++k) {
    const auto [row, column] = system.mass_pattern()[k];
    if (row <= column) base_[place[row * size + column]] = system.mass_values()[k];
  }
  for (int r = 0; r < m_; ++r) {
    for (int a = reduced_begin_[r]; a < reduced_begin_[r + 1]; ++a) {
      scatter_.push_back(place[(n_ + r) * size + reduced_column_[a]]);
      for (int b = reduced_begin_[r]; b <= a; ++b)
        products_.push_back({place[reduced_column_[a] * size + reduced_column_[b]], a, b, weight_[r]});
    }
  }
  lower_ = base_;
  inverse_.assign(columns_.size(), 0.0);
}

SaddlePlan NaturalSaddle::plan() const {
  const auto list = []<class T>(const std::vector<T>& x) { return PlainList<T>{x.data(), static_cast<int>(x.size())}; };
  SaddlePlan plan;
  plan.pairs = list(pairs_);
  plan.pair_entry = list(pair_entry_);
  plan.couplings = list(couplings_);
  plan.reduced_source = list(reduced_source_);
  plan.scatter = list(scatter_);
  plan.fills = list(fills_);
  plan.products = list(products_);
  plan.columns = list(columns_);
  plan.place_variable = list(place_variable_);
  plan.target = list(target_);
  plan.base = list(base_);
  plan.sign = list(sign_);
  plan.least = list(least_);
  plan.inertia = list(inertia_);
  plan.dense = dense_;
  return plan;
}

}  // namespace kinegraph::filter
