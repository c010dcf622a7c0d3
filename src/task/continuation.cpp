#include "kinegraph/task/continuation.hpp"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>

namespace kinegraph::task {
namespace {

constexpr double kClosed = 1e-11;       // typical lengths: what Newton steps must leave
constexpr double kClosedDigits = 1e-6;  // and where rows are redundant, to the digits of the file
constexpr double kRank = 1e-7;          // of the largest pivot
constexpr double kArrived = 1e-7;
constexpr double kSmallestStride = 1e-6;
constexpr double kLongest = 300;  // typical lengths: a curve that goes on so long does not close

}  // namespace

// Jᵀ P = Q R: the first `rank` columns of Q span the rows, the others the tangent.
void Continuation::factorise(const Eigen::VectorXd& q) {
  space_.evaluate(q, phi_, &J_);
  for (Eigen::Index r = 0; r < row_size_.size(); ++r) {
    if (row_size_[r] > 1e-9) J_.row(r) /= row_size_[r], phi_[r] /= row_size_[r];
  }
  qr_.compute(J_.transpose());
}

int Continuation::rank() const {
  if (rank_ >= 0) return rank_;
  const auto& R = qr_.matrixR();
  const Eigen::Index most = std::min(R.rows(), R.cols());
  int rank = 0;
  while (rank < most && std::abs(R(rank, rank)) > kRank * std::abs(R(0, 0))) ++rank;
  return rank;
}

void Continuation::meet(const Eigen::VectorXd& q) {
  space_.evaluate(q, phi_, &J_);
  if (row_size_.size() == 0) row_size_.setZero(J_.rows());
  row_size_ = row_size_.cwiseMax(J_.rowwise().norm());
  rank_ = std::max(rank_, rank_at(q));
}

int Continuation::rank_at(const Eigen::VectorXd& q) {
  const int before = rank_;
  rank_ = -1;
  factorise(q);
  const int here = rank();
  rank_ = before;
  return here;
}

bool Continuation::correct(Eigen::VectorXd& q) {
  for (int i = 0; i < 12; ++i) {
    factorise(q);
    if (!phi_.allFinite()) return false;
    const int r = rank();
    // Rᵀ y = −Pᵀ Φ on the rows that count; δ = Q y
    delta_.setZero(space_.tangent());
    const Eigen::VectorXd rhs = -(qr_.colsPermutation().transpose() * phi_);
    delta_.head(r) = qr_.matrixR().topLeftCorner(r, r).triangularView<Eigen::Upper>().transpose().solve(rhs.head(r));
    const double size = delta_.head(r).norm();
    if (!(size < 1)) return false;
    delta_ = (qr_.householderQ() * delta_).eval();
    space_.retract(q, delta_, trial_);
    q = trial_;
    if (size < 1e-13 || (i > 2 && size < 1e-10)) break;
  }
  space_.evaluate(q, phi_, nullptr);
  const double open = phi_.size() > 0 ? phi_.cwiseAbs().maxCoeff() : 0;
  const bool redundant = rank() < phi_.size();
  return open < (redundant ? kClosedDigits : 1e3 * kClosed);
}

// min ‖J δ + Φ‖² + μ ‖δ‖² with μ ~ ‖Φ‖²
bool Continuation::close(Eigen::VectorXd& q) {
  double damping = 0.1;
  for (int i = 0; i < 60; ++i) {
    space_.evaluate(q, phi_, &J_);
    const double before = phi_.squaredNorm();
    if (!std::isfinite(before)) return false;
    if (before < 1e-10) break;
    bool better = false;
    for (int k = 0; k < 8 && !better; ++k) {
      A_.noalias() = J_.transpose() * J_;
      A_.diagonal().array() += std::max(damping * before, 1e-14);
      delta_ = -A_.llt().solve(J_.transpose() * phi_);
      space_.retract(q, delta_, trial_);
      space_.evaluate(trial_, next_phi_, nullptr);
      better = next_phi_.squaredNorm() < before;
      damping = better ? std::max(damping / 4, 1e-4) : damping * 6;
      if (better && next_phi_.squaredNorm() > 0.999 * before && i > 10) return false;
    }
    if (!better) return false;
    q = trial_;
  }
  return correct(q) && space_.settle(q) && correct(q);
}

void Continuation::tangent(const Eigen::VectorXd& q, Eigen::MatrixXd& N, double* margin) {
  factorise(q);
  const int n = space_.tangent(), r = rank();
  N.setZero(n, n - r);
  N.bottomRows(n - r).setIdentity();
  N = (qr_.householderQ() * N).eval();
  if (margin) *margin = r > 0 ? std::abs(qr_.matrixR()(r - 1, r - 1) / qr_.matrixR()(0, 0)) : 1;
}

bool Continuation::walk(Eigen::VectorXd& q, Eigen::VectorXd direction, double length, double stride) {
  Eigen::VectorXd way, next;
  double step = stride;
  for (double gone = 0; gone < length;) {
    tangent(q, N_);
    direction = (N_ * (N_.transpose() * direction)).eval();
    if (!(direction.norm() > 1e-9)) return false;
    direction.normalize();
    way = std::min(step, length - gone) * direction;
    space_.retract(q, way, next);
    at_ = next;
    if (correct(at_) && distance(next, at_) < 0.5 * way.norm()) {
      q = at_;
      gone += way.norm();
      step = std::min(2 * step, stride);
    } else if ((step /= 2) < kSmallestStride) {
      return false;
    }
  }
  return true;
}

bool Continuation::reach(const Eigen::VectorXd& from, const Eigen::VectorXd& to, double stride) {
  Eigen::VectorXd at = from, way, along, next;
  double step = stride;
  for (int i = 0; i < 400; ++i) {
    space_.local(at, to, way);
    const double left = way.norm();
    if (left < kArrived) return true;
    tangent(at, N_);
    along = N_ * (N_.transpose() * way);
    const double size = along.norm();
    if (size < 0.2 * left) return false;  // what is left is across
    if (size > step) along *= step / size;
    space_.retract(at, along, next);
    at_ = next;
    const bool good = correct(at_) && distance(next, at_) < 0.5 * along.norm() && distance(at_, to) < left;
    if (good) {
      at = at_;
      step = std::min(2 * step, stride);
    } else if ((step = std::min(step, along.norm()) / 2) < kSmallestStride) {
      return false;
    }
  }
  return false;
}

bool Continuation::crossing(const Eigen::VectorXd& a, const Eigen::VectorXd& ta, const Eigen::VectorXd& b,
                            const Eigen::VectorXd& tb, double& share) {
  const int n = space_.tangent(), r = n - 1;
  factorise(a);
  const Eigen::VectorXi rows = qr_.colsPermutation().indices().head(r);
  const double margin_a = r > 0 ? std::abs(qr_.matrixR()(r - 1, r - 1)) : 1;
  Eigen::MatrixXd B(n, n);
  B.topRows(r) = J_(rows, Eigen::all);
  B.row(r) = ta.transpose();
  const double before = B.determinant();
  factorise(b);
  const double margin_b = r > 0 ? std::abs(qr_.matrixR()(r - 1, r - 1)) : 1;
  B.topRows(r) = J_(rows, Eigen::all);
  B.row(r) = tb.transpose();
  const double after = B.determinant();
  share = std::abs(before) / std::max(std::abs(before) + std::abs(after), 1e-300);
  // Rows that are redundant elsewhere may change their roles: then the pivots stay large.
  return before * after < 0 && std::min(margin_a, margin_b) < 0.2;
}

namespace {

class Tracer {
 public:
  Tracer(Continuation& continuation, double stride) : path_(continuation), stride_(stride) {}

