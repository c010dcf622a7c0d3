#include "kinegraph/solve/search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kinegraph {
namespace {

constexpr double kMemory = 0.9;
constexpr double kProximal = 1e-12;  // proximal compliance, relative to 1/curvature

}  // namespace

Search::Search(Linearization& linearization, const OptimizerOptions& options)
    : linearization_(&linearization), options_(&options) {
  const int n = linearization.unknowns(), m = linearization.hard_rows();
  scale_.setZero(n);
  damping_.setZero(n);
  step_.setZero(n);
  lagrangian_.setZero(n);
  row_terms_.setOnes(m);
  y_.setZero(m);
  last_y_.setZero(m);
  compliance_.setZero(m);
  rhs_.setZero(n + m);
  product_.setZero(n + m);
  sorted_.reserve(n);
}

bool Search::linearize() {
  evaluation_ = linearization_->linearize(hard_);
  if (!evaluation_.finite()) return false;
  measure();
  return true;
}

void Search::measure_sizes() {
  const Values& values = linearization_->values();
  size_.resize(values.count(), 0);
  for (int i = 0; i < values.count(); ++i) {
    for (int k = 0; k < values.manifold(i).stored(); ++k) size_[i] = std::max(size_[i], std::abs(values.data(i)[k]));
  }
}

// Scales: of the hard rows (once: they are part of the merit), of the curvature, of the damping.
void Search::measure() {
  measure_sizes();
  const Linearization& l = *linearization_;
  const auto k = l.matrix();
  const int n = l.unknowns();
  squares_.setZero(l.hard_rows());
  row_terms_.setZero();
  for (const auto& e : l.hard_entries()) {
    const int variable = l.structure().columns[e.column];
    const bool real = l.values().manifold(variable).type() == Manifold::Type::real;
    const double x = real ? l.values().data(variable)[e.column - l.structure().variable[variable]] : 1;
    squares_[e.row] += k[e.place] * k[e.place];
    row_terms_[e.row] += std::abs(k[e.place] * x);
  }
  row_terms_ += squares_.cwiseSqrt();
  if (row_scale_.size() == 0 && l.hard_rows() > 0) {
    const double largest = std::sqrt(squares_.maxCoeff());
    row_scale_ = squares_.cwiseSqrt().cwiseMax(largest > 0 ? 1e-6 * largest : 1.0);
  }
  hard_norm_ = l.hard_rows() > 0 ? scaled_norm(hard_) : 0;

  sorted_.clear();
  for (int i = 0; i < n; ++i) {
    const double curvature = k[l.diagonal()[i]];
    scale_[i] = std::max(curvature, kMemory * scale_[i]);
    if (curvature > 0) sorted_.push_back(curvature);
  }
  typical_ = 1;
  if (!sorted_.empty()) {
    const auto middle = sorted_.begin() + static_cast<std::ptrdiff_t>(sorted_.size() / 2);
    std::nth_element(sorted_.begin(), middle, sorted_.end());
    typical_ = *middle;
  }
  for (const auto& e : l.hard_entries()) {
    const double j = k[e.place] / row_scale_[e.row];
    scale_[e.column] = std::max(scale_[e.column], typical_ * j * j);
  }
  scale_ = scale_.cwiseMax(1e-12 * typical_);
  relax_penalty();
}

// Multipliers are huge where rows nearly depend on each other, and with them ν. Kept so, it would make a curved c = 0 a
// canyon in which only tiny steps are possible. It may shrink a limited number of times, so that φ settles in the end.
void Search::relax_penalty() {
  constexpr int kMost = 30;
  if (hard_.size() == 0) return;
  const double wanted = std::max(4 * y_.cwiseProduct(row_scale_).norm(), typical_ * hard_norm_);
  if (penalty_ > 10 * wanted && relaxations_ < kMost) {
    penalty_ = std::max(0.1 * penalty_, 2 * wanted);
    ++relaxations_;
  }
  penalty_ = std::max(penalty_, typical_ * hard_norm_);
}

