#include <algorithm>
#include <cmath>
#include <limits>

#include "kinegraph/linear/front_kernel.hpp"
#include "kinegraph/linear/ldlt.hpp"

namespace kinegraph::linear {

// The plan, replayed with new numbers. Front by front, children first:
//
//     F = entries of K + Σ children's updates,   F = [F₁₁ F₂₁ᵀ; F₂₁ F₂₂],   F₁₁ = L₁₁ D L₁₁ᵀ,   L₂₁ = F₂₁ L₁₁⁻ᵀ D⁻¹,
//     update to the parent:  F₂₂ − L₂₁ D L₂₁ᵀ
//
// Pivots are not searched but watched. A pivot that has fallen below 0.05 of its size when chosen, and that would now
// fail even a laxer test than it passed then, makes the plan stale. Pivots at round-off are replaced by small ones of
// the sign that belongs to their row; refinement against K itself removes that error wherever the system has a
// solution.
namespace {

constexpr double kFallen = 0.05;       // of the size when chosen
constexpr double kLaxer = 0.1;         // of the threshold when chosen
constexpr double kZero = 1e-14;        // scaled pivots below are round-off …
constexpr double kReplacement = 1e-8;  // … and become this
constexpr double kRoundOff = 1e-15;    // a backward error not worth refining
constexpr double kBlind = 1e-10;       // rows this much smaller than the largest are judged by the largest

}  // namespace

/// Watches the pivots of one front.
class Elimination::Monitor final : public PivotMonitor {
 public:
  Monitor(const Plan& plan, const Front& front, const double* panel, FactorReport& report)
      : plan_(plan), front_(front), panel_(panel), threshold_(kLaxer * plan.pivot_threshold()), report_(report) {}

  void single(int k, double& d) override {
    const int position = front_.first_pivot + k;
    const double s = plan_.scale()[position];
    if (std::abs(d) * s * s <= kZero) {
      ++report_.zero;
      d = replacement(position);
      return;
    }
    ++(d > 0 ? report_.positive : report_.negative);
    watch(position, std::abs(d), [&] { return std::abs(d) * s < threshold_ * column_max(k, k + 1); });
  }

  void pair(int k, double& p, double& q, double& r) override {
    const int i = front_.first_pivot + k;
    const double si = plan_.scale()[i], sj = plan_.scale()[i + 1];
    const double det = p * r - q * q;
    if (std::sqrt(std::abs(det)) * si * sj <= kZero) {
      report_.zero += 2;
      p = replacement(i);
      q = 0;
      r = replacement(i + 1);
      return;
    }
    if (det < 0) {
      ++report_.positive;
      ++report_.negative;
    } else {
      (p > 0 ? report_.positive : report_.negative) += 2;
    }
    watch(i, std::sqrt(std::abs(det)), [&] {
      const double u = threshold_, d = std::abs(det);
      const double mi = column_max(k, k + 2), mj = column_max(k + 1, k + 2);  // scaled by rows only
      return d * si < u * (std::abs(r) * mi + std::abs(q) * mj) || d * sj < u * (std::abs(q) * mi + std::abs(p) * mj);
    });
  }

 private:
  /// `fails` repeats the threshold test of the plan; it is only asked of pivots that have fallen.
  template <class Test>
  void watch(int position, double size, Test fails) {
    const double ratio = size / plan_.chosen()[position];
    if (ratio >= kFallen || ratio >= report_.worst_ratio) return;
    if (plan_.definite() || !fails()) return;
    report_.worst_ratio = ratio;
    report_.worst_row = plan_.order()[position];
    report_.stale = true;
  }

  /// maxᵢ sᵢ |aᵢₖ| of the pivot column, not yet divided by the pivot.
  double column_max(int k, int from) const {
    const double* a = panel_ + std::ptrdiff_t{k} * front_.size;
    const auto rows = plan_.front_rows(front_);
    double largest = 0;
    for (int i = from; i < front_.size; ++i) largest = std::max(largest, std::abs(a[i]) * plan_.scale()[rows[i]]);
    return largest;
  }

  double replacement(int position) const {
    const double s = plan_.scale()[position];
    const bool hard = plan_.pattern().kind[plan_.order()[position]] == RowKind::hard;
    return (hard ? -kReplacement : kReplacement) / (s * s);
  }

