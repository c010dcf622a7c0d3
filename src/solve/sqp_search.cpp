#include "kinegraph/solve/sqp_search.hpp"

#include <algorithm>
#include <cmath>

namespace kinegraph {
namespace {

// Names as in the paper cited in the header.
constexpr double kGammaTheta = 1e-5, kGammaPhi = 1e-8, kEta = 1e-8, kDelta = 1, kSTheta = 1.1, kSPhi = 2.3;
constexpr double kKappaEpsilon = 10, kKappaMu = 0.2, kThetaMu = 1.5, kTauMin = 0.99, kKappaSigma = 1e10;
constexpr double kKappaSoc = 0.99, kShortest = 1e-7;
constexpr int kCorrections = 4;
constexpr double kRounding = 1e-14;
// Where only short steps are accepted, δ > 0 bends the next ones towards the gradient instead.
constexpr double kLeastExtra = 1e-4, kLengthen = 8;

constexpr int kStall = 30;
constexpr double kNearer = 0.9, kFarOff = 1e-2;

}  // namespace

bool SqpFilter::accepts(double violation, double merit) const {
  if (!(violation <= largest_)) return false;
  return std::all_of(pairs_.begin(), pairs_.end(), [&](const Pair& p) {
    return violation <= (1 - kGammaTheta) * p.violation || merit <= p.merit - kGammaPhi * p.violation;
  });
}

SqpSearch::SqpSearch(HorizonProblem& problem, linear::HorizonElimination& elimination, const SqpOptions& options,
                     SqpDuals& duals)
    : problem_(problem), elimination_(elimination), options_(options), duals_(duals) {
  n_ = problem.unknowns();
  hard_ = problem.hard_rows();
  inequalities_ = problem.inequality_rows() > 0 && !problem.hinges();
  slacks_ = inequalities_ ? problem.inequality_rows() : 0;
  for (auto* v : {&y_, &dy_, &cdy_, &c_, &pull_y_}) v->setZero(hard_);
  for (auto* v : {&z_, &s_, &trial_s_, &sigma_, &ds_, &dz_, &cds_, &slack_rest_, &soc_rest_, &pull_z_})
    v->setZero(slacks_);
  for (auto* v : {&dx_, &cdx_, &lagrangian_, &scaled_, &target_, &penalty_scale_}) v->setZero(n_);
  for (auto* v : {&rhs_, &diagonal_}) v->setZero(n_ + hard_);
}

SqpReport SqpSearch::run(bool warm) {
  problem_.set_cost_weight(1);
  problem_.linearize(point_);
  if (!point_.finite()) return report(SqpStatus::not_finite);
  if (options_.soft_equalities) return solve_soft();
  warm = warm && duals_.equality.size() == hard_ && duals_.inequality.size() == slacks_;
  if (warm) {
    y_ = duals_.equality;
    z_ = duals_.inequality;
  } else if (options_.warm_iterations > 0) {
    if (minimize_penalty(warm_penalty(), false) == PenaltyEnd::interrupted) return report(SqpStatus::interrupted);
    y_ = pull_y_;
  }
  start_slacks(warm);
  Outcome outcome = Outcome::accepted;
  while (outcome == Outcome::accepted) outcome = iterate();
  duals_ = {y_, z_};
  switch (outcome) {
    case Outcome::converged:
      return report(SqpStatus::converged);
    case Outcome::infeasible:
      return report(SqpStatus::infeasible);
    case Outcome::interrupted:
      return report(SqpStatus::interrupted);
    case Outcome::limit:
      return report(SqpStatus::max_iterations);
    default:
      return report(SqpStatus::stuck);
  }
}

void SqpSearch::start_slacks(bool warm) {
  barrier_ = slacks_ == 0 ? 0 : warm ? std::min(options_.barrier, 1e-3) : options_.barrier;
  const double least = warm ? 1e-4 : 1e-2;
  for (int i = 0; i < slacks_; ++i) {
    s_[i] = std::max(point_.inequality[i], least);
    if (!warm || !(z_[i] > 0)) z_[i] = barrier_ / s_[i];
    z_[i] = std::clamp(z_[i], 1e-2 * barrier_ / s_[i], 1e2 * barrier_ / s_[i]);
  }
  theta_ = theta_of(point_, s_);
  theta_max_ = 1e4 * std::max(1.0, theta_);
  theta_min_ = 1e-4 * std::max(1.0, theta_);
  filter_.clear(theta_max_);
}

double SqpSearch::violation_of(const HorizonPoint& p) const {
  double worst = hard_ > 0 ? p.equality.lpNorm<Eigen::Infinity>() : 0;
  for (int i = 0; i < slacks_; ++i) worst = std::max(worst, -p.inequality[i]);
  return worst;
}

double SqpSearch::theta_of(const HorizonPoint& p, const Eigen::VectorXd& s) const {
  double sum = p.equality.lpNorm<1>();
  for (int i = 0; i < slacks_; ++i) sum += std::abs(p.inequality[i] - s[i]);
  return sum;
}

double SqpSearch::merit_of(const HorizonPoint& p, const Eigen::VectorXd& s) const {
  double merit = p.cost;
  for (int i = 0; i < slacks_; ++i) merit -= barrier_ * std::log(s[i]);
  return merit;
}

void SqpSearch::refresh_lagrangian() {
  lagrangian_ = problem_.gradient();
  problem_.add_transposed(y_, z_, lagrangian_);
}

/// The largest fault of the optimality conditions for a μ, scaled by the size of the multipliers.
double SqpSearch::error(double barrier) const {
  const double count = std::max(1, hard_ + slacks_);
  const double scale = std::max(100.0, (y_.lpNorm<1>() + z_.lpNorm<1>()) / count) / 100;
  const double slack_scale = std::max(100.0, z_.lpNorm<1>() / std::max(1, slacks_)) / 100;
  // ∂L/∂xᵢ of the size kRounding Hᵢᵢ is a rounding error of xᵢ: stiff costs (1/h⁵ of smoothness) leave no less.
  const Eigen::VectorXd& curvature = problem_.column_norms();
  if (!lagrangian_.allFinite()) return std::numeric_limits<double>::infinity();
  double worst = 0;
  for (int i = 0; i < n_; ++i) worst = std::max(worst, std::abs(lagrangian_[i]) - kRounding * curvature[i]);
  worst /= scale;
  for (int i = 0; i < slacks_; ++i) worst = std::max(worst, std::abs(s_[i] * z_[i] - barrier) / slack_scale);
  return worst;
}

/// Fiacco and McCormick: μ falls when the problem for the present one is solved well enough.
bool SqpSearch::lower_barrier() {
  if (slacks_ == 0) return false;
  const double least = options_.optimality_tolerance / 10;
  bool lowered = false;
  while (barrier_ > least &&
         std::max(error(barrier_), theta_ == 0 ? 0 : violation_of(point_)) <= kKappaEpsilon * barrier_) {
    barrier_ = std::max(least, std::min(kKappaMu * barrier_, std::pow(barrier_, kThetaMu)));
    lowered = true;
  }
  if (lowered) filter_.clear(theta_max_);
  return lowered;
}

SqpSearch::Outcome SqpSearch::iterate() {
  theta_ = theta_of(point_, s_);
  refresh_lagrangian();
  if (violation_of(point_) <= options_.violation_tolerance && error(0) <= options_.optimality_tolerance) {
    return Outcome::converged;
  }
  if (iteration_ >= options_.max_iterations) return Outcome::limit;
  if (is_hopeless()) return restore();
  lower_barrier();
  merit_ = merit_of(point_, s_);
  if (!factor_newton()) return restore();
  if (slacks_ > 0) slack_rest_ = point_.inequality - s_;
  solve_newton(point_.equality, slack_rest_, dx_, dy_, ds_);
  slope_ = problem_.gradient().dot(dx_);
  for (int i = 0; i < slacks_; ++i) slope_ -= barrier_ * ds_[i] / s_[i];
  if (!std::isfinite(slope_)) return restore();
  ++iteration_;
  return search_along();
}

/// Far from holding, and no nearer than kStall iterations ago.
bool SqpSearch::is_hopeless() {
  const double violation = violation_of(point_);
  if (violation < kNearer * least_violation_) least_violation_ = violation, least_since_ = iteration_;
  given_up_ = options_.patience > 0 && iteration_ >= options_.patience && iteration_ - least_since_ >= kStall &&
              violation > kFarOff;
  return given_up_;
}

/// The longest step that leaves a share of v.
double SqpSearch::boundary(const Eigen::VectorXd& v, const Eigen::VectorXd& dv) const {
  const double tau = std::max(kTauMin, 1 - barrier_);
  double length = 1;
  for (Eigen::Index i = 0; i < v.size(); ++i) {
    if (dv[i] < 0) length = std::min(length, -tau * v[i] / dv[i]);
  }
  return length;
}

void SqpSearch::move(double length, const Eigen::VectorXd& dx) {
  scaled_ = length * dx;
  std::copy(base_.begin(), base_.end(), problem_.values().buffer().begin());
  problem_.values().retract(scaled_, problem_.structure().variable);
}

/// Evaluates the point that lies `length` along the step. A slack may as well be as large as its row.
bool SqpSearch::try_step(double length, const Eigen::VectorXd& dx, const Eigen::VectorXd& ds) {
  move(length, dx);
  problem_.evaluate(trial_);
  if (!trial_.finite()) return false;
  for (int i = 0; i < slacks_; ++i) trial_s_[i] = std::max(s_[i] + length * ds[i], trial_.inequality[i]);
  return acceptable(length);
}

bool SqpSearch::acceptable(double length) {
  const double theta = theta_of(trial_, trial_s_), merit = merit_of(trial_, trial_s_);
  const double slack = 10 * kRounding * std::abs(merit_);
  if (!std::isfinite(theta) || !std::isfinite(merit) || !filter_.accepts(theta, merit - slack)) return false;
  const bool switching =
      theta_ <= theta_min_ && slope_ < 0 && length * std::pow(-slope_, kSPhi) > kDelta * std::pow(theta_, kSTheta);
  armijo_ = switching;
  if (switching) return merit - slack <= merit_ + kEta * length * slope_;
  return theta <= (1 - kGammaTheta) * theta_ || merit - slack <= merit_ - kGammaPhi * theta_;
}

/// Steps that also remove what curvature left: the same matrix, the violation at the end of the step added.
bool SqpSearch::correct_second_order(double length) {
  double before = theta_;
  c_ = point_.equality, soc_rest_ = slack_rest_;
  for (int i = 0; i < kCorrections; ++i) {
    const double now = theta_of(trial_, trial_s_);
    if (i > 0 && now > kKappaSoc * before) return false;
    before = now;
    c_ = length * c_ + trial_.equality;
    if (slacks_ > 0) soc_rest_ = length * soc_rest_ + trial_.inequality - trial_s_;
    solve_newton(c_, soc_rest_, cdx_, cdy_, cds_);
    length = boundary(s_, cds_);
    if (try_step(length, cdx_, cds_)) {
      step_size_ = length;
      return true;
    }
    if (!trial_.finite()) return false;
  }
  return false;
}

SqpSearch::Outcome SqpSearch::search_along() {
  const double longest = slacks_ > 0 ? boundary(s_, ds_) : 1;
  if (slacks_ > 0) dz_ = barrier_ * s_.cwiseInverse() - z_ - sigma_.cwiseProduct(ds_);
  const double dual = slacks_ > 0 ? boundary(z_, dz_) : 1;
  const auto buffer = problem_.values().buffer();
  base_.assign(buffer.begin(), buffer.end());
  const bool small = violation_of(point_) <= options_.violation_tolerance &&
                     std::abs(slope_) <= options_.cost_tolerance * std::max(1.0, std::abs(point_.cost)) &&
                     barrier_ <= options_.optimality_tolerance / 10;
  bool done = false;
  for (step_size_ = longest; step_size_ > kShortest * longest; step_size_ *= 0.5) {
    done = try_step(step_size_, dx_, ds_);
    if (!done && step_size_ == longest && trial_.finite() && theta_of(trial_, trial_s_) >= theta_) {
      done = correct_second_order(longest);
      if (!done) step_size_ = longest;
    }
    if (done) break;
    if (small) break;
  }
  if (!done) {
    std::copy(base_.begin(), base_.end(), problem_.values().buffer().begin());
    if (small) return Outcome::converged;
    return restore();
  }
  if (step_size_ < 0.2 * longest) {
    extra_damping_ = std::max(kLeastExtra, kLengthen * extra_damping_);
  } else if (step_size_ == longest) {
    extra_damping_ = extra_damping_ > kLeastExtra ? extra_damping_ / kLengthen : 0;
  }
  take(step_size_, dual);
  return tell(SqpIteration::Phase::search, step_size_) ? (small ? Outcome::converged : Outcome::accepted)
                                                       : Outcome::interrupted;
}

void SqpSearch::take(double length, double dual_length) {
  if (!armijo_) filter_.add((1 - kGammaTheta) * theta_, merit_ - kGammaPhi * theta_);
  y_ += length * dy_;
  s_ = trial_s_;
  for (int i = 0; i < slacks_; ++i) {
    const double centre = barrier_ / s_[i];
    z_[i] = std::clamp(z_[i] + dual_length * dz_[i], centre / kKappaSigma, centre * kKappaSigma);
  }
  problem_.linearize(point_);
}

bool SqpSearch::tell(SqpIteration::Phase phase, double length) {
  if (options_.on_iteration) {
    const bool search = phase == SqpIteration::Phase::search;
    if (search) refresh_lagrangian();
    const int at = search ? iteration_ : phase == SqpIteration::Phase::warm_start ? warm_iterations_ : iteration_;
    options_.on_iteration({phase, at, point_.cost, violation_of(point_), search ? error(0) : 0.0, barrier_, length,
                           search ? damping_ : penalty_damping_});
  }
  return go_on();
}

bool SqpSearch::go_on() const {
  const double share = static_cast<double>(iteration_) / std::max(1, options_.max_iterations);
  return !options_.progress || options_.progress(std::min(1.0, share));
}

}  // namespace kinegraph
