#include "kinegraph/identify/problem_knots.hpp"

#include <algorithm>

#include "kinegraph/lie/so3.hpp"

namespace kinegraph::identify {

using Eigen::Matrix3d;
using Eigen::Vector3d;

void KnotPair::set(const double* q, const double* next, double h, bool slopes) {
  h_ = h;
  for (std::size_t i = 0; i < turn_.size(); ++i) {
    const double *a = q + 7 * i, *b = next + 7 * i;
    const Vector3d turn = (SO3::load(a).inverse() * SO3::load(b)).log();
    double* v = v_.data() + 6 * i;
    for (int k = 0; k < 3; ++k) v[k] = turn[k] / h, v[3 + k] = (b[4 + k] - a[4 + k]) / h;
    if (slopes) turn_[i] = SO3::right_jacobian_inverse(turn) / h;
  }
}

void Interpolation::set(const double* q, const KnotPair& before, const KnotPair& after, double fraction, bool slopes) {
  std::fill(known_.begin(), known_.end(), Known::nothing);
  q_ = q, before_ = &before, after_ = &after, fraction_ = fraction, slopes_ = slopes;
  const double h = after.h(), s = fraction;
  by_before_ = 0.5 * h * s * (1 - s);
  by_after_ = 0.5 * h * s * (1 + s);
  const double first[3] = {-1 / before.h(), 1 / before.h(), 0}, second[3] = {0, -1 / h, 1 / h};
  for (int k = 0; k < 3; ++k) {
    shift_[k] = by_before_ * first[k] + by_after_ * second[k] + (k == 1 ? 1 : 0);
    speed_[k] = (0.5 - s) * first[k] + (0.5 + s) * second[k];
    push_[k] = (second[k] - first[k]) / h;
  }
}

const BodyInstant& Interpolation::body(int i, bool rates) {
  BodyInstant& out = bodies_[i];
  rates = rates && slopes_;
  if (known_[i] == Known::nothing) find_place(i, out);
  if (rates && known_[i] != Known::all) find_rate_slopes(i, out);
  known_[i] = rates ? Known::all : std::max(known_[i], Known::place);
  return out;
}

void Interpolation::find_place(int i, BodyInstant& out) const {
  const double *q = q_ + 7 * i, *v = before_->v() + 6 * i, *after = after_->v() + 6 * i;
  double move[6];
  for (int k = 0; k < 6; ++k) {
    move[k] = by_before_ * v[k] + by_after_ * after[k];
    out.v[k] = (0.5 - fraction_) * v[k] + (0.5 + fraction_) * after[k];
    out.a[k] = (after[k] - v[k]) / after_->h();
  }
  if (at_knot()) {
    std::copy_n(q, 7, out.q);
    out.turn[0].setZero(), out.turn[1].setIdentity(), out.turn[2].setZero();
    return;
  }
  const Vector3d turn(move[0], move[1], move[2]);
  const SO3 further = SO3::exp(turn);
  (SO3::load(q) * further).store(out.q);
  for (int k = 0; k < 3; ++k) out.q[4 + k] = q[4 + k] + move[3 + k];
  if (!slopes_) return;
  // R exp(δ) exp(θ + dθ) = R exp(θ) exp(exp(−θ) δ + Jᵣ dθ)
  const Matrix3d& B = before_->turn(i);
  const Matrix3d& A = after_->turn(i);
  const Matrix3d J = SO3::right_jacobian(turn);
  out.turn[0] = J * (-by_before_ * B.transpose());
  out.turn[1] = J * (by_before_ * B - by_after_ * A.transpose());
  out.turn[2] = J * (by_after_ * A);
  out.turn[1] += further.inverse().matrix();
}

void Interpolation::find_rate_slopes(int i, BodyInstant& out) const {
  const Matrix3d& B = before_->turn(i);
  const Matrix3d& A = after_->turn(i);
  const Matrix3d by_v[3] = {-B.transpose(), B, Matrix3d::Zero()};
  const Matrix3d by_after[3] = {Matrix3d::Zero(), -A.transpose(), A};
  for (int k = 0; k < 3; ++k) {
    out.spin[k] = (0.5 - fraction_) * by_v[k] + (0.5 + fraction_) * by_after[k];
    out.spin_rate[k] = (by_after[k] - by_v[k]) / after_->h();
  }
}

}  // namespace kinegraph::identify
