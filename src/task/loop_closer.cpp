#include "kinegraph/task/loop_closer.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>

namespace kinegraph::task {
namespace {

constexpr double kStillClosed = 1e-10;  // rad, or m per typical length: what still counts as closed
constexpr int kMostIterations = 300;
constexpr double kApproached = 1e-2;  // open by this much: near enough for undamped steps
constexpr double kNear = 0.02;        // rad, or typical lengths: a better closed position is taken if it is this near

/// min ‖J δ + r‖² + μ ‖D δ‖², by QR of both together: as exact as the rows themselves, whatever their rank.
Eigen::VectorXd damped_step(const Eigen::MatrixXd& J, const Eigen::VectorXd& r, const Eigen::VectorXd& scale,
                            double root_mu) {
  const Eigen::Index m = J.rows(), n = J.cols();
  Eigen::MatrixXd stacked = Eigen::MatrixXd::Zero(m + n, n);
  stacked.topRows(m) = J * scale.cwiseInverse().asDiagonal();
  stacked.bottomRows(n).diagonal().setConstant(root_mu);
  Eigen::VectorXd rhs = Eigen::VectorXd::Zero(m + n);
  rhs.head(m) = -r;
  return scale.cwiseInverse().cwiseProduct(stacked.householderQr().solve(rhs));
}

}  // namespace

double leap(const LoopSystem& system, const Eigen::VectorXd& from, const Eigen::VectorXd& to) {
  Eigen::VectorXd delta(system.tree().freedoms());
  system.tree().local(from.data(), to.data(), delta.data());
  double most = 0;
  for (const int c : system.columns()) {
    most = std::max(most, std::abs(delta[c]) / (system.is_length(c) ? system.length() : 1));
  }
  return most;
}

bool LoopCloser::run(Eigen::VectorXd& q) {
  run_damped(q, kApproached);
  Eigen::VectorXd near = q;
  const bool fits = run_truncated(near);
  const Eigen::VectorXd near_residual = residual;
  if (fits && near_residual.cwiseAbs().maxCoeff() < kStillClosed) {
    q = near;
    return true;
  }
  Eigen::VectorXd far = q;
  const bool closed = run_damped(far, 1e-15);
  if (closed && (!fits || leap(system_, near, far) < kNear)) {
    q = far;
    return true;
  }
  q = fits ? near : far;
  if (fits) residual = near_residual;
  return fits;
}

bool LoopCloser::run_truncated(Eigen::VectorXd& q) {
  system_.evaluate(q, residual, &jacobian_);
  if (residual.size() == 0) return true;
  for (int i = 0; i < 20 && residual.norm() < 0.1 && !free_.columns.empty(); ++i) {
    Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> qr(free_.of(jacobian_));
    qr.setThreshold(kLoopRank);
    const Eigen::VectorXd delta = qr.solve(-residual);
    const Eigen::VectorXd all = free_.spread(delta, system_.tree().freedoms());
    system_.tree().retract(q.data(), all.data(), q.data());
    system_.evaluate(q, residual, &jacobian_);
    if (!residual.allFinite()) return false;
    if (delta.norm() < 1e-13) break;
  }
  if (residual.cwiseAbs().maxCoeff() < kStillClosed) return true;
  // what is left must be across all that could move, held or not
  const Eigen::MatrixXd all = jacobian_(Eigen::all, system_.columns());
  Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> qr(all);
  qr.setThreshold(kLoopRank);
  const double along = (all * qr.solve(residual)).cwiseAbs().maxCoeff();
  return residual.cwiseAbs().maxCoeff() < screw::kClosureDigits && along < kStillClosed;
}

bool LoopCloser::run_damped(Eigen::VectorXd& q, double enough) {
  system_.evaluate(q, residual, &jacobian_);
  damping_ = 0.1;
  scale_.setConstant(static_cast<Eigen::Index>(free_.columns.size()), 1e-8);
  for (int i = 0; i < kMostIterations && residual.norm() > enough && !free_.columns.empty(); ++i) {
    if (!step(q)) break;
  }
  return residual.size() == 0 || residual.cwiseAbs().maxCoeff() < kStillClosed;
}

bool LoopCloser::step(Eigen::VectorXd& q) {
  const Eigen::MatrixXd J = free_.of(jacobian_);
  scale_ = scale_.cwiseMax(J.colwise().norm().transpose());
  const double before = residual.norm();
  if ((J.transpose() * residual).norm() < 1e-12 * before && before > kStillClosed) return false;
  for (int tries = 0; tries < 20; ++tries) {
    const double root_mu = std::max(damping_ * before, 1e-13);
    const Eigen::VectorXd delta = damped_step(J, residual, scale_, root_mu);
    const double promised = before * before - (residual + J * delta).squaredNorm();
    Eigen::VectorXd trial(q.size());
    const Eigen::VectorXd all = free_.spread(delta, system_.tree().freedoms());
    system_.tree().retract(q.data(), all.data(), trial.data());
    Eigen::VectorXd next;
    system_.evaluate(trial, next, nullptr);
    const double gain = next.allFinite() ? (before * before - next.squaredNorm()) / promised : -1;
    if (gain > 1e-4) {
      damping_ = std::clamp(gain > 0.75 ? damping_ / 4 : gain < 0.25 ? damping_ * 4 : damping_, 1e-3, 1e8);
      q = trial;
      system_.evaluate(q, residual, &jacobian_);
      return residual.norm() < 1e-12 ? residual.norm() < 0.5 * before : residual.norm() < (1 - 1e-7) * before;
    }
    if (before < 1e-12) return false;  // rounding is all that is left
    damping_ = std::min(4 * damping_, 1e8);
  }
  return false;
}

}  // namespace kinegraph::task
