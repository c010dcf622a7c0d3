#include "kinegraph/step/loop_projection.hpp"

#include <algorithm>
#include <cmath>

#include "kinegraph/mechanics/screw/motion.hpp"

// Closure of the loops: φ(q) = 0, six numbers per loop, and φ̇ = J v = 0. With δ = (δₜ, δₗ) of the tree's and of the
// closing joints, J = [Jₜ −S], the projection is
//
//     min ½ δₜᵀ M δₜ    with    Jₜ δₜ − S δₗ = −φ
//
// M is the mass matrix of the tree: the change of v is then what impulses in the closing joints would do, so that the
// momentum of a floating robot stays and the energy changes in second order only. N with N S = 0 removes δₗ, and with
// M = L Lᵀ, y = Lᵀ δₜ what is left is the smallest y with (N Jₜ L⁻ᵀ) y = −N φ. A column-pivoted QR of the transpose
// chooses `rank` independent equations (planar and other overconstrained loops have more equations than that); with L⁻¹
// Jₜᵀ Nᵀ P = Q R:
//
//     δₜ = −L⁻ᵀ Q R⁻ᵀ (chosen equations of N φ),      δₗ = S⁺ (φ + Jₜ δₜ)
//
// The rank is given, not found anew at each position: off the closed loops an overconstrained loop has a larger one.

