#include "kinegraph/linear/marginals.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>

namespace kinegraph::linear {

// Takahashi's recursion by fronts. With Z = K⁻¹ and a front of pivots P and border B, the identity Lᵀ Z = D⁻¹ L⁻¹ on
// the rows P reads, as L⁻¹ is zero right of its diagonal block,
//
//     Z(B,P) = −Z(B,B) Y,        Z(P,P) = (L₁₁ D L₁₁ᵀ)⁻¹ − Yᵀ Z(B,P),        Y = L₂₁ L₁₁⁻¹.
//
// B lies within the parent's rows, so Z(B,B) is part of what the parent already knows: from the root down, each front
// costs about as much as its elimination did. Two unknowns that share no front have no entry in any of these blocks;
// their covariance is read off a solve instead.
Marginals::Marginals(Elimination& elimination)
    : elimination_(&elimination), inverse_(elimination.plan().fronts().size()) {}

void Marginals::invert_front(int f) {
  const Plan& plan = elimination_->plan();
  const Front& front = plan.fronts()[f];
  const int p = front.pivots, b = front.border();
  const Eigen::Map<const Eigen::MatrixXd> panel(elimination_->panels().data() + front.panel, front.size, p);
  const auto l11 = panel.topRows(p).triangularView<Eigen::UnitLower>();

  Eigen::MatrixXd d = Eigen::MatrixXd::Zero(p, p);
  for (int k = 0; k < p; ++k) {
    d(k, k) = elimination_->diagonal()[front.first_pivot + k];
    if (plan.pivot()[front.first_pivot + k] == PivotKind::pair_first) {
      d(k, k + 1) = d(k + 1, k) = elimination_->off()[front.first_pivot + k];
    }
  }
  for (int k = 0; k < p; ++k) {  // D⁻¹, block by block
    if (plan.pivot()[front.first_pivot + k] == PivotKind::pair_first) {
      d.block<2, 2>(k, k) = d.block<2, 2>(k, k).inverse().eval();
      ++k;
    } else {
      d(k, k) = 1 / d(k, k);
    }
  }
  Eigen::MatrixXd inverse_l = Eigen::MatrixXd::Identity(p, p);
  l11.solveInPlace(inverse_l);

  Eigen::MatrixXd& z = inverse_[f];
  z.resize(front.size, front.size);
  z.topLeftCorner(p, p).noalias() = inverse_l.transpose() * (d * inverse_l);
  if (b == 0) return;
  const Eigen::MatrixXd& parent = inverse_[front.parent];
  const int* place = plan.relative().data() + front.relative;
  for (int j = 0; j < b; ++j) {
    for (int i = 0; i < b; ++i) z(p + i, p + j) = parent(place[i], place[j]);
  }
  const Eigen::MatrixXd y = panel.bottomRows(b) * inverse_l;
  z.bottomLeftCorner(b, p).noalias() = -z.bottomRightCorner(b, b) * y;
  z.topLeftCorner(p, p).noalias() -= y.transpose() * z.bottomLeftCorner(b, p);
  z.topRightCorner(p, b) = z.bottomLeftCorner(b, p).transpose();
}

const Eigen::MatrixXd& Marginals::front_inverse(int front) {
  std::vector<int> path;
  const auto fronts = elimination_->plan().fronts();
  for (int f = front; f >= 0 && inverse_[f].size() == 0; f = fronts[f].parent) path.push_back(f);
  for (auto f = path.rbegin(); f != path.rend(); ++f) invert_front(*f);
  return inverse_[front];
}

/// The front that eliminates the first of them, if it holds all; −1 otherwise.
int Marginals::common_front(std::span<const int> positions) const {
  const Plan& plan = elimination_->plan();
  const int f = plan.front_of()[*std::min_element(positions.begin(), positions.end())];
  const auto rows = plan.front_rows(plan.fronts()[f]);  // sorted
  const auto held = [&](int p) { return std::binary_search(rows.begin(), rows.end(), p); };
  return std::all_of(positions.begin(), positions.end(), held) ? f : -1;
}

Result<Eigen::MatrixXd> Marginals::covariance(std::span<const int> rows) {
  const Plan& plan = elimination_->plan();
  const FactorReport& report = elimination_->report();
  const auto hard = std::count(plan.pattern().kind.begin(), plan.pattern().kind.end(), RowKind::hard);
  if (!report.finite || report.zero > 0) {
    return Failure::no_answer(fmt::format("covariance: {} unknowns are not determined", report.zero));
  }
  if (report.negative != hard) return Failure::no_answer("covariance: the cost has no minimum here");
  const int n = static_cast<int>(rows.size());
  Eigen::MatrixXd sigma(n, n);
  if (n == 0) return sigma;

  std::vector<int> positions;
  positions.reserve(rows.size());
  for (int row : rows) positions.push_back(plan.position()[row]);
  if (const int f = common_front(positions); f >= 0) {
    const Eigen::MatrixXd& z = front_inverse(f);
    const auto held = plan.front_rows(plan.fronts()[f]);
    std::vector<int> place;
    place.reserve(positions.size());
    for (int p : positions) {
      place.push_back(static_cast<int>(std::lower_bound(held.begin(), held.end(), p) - held.begin()));
    }
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) sigma(i, j) = z(place[i], place[j]);
    }
    return sigma;
  }
  Eigen::VectorXd column(plan.size());
  for (int j = 0; j < n; ++j) {
    column.setZero();
    column[rows[j]] = 1;
    elimination_->solve(column);
    for (int i = 0; i < n; ++i) sigma(i, j) = column[rows[i]];
  }
  sigma = (0.5 * (sigma + sigma.transpose())).eval();
  return sigma;
}

}  // namespace kinegraph::linear
