#include <algorithm>
#include <cmath>

#include "kinegraph/solve/horizon_problem.hpp"

namespace kinegraph {
namespace {

constexpr int kChunk = 4;  // groups worked on together

}  // namespace

void HorizonProblem::run(const std::function<void(Group&, Scratch&)>& work) {
  const int count = static_cast<int>(groups_.size()), chunks = (count + kChunk - 1) / kChunk;
  const auto chunk = [&](int c, int worker) {
    for (int i = c * kChunk; i < std::min((c + 1) * kChunk, count); ++i) work(groups_[i], scratch_[worker]);
  };
  workers_.run(chunks, std::cref(chunk));
}

void HorizonProblem::evaluate(HorizonPoint& point) {
  point.equality.resize(hard_rows());
  point.inequality.resize(inequality_rows());
  run([&](Group& group, Scratch& scratch) { evaluate_group(group, scratch, point, false); });
  gather(point);
}

void HorizonProblem::linearize(HorizonPoint& point) {
  point.equality.resize(hard_rows());
  point.inequality.resize(inequality_rows());
  run([&](Group& group, Scratch& scratch) { evaluate_group(group, scratch, point, true); });
  gather(point);
  gradient_.setZero();
  column_norm_.setZero();
  for (const Group& group : groups_) {
    for (std::size_t c = 0; c < group.columns.size(); ++c) {
      gradient_[group.columns[c]] += group.gradient[c];
      column_norm_[group.columns[c]] += group.norm[c];
    }
  }
}

void HorizonProblem::gather(HorizonPoint& point) {
  point.cost = 0;
  point.bad_factor = -1;
  for (const Term& t : terms_) {
    point.cost += t.cost;
    if (!t.finite && point.bad_factor < 0) point.bad_factor = t.factor;
  }
}

/// The weight of a hinge's square: W² where g < 0.
double HorizonProblem::hinge(const Term& t, int row, double g) const {
  const double w = t.bound->noise.weight(row, row);
  return g < 0 ? w * w : 0;
}

void HorizonProblem::evaluate_group(Group& group, Scratch& scratch, HorizonPoint& point, bool jacobian) {
  if (jacobian) {
    std::fill(group.gradient.begin(), group.gradient.end(), 0.0);
    std::fill(group.norm.begin(), group.norm.end(), 0.0);
  }
  for (int i = group.first; i < group.end; ++i) {
    Term& t = terms_[i];
    const BoundFactor& bound = *t.bound;
    const int rows = bound.factor->rows(), entries = static_cast<int>(bound.factor->pattern().size());
    double *raw = raw_.data() + t.raw, *residual = raw + entries;
    const bool wanted = jacobian && !(bound.factor->constant_jacobian() && t.linearized);
    bound.factor->evaluate({slots_.data() + t.slots, bound.keys.size()}, residual, wanted ? raw : nullptr);
    double check = 0;
    for (int r = 0; r < rows; ++r) check += residual[r];
    if (wanted) {
      for (int e = 0; e < entries; ++e) check += raw[e];
      t.linearized = true;
    }
    t.finite = std::isfinite(check);
    t.cost = 0;
    if (bound.role == Role::equality) {
      std::copy_n(residual, rows, point.equality.data() + t.first_row);
    } else if (bound.role == Role::inequality) {
      std::copy_n(residual, rows, point.inequality.data() + t.first_row);
      if (!hinges_) continue;
      scratch.weight.resize(rows);
      for (int r = 0; r < rows; ++r) {
        scratch.weight[r] = hinge(t, r, residual[r]);
        t.cost += 0.5 * scratch.weight[r] * residual[r] * residual[r];
      }
      t.cost *= cost_weight_;
      if (jacobian) add_gradient(group, i, residual, scratch);
    } else {
      scratch.residual.assign(residual, residual + rows);
      bound.noise.whiten(scratch.residual.data(), rows);
      double squares = 0;
      for (double r : scratch.residual) squares += r * r;
      t.cost = 0.5 * cost_weight_ * bound.loss.rho(squares);
      loss_weight_[i] = bound.loss.weight(squares);
      scratch.weight.assign(rows, loss_weight_[i]);
      if (jacobian) add_gradient(group, i, scratch.residual.data(), scratch);
    }
  }
}

/// The Jacobian by rows over local columns; of a cost whitened.
void HorizonProblem::dense_jacobian(const Term& t, Scratch& scratch) const {
  const auto pattern = t.bound->factor->pattern();
  const int rows = t.bound->factor->rows(), columns = static_cast<int>(t.columns.size());
  scratch.dense.assign(static_cast<std::size_t>(rows) * columns, 0.0);
  for (std::size_t e = 0; e < pattern.size(); ++e) {
    if (t.local[e] >= 0) scratch.dense[pattern[e].row * columns + t.local[e]] += raw_[t.raw + static_cast<int>(e)];
  }
  if (t.bound->role == Role::cost) t.bound->noise.whiten(scratch.dense.data(), rows, columns);
}

/// g += Aᵀ diag(w) r
void HorizonProblem::add_gradient(Group& group, int term, const double* residual, Scratch& scratch) {
  const Term& t = terms_[term];
  dense_jacobian(t, scratch);
  const std::vector<int>& at = group.at[term - group.first];
  const int columns = static_cast<int>(t.columns.size());
  for (int r = 0; r < t.bound->factor->rows(); ++r) {
    const double w = cost_weight_ * scratch.weight[r];
    const double* row = scratch.dense.data() + static_cast<std::ptrdiff_t>(r) * columns;
    for (int c = 0; c < columns; ++c) {
      group.gradient[at[c]] += w * row[c] * residual[r];
      group.norm[at[c]] += w * row[c] * row[c];
    }
  }
}

void HorizonProblem::add_transposed(const Eigen::VectorXd& y, const Eigen::VectorXd& z, Eigen::VectorXd& out) const {
  for (const Term& t : terms_) {
    if (t.bound->role == Role::cost || (t.bound->role == Role::inequality && hinges_)) continue;
    const bool hard = t.bound->role == Role::equality;
    const double* multiplier = (hard ? y : z).data() + t.first_row;
    const auto pattern = t.bound->factor->pattern();
    for (std::size_t e = 0; e < pattern.size(); ++e) {
      if (t.local[e] < 0) continue;
      const double product = raw_[t.raw + static_cast<int>(e)] * multiplier[pattern[e].row];
      out[t.columns[t.local[e]]] += hard ? product : -product;
    }
  }
}

void HorizonProblem::multiply_inequality(const Eigen::VectorXd& dx, Eigen::VectorXd& out) const {
  out.setZero(inequality_rows());
  for (const Term& t : terms_) {
    if (t.bound->role != Role::inequality) continue;
    const auto pattern = t.bound->factor->pattern();
    for (std::size_t e = 0; e < pattern.size(); ++e) {
      if (t.local[e] < 0) continue;
      out[t.first_row + pattern[e].row] += raw_[t.raw + static_cast<int>(e)] * dx[t.columns[t.local[e]]];
    }
  }
}

void HorizonProblem::add_squared_columns(const Eigen::VectorXd& w, const Eigen::VectorXd& v,
                                         Eigen::VectorXd& out) const {
  for (const Term& t : terms_) {
    if (t.bound->role == Role::cost || (t.bound->role == Role::inequality && hinges_)) continue;
    const double* weight = (t.bound->role == Role::equality ? w : v).data() + t.first_row;
    const auto pattern = t.bound->factor->pattern();
    for (std::size_t e = 0; e < pattern.size(); ++e) {
      if (t.local[e] < 0) continue;
      const double value = raw_[t.raw + static_cast<int>(e)];
      out[t.columns[t.local[e]]] += weight[pattern[e].row] * value * value;
    }
  }
}

void HorizonProblem::assemble(const Eigen::VectorXd& y, const Eigen::VectorXd& z, const Eigen::VectorXd& sigma,
                              std::vector<double>& matrix) {
  matrix.resize(plan_->entries());
  run([&](Group& group, Scratch& scratch) {
    std::fill(matrix.begin() + group.first_value, matrix.begin() + group.end_value, 0.0);
    for (int i = group.first; i < group.end; ++i) assemble_term(i, y, z, sigma, matrix, scratch);
  });
}

void HorizonProblem::assemble_term(int term, const Eigen::VectorXd& y, const Eigen::VectorXd& z,
                                   const Eigen::VectorXd& sigma, std::vector<double>& matrix, Scratch& scratch) const {
  const Term& t = terms_[term];
  const Role role = t.bound->role;
  const int rows = t.bound->factor->rows();
  const std::size_t columns = t.columns.size();
  for (std::size_t e = 0; e < t.places.size(); ++e) {
    if (t.places[e] >= 0) matrix[t.places[e]] += raw_[t.raw + static_cast<int>(e)];
  }
  if (t.pairs.empty()) return;
  scratch.hessian.assign(columns * columns, 0.0);
  if (role == Role::cost) {
    scratch.weight.assign(rows, cost_weight_ * loss_weight_[term]);
    add_squares(t, scratch);
  } else if (role == Role::inequality && (hinges_ || sigma.size() > 0)) {
    const double* residual = raw_.data() + t.raw + t.bound->factor->pattern().size();
    scratch.weight.resize(rows);
    for (int r = 0; r < rows; ++r)
      scratch.weight[r] = hinges_ ? cost_weight_ * hinge(t, r, residual[r]) : sigma[t.first_row + r];
    add_squares(t, scratch);
  }
  const Eigen::VectorXd& multiplier = role == Role::equality ? y : z;
  if (role != Role::cost && !t.moves.empty() && multiplier.size() > 0 && !(role == Role::inequality && hinges_)) {
    scratch.weight.assign(multiplier.data() + t.first_row, multiplier.data() + t.first_row + rows);
    if (role == Role::inequality) {
      for (double& w : scratch.weight) w = -w;
    }
    add_curvature(t, scratch);
  }
  for (const Pair& p : t.pairs) matrix[p.place] += scratch.hessian[p.b * columns + p.a];
}

/// H += Aᵀ diag(w) A, lower triangle
void HorizonProblem::add_squares(const Term& t, Scratch& scratch) const {
  dense_jacobian(t, scratch);
  const int columns = static_cast<int>(t.columns.size());
  for (int r = 0; r < t.bound->factor->rows(); ++r) {
    const double* row = scratch.dense.data() + static_cast<std::ptrdiff_t>(r) * columns;
    for (int b = 0; b < columns; ++b) {
      const double f = scratch.weight[r] * row[b];
      if (f == 0) continue;
      double* h = scratch.hessian.data() + static_cast<std::ptrdiff_t>(b) * columns;
      for (int a = b; a < columns; ++a) h[a] += f * row[a];
    }
  }
}

/// H += Σ w ∇²r, as the factor says or by differences of its Jacobian.
void HorizonProblem::add_curvature(const Term& t, Scratch& scratch) const {
  if (std::all_of(scratch.weight.begin(), scratch.weight.end(), [](double w) { return w == 0; })) return;
  if (!t.exact) return add_differences(t, scratch);
  const int columns = static_cast<int>(t.columns.size());
  scratch.stacked_column.clear();
  for (const Key& key : t.bound->keys) {
    const int i = values_.find(key), first = structure_.variable[i];
    for (int k = 0; k < values_.manifold(i).tangent(); ++k) {
      scratch.stacked_column.push_back(first < 0 ? -1 : local_of(t, first + k));
    }
  }
  const int n = static_cast<int>(scratch.stacked_column.size());
  scratch.stacked.assign(static_cast<std::size_t>(n) * n, 0.0);
  t.bound->factor->add_curvature({slots_.data() + t.slots, t.bound->keys.size()}, scratch.weight.data(),
                                 scratch.stacked.data());
  for (int q = 0; q < n; ++q) {
    for (int p = q; p < n; ++p) {
      const auto [b, a] = std::minmax(scratch.stacked_column[p], scratch.stacked_column[q]);
      if (b < 0) continue;
      const double twice = a == b && p != q ? 2 : 1;  // two slots on one variable
      scratch.hessian[static_cast<std::size_t>(b) * columns + a] += twice * scratch.stacked[q * n + p];
    }
  }
}

// ∂²(wᵀr)/∂δᵢ∂δⱼ: the change of Σ wᵣ Jᵣᵢ along δⱼ, and that of Jᵣⱼ along δᵢ, half each. On a group x exp(δ) only this
// mean is the second derivative.
void HorizonProblem::add_differences(const Term& t, Scratch& scratch) const {
  const auto pattern = t.bound->factor->pattern();
  const std::size_t columns = t.columns.size();
  scratch.slots.assign(slots_.data() + t.slots, slots_.data() + t.slots + t.bound->keys.size());
  scratch.raw.resize(pattern.size());
  scratch.residual.resize(t.bound->factor->rows());
  const double* before = raw_.data() + t.raw;
  for (const Slot& move : t.moves) {
    const Manifold& manifold = values_.manifold(move.variable);
    const double* x = values_.data(move.variable);
    const double largest = manifold.type() == Manifold::Type::real ? std::abs(x[move.tangent]) : 1.0;
    const double step = 1e-6 * std::max(1.0, largest);
    scratch.moved.assign(manifold.stored() + manifold.tangent(), 0.0);
    double* delta = scratch.moved.data() + manifold.stored();
    delta[move.tangent] = step;
    manifold.retract(x, delta, scratch.moved.data());
    scratch.slots[move.slot] = scratch.moved.data();
    t.bound->factor->evaluate(scratch.slots, scratch.residual.data(), scratch.raw.data());
    scratch.slots[move.slot] = x;
    for (std::size_t e = 0; e < pattern.size(); ++e) {
      const int i = t.local[e], j = move.local;
      const double change = scratch.raw[e] - before[e];
      if (i < 0 || change == 0) continue;
      const double value = scratch.weight[pattern[e].row] * change / step;
      scratch.hessian[static_cast<std::size_t>(std::min(i, j)) * columns + std::max(i, j)] +=
          i == j ? value : 0.5 * value;
    }
  }
}

}  // namespace kinegraph
