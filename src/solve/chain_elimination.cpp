#include <algorithm>
#include <cmath>

#include "kinegraph/linear/dense.hpp"
#include "kinegraph/solve/chain_solver.hpp"

// The elimination of a window: the slices, then time. Equations: chain_solver.hpp.
namespace kinegraph {

const double* ChainSolver::pointer(const ChainSlot& s, int k, bool link) {
  if (s.place == Place::middle) return middle(k) + chain_->middle_offset(s.variable);
  return knot(link && s.place == Place::to ? k + 1 : k) + chain_->knot_offset(s.variable);
}

void ChainSolver::evaluate(Group& group, int k, bool link, bool jacobian) {
  for (const Bound& b : group.factors) {
    for (std::size_t i = 0; i < b.slots.size(); ++i) pointers_[i] = pointer(b.slots[i], k, link);
    const bool needed = jacobian && !(group.constants_done && b.factor->constant_jacobian());
    b.factor->evaluate({pointers_.data(), b.slots.size()}, group.residual.data() + b.row,
                       needed ? group.values.data() + b.entry : nullptr);
  }
  if (jacobian) group.constants_done = true;
}

void ChainSolver::choose(linear::Condensation& hard, const Group& group) {
  const bool knot = &hard == &knot_hard_;
  hard.choose(group.values.data(), knot ? std::span<const double>(preference_) : std::span<const double>());
  if (knot) return;
  link_order_.assign(group.rows(), -1);
  for (int i = 0; i < hard.rank(); ++i) link_order_[hard.pivot_rows()[i]] = i;
}

bool ChainSolver::choose_and_factor(linear::Condensation& hard, Group& group, bool& chosen) {
  const int rank = &hard == &knot_hard_ ? unknowns() - free_ : middle_rank_;
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (chosen && hard.factor(group.values.data())) break;
    repivots_ += chosen;
    choose(hard, group);
    chosen = true;
    if (attempt == 1) hard.factor(group.values.data());
  }
  return hard.rank() == rank;
}

// How large the terms of each hard row are: what its residual is measured against.
void ChainSolver::scale_rows(const Group& group, int k, bool link, std::vector<double>& scale) {
  for (const Bound& b : group.factors) {
    const auto pattern = b.factor->pattern();
    for (std::size_t e = 0; e < pattern.size(); ++e) {
      const double x = pointer(b.slots[pattern[e].slot], k, link)[pattern[e].column];
      const double term = std::abs(group.values[b.entry + e]) * (std::abs(x) + 1e-6);
      double& s = scale[b.row + pattern[e].row];
      s = std::max(s, term);
    }
  }
}

// δx = p + N s of knot k.
bool ChainSolver::linearize_knot(int k) {
  evaluate(hard_knot_, k, false, true);
  knot_hard_.relax(relaxed_[slot(k)]);
  if (!choose_and_factor(knot_hard_, hard_knot_, chosen_)) return false;
  if (linearizations_++ % 16 == 0 || linearizations_ < 64) scale_rows(hard_knot_, k, false, knot_scale_);

  const int f = free_, w = 1 + f, rank = knot_hard_.rank();
  const auto rows = knot_hard_.pivot_rows(), columns = knot_hard_.pivot_columns();
  double* b = work_.data();
  std::fill(b, b + rank * w, 0.0);
  for (int i = 0; i < rank; ++i) b[i * w] = -hard_knot_.residual[rows[i]];
  for (const auto& e : knot_hard_.free_entries()) b[e.row * w + 1 + e.column] = -hard_knot_.values[e.value];
  knot_hard_.solve(b, w);

  double* p = row_of(particular_, slot(k), unknowns());
  double* n = row_of(basis_, slot(k), unknowns() * f);
  for (int i = 0; i < rank; ++i) {
    p[columns[i]] = b[i * w];
    for (int j = 0; j < f; ++j) n[columns[i] * f + j] = b[i * w + 1 + j];
  }
  const auto free = knot_hard_.free_columns();
  for (int j = 0; j < f; ++j) {
    p[free[j]] = 0;
    for (int i = 0; i < f; ++i) n[free[j] * f + i] = i == j;
  }

  if (soft_knot_.factors.empty()) return true;
  evaluate(soft_knot_, k, false, true);
  const int m = soft_knot_.rows();
  double* e = row_of(local_e_, slot(k), m);
  double* basis = row_of(local_basis_, slot(k), m * f);
  std::copy(soft_knot_.residual.begin(), soft_knot_.residual.end(), e);
  std::fill(basis, basis + m * f, 0.0);
  for (const Term& t : soft_knot_.to) {
    const double a = soft_knot_.values[t.value];
    e[t.row] += a * p[t.column];
    for (int j = 0; j < f; ++j) basis[t.row * f + j] += a * n[t.column * f + j];
  }
  for (std::size_t i = 0; i < soft_knot_.factors.size(); ++i) {
    const Bound& bound = soft_knot_.factors[i];
    knot_noise_[i].whiten(e + bound.row, bound.factor->rows(), 1);
    knot_noise_[i].whiten(basis + bound.row * f, bound.factor->rows(), f);
  }
  return true;
}

