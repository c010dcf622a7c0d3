#include "kinegraph/task/branch_follower.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

namespace kinegraph::task {
namespace {

constexpr double kFollowedClosed = 1e-10;  // δ: what still counts as closed
constexpr double kLongestStage = 0.1, kShortestStage = 1e-8;
constexpr int kMostStages = 20'000;  // beside five times the fewest: where what leads determines nothing all are short
constexpr double kCorrection =
    0.2;                            // of a stage: more than this off the tangent is another branch, or a bend too sharp
constexpr double kRounding = 1e-9;  // a correction that says nothing
constexpr double kTrustTangent = 1e-9;   // margin at which the last tangent knows more
constexpr double kContradicting = 1e-6;  // of the largest rate

}  // namespace

TreePositions::TreePositions(std::shared_ptr<const screw::Tree> tree)
    : tree_(std::move(tree)), system_(*tree_), still_(tree_) {}

void TreePositions::evaluate(const Eigen::VectorXd& q, Eigen::VectorXd& phi, Eigen::MatrixXd* jacobian) {
  system_.evaluate(q, phi, jacobian);
  for (int c = 0; jacobian && c < changes(); ++c) jacobian->col(c) *= scale(c);
}

void TreePositions::retract(const Eigen::VectorXd& q, const Eigen::VectorXd& delta, Eigen::VectorXd& out) const {
  Eigen::VectorXd all = delta;
  for (int c = 0; c < changes(); ++c) all[c] *= scale(c);
  out.resize(q.size());
  tree_->retract(q.data(), all.data(), out.data());
}

void TreePositions::local(const Eigen::VectorXd& q, const Eigen::VectorXd& other, Eigen::VectorXd& delta) const {
  delta.resize(changes());
  tree_->local(q.data(), other.data(), delta.data());
  for (int c = 0; c < changes(); ++c) delta[c] /= scale(c);
}

// γ is the acceleration with which the loops open at θ̈ = 0; lengths in typical ones, as in Φ.
void TreePositions::curvature(const Eigen::VectorXd& q, const Eigen::VectorXd& v, Eigen::VectorXd& gamma) {
  using screw::Vector6d;
  screw::Surroundings still;
  still.gravity.setZero();
  still_.set(q.data(), v.data(), still);
  const auto& bodies = tree_->bodies();
  std::vector<Vector6d> rate(bodies.size());
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const auto& body = still_.body(static_cast<int>(i));
    rate[i] = body.c;
    if (bodies[i].parent >= 0) rate[i] += body.X_PB.twist_back(rate[bodies[i].parent]);
  }
  const int loops = static_cast<int>(tree_->loops().size());
  gamma.resize(6 * loops);
  for (int l = 0; l < loops; ++l) {
    const screw::Loop& loop = tree_->loops()[l];
    const auto& motion = still_.loop(l);
    Vector6d g = -motion.c;
    if (loop.b >= 0) g += motion.X_BM.twist_back(rate[loop.b]);
    if (loop.a >= 0) g -= motion.X_AM.twist_back(rate[loop.a]);
    g.tail<3>() /= system_.length();
    gamma.segment<6>(6 * l) = g;
  }
}

void BranchFollower::look(const Eigen::VectorXd& q) {
  positions_.evaluate(q, phi_, &jacobian_);
  if (!following_.empty()) qr_.compute(jacobian_(Eigen::all, following_));
}

double BranchFollower::margin() const {
  const Eigen::Index n = static_cast<Eigen::Index>(following_.size());
  if (n == 0) return 1;
  if (qr_.matrixR().rows() < n) return 0;
  const double first = std::abs(qr_.matrixR()(0, 0));
  return first > 0 ? std::abs(qr_.matrixR()(n - 1, n - 1)) / first : 0;
}

int BranchFollower::weakest() const {
  if (following_.empty()) return -1;
  return following_[qr_.colsPermutation().indices()[static_cast<Eigen::Index>(following_.size()) - 1]];
}

// Gauss-Newton: rows may be redundant, and by the digits of a file contradict each other a little; what is left then is
// across all that can move.
bool BranchFollower::correct(Eigen::VectorXd& q) {
  if (following_.empty()) return true;
  Eigen::VectorXd delta = Eigen::VectorXd::Zero(positions_.changes()), next(q.size());
  double before = 1;
  for (int i = 0; i < 30; ++i) {
    look(q);
    if (!phi_.allFinite() || phi_.norm() > 10) return false;
    qr_.setThreshold(1e-14);
    const Eigen::VectorXd part = qr_.solve(-phi_);
    const double size = part.lpNorm<Eigen::Infinity>();
    if (!(size < 1)) return false;
    delta(following_) = part;
    positions_.retract(q, delta, next);
    q = next;
    if (size < 1e-14) break;
    if (i > 3 && size > 0.5 * before && phi_.cwiseAbs().maxCoeff() < kFollowedClosed) break;  // only rounding is left
    before = size;
  }
  positions_.evaluate(q, phi_, nullptr);
  const double open = phi_.cwiseAbs().maxCoeff();
  return open < kFollowedClosed || (open < positions_.digits() && before < 1e-9);
}

