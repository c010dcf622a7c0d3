#include "kinegraph/linear/last_front.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

// With rows and columns scaled, K = Q R Pᵀ by Householder reflections with column pivoting tells the rank and leaves
// r independent equations, [B₁ B₂] (x₁, x₂) = c. The same for B₂, applied to all of them, splits off the equations
// that do not hold x₂,
//
//     E x₁ = e        and      R₂ x₂ = c₂ − B₁' x₁,
//
// both of full row rank, of which the shortest solutions are taken in turn: x = Q R⁻ᵀ e with Eᵀ = Q R. Norms are those
// of the unscaled unknowns. Singles are taken out before and put back after.
namespace kinegraph::linear {
namespace {

constexpr double kRank = 1e-10;         // of the largest diagonal entry of R
constexpr double kAllRoundOff = 1e-12;  // of what a row's numbers have been: all of the block is round-off

/// The reflection that takes x (n ≥ 1 numbers) to a multiple of the first unit vector: I − β v vᵀ, v₀ = 1. On return x
/// holds the multiple and, behind it, v.
double reflect(double* x, int n) {
  double tail = 0;
  for (int i = 1; i < n; ++i) tail += x[i] * x[i];
  if (tail == 0) return 0;
  const double norm = std::sqrt(x[0] * x[0] + tail);
  const double head = x[0] <= 0 ? x[0] - norm : -tail / (x[0] + norm);
  const double beta = 2 * head * head / (tail + head * head);
  for (int i = 1; i < n; ++i) x[i] /= head;
  x[0] = norm;
  return beta;
}

void apply(const double* __restrict v, double beta, double* __restrict y, int n) {
  double sum = y[0];
  for (int i = 1; i < n; ++i) sum += v[i] * y[i];
  sum *= beta;
  y[0] -= sum;
  for (int i = 1; i < n; ++i) y[i] -= sum * v[i];
}

int sum(const std::vector<int>& list) { return std::accumulate(list.begin(), list.end(), 0); }

}  // namespace

LastFront::LastFront(std::vector<int> row_blocks, std::vector<int> column_blocks, int primary,
                     std::vector<Single> singles)
    : singles_(std::move(singles)),
      rows_(sum(row_blocks)),
      columns_(sum(column_blocks)),
      primary_(primary),
      row_blocks_(std::move(row_blocks)),
      column_blocks_(std::move(column_blocks)),
      matrix_(static_cast<std::size_t>(rows_) * (columns_ + 1)),
      inner_(matrix_.size()),
      solution_(columns_),
      x_(columns_),
      column_scale_(columns_),
      equations_(matrix_.size()),
      tall_(matrix_.size()),
      reflector_(std::max(rows_, columns_) + 1),
      part_(matrix_.size()),
      side_(std::max(rows_, columns_) + 1),
      order_(columns_) {
  std::vector<bool> row_out(rows_, false), column_out(columns_, false);
  for (const Single& s : singles_) row_out[s.row] = column_out[s.column] = true;
  for (int c = 0; c < primary_; ++c) inner_primary_ += !column_out[c];
  const auto keep = [](const std::vector<bool>& out, std::vector<int>& blocks, std::vector<int>& kept) {
    int at = 0;
    std::vector<int> sizes, numbers;  // of blocks of which something is left
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const std::size_t before = kept.size();
      for (const int end = at + blocks[b]; at < end; ++at) {
        if (!out[at]) kept.push_back(at);
      }
      if (kept.size() == before) continue;
      sizes.push_back(static_cast<int>(kept.size() - before));
      numbers.push_back(static_cast<int>(b));
    }
    blocks = std::move(sizes);
    return numbers;
  };
  row_block_numbers_ = keep(row_out, row_blocks_, kept_rows_);
  keep(column_out, column_blocks_, kept_columns_);
  row_factor_.resize(row_blocks_.size());
  side_factor_.resize(row_blocks_.size());
  column_factor_.resize(column_blocks_.size());
  largest_.resize(row_blocks_.size() * column_blocks_.size());
}

void LastFront::take_out_singles() {
  double* b = matrix_.data() + static_cast<std::size_t>(columns_) * rows_;
  for (const Single& s : singles_) {
    if (!s.in_row) continue;
    const double x = solution_[s.column] = s.sign * b[s.row];
    const double* column = matrix_.data() + static_cast<std::size_t>(s.column) * rows_;
    for (int r = 0; r < rows_; ++r) b[r] -= x * column[r];
  }
  const std::size_t rows = kept_rows_.size();
  double* to = inner_.data();
  for (std::size_t c = 0; c <= kept_columns_.size(); ++c, to += rows) {
    const int column = c < kept_columns_.size() ? kept_columns_[c] : columns_;
    const double* from = matrix_.data() + static_cast<std::size_t>(column) * rows_;
    for (std::size_t r = 0; r < rows; ++r) to[r] = from[kept_rows_[r]];
  }
}

