#include "kinegraph/step/joint_response.hpp"

#include <algorithm>
#include <cmath>

#include "kinegraph/mechanics/screw/motion.hpp"

// The columns of Z span the velocities that keep all loops closed (Z = 1 where there is none). A change Δf of the joint
// forces changes the acceleration by Z (Zᵀ M Z)⁻¹ Zᵀ Δf, so that with δ = −g + Z z
//
//     Zᵀ M Z z − half Zᵀ (f(v + δ) − f(v)) = 0,      −∂f/∂v = d + μ/v₀ (1 − tanh²(v/v₀)) + half k  ≥ 0
//
// is what is asked for. The left side is the gradient of a convex function of z: Newton's method finds its minimum from
// anywhere if a step goes no farther than to where the slope along it has risen to about zero. Friction needs that:
// its rate is nothing on one side of v₀ and everything on the other. With damping and springs alone one step does it.

namespace kinegraph::step {
namespace {

constexpr double kMassFloor = 1e-12;  // of the largest of M
constexpr double kSettled = 1e-14;
constexpr int kMostSteps = 60, kMostHalvings = 40;

}  // namespace

JointResponse::JointResponse(std::shared_ptr<const screw::Tree> tree, int freedoms, const double* friction_speed)
    : tree_(std::move(tree)), mass_(tree_), poses_(tree_->bodies().size()), freedoms_(tree_->freedoms()) {
  for (std::size_t c = 0; c < tree_->coordinates().size(); ++c) {
    const screw::Coordinate& from = tree_->coordinates()[c];
    for (int k = 0; k < from.freedoms; ++k) {
      Freedom& to = freedoms_[from.v + k];
      to.coordinate = static_cast<int>(c);
      to.q = from.stored == from.freedoms ? from.q + k : -1;
      to.dynamics = from.dynamics[k];
      if (friction_speed) to.friction_speed = friction_speed[from.v + k];
      // What pushes a motion on is no matter of stiffness, and would spoil the convexity.
      for (double* x : {&to.dynamics.damping, &to.dynamics.friction, &to.dynamics.stiffness}) *x = std::max(0.0, *x);
      if (to.q < 0) to.dynamics.stiffness = 0;
      any_ |= to.dynamics.damping > 0 || to.dynamics.friction > 0 || to.dynamics.stiffness > 0;
    }
  }
  const int n = tree_->freedoms(), equations = 6 * static_cast<int>(tree_->loops().size());
  rank_ = equations == 0 ? 0 : std::clamp(n - freedoms, 0, std::min(n, equations));
  jacobian_.resize(equations, n);
  transposed_.resize(n, equations);
  qr_ = Eigen::ColPivHouseholderQR<Eigen::MatrixXd>(n, equations);
  Z_.setIdentity(n, n - rank_);
  scaled_.resize(n, n - rank_);
  reduced_mass_.setIdentity(n - rank_, n - rank_);
  hessian_ = reduced_mass_;
  cholesky_ = Eigen::LLT<Eigen::MatrixXd>(n - rank_);
  for (auto* x : {&base_, &forces_, &shift_, &rates_, &workspace_}) x->setZero(n);
  for (auto* x : {&z_, &gradient_, &step_, &from_}) x->setZero(n - rank_);
}

// Jᵀ P = Q R: the last columns of Q are those with J Z = 0.
void JointResponse::prepare(const double* q) {
  const int n = tree_->freedoms();
  if (rank_ > 0) {
    screw::body_poses(*tree_, q, poses_);
    screw::closure_jacobian(*tree_, q, poses_, jacobian_);
    transposed_ = jacobian_.transpose();
    qr_.compute(transposed_);
    Z_.setZero();
    Z_.bottomRows(n - rank_).setIdentity();
    for (int k = rank_ - 1; k >= 0; --k) {
      Z_.bottomRows(n - k).applyHouseholderOnTheLeft(qr_.matrixQR().col(k).tail(n - k - 1), qr_.hCoeffs()(k),
                                                     workspace_.data());
    }
    scaled_.noalias() = mass_.at(q) * Z_;
    reduced_mass_.noalias() = Z_.transpose() * scaled_;
  } else {
    reduced_mass_ = mass_.at(q);
  }
  if (n > rank_) reduced_mass_.diagonal().array() += kMassFloor * reduced_mass_.diagonal().maxCoeff();
}

double JointResponse::force(int i, const double* q, const double* v, double half) const {
  const Freedom& f = freedoms_[i];
  const double position = f.q < 0 ? f.dynamics.rest : q[f.q] + half * shift_[i];
  return screw::joint_force(f.dynamics, position, v[i] + shift_[i], f.friction_speed);
}

// At z_, with δ in shift_.
void JointResponse::gradient(double half, const double* q, const double* v) {
  shift_ = base_;
  if (rank_ > 0) {
    shift_.noalias() += Z_ * z_;
  } else {
    shift_ += z_;
  }
  for (int i = 0; i < tree_->freedoms(); ++i) workspace_[i] = half * (force(i, q, v, half) - forces_[i]);
  gradient_.noalias() = reduced_mass_ * z_;
  if (rank_ > 0) {
    gradient_.noalias() -= Z_.transpose() * workspace_;
  } else {
    gradient_ -= workspace_;
  }
}

void JointResponse::newton_step(double half, const double* v) {
  for (int i = 0; i < tree_->freedoms(); ++i) {
    const JointDynamics& d = freedoms_[i].dynamics;
    const double dry = screw::friction_rate(d, v[i] + shift_[i], freedoms_[i].friction_speed);
    rates_[i] = half * (d.damping + dry + half * d.stiffness);
  }
  hessian_ = reduced_mass_;
  if (rank_ > 0) {
    scaled_.noalias() = rates_.asDiagonal() * Z_;
    hessian_.noalias() += Z_.transpose() * scaled_;
  } else {
    hessian_.diagonal() += rates_;
  }
  cholesky_.compute(hessian_);
  step_ = -gradient_;
  cholesky_.solveInPlace(step_);
}

// From z_ along step_ to where the slope is at most half of what it was, on either side.
void JointResponse::line_search(double half, const double* q, const double* v) {
  const double slope = gradient_.dot(step_);
  from_ = z_;
  double low = 0, high = 1, share = 1;
  for (int i = 0; i < kMostHalvings; ++i) {
    z_ = from_ + share * step_;
    gradient(half, q, v);
    const double now = gradient_.dot(step_);
    if (now <= -0.5 * slope && (share == 1 || now >= 0.5 * slope)) return;
    (now > 0 ? high : low) = share;
    share = 0.5 * (low + high);
  }
}

void JointResponse::correct(double half, const double* q, const double* v, const double* g, double* delta) {
  const int n = tree_->freedoms();
  shift_.setZero();
  for (int i = 0; i < n; ++i) forces_[i] = force(i, q, v, half);
  base_ = -Eigen::Map<const Eigen::VectorXd>(g, n);
  z_.setZero();
  gradient(half, q, v);
  for (int k = 0; k < kMostSteps && n > rank_; ++k) {
    newton_step(half, v);
    const double size = step_.lpNorm<Eigen::Infinity>();
    double scale = 0;
    for (int i = 0; i < n; ++i) scale = std::max(scale, std::abs(v[i] + shift_[i]));
    if (!std::isfinite(size) || size <= kSettled * scale) break;
    line_search(half, q, v);
  }
  Eigen::Map<Eigen::VectorXd>(delta, n) = shift_;
}

// (d + μ/v₀) (Z (Zᵀ M Z)⁻¹ Zᵀ)ᵢᵢ, the largest: what resists a motion of freedom i over the mass that it moves.
JointResponse::Stiffest JointResponse::stiffest() const {
  Stiffest found;
  if (Z_.cols() == 0) return found;
  const Eigen::LLT<Eigen::MatrixXd> cholesky(reduced_mass_);
  for (int i = 0; i < tree_->freedoms(); ++i) {
    const JointDynamics& d = freedoms_[i].dynamics;
    const double dry = screw::friction_rate(d, 0, freedoms_[i].friction_speed);
    if (d.damping + dry == 0) continue;
    const Eigen::VectorXd z = Z_.row(i).transpose();
    const double rate = (d.damping + dry) * z.dot(cholesky.solve(z));
    if (rate > found.rate) found = {freedoms_[i].coordinate, dry > d.damping, rate};
  }
  return found;
}

}  // namespace kinegraph::step
