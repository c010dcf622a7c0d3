#include "kinegraph/linear/barrier_step.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cassert>
#include <cmath>

#include "kinegraph/base/numbers.hpp"

namespace kinegraph::linear {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// A primal-dual interior-point method. With Fⱼ(d) = Lⱼ + Σ dᵢ Lⱼᵢ (a bound is a 1×1 matrix) and multipliers Zⱼ ⪰ 0,
//
//     S d + g − Σⱼ ⟨Lⱼᵢ, Zⱼ⟩ = 0,    Fⱼ Zⱼ = μ wⱼ 1,    μ → 0
//
// Newton's step of both, Zⱼ eliminated by  ΔZ = μ w F⁻¹ − Z − sym(F⁻¹ ΔF Z):
//
//     (S + M) Δd = −S d − g + μ Σⱼ wⱼ ⟨Lⱼᵢ, Fⱼ⁻¹⟩,    Mᵢₖ = Σⱼ ⟨Lⱼᵢ, Fⱼ⁻¹ Lⱼₖ Zⱼ⟩
//
// The weights w are what multipliers are expected to be, so that a parameter of little effect is found as exactly as
// one of much. F is linear in d, so d stays feasible. The start of Z does not look at how near a boundary d = 0 is: a
// start that is very near one is then left in a step or two, where a barrier without multipliers would double its
// distance each time.

constexpr int kIterations = 60;
constexpr double kRegularisation = 1e-12;  // of the diagonal of S
constexpr double kGap = 1e-11;             // of μ, which starts at 1
constexpr double kResidual = 1e-9;         // of the gradient against what it is expected to be
constexpr double kLeastSlack = 1e-10;      // a start on a bound gets this much, scaled; the answer is clamped

/// One bound of one variable, sign · x + slack₀ ≥ 0.
struct Bound {
  int variable;
  double sign, start, weight;
  double slack, multiplier, slack_step = 0, multiplier_step = 0;
};

struct Inequality {
  MatrixXd constant;
  double weight = 0;
  std::size_t number = 0;  // among the caller's
  std::vector<int> variable;
  std::vector<MatrixXd> terms;
  MatrixXd F, inverse, Z, F_step, Z_step;
};

double inner(const MatrixXd& a, const MatrixXd& b) { return a.cwiseProduct(b).sum(); }

double largest_eigenvalue(const MatrixXd& m) {
  return Eigen::SelfAdjointEigenSolver<MatrixXd>(m, Eigen::EigenvaluesOnly).eigenvalues().maxCoeff();
}

/// Largest step in [0, 1] with m + step · change ⪰ 0, for m ≻ 0; 0 if m is not.
double step_to_boundary(const MatrixXd& m, const MatrixXd& change) {
  const Eigen::LLT<MatrixXd> root(m);
  if (root.info() != Eigen::Success) return 0;
  MatrixXd relative = root.matrixL().solve(change);
  relative = root.matrixL().solve(relative.transpose().eval());
  const MatrixXd symmetric = 0.5 * (relative + relative.transpose());
  const double most = largest_eigenvalue(-symmetric);
  return most > 1 ? 1 / most : 1;
}

class InteriorPoint {
 public:
  explicit InteriorPoint(const BarrierProblem& problem) : problem_(problem) {}

  BarrierStep run();

 private:
  bool given() const;
  bool choose_scales();
  void scale_objective();
  void add_bounds();
  bool add_inequalities();
  bool newton(double mu);
  double step_length() const;
  void move(double length);
  double complementarity() const;
  double dual_residual() const;
  BarrierStep answer() const;
  bool inside(const VectorXd& d) const;