void LastFront::put_back_singles() {
  for (std::size_t c = 0; c < kept_columns_.size(); ++c) solution_[kept_columns_[c]] = x_[c];
  for (const Single& s : singles_) {
    if (s.in_row) continue;
    const auto at = [&](int c) { return matrix_[static_cast<std::size_t>(c) * rows_ + s.row]; };
    double rest = at(columns_);
    for (const int c : kept_columns_) rest -= at(c) * solution_[c];
    solution_[s.column] = s.sign * rest;
  }
  rank_ += static_cast<int>(singles_.size());
}

/// Calls `use` with each stretch of the matrix that lies in one block of rows and one of columns, in the order of its
/// numbers: the block of rows, the block of columns, begin, end.
template <class Use>
void LastFront::each_stretch(const Use& use) {
  double* x = inner_.data();
  for (std::size_t c = 0; c < column_blocks_.size(); ++c) {
    if (row_blocks_.size() == 1) {  // one loop in the place of many short ones
      const std::size_t count = kept_rows_.size() * static_cast<std::size_t>(column_blocks_[c]);
      use(0, c, x, x + count);
      x += count;
      continue;
    }
    for (int k = 0; k < column_blocks_[c]; ++k) {
      for (std::size_t b = 0; b < row_blocks_.size(); ++b) {
        use(b, c, x, x + row_blocks_[b]);
        x += row_blocks_[b];
      }
    }
  }
}

/// Blocks of rows, then of columns, to a largest entry of 1; twice. Blocks of round-off become zero. What the factors
/// do to the largest entry of a block is seen on that alone; the matrix is multiplied once.
void LastFront::scale(const double* history) {
  const std::size_t row_blocks = row_blocks_.size(), column_blocks = column_blocks_.size();
  std::fill(largest_.begin(), largest_.end(), 0.0);
  each_stretch([&](std::size_t b, std::size_t c, const double* x, const double* end) {
    double largest = largest_[c * row_blocks + b];
    for (; x != end; ++x) largest = std::max(largest, std::abs(*x));
    largest_[c * row_blocks + b] = largest;
  });
  std::fill(row_factor_.begin(), row_factor_.end(), 1.0);
  std::fill(side_factor_.begin(), side_factor_.end(), 1.0);
  std::fill(column_factor_.begin(), column_factor_.end(), 1.0);
  for (int sweep = 0; sweep < 2; ++sweep) {
    for (std::size_t b = 0; b < row_blocks; ++b) {
      double largest = 0;
      for (std::size_t c = 0; c < column_blocks; ++c) largest = std::max(largest, largest_[c * row_blocks + b]);
      const bool nothing = sweep == 0 && largest <= kAllRoundOff * history[row_block_numbers_[b]];
      const double factor = largest > 0 && !nothing ? 1 / largest : 0;
      row_factor_[b] *= factor;
      if (factor > 0) side_factor_[b] *= factor;
      for (std::size_t c = 0; c < column_blocks; ++c) largest_[c * row_blocks + b] *= factor;
    }
    for (std::size_t c = 0; c < column_blocks; ++c) {
      double* of_column = largest_.data() + c * row_blocks;
      const double largest = row_blocks == 0 ? 0 : *std::max_element(of_column, of_column + row_blocks);
      const double factor = largest > kAllRoundOff ? 1 / largest : 0;
      column_factor_[c] *= factor;
      for (std::size_t b = 0; b < row_blocks; ++b) of_column[b] *= factor;
    }
  }
  multiply_with_factors();
}

void LastFront::multiply_with_factors() {
  each_stretch([&](std::size_t b, std::size_t c, double* x, const double* end) {
    const double of_row = row_factor_[b], of_column = column_factor_[c];
    for (; x != end; ++x) *x = *x * of_row * of_column;
  });
  double* side = inner_.data() + kept_rows_.size() * kept_columns_.size();
  for (std::size_t b = 0; b < row_blocks_.size(); ++b) {
    for (int r = 0; r < row_blocks_[b]; ++r) *side++ *= side_factor_[b];
  }
  double* scale = column_scale_.data();
  for (std::size_t c = 0; c < column_blocks_.size(); ++c)
    scale = std::fill_n(scale, column_blocks_[c], column_factor_[c]);
}

