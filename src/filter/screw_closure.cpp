#include "kinegraph/filter/screw_closure.hpp"

#include <algorithm>
#include <cmath>

// φ(q₀ ⊕ δ) = 0 with C δ held: Newton steps δ ← δ − (1 − N C) J⁻ φ, where J⁻ bridges gaps and N are the motions with
// C N = 1. The factorisation is that at q₀ as long as it converges well.

namespace kinegraph::filter {
namespace {

constexpr double kClosed = 1e-14;   // m, rad
constexpr double kSettled = 1e-11;  // where the iteration may end though it gains no more: rounding
constexpr double kAccepted = 1e-9;  // … after new factorisations
constexpr double kStill = 1e-12;    // corrections below this move nothing
constexpr double kFar = 1.0;        // rad, m: corrections beyond this lead anywhere
constexpr int kMostIterations = 12, kMostFactorisations = 6;

}  // namespace

ScrewClosure::ScrewClosure(std::shared_ptr<const screw::Tree> tree, int freedoms)
    : tree_(std::move(tree)),
      curved_(*tree_),
      tangent_(tree_, freedoms),
      q0_(tree_->stored(), 0.0),
      poses_(tree_->bodies().size()) {
  residual_.resize(6 * static_cast<int>(tree_->loops().size()), 1);
}

bool ScrewClosure::start() {
  at_start_ = true;
  return tangent_.set(q0_.data()) && tangent_.span(chart_, span_);
}

bool ScrewClosure::begin(const double* q0, const Chart& chart) {
  std::copy(q0, q0 + q0_.size(), q0_.begin());
  chart_ = chart;
  return tangent_.rank() == 0 || start();
}

bool ScrewClosure::begin(const double* q0) {
  std::copy(q0, q0 + q0_.size(), q0_.begin());
  if (tangent_.rank() == 0) {
    if (chart_.columns.empty()) tangent_.choose_best(true, chart_.columns);
    return true;
  }
  at_start_ = true;
  if (!tangent_.set(q0)) return false;
  tangent_.choose_best(true, chart_.columns);
  return tangent_.span(chart_, span_);
}

bool ScrewClosure::iterate(Eigen::VectorXd& delta, double* q, double accepted) {
  double before = 0;
  for (int i = 0;; ++i) {
    if (!delta.allFinite()) return false;
    tree_->retract(q0_.data(), delta.data(), q);
    screw::body_poses(*tree_, q, poses_);
    screw::closure(*tree_, q, poses_, residual_.data());
    const double now = residual_.lpNorm<Eigen::Infinity>();
    if (!std::isfinite(now)) return false;
    if (now <= kClosed) return true;
    if (i > 0 && now > 0.5 * before && now < accepted) return true;
    if (i > 0 && now < screw::kClosureDigits && step_.lpNorm<Eigen::Infinity>() < kStill) return true;
    if (i == kMostIterations || (i > 1 && now > 0.5 * before && now > screw::kClosureDigits)) return false;
    before = now;
    tangent_.bridge(residual_, step_);
    count_in(chart_, step_, counted_);
    step_.noalias() -= span_ * counted_;
    if (step_.lpNorm<Eigen::Infinity>() > kFar) return false;
    delta -= step_;
  }
}

bool ScrewClosure::close(Eigen::VectorXd& delta, double* q) {
  if (tangent_.rank() == 0) {
    tree_->retract(q0_.data(), delta.data(), q);
    return delta.allFinite();
  }
  if (!at_start_ && !start()) return false;
  if (iterate(delta, q, kSettled)) return true;
  for (int attempt = 0; attempt < kMostFactorisations && delta.allFinite(); ++attempt) {
    at_start_ = false;
    curved_.right_jacobian(delta.data(), turned_);
    tree_->retract(q0_.data(), delta.data(), q);
    if (!tangent_.set(q, curved_.any() ? &turned_ : nullptr) || !tangent_.span(chart_, span_)) return false;
    if (iterate(delta, q, kAccepted)) return true;
  }
  return false;
}

}  // namespace kinegraph::filter