bool Search::raise_penalty() {
  if (raises_ >= 5) return false;
  ++raises_;
  relaxations_ = std::numeric_limits<int>::max();
  penalty_ *= 100;
  return true;
}

Search::Outcome Search::newton(double lambda, double softness) {
  const int n = linearization_->unknowns(), m = linearization_->hard_rows();
  constexpr int kPenaltyTries = 20;
  for (int tries = 0; tries < kPenaltyTries; ++tries) {
    damping_ = lambda * scale_;
    if (m > 0) {
      proximal_ = kProximal / (typical_ * (1 + lambda));
      const double soft = penalty_ > 0 ? softness * hard_norm_ / penalty_ : 0;
      compliance_ = (soft + proximal_) * row_scale_.cwiseAbs2();
    }
    if (!system_) {
      auto made = KktSystem::make(*linearization_, options_->ordering, damping_, compliance_);
      if (!made) {
        failure_ = std::move(made).failure();
        return Outcome::failure;
      }
      system_ = std::make_unique<KktSystem>(*std::move(made));
    }
    if (!system_->factor(*linearization_, damping_, compliance_)) return Outcome::wrong_curvature;
    rhs_.head(n) = -linearization_->gradient();
    if (m > 0) rhs_.tail(m) = -hard_ - proximal_ * row_scale_.cwiseAbs2().cwiseProduct(last_y_);
    if (!system_->solve(rhs_)) return Outcome::wrong_curvature;
    step_ = rhs_.head(n);
    y_ = rhs_.tail(m);
    if (m == 0) break;

    // The step must take the hard rows nearer to zero; if the costs pull harder than ν, ν is too small.
    multiply(step_);
    const double reduction = hard_norm_ - scaled_norm(hard_ + product_.tail(m));
    const double rise = linearization_->gradient().dot(step_) + 0.5 * step_.dot(product_.head(n));
    const double pull = y_.cwiseProduct(row_scale_).norm();
    if (feasible() || rise <= 0.7 * penalty_ * reduction || penalty_ >= 4 * pull) break;
    penalty_ = reduction > 0.1 * hard_norm_ ? std::max(penalty_, 2 * rise / reduction) : 10 * penalty_;
    penalty_ = std::min(penalty_, 5 * pull);
  }
  // ∇f + Jᵀy = −(H + Λ) d  at the solution of the system.
  multiply(step_);
  lagrangian_ = -product_.head(n) - damping_.cwiseProduct(step_);
  return Outcome::ok;
}

// K (d, 0) = (H d, J d)
void Search::multiply(const Eigen::VectorXd& step) {
  const int n = linearization_->unknowns();
  rhs_.setZero();
  rhs_.head(n) = step;
  product_.setZero();
  linear::multiply_add(linearization_->pattern(), linearization_->matrix(), rhs_.data(), product_.data());
}

double Search::predicted(const Eigen::VectorXd& step) {
  const int n = linearization_->unknowns(), m = linearization_->hard_rows();
  multiply(step);
  const double fall = -linearization_->gradient().dot(step) - 0.5 * step.dot(product_.head(n));
  if (m == 0) return fall;
  return fall + penalty_ * (hard_norm_ - scaled_norm(hard_ + product_.tail(m)));
}

// The curvature of the rows, e = c(x + d) − c − J d, is taken for constant: [H+Λ Jᵀ; J −C] (n, ·) = (0, −e).
bool Search::correct_for_curvature(Eigen::VectorXd& step) {
  const int n = linearization_->unknowns(), m = linearization_->hard_rows();
  if (m == 0 || !trial_.finite()) return false;
  multiply(step);
  rhs_.head(n).setZero();
  rhs_.tail(m) = hard_ + product_.tail(m) - trial_hard_;
  if (!system_->solve(rhs_)) return false;
  step += rhs_.head(n);
  return true;
}