/// Q R Pᵀ of the first columns; the carried ones behind them are multiplied with Qᵀ. Returns the rank.
int LastFront::triangulate(double* a, int rows, int columns, int carried, int lead, int* order) {
  std::iota(order, order + columns, 0);
  double first = 0;
  for (int k = 0; k < std::min(rows, columns); ++k) {
    int best = k;
    double best_norm = -1;
    for (int c = k; c < columns; ++c) {
      double norm = 0;
      for (int r = k; r < rows; ++r) norm += a[c * lead + r] * a[c * lead + r];
      if (norm > best_norm) best = c, best_norm = norm;
    }
    best_norm = std::sqrt(best_norm);
    if (k == 0) first = best_norm;
    if (!(best_norm > kRank * first)) return k;
    if (best != k) {
      std::swap_ranges(a + k * lead, a + k * lead + rows, a + best * lead);
      std::swap(order[k], order[best]);
    }
    double* v = a + k * lead + k;
    const double beta = reflect(v, rows - k);
    for (int c = k + 1; c < columns + carried; ++c) apply(v, beta, a + c * lead + k, rows - k);
    std::fill(v + 1, v + rows - k, 0.0);
  }
  return std::min(rows, columns);
}

/// The shortest x with A x = b; A has full row rank.
void LastFront::shortest(const double* a, int rows, int columns, int lead, const double* b, double* x) {
  double* t = tall_.data();  // Aᵀ
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) t[r * columns + c] = a[c * lead + r];
  }
  for (int k = 0; k < rows; ++k) {
    double* v = t + k * columns + k;
    reflector_[k] = reflect(v, columns - k);
    for (int c = k + 1; c < rows; ++c) apply(v, reflector_[k], t + c * columns + k, columns - k);
  }
  std::fill(x, x + columns, 0.0);
  for (int k = 0; k < rows; ++k) {
    double s = b[k];
    for (int i = 0; i < k; ++i) s -= t[k * columns + i] * x[i];
    x[k] = s / t[k * columns + k];
  }
  for (int k = rows - 1; k >= 0; --k) apply(t + k * columns + k, reflector_[k], x + k, columns - k);
}

void LastFront::solve(const double* history) {
  take_out_singles();
  solve_inner(history);
  put_back_singles();
}

void LastFront::solve_inner(const double* history) {
  const int rows = static_cast<int>(kept_rows_.size()), columns = static_cast<int>(kept_columns_.size());
  const int primary = inner_primary_, others = columns - primary, lead = rows;
  scale(history);
  rank_ = triangulate(inner_.data(), rows, columns, 1, lead, order_.data());
  const int r = rank_;
  if (columns == 0) return;

  const auto unscale = [&](double* column, double scale) {
    const double factor = scale > 0 ? 1 / scale : 0;
    for (int i = 0; i < r; ++i) column[i] *= factor;
  };
  if (primary == 0) {  // the equations are there, triangular
    for (int c = 0; c < columns; ++c) unscale(inner_.data() + c * lead, column_scale_[order_[c]]);
    shortest(inner_.data(), r, columns, lead, inner_.data() + columns * lead, part_.data());
    for (int c = 0; c < columns; ++c) x_[order_[c]] = part_[c];
    return;
  }

  // the independent equations, columns of x₂ first, in scaled unknowns
  const auto place = [&](int c) { return c < primary ? others + c : c - primary; };
  double* eq = equations_.data();
  for (int c = 0; c < columns; ++c) {
    std::copy_n(inner_.data() + c * lead, r, eq + place(order_[c]) * lead);
  }
  std::copy_n(inner_.data() + columns * lead, r, eq + columns * lead);
  const int rank_2 = triangulate(eq, r, others, primary + 1, lead, order_.data());
  for (int c = 0; c < others; ++c) unscale(eq + c * lead, column_scale_[primary + order_[c]]);
  for (int c = 0; c < primary; ++c) unscale(eq + (others + c) * lead, column_scale_[c]);

  const double* side = eq + columns * lead;
  shortest(eq + others * lead + rank_2, r - rank_2, primary, lead, side + rank_2, x_.data());
  std::copy_n(side, rank_2, side_.data());
  for (int c = 0; c < primary; ++c) {
    for (int i = 0; i < rank_2; ++i) side_[i] -= eq[(others + c) * lead + i] * x_[c];
  }
  shortest(eq, rank_2, others, lead, side_.data(), part_.data());
  for (int c = 0; c < others; ++c) x_[primary + order_[c]] = part_[c];
}

}  // namespace kinegraph::linear
