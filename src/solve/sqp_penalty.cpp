#include <algorithm>
#include <cmath>

#include "kinegraph/solve/sqp_search.hpp"

// Constraints as costs: what starts a search from afar, what makes violations small where the filter accepts nothing,
// and the soft problem itself. Levenberg-Marquardt on
//
//     Φ = κ f + ½ Σ w c² + ½ Σ v min(0, g)²
//
// in the same elimination: hard rows with the compliance C = 1/w,  [κH + Gᵀ v G + λD  Jᵀ; J  −1/w] [dx; p] = −[∇; c].
namespace kinegraph {
namespace {

constexpr double kLeastDamping = 1e-18, kMostDamping = 1e16;
// A restoration that patience ends: its sum falls by less in that many iterations.
constexpr int kRestoreStall = 20;
constexpr double kRestoreFall = 0.05;
constexpr int kNaming = 100;          // iterations, at most, of the search for what is told of
constexpr double kNamingFall = 1e-2;  // of it: three steps in a row that bring less are enough
constexpr double kThreshold = 1e-7;   // H + λD and C are positive: any order of pivots will do

}  // namespace

SqpSearch::Penalty SqpSearch::warm_penalty() const {
  Penalty p;
  const double weight = 1 / (options_.warm_sigma * options_.warm_sigma);
  p.equality.setConstant(hard_, weight);
  p.inequality.setConstant(slacks_, weight);
  p.iterations = options_.warm_iterations;
  p.fall = 1e-3;
  return p;
}

SqpSearch::Penalty SqpSearch::restoration_penalty() const {
  Penalty p;
  p.equality.setOnes(hard_);
  p.inequality.setOnes(slacks_);
  p.cost = 0;
  p.iterations = std::max(100, options_.max_iterations - iteration_);
  p.phase = SqpIteration::Phase::restoration;
  return p;
}

SqpSearch::Penalty SqpSearch::naming_penalty() const {
  Penalty p = restoration_penalty();
  p.iterations = kNaming;
  p.fall = kNamingFall;
  for (int f = 0; f < problem_.graph().size(); ++f) {
    const BoundFactor& bound = problem_.graph()[f];
    const int first = problem_.structure().row[f];
    if (first < 0 || bound.role == Role::cost || (bound.role == Role::inequality && slacks_ == 0)) continue;
    const double weight = options_.violation_weight(bound);
    (bound.role == Role::equality ? p.equality : p.inequality)
        .segment(first, bound.factor->rows())
        .setConstant(weight * weight);
  }
  return p;
}

SqpSearch::Penalty SqpSearch::soft_penalty() const {
  Penalty p;
  p.equality.setOnes(hard_);
  p.inequality.setOnes(slacks_);
  for (int f = 0; f < problem_.graph().size(); ++f) {
    const BoundFactor& bound = problem_.graph()[f];
    const int first = problem_.structure().row[f];
    if (first < 0 || bound.role == Role::cost || (bound.role == Role::inequality && slacks_ == 0)) continue;
    for (int r = 0; r < bound.factor->rows(); ++r) {
      const double w = bound.noise.weight(r, r);
      (bound.role == Role::equality ? p.equality : p.inequality)[first + r] = w * w;
    }
  }
  p.iterations = options_.max_iterations;
  p.fall = 1e-9;
  return p;
}

double SqpSearch::penalty_of(const Penalty& penalty, const HorizonPoint& p) const {
  double sum = p.cost;
  for (int i = 0; i < hard_; ++i) sum += 0.5 * penalty.equality[i] * p.equality[i] * p.equality[i];
  for (int i = 0; i < slacks_; ++i) {
    const double g = std::min(0.0, p.inequality[i]);
    sum += 0.5 * penalty.inequality[i] * g * g;
  }
  return sum;
}

/// dx_ and what the model says it gains; false where the system has no answer. The second row of the system gives J dx,
///
///     −∇Φᵀ dx = −(κ∇f − Gᵀz)ᵀ dx − Σ w c (J dx),      w J dx = p − w c
bool SqpSearch::penalty_step(const Penalty& penalty, double damping) {
  diagonal_.head(n_) = damping * penalty_scale_;
  diagonal_.tail(hard_) = -penalty.equality.cwiseInverse();
  elimination_.factor(matrix_, {diagonal_.data(), static_cast<std::size_t>(diagonal_.size())});
  ++factorizations_;
  if (!elimination_.is_minimum()) return false;
  target_ = problem_.gradient();
  if (slacks_ > 0) {
    for (int i = 0; i < slacks_; ++i) pull_z_[i] = -penalty.inequality[i] * std::min(0.0, point_.inequality[i]);
    pull_y_.setZero();
    problem_.add_transposed(pull_y_, pull_z_, target_);
  }
  rhs_.head(n_) = -target_;
  rhs_.tail(hard_) = -point_.equality;
  elimination_.solve(rhs_);
  dx_ = rhs_.head(n_);
  pull_y_ = rhs_.tail(hard_);
  const double along = point_.equality.dot(pull_y_ - penalty.equality.cwiseProduct(point_.equality));
  predicted_ = 0.5 * (damping * penalty_scale_.dot(dx_.cwiseAbs2()) - target_.dot(dx_) - along);
  return std::isfinite(predicted_);
}

SqpSearch::PenaltyEnd SqpSearch::minimize_penalty(const Penalty& penalty, bool stop_when_acceptable) {
  static const Eigen::VectorXd none;
  problem_.set_cost_weight(penalty.cost);
  problem_.linearize(point_);
  elimination_.set_threshold(kThreshold);
  double value = penalty_of(penalty, point_), halfway = value, damping = 1e-3, growth = 2;
  const double theta = theta_;
  int slow = 0;
  double earlier = value;
  PenaltyEnd end = PenaltyEnd::limit;
  const bool restores = penalty.phase == SqpIteration::Phase::restoration;
  Eigen::VectorXd active = Eigen::VectorXd::Zero(slacks_);
  penalty_scale_.setZero();
  for (int i = 0; i < penalty.iterations && end == PenaltyEnd::limit; ++i) {
    if (2 * i <= penalty.iterations) halfway = value;
    for (int r = 0; r < slacks_; ++r) active[r] = point_.inequality[r] < 0 ? penalty.inequality[r] : 0;
    problem_.assemble(none, none, active, matrix_);
    target_ = problem_.column_norms();
    problem_.add_squared_columns(penalty.equality, active, target_);
    penalty_scale_ = penalty_scale_.cwiseMax(target_).cwiseMax(1e-8);
    const auto buffer = problem_.values().buffer();
    base_.assign(buffer.begin(), buffer.end());
    // Nearly all steps are taken: where they lead is linearised at once, and where it was again if one is not.
    bool taken = false, bold = true;
    while (!taken && damping < kMostDamping) {
      if (penalty_step(penalty, damping)) {
        if (predicted_ <= 1e-15 * value || value == 0) break;
        move(1, dx_);
        bold ? problem_.linearize(trial_) : problem_.evaluate(trial_);
        const double gain = trial_.finite() ? (value - penalty_of(penalty, trial_)) / predicted_ : -1;
        if (gain > 1e-4) {
          taken = true;
          damping = std::max(kLeastDamping, damping * std::max(1.0 / 3, 1 - std::pow(2 * gain - 1, 3)));
          growth = 2;
          break;
        }
        if (bold) {
          std::copy(base_.begin(), base_.end(), problem_.values().buffer().begin());
          problem_.linearize(point_);
          bold = false;
        }
      }
      damping *= growth;
      growth *= 2;
      if (!go_on()) {
        end = PenaltyEnd::interrupted;
        break;
      }
    }
    penalty_damping_ = damping;
    if (!taken) {
      std::copy(base_.begin(), base_.end(), problem_.values().buffer().begin());
      if (end == PenaltyEnd::limit) end = damping < kMostDamping ? PenaltyEnd::converged : PenaltyEnd::stuck;
      break;
    }
    const double now = penalty_of(penalty, trial_);
    slow = value - now <= penalty.fall * value ? slow + 1 : 0;
    value = now;
    if (bold) {
      std::swap(point_, trial_);
    } else {
      problem_.linearize(point_);
    }
    if (penalty.phase == SqpIteration::Phase::restoration)
      ++iteration_;
    else
      ++warm_iterations_;
    if (!tell(penalty.phase, 1))
      end = PenaltyEnd::interrupted;
    else if (slow >= 3)
      end = PenaltyEnd::converged;
    else if (restores && options_.patience > 0 && (i + 1) % kRestoreStall == 0) {
      const bool falls = value <= (1 - kRestoreFall) * earlier;
      if (i > kRestoreStall && iteration_ >= options_.patience && !falls) end = PenaltyEnd::converged;
      earlier = value;
    } else if (stop_when_acceptable && good_enough(theta))
      end = PenaltyEnd::good;
  }
  // what fell by less than a tenth in half of the iterations is as good as at its least
  if (restores && end == PenaltyEnd::limit && halfway - value <= 0.1 * value) end = PenaltyEnd::converged;
  elimination_.set_threshold(linear::HorizonElimination::kThreshold);
  problem_.set_cost_weight(1);
  problem_.linearize(point_);
  return end;
}

/// Slacks for the present point, as near to the rows as the barrier allows.
void SqpSearch::reset_slacks() {
  for (int i = 0; i < slacks_; ++i) s_[i] = std::max(point_.inequality[i], std::min(s_[i], barrier_));
}

/// Whether the search may go on from here: at most half of the violation, and new to the filter.
bool SqpSearch::good_enough(double theta) {
  trial_s_ = s_;
  for (int i = 0; i < slacks_; ++i) trial_s_[i] = std::max(point_.inequality[i], std::min(s_[i], barrier_));
  const double now = theta_of(point_, trial_s_);
  if (now > 0.5 * theta) return false;
  problem_.set_cost_weight(1);
  problem_.evaluate(trial_);
  const bool accepted = filter_.accepts(now, merit_of(trial_, trial_s_));
  problem_.set_cost_weight(0);
  return accepted;
}

SqpSearch::Outcome SqpSearch::restore() {
  ++iteration_;
  if (iteration_ > options_.max_iterations) return Outcome::limit;
  if (violation_of(point_) <= options_.violation_tolerance * 10 && theta_ <= theta_min_) {
    extra_damping_ = extra_damping_ == 0 ? 1e-4 : extra_damping_ * 100;  // shorter steps, more along the gradient
    filter_.clear(theta_max_);
    const bool feasible = violation_of(point_) <= options_.violation_tolerance;
    if (feasible && error(0) <= 1e3 * options_.optimality_tolerance && extra_damping_ > 1) return Outcome::converged;
    return extra_damping_ < 1e12 ? Outcome::accepted : Outcome::rejected;
  }
  ++restorations_;
  filter_.add((1 - 1e-5) * theta_, merit_);
  const PenaltyEnd end =
      given_up_ ? PenaltyEnd::converged : minimize_penalty(restoration_penalty(), restorations_ < 20);
  if (end == PenaltyEnd::interrupted) return Outcome::interrupted;
  if (end != PenaltyEnd::good) {
    if (const Outcome told = tell_apart(end); told != Outcome::accepted) return told;
    filter_.clear(theta_max_);
  }
  reset_slacks();
  for (int i = 0; i < slacks_; ++i) z_[i] = barrier_ / s_[i];
  y_.setZero();
  extra_damping_ = 0;
  return Outcome::accepted;
}

/// Where the violation comes no nearer to nothing: of the points at which it is least, one where what is cheap to
/// violate yields to what is dear. From there it may vanish after all.
SqpSearch::Outcome SqpSearch::tell_apart(PenaltyEnd end) {
  const auto holds = [&] { return violation_of(point_) <= options_.violation_tolerance; };
  if (!holds() && options_.violation_weight && minimize_penalty(naming_penalty(), false) == PenaltyEnd::interrupted) {
    return Outcome::interrupted;
  }
  if (holds()) return Outcome::accepted;
  if (end == PenaltyEnd::converged) return Outcome::infeasible;
  return end == PenaltyEnd::stuck ? Outcome::rejected : Outcome::limit;
}

SqpReport SqpSearch::solve_soft() {
  const Penalty penalty = soft_penalty();
  const PenaltyEnd end = minimize_penalty(penalty, false);
  iteration_ = warm_iterations_;
  warm_iterations_ = 0;
  pull_y_ = penalty.equality.cwiseProduct(point_.equality);
  for (int i = 0; i < slacks_; ++i) pull_z_[i] = -penalty.inequality[i] * std::min(0.0, point_.inequality[i]);
  lagrangian_ = problem_.gradient();  // of the sum that was made small
  problem_.add_transposed(pull_y_, pull_z_, lagrangian_);
  if (end == PenaltyEnd::interrupted) return report(SqpStatus::interrupted);
  if (end == PenaltyEnd::stuck) return report(SqpStatus::stuck);
  return report(end == PenaltyEnd::converged ? SqpStatus::converged : SqpStatus::max_iterations);
}

}  // namespace kinegraph