double Search::rounding() const {
  double noise = 1e-15 * std::abs(evaluation_.cost);
  if (hard_.size() > 0) noise += 1e-15 * penalty_ * row_terms_.cwiseQuotient(row_scale_).norm();
  return noise;
}

double Search::attempt(const Eigen::VectorXd& step) {
  Values& values = linearization_->values();
  saved_.assign(values.buffer().begin(), values.buffer().end());
  values.retract(step, linearization_->structure().variable);
  trial_ = linearization_->evaluate(trial_hard_);
  if (!trial_.finite()) return -std::numeric_limits<double>::infinity();
  trial_norm_ = trial_hard_.size() > 0 ? scaled_norm(trial_hard_) : 0;
  const double fall = evaluation_.cost - trial_.cost + penalty_ * (hard_norm_ - trial_norm_);
  return std::isfinite(fall) ? fall : -std::numeric_limits<double>::infinity();
}

void Search::keep() {
  evaluation_ = trial_;
  hard_ = trial_hard_;
  hard_norm_ = trial_norm_;
  last_y_ = y_;
}

void Search::restore() { std::copy(saved_.begin(), saved_.end(), linearization_->values().buffer().begin()); }

bool Search::feasible() const {
  return (hard_.cwiseAbs().array() <= options_->hard_tolerance * row_terms_.array()).all();
}

bool Search::stationary() const {
  const Linearization& l = *linearization_;
  const double residual = std::sqrt(2 * std::max(0.0, evaluation_.cost));
  for (int i = 0; i < l.unknowns(); ++i) {
    const double column = std::sqrt(l.matrix()[l.diagonal()[i]]);
    if (!(std::abs(lagrangian_[i]) <= options_->gradient_tolerance * (1 + column * residual))) return false;
  }
  return true;
}

bool Search::small_step(const Eigen::VectorXd& step, double slack) const {
  constexpr double kLeastSize = 1e-6;  // variables that are zero and stay there
  const Values& values = linearization_->values();
  const Structure& s = linearization_->structure();
  for (int i = 0; i < values.count(); ++i) {
    if (s.variable[i] < 0) continue;
    const double change = step.segment(s.variable[i], values.manifold(i).tangent()).cwiseAbs().maxCoeff();
    if (!(change <= slack * options_->step_tolerance * (kLeastSize + size_[i]))) return false;
  }
  return true;
}

Eigen::VectorXd Search::merit_gradient() const {
  Eigen::VectorXd gradient = linearization_->gradient();
  if (hard_norm_ == 0) return gradient;
  const auto k = linearization_->matrix();
  for (const auto& e : linearization_->hard_entries()) {
    const double scale = row_scale_[e.row];
    gradient[e.column] += penalty_ / hard_norm_ * k[e.place] * hard_[e.row] / (scale * scale);
  }
  return gradient;
}

double Search::majorant_curvature(const Eigen::VectorXd& p) {
  const int n = linearization_->unknowns(), m = linearization_->hard_rows();
  multiply(p);
  const double curvature = p.dot(product_.head(n));
  if (hard_norm_ == 0) return curvature;
  const double along = scaled_norm(product_.tail(m));
  return curvature + penalty_ / hard_norm_ * along * along;
}

// At a local minimum of ‖c̃‖ that is not zero, J̃ᵀc̃ vanishes although neither factor does.
bool Search::hard_rows_stuck() const {
  if (feasible()) return false;
  Eigen::VectorXd pull = Eigen::VectorXd::Zero(linearization_->unknowns());
  Eigen::VectorXd size = pull;
  const auto k = linearization_->matrix();
  for (const auto& e : linearization_->hard_entries()) {
    const double term = k[e.place] * hard_[e.row] / (row_scale_[e.row] * row_scale_[e.row]);
    pull[e.column] += term;
    size[e.column] += std::abs(term);
  }
  return pull.norm() <= 1e-2 * std::max(size.norm(), 1e-300);
}

}  // namespace kinegraph
