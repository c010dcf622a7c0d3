#include "kinegraph/step/regularized_implementation.hpp"

/// The linear system of a step,
///
///     [M  −Aᵀ] [v]   [b]
///     [A   Σ ] [y] = [r]        (A M⁻¹ Aᵀ + Σ) y = r − A M⁻¹ b,   v = M⁻¹ (b + Aᵀ y)
///
/// A: constraints, freedoms (√w B) and drives; each row touches two bodies at most.
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
  const auto entry = [&](int i, int j) {
    const SystemRow &x = rows_[i], &y = rows_[j];
    double sum = i == j ? x.softness : 0.0;
    const auto meet = [&](int at, int other) {
      for (int k = 0; k < 6; ++k) sum += mobile_rows_[i][at + k] * y.G[other + k];
    };
    if (x.a >= 0 && y.a == x.a) meet(0, 0);
    if (x.a >= 0 && y.b == x.a) meet(0, 6);
    if (x.b >= 0 && y.a == x.b) meet(6, 0);
    if (x.b >= 0 && y.b == x.b) meet(6, 6);
    return sum;
  };
  if (sparse_) {
    for (const auto& [i, j] : coupled_) pattern_.coeffRef(i, j) = entry(i, j);
    simplicial_.factorize(pattern_);
    return;
  }
  factor_.setZero();
  for (const auto& [i, j] : coupled_) factor_(i, j) = entry(i, j);
  // S = L Lᵀ, by rows; the diagonal holds 1/Lᵢᵢ
  for (int i = 0; i < m_; ++i) {
    for (int j = 0; j <= i; ++j) {
      double sum = factor_(i, j);
      for (int k = 0; k < j; ++k) sum -= factor_(i, k) * factor_(j, k);
      factor_(i, j) = i == j ? 1 / std::sqrt(sum) : sum * factor_(j, j);
    }
  }
}

KINEGRAPH_WIDE void RegularizedStep::solve_rows(double* y, int columns) const {
  if (sparse_) {
    Eigen::Map<Matrix> all(y, m_, columns);
    all = simplicial_.solve(all).eval();
    return;
  }
  const auto row = [&](int i) { return y + static_cast<std::ptrdiff_t>(i) * columns; };
  const auto scale = [&](int i) {
    for (int c = 0; c < columns; ++c) row(i)[c] *= factor_(i, i);
  };
  for (int i = 0; i < m_; ++i) {
    for (int j = 0; j < i; ++j) {
      if (factor_(i, j) != 0) add(-factor_(i, j), row(j), row(i), columns);
    }
    scale(i);
  }
  for (int i = m_ - 1; i >= 0; --i) {
    scale(i);
    for (int j = 0; j < i; ++j) {
      if (factor_(i, j) != 0) add(-factor_(i, j), row(i), row(j), columns);
    }
  }
}

KINEGRAPH_WIDE void RegularizedStep::solve(double* velocity, double* multiplier, int columns) const {
  const auto at = [&](double* x, int i) { return x + static_cast<std::ptrdiff_t>(i) * columns; };
  for (int r = 0; r < m_; ++r) {  // r − (A M⁻¹) b
    const SystemRow& row = rows_[r];
    for (int k = 0; k < 6 && row.a >= 0; ++k) {
      add(-mobile_rows_[r][k], at(velocity, 6 * row.a + k), at(multiplier, r), columns);
    }
    for (int k = 0; k < 6 && row.b >= 0; ++k)
      add(-mobile_rows_[r][6 + k], at(velocity, 6 * row.b + k), at(multiplier, r), columns);
  }
  solve_rows(multiplier, columns);
  for (int r = 0; r < m_; ++r) {  // b + Aᵀ y
    const SystemRow& row = rows_[r];
    for (int k = 0; k < 6 && row.a >= 0; ++k) add(row.G[k], at(multiplier, r), at(velocity, 6 * row.a + k), columns);
    for (int k = 0; k < 6 && row.b >= 0; ++k)
      add(row.G[6 + k], at(multiplier, r), at(velocity, 6 * row.b + k), columns);
  }
  for (std::size_t i = 0; i < poses_.size(); ++i) {  // M⁻¹
    const Eigen::Matrix3d& J = inverse_inertia_[i];
    double *x = at(velocity, 6 * static_cast<int>(i)), *y = x + columns, *z = y + columns;
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

void RegularizedStep::respond(Matrix& impulses, Matrix& multipliers) const {
  multipliers.setZero(m_, impulses.cols());
  solve(impulses.data(), multipliers.data(), static_cast<int>(impulses.cols()));
}

}  // namespace kinegraph::step
