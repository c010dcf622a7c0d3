#include <algorithm>
#include <cmath>
#include <limits>

#include "kinegraph/linear/arrowhead_kernel.hpp"
#include "kinegraph/step/regularized_implementation.hpp"

/// The linear system of a step,
///
///     [M  −Aᵀ] [v]   [b]
///     [A   Σ ] [y] = [r]        (A M⁻¹ Aᵀ + Σ) y = r − A M⁻¹ b,   v = M⁻¹ (b + Aᵀ y)
///
/// A: constraints, freedoms (√w B) and drives; each row touches two bodies at most. Small systems are full ones, in
/// blocks of 4 that are as wide as the processor allows: that they are mostly zeros does not count. Large ones are
/// sparse.
namespace kinegraph::step {
namespace {

/// Compiled for wide registers too, chosen when the program starts. Products and sums are rounded as always, so that
/// the bits are the same.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define KINEGRAPH_WIDE [[gnu::target_clones("avx2", "default")]]
#else
#define KINEGRAPH_WIDE
#endif

/// y += a x, of rows of several right-hand sides
[[gnu::always_inline]] inline void add(double a, const double* __restrict x, double* __restrict y, int n) {
  for (int i = 0; i < n; ++i) y[i] += a * x[i];
}

/// y ← U⁻ᵀ y of 4 rows; U's diagonal is that of its inverse.
KINEGRAPH_WIDE void solve_four(const double* U, int stride, double* __restrict y, int columns) {
  for (int i = 0; i < 4; ++i) {
    double* row = y + static_cast<std::ptrdiff_t>(i) * columns;
    for (int k = 0; k < i; ++k) add(-U[k * stride + i], y + static_cast<std::ptrdiff_t>(k) * columns, row, columns);
    for (int c = 0; c < columns; ++c) row[c] *= U[i * stride + i];
  }
}

typedef double Four __attribute__((vector_size(32), aligned(8), may_alias));

/// Rows k + 1 … m − 1 less their shares of row k, in the fours of columns from that of column k on.
template <int Fours>
[[gnu::always_inline]] inline void subtract_pivot(double* S, int m, int stride, int k) {
  const int first = k / 4 * 4;
  const double* own = S + static_cast<std::ptrdiff_t>(k) * stride;
  const auto at = [&](int i, int f) -> Four& {
    return *reinterpret_cast<Four*>(S + static_cast<std::ptrdiff_t>(i) * stride + first + 4 * f);
  };
  Four later[Fours];
  for (int f = 0; f < Fours; ++f) later[f] = at(k, f);
  for (int j = first; j <= k; ++j) later[0][j - first] = 0;  // these columns hold L
  for (int i = k + 1; i < m; ++i) {
    double& own_column = S[static_cast<std::ptrdiff_t>(i) * stride + k];
    const double share = own_column * own[k];
    for (int f = 0; f < Fours; ++f) at(i, f) -= share * later[f];
    own_column = share;
  }
}

/// P S = L U of m rows, by rows; the diagonal holds 1/Uₖₖ. Rows are as long as fours of columns need (`stride`).
KINEGRAPH_WIDE void factor_by_rows(double* S, int m, int stride, int* pivots) {
  for (int k = 0; k < m; ++k) {
    double* own = S + static_cast<std::ptrdiff_t>(k) * stride;
    int largest = k;
    double most = std::abs(own[k]);
    for (int i = k + 1; i < m; ++i) {
      const double size = std::abs(own[(i - k) * stride + k]);
      if (size > most) largest = i, most = size;
    }
    pivots[k] = largest;
    if (largest != k) std::swap_ranges(own, own + m, S + static_cast<std::ptrdiff_t>(largest) * stride);
    own[k] = 1 / own[k];
    const int fours = (stride - k / 4 * 4) / 4;
    if (fours == 1) {
      subtract_pivot<1>(S, m, stride, k);
    } else if (fours == 2) {
      subtract_pivot<2>(S, m, stride, k);
    } else if (fours == 3) {
      subtract_pivot<3>(S, m, stride, k);
    } else {
      for (int i = k + 1; i < m; ++i) {
        double* row = S + static_cast<std::ptrdiff_t>(i) * stride;
        if (row[k] == 0) continue;
        row[k] *= own[k];
        add(-row[k], own + k + 1, row + k + 1, m - k - 1);
      }
    }
  }
}

/// y ← U⁻¹ L⁻¹ y of fours of columns, which stay in registers
template <int Fours>
[[gnu::always_inline]] inline void solve_by_rows(const double* S, int m, int stride, double* y, int columns) {
  const auto at = [&](int i, int f) -> Four& {
    return *reinterpret_cast<Four*>(y + static_cast<std::ptrdiff_t>(i) * columns + 4 * f);
  };
  const auto sweep = [&](int i, int begin, int end, double scale) {
    const double* factor = S + static_cast<std::ptrdiff_t>(i) * stride;
    Four sum[Fours];
    for (int f = 0; f < Fours; ++f) sum[f] = at(i, f);
    for (int j = begin; j < end; ++j) {
      for (int f = 0; f < Fours; ++f) sum[f] -= factor[j] * at(j, f);
    }
    for (int f = 0; f < Fours; ++f) at(i, f) = sum[f] * scale;
  };
  for (int i = 1; i < m; ++i) sweep(i, 0, i, 1);
  for (int i = m - 1; i >= 0; --i) sweep(i, i + 1, m, S[static_cast<std::ptrdiff_t>(i) * (stride + 1)]);
}

KINEGRAPH_WIDE void solve_all_by_rows(const double* S, int m, int stride, double* y, int columns) {
  int first = 0;
  for (; first + 16 <= columns; first += 16) solve_by_rows<4>(S, m, stride, y + first, columns);
  for (; first + 8 <= columns; first += 8) solve_by_rows<2>(S, m, stride, y + first, columns);
  for (; first < columns; first += 4) solve_by_rows<1>(S, m, stride, y + first, columns);
}

}  // namespace

void RegularizedStep::divide_by_mass(int body, const double* x, double* out) const {
  Eigen::Map<Eigen::Vector3d>{out} = inverse_inertia_[body] * Eigen::Map<const Eigen::Vector3d>(x);
  const double inverse = 1 / mass(body);
  for (int k = 3; k < 6; ++k) out[k] = inverse * x[k];
}

void RegularizedStep::factor() {
  for (int r = 0; r < m_; ++r) {
    if (rows_[r].a >= 0) divide_by_mass(rows_[r].a, rows_[r].G, mobile_rows_[r].data());
    if (rows_[r].b >= 0) divide_by_mass(rows_[r].b, rows_[r].G + 6, mobile_rows_[r].data() + 6);
  }
  sparse_ ? factor_sparse() : factor_dense();
}

/// Solves with columns in fours.
template <class Solve>
void RegularizedStep::pad(double* velocity, double* multiplier, int columns, const Solve& solve) {
  if (sparse_) return solve(velocity, multiplier, columns);
  Eigen::Map<Matrix> v(velocity, n_, columns), y(multiplier, m_, columns);
  padded_velocity_.setZero(padded_n_, padded(columns));
  padded_multiplier_.setZero(padded_m_, padded(columns));
  padded_velocity_.topLeftCorner(n_, columns) = v;
  padded_multiplier_.topLeftCorner(m_, columns) = y;
  solve(padded_velocity_.data(), padded_multiplier_.data(), padded(columns));
  v = padded_velocity_.topLeftCorner(n_, columns);
  y = padded_multiplier_.topLeftCorner(m_, columns);
}

void RegularizedStep::solve(double* velocity, double* multiplier, int columns) {
  pad(velocity, multiplier, columns, [this](double* v, double* y, int c) { solve_padded(v, y, c); });
}

void RegularizedStep::solve_at_end(double* velocity, double* multiplier, int columns) {
  if (columns == 1 && !sparse_) return solve_one_at_end(velocity, multiplier);
  pad(velocity, multiplier, columns, [this](double* v, double* y, int c) { solve_at_end_padded(v, y, c); });
}

/// One right-hand side, without padding.
void RegularizedStep::solve_one_at_end(double* velocity, double* multiplier) const {
  Eigen::Map<Eigen::VectorXd> v(velocity, n_), y(multiplier, m_);
  y.noalias() -= mobile_end_.topLeftCorner(m_, n_) * v;
  for (int k = 0; k < m_; ++k) std::swap(y[k], y[end_pivots_[k]]);
  for (int i = 1; i < m_; ++i) y[i] -= end_factor_.row(i).head(i).dot(y.head(i));
  for (int i = m_ - 1; i >= 0; --i) {
    y[i] = (y[i] - end_factor_.row(i).segment(i + 1, m_ - i - 1).dot(y.tail(m_ - i - 1))) * end_factor_(i, i);
  }
  v.noalias() += across_.topLeftCorner(n_, m_) * y;
  divide_by_mass(velocity, 1, true);
}

/// Aᵀ
void RegularizedStep::place_rows() {
  for (int r = 0; r < m_; ++r) {
    const SystemRow& row = rows_[r];
    for (int k = 0; k < 6 && row.a >= 0; ++k) across_(6 * row.a + k, r) = row.G[k];
    for (int k = 0; k < 6 && row.b >= 0; ++k) across_(6 * row.b + k, r) = row.G[6 + k];
  }
}

void RegularizedStep::factor_dense() {
  place_rows();
  for (int r = 0; r < m_; ++r) {
    const SystemRow& row = rows_[r];
    const double* mobile = mobile_rows_[r].data();
    for (int k = 0; k < 6 && row.a >= 0; ++k) mobile_(r, 6 * row.a + k) = mobile[k];
    for (int k = 0; k < 6 && row.b >= 0; ++k) mobile_(r, 6 * row.b + k) = mobile[6 + k];
  }
  const linear::ArrowheadKernel& kernel = linear::arrowhead_kernel();
  factor_.setZero();
  kernel.multiply({factor_.data(), padded_m_, mobile_.data(), padded_n_, 1, across_.data(), padded_m_, padded_m_,
                   padded_m_, n_, false, true});
  for (int r = 0; r < m_; ++r) factor_(r, r) += rows_[r].softness;
  linear::PanelFactor panel;
  panel.panel = factor_.data();
  panel.stride = panel.rows = panel.columns = padded_m_;
  panel.pivots = m_;
  panel.scale = ones_.data();
  if (!kernel.factor(panel)) factor_.setConstant(std::numeric_limits<double>::quiet_NaN());
}

/// y ← S⁻¹ y = U⁻¹ U⁻ᵀ y
void RegularizedStep::solve_rows(double* y, int columns) const {
  const linear::ArrowheadKernel& kernel = linear::arrowhead_kernel();
  for (int first = 0; first < padded_m_; first += 4) {
    const double* U = factor_.data() + first;
    double* four = y + static_cast<std::ptrdiff_t>(first) * columns;
    if (first > 0) kernel.multiply({four, columns, U, 1, padded_m_, y, columns, 4, columns, first, true, false});
    solve_four(U + static_cast<std::ptrdiff_t>(first) * padded_m_, padded_m_, four, columns);
  }
  kernel.solve(factor_.data(), padded_m_, padded_m_, y, columns);
}

void RegularizedStep::solve_padded(double* velocity, double* multiplier, int columns) const {
  if (sparse_) {
    subtract_motion(mobile_rows_, velocity, multiplier, columns);
    Eigen::Map<Matrix> all(multiplier, m_, columns);
    all = simplicial_.solve(all).eval();
    return move_by(velocity, multiplier, columns);
  }
  const linear::ArrowheadKernel& kernel = linear::arrowhead_kernel();
  kernel.multiply(
      {multiplier, columns, mobile_.data(), padded_n_, 1, velocity, columns, padded_m_, columns, n_, true, false});
  solve_rows(multiplier, columns);
  divide_by_mass(velocity, columns);
  kernel.multiply(
      {velocity, columns, mobile_.data(), 1, padded_n_, multiplier, columns, padded_n_, columns, m_, false, false});
}

/// M⁻¹ b of all columns
KINEGRAPH_WIDE void RegularizedStep::divide_by_mass(double* velocity, int columns, bool at_end) const {
  for (std::size_t i = 0; i < poses_.size(); ++i) {
    const Eigen::Matrix3d& J = at_end ? spins_[i].inverse : inverse_inertia_[i];
    double *x = velocity + 6 * static_cast<std::ptrdiff_t>(i) * columns, *y = x + columns, *z = y + columns;
    const double inverse = 1 / mass(static_cast<int>(i));
    for (int c = 0; c < columns; ++c) {
      const double a = x[c], b = y[c], d = z[c];
      x[c] = J(0, 0) * a + J(0, 1) * b + J(0, 2) * d;
      y[c] = J(1, 0) * a + J(1, 1) * b + J(1, 2) * d;
      z[c] = J(2, 0) * a + J(2, 1) * b + J(2, 2) * d;
    }
    for (int c = 0; c < 3 * columns; ++c) z[columns + c] *= inverse;
  }
}

/// An entry of A M⁻¹ Aᵀ + Σ, with row i of A M⁻¹.
double RegularizedStep::meeting(const double* mobile, int i, int j) const {
  const SystemRow &x = rows_[i], &y = rows_[j];
  double sum = i == j ? x.softness : 0.0;
  const auto meet = [&](int at, int other) {
    for (int k = 0; k < 6; ++k) sum += mobile[at + k] * y.G[other + k];
  };
  if (x.a >= 0 && y.a == x.a) meet(0, 0);
  if (x.a >= 0 && y.b == x.a) meet(0, 6);
  if (x.b >= 0 && y.a == x.b) meet(6, 0);
  if (x.b >= 0 && y.b == x.b) meet(6, 6);
  return sum;
}

void RegularizedStep::factor_sparse() {
  for (const auto& [i, j] : coupled_) pattern_.coeffRef(i, j) = meeting(mobile_rows_[i].data(), i, j);
  simplicial_.factorize(pattern_);
}

/// r − (A M⁻¹) b
KINEGRAPH_WIDE void RegularizedStep::subtract_motion(const std::vector<std::array<double, 12>>& mobile,
                                                     const double* velocity, double* multiplier, int columns) const {
  const auto at = [&](auto* x, int i) { return x + static_cast<std::ptrdiff_t>(i) * columns; };
  for (int r = 0; r < m_; ++r) {
    const SystemRow& row = rows_[r];
    for (int k = 0; k < 6 && row.a >= 0; ++k) {
      add(-mobile[r][k], at(velocity, 6 * row.a + k), at(multiplier, r), columns);
    }
    for (int k = 0; k < 6 && row.b >= 0; ++k)
      add(-mobile[r][6 + k], at(velocity, 6 * row.b + k), at(multiplier, r), columns);
  }
}

/// M⁻¹ (b + Aᵀ y)
KINEGRAPH_WIDE void RegularizedStep::move_by(double* velocity, const double* multiplier, int columns,
                                             bool at_end) const {
  const auto at = [&](auto* x, int i) { return x + static_cast<std::ptrdiff_t>(i) * columns; };
  for (int r = 0; r < m_; ++r) {
    const SystemRow& row = rows_[r];
    for (int k = 0; k < 6 && row.a >= 0; ++k) add(row.G[k], at(multiplier, r), at(velocity, 6 * row.a + k), columns);
    for (int k = 0; k < 6 && row.b >= 0; ++k)
      add(row.G[6 + k], at(multiplier, r), at(velocity, 6 * row.b + k), columns);
  }
  divide_by_mass(velocity, columns, at_end);
}

/// The same system with what constraints at the end of the step and gyroscopic terms at its middle make of it,
///
///     [M′ −Aᵀ] [v]   [b]
///     [A⁺  Σ ] [y] = [r]        (A⁺ M′⁻¹ Aᵀ + Σ) y = r − A⁺ M′⁻¹ b
///
/// A⁺: of a constraint as find_endings() has it, other rows as before. M′: J + S for J, see linearize_spin().
void RegularizedStep::factor_at_end() {
  const auto divide = [&](int body, const double* x, double* out) {
    Eigen::Map<Eigen::Vector3d>(out).noalias() =
        spins_[body].inverse.transpose() * Eigen::Map<const Eigen::Vector3d>(x);
    const double inverse = 1 / mass(body);
    for (int k = 3; k < 6; ++k) out[k] = inverse * x[k];
  };
  mobile_endings_.resize(m_);
  for (int r = 0; r < m_; ++r) {
    const double* x = r < mechanism_->rows() ? endings_[r].data() : rows_[r].G;
    if (rows_[r].a >= 0) divide(rows_[r].a, x, mobile_endings_[r].data());
    if (rows_[r].b >= 0) divide(rows_[r].b, x + 6, mobile_endings_[r].data() + 6);
  }
  if (sparse_) {
    const auto entry = [&](int i, int j) { return meeting(mobile_endings_[i].data(), i, j); };
    std::vector<Eigen::Triplet<double>> entries;
    for (const auto& [i, j] : coupled_) {
      entries.emplace_back(i, j, entry(i, j));
      if (i != j) entries.emplace_back(j, i, entry(j, i));
    }
    end_pattern_.resize(m_, m_);
    end_pattern_.setFromTriplets(entries.begin(), entries.end());
    end_sparse_.compute(end_pattern_);
    return;
  }
  for (int r = 0; r < m_; ++r) {
    for (const int half : {0, 6}) {
      const int body = half == 0 ? rows_[r].a : rows_[r].b;
      for (int k = 0; k < 6 && body >= 0; ++k) mobile_end_(r, 6 * body + k) = mobile_endings_[r][half + k];
    }
  }
  end_factor_.setZero();
  linear::arrowhead_kernel().multiply({end_factor_.data(), padded_m_, mobile_end_.data(), padded_n_, 1, across_.data(),
                                       padded_m_, padded_m_, padded_m_, n_, false, false});
  for (int r = 0; r < m_; ++r) end_factor_(r, r) += rows_[r].softness;
  end_pivots_.resize(m_);
  factor_by_rows(end_factor_.data(), m_, padded_m_, end_pivots_.data());
}

KINEGRAPH_WIDE void RegularizedStep::solve_at_end_padded(double* velocity, double* multiplier, int columns) const {
  if (sparse_) {
    subtract_motion(mobile_endings_, velocity, multiplier, columns);
    Eigen::Map<Matrix> y(multiplier, m_, columns);
    if (end_sparse_.info() != Eigen::Success) {
      y.setConstant(std::numeric_limits<double>::quiet_NaN());
    } else {
      const Eigen::MatrixXd right = y, answer = end_sparse_.solve(right);
      y = answer;
    }
    return move_by(velocity, multiplier, columns, true);
  }
  const linear::ArrowheadKernel& kernel = linear::arrowhead_kernel();
  kernel.multiply(
      {multiplier, columns, mobile_end_.data(), padded_n_, 1, velocity, columns, padded_m_, columns, n_, true, false});
  for (int k = 0; k < m_; ++k) {
    double* row = multiplier + static_cast<std::ptrdiff_t>(k) * columns;
    if (end_pivots_[k] != k) {
      std::swap_ranges(row, row + columns, multiplier + static_cast<std::ptrdiff_t>(end_pivots_[k]) * columns);
    }
  }
  solve_all_by_rows(end_factor_.data(), m_, padded_m_, multiplier, columns);
  kernel.multiply(
      {velocity, columns, across_.data(), padded_m_, 1, multiplier, columns, padded_n_, columns, m_, false, false});
  divide_by_mass(velocity, columns, true);
}

void RegularizedStep::respond(Matrix& impulses, Matrix& multipliers) {
  multipliers.setZero(m_, impulses.cols());
  solve(impulses.data(), multipliers.data(), static_cast<int>(impulses.cols()));
}

}  // namespace kinegraph::step