// δy = y₀ + Y sₖ + Y' sₖ₊₁ for the middle of interval k.
void ChainSolver::condense_middle(int k) {
  const int f = free_, w = 1 + 2 * f, rank = link_hard_.rank(), nx = unknowns();
  const double *p0 = row_of(particular_, slot(k), nx), *p1 = row_of(particular_, slot(k + 1), nx);
  const double *n0 = row_of(basis_, slot(k), nx * f), *n1 = row_of(basis_, slot(k + 1), nx * f);
  double* b = work_.data();
  std::fill(b, b + rank * w, 0.0);
  const auto rows = link_hard_.pivot_rows();
  for (int i = 0; i < rank; ++i) b[i * w] = -hard_link_.residual[rows[i]];
  if (k > 0) {
    for (const Term& t : hard_link_.from) {
      if (link_order_[t.row] < 0) continue;
      const double a = hard_link_.values[t.value];
      double* row = b + link_order_[t.row] * w;
      row[0] -= a * p0[t.column];
      for (int j = 0; j < f; ++j) row[1 + j] -= a * n0[t.column * f + j];
    }
  }
  for (const Term& t : hard_link_.to) {
    if (link_order_[t.row] < 0) continue;
    const double a = hard_link_.values[t.value];
    double* row = b + link_order_[t.row] * w;
    row[0] -= a * p1[t.column];
    for (int j = 0; j < f; ++j) row[1 + f + j] -= a * n1[t.column * f + j];
  }
  link_hard_.solve(b, w);

  const int ny = static_cast<int>(middle_place_.size());
  double* y = row_of(inner_particular_, slot(k), ny);
  double* basis = row_of(inner_basis_, slot(k), ny * 2 * f);
  const auto columns = link_hard_.pivot_columns();
  for (int i = 0; i < rank; ++i) {
    y[columns[i]] = b[i * w];
    std::copy(b + i * w + 1, b + (i + 1) * w, basis + columns[i] * 2 * f);
  }
}