  ConfigurationCurve run(const Eigen::VectorXd& q) {
    ConfigurationCurve curve;
    Eigen::MatrixXd N;
    path_.tangent(q, N);
    curve.q = {q};
    curve.tangent = {N.col(0)};
    follow(curve);
    if (!curve.closed) {
      // The other way, put in front.
      ConfigurationCurve back;
      back.q = {q};
      back.tangent = {-N.col(0)};
      follow(back);
      for (Eigen::VectorXd& t : back.tangent) t = -t;
      std::reverse(back.q.begin(), back.q.end());
      std::reverse(back.tangent.begin(), back.tangent.end());
      curve.q.insert(curve.q.begin(), back.q.begin(), back.q.end() - 1);
      curve.tangent.insert(curve.tangent.begin(), back.tangent.begin(), back.tangent.end() - 1);
      curve.whole = curve.whole && back.whole;
      curve.crossings.insert(curve.crossings.end(), back.crossings.begin(), back.crossings.end());
    }
    return curve;
  }

 private:
  void follow(ConfigurationCurve& curve) {
    ConfigurationSpace& space = path_.space();
    const Eigen::VectorXd start = curve.q.front(), start_tangent = curve.tangent.front();
    Eigen::VectorXd q = start, t = start_tangent, ahead, next, way, next_t;
    Eigen::MatrixXd N;
    double step = stride_, share = 0;
    for (double gone = 0; gone < kLongest;) {
      way = step * t;
      space.retract(q, way, ahead);
      next = ahead;
      bool good = path_.correct(next) && path_.distance(ahead, next) < 0.2 * step;
      if (good) {
        path_.tangent(next, N);
        next_t = N.col(0).dot(t) < 0 ? Eigen::VectorXd(-N.col(0)) : Eigen::VectorXd(N.col(0));
        good = next_t.dot(t) > 0.95;
      }
      if (!good) {
        if ((step /= 2) >= kSmallestStride) continue;
        curve.whole = false;
        return;
      }
      if (path_.crossing(q, t, next, next_t, share)) {
        space.local(q, next, way);
        way *= share;
        Eigen::VectorXd where;
        space.retract(q, way, where);
        curve.crossings.push_back(where);
      }
      // Has the start been passed?
      space.local(q, start, way);
      const double along = way.dot(t);
      if (gone > 0 && along > 0 && along <= 1.01 * step && way.norm() < 1.2 * step && start_tangent.dot(t) > 0.8 &&
          path_.reach(q, start, step)) {
        curve.closed = true;
        return;
      }
      gone += step;
      q = next, t = next_t;
      curve.q.push_back(q);
      curve.tangent.push_back(t);
      step = std::min(1.5 * step, stride_);
    }
  }

  Continuation& path_;
  double stride_;
};

}  // namespace

ConfigurationCurve trace_curve(Continuation& continuation, const Eigen::VectorXd& q, double stride) {
  return Tracer(continuation, stride).run(q);
}

}  // namespace kinegraph::task