namespace kinegraph::step {

namespace {

constexpr double kProjectionFloor = 1e-10;     // of the largest of M: links without mass
constexpr double kSingularPivot = 1e-9;  // of the largest pivot: a position where the mechanism could branch
constexpr double kClosed = 1e-14;        // m, rad
constexpr double kClosureSettled = 1e-11;       // where the iteration may end though it gains no more: rounding
constexpr double kAccepted = 1e-9;       // … after a new factorisation
constexpr double kStill = 1e-12;         // corrections below this move nothing
constexpr int kMostIterations = 12;

}  // namespace

LoopProjection::LoopProjection(std::shared_ptr<const screw::Tree> tree, int rank, Weight weight)
    : tree_(std::move(tree)),
      rank_(rank),
      weight_(weight),
      mass_(tree_),
      poses_(tree_->bodies().size()),
      twists_(tree_->bodies().size()),
      frames_(tree_->loops().size()) {
  for (std::size_t l = 0; l < frames_.size(); ++l) {
    frames_[l].S.setZero();
    frames_[l].first = equations_;
    // A closing joint that mimics one of the tree has no freedom of its own: its column of J is the tree's.
    const screw::ScrewJoint& via = tree_->loops()[l].via;
    frames_[l].freedoms = via.v < tree_->tree_freedoms() ? 0 : via.freedoms;
    frames_[l].rows = 6 - frames_[l].freedoms;
    equations_ += frames_[l].rows;
  }
  const int n = tree_->tree_freedoms(), m = 6 * static_cast<int>(frames_.size());
  rank_ = std::min({rank_, equations_, n});
  jacobian_.resize(m, tree_->freedoms());
  weights_.resize(n, n);
  rows_.resize(n, equations_);
  answer_.resize(n, rank_);
  residual_.resize(m);
  reduced_.resize(equations_);
  chosen_.resize(rank_);
  delta_.resize(tree_->freedoms());
  workspace_.resize(std::max(n, equations_));
}

void LoopProjection::prepare(const double* q) {
  const int n = tree_->tree_freedoms();
  ++factorisations_;
  screw::body_poses(*tree_, q, poses_);
  screw::closure_jacobian(*tree_, q, poses_, jacobian_);
  if (weight_ == Weight::mass) {
    weights_ = mass_.at(q).topLeftCorner(n, n);
    weights_.diagonal().array() += kProjectionFloor * weights_.diagonal().maxCoeff();
  } else {
    weights_.setIdentity();
  }
  cholesky_.compute(weights_);

  for (std::size_t l = 0; l < frames_.size(); ++l) {
    LoopFrame& frame = frames_[l];
    screw::joint_transform(tree_->loops()[l].via, q, &frame.S);
    split(frame);
    rows_.middleCols(frame.first, frame.rows).noalias() =
        jacobian_.block(6 * static_cast<int>(l), 0, 6, n).transpose() * frame.Q.rightCols(frame.rows);
  }
  cholesky_.matrixL().solveInPlace(rows_);
  qr_.compute(rows_);
  const auto& R = qr_.matrixQR();
  for (rank_here_ = rank_; rank_here_ > 0; --rank_here_) {
    if (std::abs(R(rank_here_ - 1, rank_here_ - 1)) > kSingularPivot * std::abs(R(0, 0))) break;
  }

  auto answer = answer_.leftCols(rank_here_);
  answer.setIdentity();
  for (int k = rank_here_ - 1; k >= 0; --k) {
    answer.bottomRows(n - k).applyHouseholderOnTheLeft(R.col(k).tail(n - k - 1), qr_.hCoeffs()(k), workspace_.data());
  }
  R.topLeftCorner(rank_here_, rank_here_)
      .triangularView<Eigen::Upper>()
      .transpose()
      .solveInPlace<Eigen::OnTheRight>(answer);
  cholesky_.matrixU().solveInPlace(answer);
}

// S = Q R:   N = the last columns of Q, transposed;   S⁺ = R⁻¹ (the first columns of Q)ᵀ
void LoopProjection::split(LoopFrame& frame) {
  frame.Q.setIdentity();
  if (frame.freedoms == 0) return;
  const int f = frame.freedoms;
  Eigen::Matrix<double, 6, 6> padded = Eigen::Matrix<double, 6, 6>::Zero();
  padded.leftCols(f) = frame.S.leftCols(f);
  const Eigen::HouseholderQR<Eigen::Matrix<double, 6, 6>> qr(padded);
  frame.Q = qr.householderQ();
  frame.pseudo_inverse.setZero();
  auto inverse = frame.pseudo_inverse.topRows(f);
  inverse = frame.Q.leftCols(f).transpose();
  qr.matrixQR().topLeftCorner(f, f).triangularView<Eigen::Upper>().solveInPlace(inverse);
}

void LoopProjection::correct() {
  const int n = tree_->tree_freedoms();
  for (std::size_t l = 0; l < frames_.size(); ++l) {
    const LoopFrame& frame = frames_[l];
    reduced_.segment(frame.first, frame.rows).noalias() =
        frame.Q.rightCols(frame.rows).transpose() * residual_.segment<6>(6 * static_cast<int>(l));
  }
  const auto& order = qr_.colsPermutation().indices();
  for (int k = 0; k < rank_here_; ++k) chosen_[k] = -reduced_[order[k]];
  delta_.head(n).noalias() = answer_.leftCols(rank_here_) * chosen_.head(rank_here_);
  for (std::size_t l = 0; l < frames_.size(); ++l) {
    const int first = tree_->loops()[l].via.v;
    screw::Vector6d left = residual_.segment<6>(6 * static_cast<int>(l));
    left.noalias() += jacobian_.block(6 * static_cast<int>(l), 0, 6, n) * delta_.head(n);
    for (int k = 0; k < frames_[l].freedoms; ++k) delta_[first + k] = frames_[l].pseudo_inverse.row(k).dot(left);
  }
}

// V_M − V_F − S θ̇ of each loop.
void LoopProjection::closure_velocity(const double* q, const double* v) {
  screw::body_twists(*tree_, q, v, twists_);
  for (std::size_t l = 0; l < frames_.size(); ++l) {
    const screw::Loop& loop = tree_->loops()[l];
    Eigen::Matrix<double, 6, 6>& S = frames_[l].S;
    screw::Vector6d left = screw::Vector6d::Zero();
    const screw::Transform<double> X_AM = loop.X_AF * screw::joint_transform(loop.via, q, &S);
    if (loop.b >= 0) left += loop.X_BM.twist_back(twists_[loop.b]);
    if (loop.a >= 0) left -= X_AM.twist_back(twists_[loop.a]);
    for (int k = 0; k < loop.via.freedoms; ++k) left -= S.col(k) * v[loop.via.v + k];
    residual_.segment<6>(6 * static_cast<int>(l)) = left;
  }
}

bool LoopProjection::close_position(double* q, double accepted) {
  double before = 0;
  for (int i = 0;; ++i) {
    screw::body_poses(*tree_, q, poses_);
    screw::closure(*tree_, q, poses_, residual_.data());
    const double now = residual_.lpNorm<Eigen::Infinity>();
    if (!std::isfinite(now)) return false;
    if (now <= kClosed) return true;
    if (i > 0 && now > 0.5 * before && now < accepted) return true;
    if (i > 0 && now < screw::kClosureDigits && delta_.lpNorm<Eigen::Infinity>() < kStill) return true;
    if (i == kMostIterations || (i > 2 && now > 0.5 * before && now > screw::kClosureDigits)) return false;
    before = now;
    ++iterations_;
    correct();
    tree_->retract(q, delta_.data(), q);
  }
}

bool LoopProjection::close_velocity(const double* q, double* v, double accepted) {
  double before = 0;
  const Eigen::Map<Eigen::VectorXd> velocity(v, tree_->freedoms());
  for (int i = 0;; ++i) {
    closure_velocity(q, v);
    const double now = residual_.lpNorm<Eigen::Infinity>();
    const double scale = std::max(1.0, velocity.lpNorm<Eigen::Infinity>());
    if (!std::isfinite(now)) return false;
    if (now <= kClosed * scale) return true;
    if (i > 0 && now > 0.5 * before && now < accepted * scale) return true;
    if (i > 0 && now < screw::kClosureDigits * scale && delta_.lpNorm<Eigen::Infinity>() < kStill * scale) return true;
    if (i == kMostIterations || (i > 2 && now > 0.5 * before && now > screw::kClosureDigits * scale)) return false;
    before = now;
    ++iterations_;
    correct();
    for (int k = 0; k < tree_->freedoms(); ++k) v[k] += delta_[k];
  }
}

bool LoopProjection::project(double* q, double* v) {
  if (frames_.empty()) return true;
  for (int attempt = 0; attempt < 3; ++attempt) {
    if (attempt > 0) prepare(q);
    const double accepted = attempt > 0 ? kAccepted : kClosureSettled;
    if (close_position(q, accepted) && close_velocity(q, v, accepted)) return true;
  }
  worst_ = opening(q);
  return false;
}

LoopProjection::Opening LoopProjection::opening(const double* q) {
  Opening found;
  if (frames_.empty()) return found;
  screw::body_poses(*tree_, q, poses_);
  screw::closure(*tree_, q, poses_, residual_.data());
  double most = 0;
  found.loop = 0;
  for (std::size_t l = 0; l < frames_.size(); ++l) {
    const double radians = residual_.segment<3>(6 * static_cast<int>(l)).norm();
    const double metres = residual_.segment<3>(6 * static_cast<int>(l) + 3).norm();
    found.radians = std::max(found.radians, radians);
    found.metres = std::max(found.metres, metres);
    if (std::max(radians, metres) > most) {
      most = std::max(radians, metres);
      found.loop = static_cast<int>(l);
    }
  }
  return found;
}

}  // namespace kinegraph::step