// e + E sₖ + F sₖ₊₁ for the soft rows of interval k.
bool ChainSolver::linearize_link(int k) {
  const int f = free_, nx = unknowns(), m = soft_link_.rows();
  const int ny = static_cast<int>(middle_place_.size());
  if (ny > 0) {
    evaluate(hard_link_, k, true, true);
    link_hard_.relax(link_relaxed_[slot(k)]);
    if (!choose_and_factor(link_hard_, hard_link_, link_chosen_)) return false;
    if (linearizations_ % 16 == 0 || linearizations_ < 64) scale_rows(hard_link_, k, true, link_scale_);
    condense_middle(k);
  }
  evaluate(soft_link_, k, true, true);
  double* e = row_of(soft_e_, slot(k), m);
  double* from = row_of(soft_from_, slot(k), m * f);
  double* to = row_of(soft_to_, slot(k), m * f);
  std::copy(soft_link_.residual.begin(), soft_link_.residual.end(), e);
  std::fill(from, from + m * f, 0.0);
  std::fill(to, to + m * f, 0.0);

  if (k > 0) {
    const double *p = row_of(particular_, slot(k), nx), *n = row_of(basis_, slot(k), nx * f);
    for (const Term& t : soft_link_.from) {
      const double a = soft_link_.values[t.value];
      e[t.row] += a * p[t.column];
      for (int j = 0; j < f; ++j) from[t.row * f + j] += a * n[t.column * f + j];
    }
  }
  const double *p = row_of(particular_, slot(k + 1), nx), *n = row_of(basis_, slot(k + 1), nx * f);
  for (const Term& t : soft_link_.to) {
    const double a = soft_link_.values[t.value];
    e[t.row] += a * p[t.column];
    for (int j = 0; j < f; ++j) to[t.row * f + j] += a * n[t.column * f + j];
  }
  const double *y = row_of(inner_particular_, slot(k), ny), *basis = row_of(inner_basis_, slot(k), ny * 2 * f);
  for (const Term& t : soft_link_.middle) {
    const double a = soft_link_.values[t.value];
    const double* row = basis + t.column * 2 * f;
    e[t.row] += a * y[t.column];
    for (int j = 0; j < f; ++j) from[t.row * f + j] += a * row[j];
    for (int j = 0; j < f; ++j) to[t.row * f + j] += a * row[f + j];
  }
  for (std::size_t i = 0; i < soft_link_.factors.size(); ++i) {
    const Bound& b = soft_link_.factors[i];
    link_noise_[i].whiten(e + b.row, b.factor->rows(), 1);
    link_noise_[i].whiten(from + b.row * f, b.factor->rows(), f);
    link_noise_[i].whiten(to + b.row * f, b.factor->rows(), f);
  }
  return true;
}

// The normal equations of all soft rows, block tridiagonal: Dₖ sₖ + Oₖ₋₁ᵀ sₖ₋₁ + Oₖ sₖ₊₁ = bₖ. Block Cholesky, from the
// newest knot to the oldest: the rows of an interval determine its later knot, so that nothing cancels. (Forward in
// time the information that is left about an unstable motion shrinks until rounding eats it.)
bool ChainSolver::solve_in_time() {
  const int f = free_, m = soft_link_.rows(), ml = soft_knot_.rows();
  for (int k = count_ - 1; k >= 1; --k) {
    double *d = row_of(diagonal_, slot(k), f * f), *b = row_of(rhs_, slot(k), f);
    std::fill(d, d + f * f, 0.0), std::fill(b, b + f, 0.0);
    const double* to = row_of(soft_to_, slot(k - 1), m * f);
    linear::add_transposed_product(to, to, m, f, f, 1, d);
    linear::add_transposed_product(to, row_of(soft_e_, slot(k - 1), m), m, f, 1, -1, b);
    const double* local = row_of(local_basis_, slot(k), ml * f);
    linear::add_transposed_product(local, local, ml, f, f, 1, d);
    linear::add_transposed_product(local, row_of(local_e_, slot(k), ml), ml, f, 1, -1, b);
    if (k + 1 < count_) {
      const double *from = row_of(soft_from_, slot(k), m * f), *next = row_of(diagonal_, slot(k + 1), f * f);
      linear::add_transposed_product(from, from, m, f, f, 1, d);
      linear::add_transposed_product(from, row_of(soft_e_, slot(k), m), m, f, 1, -1, b);
      double* o = row_of(coupling_, slot(k), f * f);  // L⁻¹ Oᵀ: rows of the later knot
      std::fill(o, o + f * f, 0.0);
      linear::add_transposed_product(row_of(soft_to_, slot(k), m * f), from, m, f, f, 1, o);
      linear::solve_lower(next, f, o, f);
      linear::add_transposed_product(o, o, f, f, f, -1, d);
      linear::add_transposed_product(o, row_of(rhs_, slot(k + 1), f), f, f, 1, -1, b);
    }
    if (!linear::cholesky(d, f)) return false;
    linear::solve_lower(d, f, b, 1);
  }
  for (int k = 1; k < count_; ++k) {
    double* b = row_of(rhs_, slot(k), f);
    if (k > 1) {
      const double *o = row_of(coupling_, slot(k - 1), f * f), *before = row_of(rhs_, slot(k - 1), f);
      for (int i = 0; i < f; ++i) {
        for (int j = 0; j < f; ++j) b[i] -= o[i * f + j] * before[j];
      }
    }
    linear::solve_lower_transposed(row_of(diagonal_, slot(k), f * f), f, b);
  }
  return true;
}

}  // namespace kinegraph
