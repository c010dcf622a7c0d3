#include "kinegraph/filter/screw_tangent.hpp"

#include <algorithm>
#include <cmath>

// With freedoms that are lengths measured in typical lengths, δ = D δ', and so the rows of J, a column-pivoted QR
//
//     (J D)ᵀ P = [Q₁ Q₂] R
//
// chooses `rank` independent equations (overconstrained loops have more). Z = D Q₂ are the motions, and D Q₁ R₁₁⁻ᵀ
// leads from gaps in the chosen equations to a δ that closes them. The rank is given, not found: off closed loops it
// would be another.

namespace kinegraph::filter {
namespace {

constexpr double kSingularPivot = 1e-10;  // of the largest
constexpr double kPreferred = 0.1;        // what a freedom that is asked for must tell of the motion that is left
constexpr double kMoves = 0.3;            // … and one that is not

bool slides(const screw::Coordinate& c, int k) {
  return c.type == JointType::prismatic || (c.type == JointType::cylindrical && k == 1) ||
         (c.type == JointType::planar && k < 2) || (c.type == JointType::floating && k >= 3);
}

/// The farthest that neighbouring joints are apart.
double typical_length(const screw::Tree& tree) {
  double length = 0;
  for (const screw::Body& body : tree.bodies()) length = std::max(length, body.X_PF.p.norm());
  for (const screw::Loop& loop : tree.loops()) length = std::max({length, loop.X_AF.p.norm(), loop.X_BM.p.norm()});
  return length > 0 ? length : 1;
}

/// The first columns of Q of a QR factorisation.
void first_columns(const Eigen::ColPivHouseholderQR<Eigen::MatrixXd>& qr, int from, double* workspace,
                   Eigen::Ref<Eigen::MatrixXd> q) {
  const Eigen::Index n = q.rows();
  for (int k = from - 1; k >= 0; --k) {
    q.bottomRows(n - k).applyHouseholderOnTheLeft(qr.matrixQR().col(k).tail(n - k - 1), qr.hCoeffs()(k), workspace);
  }
}

}  // namespace

void count_in(const Chart& chart, const Eigen::MatrixXd& X, Eigen::MatrixXd& out) {
  if (chart.columns.empty()) {
    out.noalias() = chart.rows * X;
    return;
  }
  out.resize(static_cast<Eigen::Index>(chart.columns.size()), X.cols());
  for (std::size_t i = 0; i < chart.columns.size(); ++i)
    out.row(static_cast<Eigen::Index>(i)) = X.row(chart.columns[i]);
}

ScrewTangent::ScrewTangent(std::shared_ptr<const screw::Tree> tree, int freedoms)
    : tree_(std::move(tree)),
      freedoms_(freedoms),
      length_(typical_length(*tree_)),
      scale_(Eigen::VectorXd::Ones(tree_->freedoms())),
      passive_(tree_->freedoms(), false),
      poses_(tree_->bodies().size()) {
  const int n = tree_->freedoms(), equations = 6 * static_cast<int>(tree_->loops().size());
  rank_ = n - freedoms_;
  for (const screw::Coordinate& c : tree_->coordinates()) {
    for (int k = 0; k < c.freedoms; ++k) {
      if (slides(c, k)) scale_[c.v + k] = length_;
      passive_[c.v + k] = c.passive;
    }
  }
  jacobian_.setZero(equations, n);
  rows_.setZero(n, equations);
  basis_.setIdentity(n, freedoms_);
  scaled_ = left_ = basis_;
  answer_.setZero(n, rank_);
  range_.setZero(equations, rank_);
  workspace_.setZero(std::max(n, equations) + 1);
  inverse_.resize(freedoms_, freedoms_);
  lu_ = Eigen::PartialPivLU<Eigen::MatrixXd>(freedoms_);
  if (rank_ > 0) {
    qr_ = Eigen::ColPivHouseholderQR<Eigen::MatrixXd>(n, equations);
    range_qr_ = Eigen::ColPivHouseholderQR<Eigen::MatrixXd>(equations, n);
  }
}

bool ScrewTangent::set(const double* q, const Eigen::MatrixXd* turned) {
  if (rank_ == 0) return true;
  range_ready_ = false;
  screw::body_poses(*tree_, q, poses_);
  screw::closure_jacobian(*tree_, q, poses_, jacobian_);
  if (turned) jacobian_ *= *turned;
  rows_.noalias() = scale_.asDiagonal() * jacobian_.transpose();
  for (Eigen::Index e = 0; e < rows_.cols(); ++e) {
    if (e % 6 >= 3) rows_.col(e) /= length_;
  }
  if (!rows_.allFinite()) return false;
  qr_.compute(rows_);
  const auto& R = qr_.matrixQR();
  if (!(std::abs(R(rank_ - 1, rank_ - 1)) > kSingularPivot * std::abs(R(0, 0)))) return false;

  scaled_.setZero();
  scaled_.bottomRows(freedoms_).setIdentity();
  first_columns(qr_, rank_, workspace_.data(), scaled_);
  basis_.noalias() = scale_.asDiagonal() * scaled_;
  answer_.setIdentity();
  first_columns(qr_, rank_, workspace_.data(), answer_);
  R.topLeftCorner(rank_, rank_).triangularView<Eigen::Upper>().transpose().solveInPlace<Eigen::OnTheRight>(answer_);
  answer_ = scale_.asDiagonal() * answer_;
  return true;
}

bool ScrewTangent::span(const Chart& chart, Eigen::MatrixXd& N) {
  if (rank_ == 0 && static_cast<int>(chart.columns.size()) == freedoms_) {
    N = basis_;
    return true;
  }
  count_in(chart, basis_, counted_);
  if (counted_.rows() != freedoms_) return false;
  if (freedoms_ > 0) {
    lu_.compute(counted_);
    const auto& order = lu_.permutationP().indices();
    inverse_.setZero();
    for (int i = 0; i < freedoms_; ++i) inverse_(order[i], i) = 1;
    lu_.matrixLU().triangularView<Eigen::UnitLower>().solveInPlace(inverse_);
    lu_.matrixLU().triangularView<Eigen::Upper>().solveInPlace(inverse_);
  }
  N.noalias() = basis_ * inverse_;
  return N.allFinite();
}

double ScrewTangent::reach(const Chart& chart, const Eigen::MatrixXd& N) const {
  double most = 0;
  for (Eigen::Index i = 0; i < N.cols(); ++i) {
    for (Eigen::Index r = 0; r < N.rows(); ++r) {
      most = std::max(most, std::abs(N(r, i)) * scale_[chart.columns[i]] / scale_[r]);
    }
  }
  return most;
}

void ScrewTangent::bridge(const Eigen::MatrixXd& gap, Eigen::MatrixXd& delta) {
  const auto& order = qr_.colsPermutation().indices();
  chosen_.resize(rank_, gap.cols());
  for (int k = 0; k < rank_; ++k) {
    const int e = order[k];
    chosen_.row(k) = (e % 6 >= 3 ? 1 / length_ : 1.0) * gap.row(e);
  }
  delta.noalias() = answer_ * chosen_;
}

// J P = Q R:   μ = Q₁ R₁₁⁻ᵀ (Pᵀ force)₁ is in the range of J, and so the least.
void ScrewTangent::factorise_range() {
  if (range_ready_) return;
  range_ready_ = true;
  range_qr_.compute(jacobian_);
  range_.setIdentity();
  first_columns(range_qr_, rank_, workspace_.data(), range_);
}

void ScrewTangent::react(const Eigen::MatrixXd& force, Eigen::MatrixXd& mu) {
  factorise_range();
  const auto& order = range_qr_.colsPermutation().indices();
  chosen_.resize(rank_, force.cols());
  for (int k = 0; k < rank_; ++k) chosen_.row(k) = force.row(order[k]);
  range_qr_.matrixQR().topLeftCorner(rank_, rank_).triangularView<Eigen::Upper>().transpose().solveInPlace(chosen_);
  mu.noalias() = range_ * chosen_;
}

void ScrewTangent::idle(Eigen::MatrixXd& x) {
  factorise_range();
  chosen_.noalias() = range_.transpose() * x;
  x.noalias() -= range_ * chosen_;
}

void ScrewTangent::take(int freedom, std::vector<int>& columns) {
  const auto row = left_.row(freedom);
  Eigen::Map<Eigen::VectorXd> direction(workspace_.data(), freedoms_);
  direction = row.transpose() / row.norm();
  for (Eigen::Index i = 0; i < left_.rows(); ++i) left_.row(i) -= left_.row(i).dot(direction) * direction.transpose();
  columns.push_back(freedom);
}

/// Turns: motors, other joints of the tree, joints that close loops, whatever is left. Among each the first of those
/// that move well, so that joints near the ground come before others. −1: none.
int ScrewTangent::next(int turn) const {
  const int n = tree_->freedoms();
  const auto candidate = [&](int i) {
    return turn == 3 || (i >= tree_->tree_freedoms() ? 2 : passive_[i] ? 1 : 0) == turn;
  };
  double most = turn < 3 ? kMoves : 0;
  for (int i = 0; i < n; ++i) {
    if (candidate(i)) most = std::max(most, left_.row(i).norm());
  }
  for (int i = 0; i < n; ++i) {
    if (candidate(i) && left_.row(i).norm() > 0.3 * most) return i;
  }
  return -1;
}

void ScrewTangent::choose(const std::vector<int>& first, std::vector<int>& columns) {
  columns.clear();
  left_ = scaled_;
  for (const int c : first) {
    if (static_cast<int>(columns.size()) < freedoms_ && left_.row(c).norm() > kPreferred) take(c, columns);
  }
  for (int turn = 0; turn < 4; ++turn) {
    while (static_cast<int>(columns.size()) < freedoms_) {
      const int best = next(turn);
      if (best < 0) break;
      take(best, columns);
    }
  }
  std::sort(columns.begin(), columns.end());
}

void ScrewTangent::choose_best(bool tree_only, std::vector<int>& columns) {
  columns.clear();
  left_ = scaled_;
  const int n = tree_only ? tree_->tree_freedoms() : tree_->freedoms();
  for (int f = 0; f < freedoms_; ++f) {
    int best = 0;
    for (int i = 1; i < n; ++i) {
      if (left_.row(i).squaredNorm() > left_.row(best).squaredNorm()) best = i;
    }
    take(best, columns);
  }
  std::sort(columns.begin(), columns.end());
}

}  // namespace kinegraph::filter
