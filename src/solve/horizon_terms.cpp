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

// Groups touch the columns of their own knot and of the next: blocks of two and more, every second at the same time.
// What belongs to no knot is seen by all, and goes last.
template <class Work>
void HorizonProblem::over_terms(const Work& work) const {
  constexpr int block = 16;
  const int knots = static_cast<int>(groups_.size()) - 1, blocks = (knots + block - 1) / block;
  const bool apart = !has_border_;
  for (const int odd : {0, 1}) {
    const auto one = [&](int i, int) {
      for (int g = (2 * i + odd) * block; g < std::min(knots, (2 * i + odd + 1) * block); ++g) {
        for (int t = groups_[g].first; t < groups_[g].end; ++t) work(terms_[t]);
      }
    };
    const int pieces = (blocks + 1 - odd) / 2;
    if (apart) {
      workers_.run(pieces, std::cref(one));
    } else {
      for (int i = 0; i < pieces; ++i) one(i, 0);
    }
  }
  for (int t = groups_.back().first; t < groups_.back().end; ++t) work(terms_[t]);
}

void HorizonProblem::add_transposed(const Eigen::VectorXd& y, const Eigen::VectorXd& z, Eigen::VectorXd& out) const {
  over_terms([&](const Term& t) {
    if (t.bound->role == Role::cost || (t.bound->role == Role::inequality && hinges_)) return;
    const bool hard = t.bound->role == Role::equality;
    const double* multiplier = (hard ? y : z).data() + t.first_row;
    const auto pattern = t.bound->factor->pattern();
    const double* value = raw_.data() + t.raw;
    // entries of a column mostly follow each other
    for (std::size_t e = 0; e < pattern.size();) {
      const int column = t.local[e];
      double sum = 0;
      for (; e < pattern.size() && t.local[e] == column; ++e) sum += value[e] * multiplier[pattern[e].row];
      if (column >= 0) out[t.columns[column]] += hard ? sum : -sum;
    }
  });
}

void HorizonProblem::multiply_inequality(const Eigen::VectorXd& dx, Eigen::VectorXd& out) const {
  out.setZero(inequality_rows());
  over_terms([&](const Term& t) {
    if (t.bound->role != Role::inequality) return;
    const auto pattern = t.bound->factor->pattern();
    for (std::size_t e = 0; e < pattern.size(); ++e) {
      if (t.local[e] < 0) continue;
      out[t.first_row + pattern[e].row] += raw_[t.raw + static_cast<int>(e)] * dx[t.columns[t.local[e]]];
    }
  });
}

void HorizonProblem::add_squared_columns(const Eigen::VectorXd& w, const Eigen::VectorXd& v,
                                         Eigen::VectorXd& out) const {
  over_terms([&](const Term& t) {
    if (t.bound->role == Role::cost || (t.bound->role == Role::inequality && hinges_)) return;
    const double* weight = (t.bound->role == Role::equality ? w : v).data() + t.first_row;
    const auto pattern = t.bound->factor->pattern();
    for (std::size_t e = 0; e < pattern.size(); ++e) {
      if (t.local[e] < 0) continue;
      const double value = raw_[t.raw + static_cast<int>(e)];
      out[t.columns[t.local[e]]] += weight[pattern[e].row] * value * value;
    }
  });
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
  const bool hinge_or_barrier = role == Role::inequality && (hinges_ || sigma.size() > 0);
  if (!t.pairs.empty() && (role == Role::cost || hinge_or_barrier)) {
    scratch.hessian.assign(columns * columns, 0.0);
    scratch.weight.assign(rows, cost_weight_ * loss_weight_[term]);
    const double* residual = raw_.data() + t.raw + t.bound->factor->pattern().size();
    for (int r = 0; hinge_or_barrier && r < rows; ++r) {
      scratch.weight[r] = hinges_ ? cost_weight_ * hinge(t, r, residual[r]) : sigma[t.first_row + r];
    }
    add_squares(t, scratch);
    for (const Pair& p : t.pairs) matrix[p.place] += scratch.hessian[p.b * columns + p.a];
  }
  const Eigen::VectorXd& multiplier = role == Role::equality ? y : z;
  if (!t.bends.empty() && multiplier.size() > 0 && !(role == Role::inequality && hinges_)) {
    scratch.weight.assign(multiplier.data() + t.first_row, multiplier.data() + t.first_row + rows);
    if (role == Role::inequality) {
      for (double& w : scratch.weight) w = -w;
    }
    add_curvature(t, matrix, scratch);
  }
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
void HorizonProblem::add_curvature(const Term& t, std::vector<double>& matrix, Scratch& scratch) const {
  if (std::all_of(scratch.weight.begin(), scratch.weight.end(), [](double w) { return w == 0; })) return;
  const std::size_t n = static_cast<std::size_t>(t.differences->directions());
  scratch.stacked.assign(n * n, 0.0);
  const Factor& factor = *t.bound->factor;
  const Slots x(slots_.data() + t.slots, t.bound->keys.size());
  if (t.exact) {
    factor.add_curvature(x, scratch.weight.data(), scratch.stacked.data());
  } else {
    t.differences->add(factor, x, raw_.data() + t.raw, scratch.weight.data(), scratch.stacked.data(),
                       scratch.differences);
  }
  for (const Bend& b : t.bends) matrix[b.place] += b.times * scratch.stacked[b.from];
}

}  // namespace kinegraph