  const BarrierProblem& problem_;
  std::vector<int> free_;      // parameter of each variable
  std::vector<int> variable_;  // and back; −1: fixed
  VectorXd scale_;             // d = scale · x, per parameter
  MatrixXd S_, M_;             // scaled, of the variables
  VectorXd g_, weight_, x_, x_step_, right_;
  std::vector<Bound> bounds_;
  std::vector<Inequality> inequalities_;
  int terms_ = 0;  // rows of all F
  int iterations_ = 0;
  bool converged_ = false;
};

bool InteriorPoint::given() const {
  assert(problem_.S.rows() == problem_.g.size() && problem_.S.cols() == problem_.g.size());
  assert(problem_.lower.size() == problem_.upper.size());
  if (!problem_.S.allFinite() || !problem_.g.allFinite()) return false;
  for (Eigen::Index i = 0; i < problem_.lower.size(); ++i) {
    if (std::isnan(problem_.lower[i]) || std::isnan(problem_.upper[i])) return false;
  }
  for (const MatrixInequality& each : problem_.inequalities) {
    if (!each.constant.allFinite()) return false;
    for (const auto& term : each.terms) {
      if (!term.matrix.allFinite()) return false;
    }
  }
  return true;
}

// How far a parameter may be expected to go: what the curvature says, or the room that it has.
bool InteriorPoint::choose_scales() {
  const int p = static_cast<int>(problem_.g.size());
  scale_ = VectorXd::Constant(p, kInfinity);
  for (int i = 0; i < p; ++i) {
    if (problem_.S(i, i) > 0) scale_[i] = 1 / std::sqrt(problem_.S(i, i));
    if (problem_.lower.size()) scale_[i] = std::min(scale_[i], problem_.upper[i] - problem_.lower[i]);
  }
  for (const MatrixInequality& each : problem_.inequalities) {
    const double size = largest_eigenvalue(each.constant);
    for (const auto& term : each.terms) {
      const double most = term.matrix.norm();
      if (most > 0 && size > 0) scale_[term.parameter] = std::min(scale_[term.parameter], size / most);
    }
  }
  variable_.assign(p, -1);
  for (int i = 0; i < p; ++i) {
    const bool beyond = problem_.lower.size() && (problem_.lower[i] > 0 || problem_.upper[i] < 0);
    if (beyond || !(scale_[i] > 0) || !std::isfinite(scale_[i])) continue;
    variable_[i] = static_cast<int>(free_.size());
    free_.push_back(i);
  }
  scale_objective();
  return S_.allFinite() && g_.allFinite() && weight_.allFinite();
}

void InteriorPoint::scale_objective() {
  const int n = static_cast<int>(free_.size());
  S_.resize(n, n), g_.resize(n);
  for (int a = 0; a < n; ++a) {
    g_[a] = scale_[free_[a]] * problem_.g[free_[a]];
    for (int b = 0; b < n; ++b) S_(a, b) = scale_[free_[a]] * problem_.S(free_[a], free_[b]) * scale_[free_[b]];
  }
  S_ = 0.5 * (S_ + S_.transpose()).eval();
  const double largest = g_.size() ? g_.lpNorm<Eigen::Infinity>() : 0;
  VectorXd move(n);  // of each variable alone
  for (int a = 0; a < n; ++a) {
    const double own = S_(a, a);
    S_(a, a) += kRegularisation * (own > 0 ? own : largest);
    move[a] = largest == 0 ? 0 : std::min(std::abs(g_[a]) / S_(a, a), 1 / kRegularisation);
    if (problem_.lower.size()) {
      const int i = free_[a];
      move[a] = std::min(move[a], (g_[a] < 0 ? problem_.upper[i] : -problem_.lower[i]) / scale_[i]);
    }
  }
  weight_ = (g_.cwiseAbs() + S_.cwiseAbs() * move).cwiseMax(kRegularisation * largest);
}

void InteriorPoint::add_bounds() {
  for (int a = 0; problem_.lower.size() && a < static_cast<int>(free_.size()); ++a) {
    const int i = free_[a];
    for (const double sign : {1.0, -1.0}) {
      const double room = sign > 0 ? -problem_.lower[i] : problem_.upper[i];
      if (!std::isfinite(room)) continue;
      const double slack = std::max(problem_.fraction * room / scale_[i], kLeastSlack);
      bounds_.push_back({a, sign, slack, weight_[a], slack, weight_[a] / std::max(slack, 1.0)});
    }
  }
  terms_ += static_cast<int>(bounds_.size());
}

// Of the room at the start a share remains: F(d) − (1 − f) F(0) ⪰ 0.
bool InteriorPoint::add_inequalities() {
  for (std::size_t j = 0; j < problem_.inequalities.size(); ++j) {
    const MatrixInequality& each = problem_.inequalities[j];
    Inequality one;
    one.number = j;
    const double size = largest_eigenvalue(each.constant);
    if (!(size > 0) || Eigen::LLT<MatrixXd>(each.constant).info() != Eigen::Success) return false;
    one.constant = problem_.fraction / size * each.constant;
    for (const auto& term : each.terms) {
      const int variable = variable_[term.parameter];
      if (variable < 0) continue;
      one.variable.push_back(variable);
      one.terms.push_back(scale_[term.parameter] / size * term.matrix);
      one.weight = std::max(one.weight, weight_[variable]);
    }
    one.F = one.constant;
    one.Z = one.weight * MatrixXd::Identity(one.F.rows(), one.F.cols());
    if (one.weight == 0) continue;  // it holds whatever the variables are
    terms_ += static_cast<int>(one.F.rows());
    inequalities_.push_back(std::move(one));
  }
  return true;
}

bool InteriorPoint::newton(double mu) {
  M_ = S_;
  right_.noalias() = -S_ * x_ - g_;
  for (const Bound& each : bounds_) {
    M_(each.variable, each.variable) += each.multiplier / each.slack;
    right_[each.variable] += each.sign * mu * each.weight / each.slack;
  }
  for (Inequality& each : inequalities_) {
    const int size = static_cast<int>(each.F.rows());
    each.inverse = each.F.llt().solve(MatrixXd::Identity(size, size));
    for (std::size_t b = 0; b < each.terms.size(); ++b) {
      right_[each.variable[b]] += mu * each.weight * inner(each.terms[b], each.inverse);
      const MatrixXd product = each.inverse * each.terms[b] * each.Z;
      for (std::size_t a = 0; a <= b; ++a) {
        const double value = inner(each.terms[a], product);
        M_(each.variable[a], each.variable[b]) += value;
        if (a != b) M_(each.variable[b], each.variable[a]) += value;
      }
    }
  }
  const Eigen::LLT<MatrixXd> root(M_);
  if (root.info() != Eigen::Success) return false;
  x_step_ = root.solve(right_);
  if (!x_step_.allFinite()) return false;
  for (Bound& each : bounds_) {
    each.slack_step = each.sign * x_step_[each.variable];
    each.multiplier_step = (mu * each.weight - each.multiplier * each.slack_step) / each.slack - each.multiplier;
  }
  for (Inequality& each : inequalities_) {
    each.F_step.setZero(each.F.rows(), each.F.cols());
    for (std::size_t a = 0; a < each.terms.size(); ++a) each.F_step += x_step_[each.variable[a]] * each.terms[a];
    const MatrixXd product = each.inverse * each.F_step * each.Z;
    each.Z_step = mu * each.weight * each.inverse - each.Z - 0.5 * (product + product.transpose());
  }
  return true;
}

double InteriorPoint::step_length() const {
  double length = 1;
  const auto limit = [&](double value, double change) {
    if (change < 0) length = std::min(length, -value / change);
  };
  for (const Bound& each : bounds_) {
    limit(each.slack, each.slack_step);
    limit(each.multiplier, each.multiplier_step);
  }
  for (const Inequality& each : inequalities_) {
    length = std::min({length, step_to_boundary(each.F, each.F_step), step_to_boundary(each.Z, each.Z_step)});
  }
  return length < 1 ? 0.98 * length : 1;
}

void InteriorPoint::move(double length) {
  x_ += length * x_step_;
  for (Bound& each : bounds_) {
    each.slack = each.start + each.sign * x_[each.variable];
    each.multiplier += length * each.multiplier_step;
  }
  for (Inequality& each : inequalities_) {
    each.F += length * each.F_step;
    each.Z += length * each.Z_step;
  }
}

double InteriorPoint::complementarity() const {
  double sum = 0;
  for (const Bound& each : bounds_) sum += each.slack * each.multiplier / each.weight;
  for (const Inequality& each : inequalities_) sum += inner(each.F, each.Z) / each.weight;
  return sum / terms_;
}

double InteriorPoint::dual_residual() const {
  VectorXd r = S_ * x_ + g_;
  for (const Bound& each : bounds_) r[each.variable] -= each.sign * each.multiplier;
  for (const Inequality& each : inequalities_) {
    for (std::size_t a = 0; a < each.terms.size(); ++a) r[each.variable[a]] -= inner(each.terms[a], each.Z);
  }
  return r.cwiseQuotient(weight_).lpNorm<Eigen::Infinity>();
}

BarrierStep InteriorPoint::run() {
  if (!given() || !choose_scales() || !add_inequalities()) return answer();
  if (g_.size() == 0 || g_.isZero(0)) {
    converged_ = true;
    return answer();
  }
  add_bounds();
  x_.setZero(g_.size());
  double length = 0;
  for (iterations_ = 1; iterations_ <= kIterations; ++iterations_) {
    const double mu = terms_ ? (length > 0.9 ? 0.05 : length > 0.5 ? 0.2 : 0.6) * complementarity() : 0;
    if (!newton(mu)) break;
    length = step_length();
    if (!(length > 1e-12)) break;
    move(length);
    converged_ = (terms_ == 0 || complementarity() <= kGap) && dual_residual() <= kResidual;
    if (converged_) break;
  }
  iterations_ = std::min(iterations_, kIterations);
  return answer();
}

bool InteriorPoint::inside(const VectorXd& d) const {
  for (const MatrixInequality& each : problem_.inequalities) {
    MatrixXd F = each.constant;
    for (const auto& term : each.terms) F += d[term.parameter] * term.matrix;
    if (Eigen::LLT<MatrixXd>(F).info() != Eigen::Success) return false;
  }
  return true;
}

BarrierStep InteriorPoint::answer() const {
  const int p = static_cast<int>(problem_.g.size());
  BarrierStep result;
  result.d.setZero(p);
  result.bounds.assign(p, BoundState::inside);
  result.inequalities.assign(problem_.inequalities.size(), false);
  result.iterations = iterations_;
  result.converged = converged_;
  for (int i = 0; i < static_cast<int>(variable_.size()); ++i) {
    if (variable_[i] < 0) result.bounds[i] = BoundState::fixed;
  }
  if (iterations_ == 0) return result;
  for (std::size_t a = 0; a < free_.size(); ++a) result.d[free_[a]] = scale_[free_[a]] * x_[static_cast<int>(a)];
  if (problem_.lower.size()) result.d = result.d.cwiseMax(problem_.lower).cwiseMin(problem_.upper);
  for (std::size_t i = 0; i < variable_.size(); ++i) {
    if (variable_[i] < 0) result.d[static_cast<int>(i)] = 0;
  }
  const auto value = [&] { return 0.5 * result.d.dot(problem_.S * result.d) + problem_.g.dot(result.d); };
  for (int halving = 0; !inside(result.d) && halving < 60; ++halving) result.d *= 0.5;
  result.value = value();
  if (!(result.value <= 0) || !result.d.allFinite() || !inside(result.d)) {
    result.d.setZero();
    result.value = 0;
    result.converged = false;
    return result;
  }
  for (const Bound& each : bounds_) {
    if (each.multiplier > each.slack * each.weight) {
      result.bounds[free_[each.variable]] = each.sign > 0 ? BoundState::lower : BoundState::upper;
    }
  }
  for (const Inequality& each : inequalities_) {
    const double slack = -largest_eigenvalue(-each.F);
    result.inequalities[each.number] = largest_eigenvalue(each.Z) > slack * each.weight;
  }
  return result;
}

}  // namespace

BarrierStep barrier_step(const BarrierProblem& problem) { return InteriorPoint(problem).run(); }

}  // namespace kinegraph::linear