  const Plan& plan_;
  const Front& front_;
  const double* panel_;
  const double threshold_;
  FactorReport& report_;
};

Elimination::Elimination(const Plan& plan) : plan_(&plan) { allocate(); }

void Elimination::allocate() {
  const std::size_t n = plan_->size();
  values_.resize(plan_->pattern().entries());
  factor_.resize(plan_->factor_size());
  work_.resize(plan_->work_size());
  for (auto* v : {&diagonal_, &off_, &b_, &x_, &r_, &bound_, &step_}) v->resize(n);
  gather_.resize(plan_->cost().largest_front);
  version_ = plan_->version();
}

FactorReport Elimination::factor(std::span<const double> values, Regularisation regularisation) {
  if (version_ != plan_->version()) allocate();
  report_ = {};
  std::copy(values.begin(), values.end(), values_.begin());
  double poison = 0;  // stays 0 unless a value is infinite or not a number
  for (double v : values) poison += v * 0;
  if (poison != 0 || std::isnan(poison)) {
    report_.finite = false;
    return report_;
  }
  assemble(regularisation);
  for (const Front& front : plan_->fronts()) eliminate(front);
  return report_;
}

void Elimination::assemble(Regularisation regularisation) {
  std::fill(factor_.begin(), factor_.end(), 0.0);
  const auto target = plan_->target();
  for (std::size_t k = 0; k < target.size(); ++k) factor_[target[k]] += values_[k];
  if (regularisation.variable == 0 && regularisation.hard == 0) return;
  for (const Front& front : plan_->fronts()) {
    for (int k = 0; k < front.pivots; ++k) {
      const RowKind kind = plan_->pattern().kind[plan_->order()[front.first_pivot + k]];
      factor_[front.panel + std::ptrdiff_t{k} * front.size + k] +=
          kind == RowKind::hard ? -regularisation.hard : regularisation.variable;
    }
  }
}

void Elimination::eliminate(const Front& front) {
  double* panel = factor_.data() + front.panel;
  double* update = work_.data() + front.schur;
  const int border = front.border();
  std::fill_n(update, std::ptrdiff_t{border} * border, 0.0);
  for (int c = front.first_child; c >= 0; c = plan_->fronts()[c].next_sibling) {
    add_child(front, plan_->fronts()[c], panel, update);
  }
  const FrontMemory memory{
      front.size, front.pivots, panel, update, diagonal_.data() + front.first_pivot, off_.data() + front.first_pivot};
  Monitor monitor(*plan_, front, panel, report_);
  eliminate_front(memory, plan_->pivot().subspan(front.first_pivot, front.pivots), monitor);
}

void Elimination::add_child(const Front& front, const Front& child, double* panel, double* update) const {
  const double* from = work_.data() + child.schur;
  const int* place = plan_->relative().data() + child.relative;
  const int n = child.border();
  for (int j = 0; j < n; ++j, from += n) {
    double* to = place[j] < front.pivots
                     ? panel + std::ptrdiff_t{place[j]} * front.size
                     : update + std::ptrdiff_t{place[j] - front.pivots} * front.border() - front.pivots;
    for (int i = j; i < n; ++i) to[place[i]] += from[i];
  }
}

/// x ← (L D Lᵀ)⁻¹ x, x by position.
void Elimination::substitute(double* x) {
  for (const Front& front : plan_->fronts()) forward(front, x);
  for (int i = 0; i < plan_->size(); ++i) {
    const double p = diagonal_[i];
    if (plan_->pivot()[i] == PivotKind::single) {
      x[i] /= p;
    } else {
      const double q = off_[i], r = diagonal_[i + 1], inverse = 1 / (p * r - q * q), a = x[i], b = x[i + 1];
      x[i] = (r * a - q * b) * inverse;
      x[++i] = (p * b - q * a) * inverse;
    }
  }
  const auto fronts = plan_->fronts();
  for (auto front = fronts.rbegin(); front != fronts.rend(); ++front) backward(*front, x);
}

void Elimination::forward(const Front& front, double* x) {
  double* own = x + front.first_pivot;
  double* border = gather_.data();
  std::fill_n(border, front.border(), 0.0);
  const double* l = factor_.data() + front.panel;
  for (int k = 0; k < front.pivots; ++k, l += front.size) {
    const double xk = own[k];
    for (int i = k + 1; i < front.pivots; ++i) own[i] -= l[i] * xk;
    for (int i = 0; i < front.border(); ++i) border[i] += l[front.pivots + i] * xk;
  }
  const int* rows = plan_->front_rows(front).data() + front.pivots;
  for (int i = 0; i < front.border(); ++i) x[rows[i]] -= border[i];
}

void Elimination::backward(const Front& front, double* x) {
  double* own = x + front.first_pivot;
  double* border = gather_.data();
  const int* rows = plan_->front_rows(front).data() + front.pivots;
  for (int i = 0; i < front.border(); ++i) border[i] = x[rows[i]];
  for (int k = front.pivots - 1; k >= 0; --k) {
    const double* l = factor_.data() + front.panel + std::ptrdiff_t{k} * front.size;
    double sum = own[k];
    for (int i = k + 1; i < front.pivots; ++i) sum -= l[i] * own[i];
    for (int i = 0; i < front.border(); ++i) sum -= l[front.pivots + i] * border[i];
    own[k] = sum;
  }
}

SolveReport Elimination::solve(Eigen::Ref<Eigen::VectorXd> rhs, int refinements) {
  const int n = plan_->size();
  const auto order = plan_->order();
  SolveReport report;
  std::copy(rhs.data(), rhs.data() + n, b_.begin());
  r_ = b_;
  std::fill(x_.begin(), x_.end(), 0.0);
  for (int pass = 0;; ++pass) {
    for (int i = 0; i < n; ++i) step_[i] = r_[order[i]];
    substitute(step_.data());
    for (int i = 0; i < n; ++i) x_[order[i]] += step_[i];
    const double error = residual();
    if (pass > 0 && !(error < report.backward_error)) {  // no better: take the step back
      for (int i = 0; i < n; ++i) x_[order[i]] -= step_[i];
      break;
    }
    const bool slow = pass > 0 && error > 0.5 * report.backward_error;
    report.backward_error = error;
    report.refinements = pass;
    if (error <= kRoundOff || slow || pass >= refinements) break;
  }
  std::copy(x_.begin(), x_.end(), rhs.data());
  return report;
}

/// r ← b − K x. Returns maxᵢ |r|ᵢ / (|K| |x| + |b|)ᵢ, where a row much smaller than the largest counts by the largest.
double Elimination::residual() {
  const SymmetricPattern& p = plan_->pattern();
  for (int i = 0; i < p.size(); ++i) {
    r_[i] = b_[i];
    bound_[i] = std::abs(b_[i]);
  }
  for (int j = 0; j < p.size(); ++j) {
    double sum = 0, size = 0;
    for (int k = p.start[j]; k < p.start[j + 1]; ++k) {
      const int i = p.row[k];
      const double a = values_[k] * x_[i];
      sum += a;
      size += std::abs(a);
      if (i == j) continue;
      const double c = values_[k] * x_[j];
      r_[i] -= c;
      bound_[i] += std::abs(c);
    }
    r_[j] -= sum;
    bound_[j] += size;
  }
  double largest = std::numeric_limits<double>::min();
  for (int i = 0; i < p.size(); ++i) largest = std::max(largest, bound_[plan_->order()[i]] * plan_->scale()[i]);
  double error = 0;
  for (int i = 0; i < p.size(); ++i) {
    const int row = plan_->order()[i];
    error = std::max(error, std::abs(r_[row]) / (bound_[row] + kBlind * largest / plan_->scale()[i]));
  }
  return error;
}

double Elimination::growth() const {
  const SymmetricPattern& p = plan_->pattern();
  const auto scale = plan_->scale();
  const auto position = plan_->position();
  double before = 0, after = 0;
  for (int j = 0; j < p.size(); ++j) {
    for (int k = p.start[j]; k < p.start[j + 1]; ++k) {
      before = std::max(before, std::abs(values_[k]) * scale[position[p.row[k]]] * scale[position[j]]);
    }
  }
  // The columns of L D are what stood in the fronts when their pivots' turn came.
  for (const Front& front : plan_->fronts()) {
    const auto rows = plan_->front_rows(front);
    for (int k = 0; k < front.pivots; ++k) {
      const int at = front.first_pivot + k;
      const double* l = factor_.data() + front.panel + std::ptrdiff_t{k} * front.size;
      const bool first = plan_->pivot()[at] == PivotKind::pair_first,
                 second = plan_->pivot()[at] == PivotKind::pair_second;
      const double* mate = first ? l + front.size : second ? l - front.size : l;
      const double off = first ? off_[at] : second ? off_[at - 1] : 0.0;
      for (int i = k; i < front.size; ++i) {
        after = std::max(after, std::abs(l[i] * diagonal_[at] + mate[i] * off) * scale[rows[i]] * scale[at]);
      }
    }
  }
  return before > 0 ? after / before : 1;
}

}  // namespace kinegraph::linear