bool BranchFollower::complete(const Eigen::VectorXd& gamma, double trust, Eigen::VectorXd& v) const {
  Eigen::VectorXd scaled = v;
  for (int c = 0; c < positions_.changes(); ++c) scaled[c] /= positions_.scale(c);
  const double size = scaled.lpNorm<Eigen::Infinity>();
  if (!following_.empty()) {
    // Of J P = Q R the leading rows and columns whose pivots count.
    const auto& R = qr_.matrixR();
    Eigen::Index rank = 0;
    const Eigen::Index n = std::min<Eigen::Index>(R.rows(), R.cols());
    while (rank < n && std::abs(R(rank, rank)) > trust * std::abs(R(0, 0))) ++rank;
    for (int i = 0; i < 2; ++i) {
      Eigen::VectorXd right = qr_.householderQ().adjoint() * (-(gamma + jacobian_ * scaled)).eval();
      Eigen::VectorXd part = Eigen::VectorXd::Zero(R.cols());
      part.head(rank) = R.topLeftCorner(rank, rank).triangularView<Eigen::Upper>().solve(right.head(rank));
      part = (qr_.colsPermutation() * part).eval();
      for (std::size_t k = 0; k < following_.size(); ++k) scaled[following_[k]] += part[static_cast<Eigen::Index>(k)];
    }
  }
  if (!scaled.allFinite()) return false;
  const double left = (gamma + jacobian_ * scaled).lpNorm<Eigen::Infinity>();
  for (int c = 0; c < positions_.changes(); ++c) v[c] = scaled[c] * positions_.scale(c);
  const double most = std::max({1.0, size, gamma.lpNorm<Eigen::Infinity>()});
  return left <= std::max(kContradicting, positions_.digits()) * most;
}

bool BranchFollower::same_side(const Eigen::VectorXd& other) {
  if (following_.empty()) return true;
  Eigen::VectorXd phi;
  positions_.evaluate(other, phi, &other_);
  qr_.setThreshold(1e-14);
  const Eigen::MatrixXd change = qr_.solve(other_(Eigen::all, following_));
  return change.determinant() > 0;
}

double BranchFollower::apart(const Eigen::VectorXd& a, const Eigen::VectorXd& b) const {
  Eigen::VectorXd delta;
  positions_.local(a, b, delta);
  double most = 0;
  for (const int c : following_) most = std::max(most, std::abs(delta[c]));
  return most;
}

Eigen::VectorXd BranchFollower::loosest() const {
  const Eigen::Index n = static_cast<Eigen::Index>(following_.size());
  Eigen::VectorXd part = Eigen::VectorXd::Ones(n), all = Eigen::VectorXd::Zero(positions_.changes());
  if (n > 1) {
    const auto& R = qr_.matrixR();
    part.head(n - 1) = -R.topLeftCorner(n - 1, n - 1).triangularView<Eigen::Upper>().solve(R.col(n - 1).head(n - 1));
  }
  part = (qr_.colsPermutation() * part).eval();
  all(following_) = part.normalized();
  return all;
}

// Stages along the tangent, each brought back by Newton steps that must be small beside it. Toward a dead centre the
// tangent never leads past it: from s with θ = −s² it goes at most half of s. So a sign that has changed after the
// shortest stage is that of a position where branches cross, and the tangent continues the one it is on; there it is
// the last one that counts.
double BranchFollower::follow(Eigen::VectorXd& q, const Eigen::VectorXd& way) {
  if (following_.empty()) {
    const Eigen::VectorXd from = q;
    positions_.retract(from, way, q);
    return 1;
  }
  if (!way.allFinite()) return 0;
  const int n = positions_.changes();
  const double farthest = way.lpNorm<Eigen::Infinity>();
  if (farthest > kFarthest) return 0;
  const double longest = farthest > kLongestStage ? kLongestStage / farthest : 1;
  double stage = longest, share = 0;
  crossed_ = lost_ = false;
  int left = kMostStages + static_cast<int>(5 * farthest / kLongestStage);
  Eigen::VectorXd guess, closed, rates(n);
  while (share < 1) {
    lost_ = left-- == 0;
    if (lost_) return share;
    const double next = share + stage > 1 - 1e-9 ? 1 : share + stage;
    look(q);
    for (int c = 0; c < n; ++c) rates[c] = way[c] * positions_.scale(c);
    const double along = last_way_.size() == way.size() ? way.dot(last_way_) / last_way_.squaredNorm() : 0;
    for (const int c : following_) rates[c] = along != 0 ? along * last_rates_[c] : 0;
    complete(Eigen::VectorXd::Zero(rows()), kTrustTangent, rates);
    Eigen::VectorXd ahead(n);
    for (int c = 0; c < n; ++c) ahead[c] = (next - share) * rates[c] / positions_.scale(c);
    positions_.retract(q, ahead, guess);
    double step = 0;
    for (const int c : following_) step = std::max(step, std::abs(ahead[c]));
    closed = guess;
    bool good = step < 2 * kLongestStage && correct(closed) && apart(guess, closed) <= kCorrection * step + kRounding;
    const bool shortest = 0.5 * stage * std::max(farthest, 1e-3) < kShortestStage;
    look(q);
    if (good && !same_side(closed)) {
      good = shortest;
      crossed_ |= shortest;
    }
    if (good) {
      q = closed;
      share = next;
      stage = std::min(2 * stage, longest);
      if (farthest > 0) last_way_ = way, last_rates_ = rates;
    } else if (shortest) {
      return share;
    } else {
      stage /= 2;
    }
  }
  return share;
}

}  // namespace kinegraph::task
