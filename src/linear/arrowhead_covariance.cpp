#include <Eigen/Dense>
#include <algorithm>
#include <cassert>
#include <cmath>

#include "kinegraph/linear/arrowhead.hpp"
#include "kinegraph/linear/arrowhead_kernel.hpp"

// What the factor of an Arrowhead tells beyond the step: undetermined directions, responses, covariances.
namespace kinegraph::linear {

// The pivot (k, i) has vanished, so with 1 there, 0 after it and all rows of U before it at 0, H δ = 0 up to there.
void Arrowhead::find_undetermined_direction() {
  std::fill(step_.begin(), step_.end(), 0.0);
  const int k = pivot_.knot, unknown = pivot_.unknown;
  if (k < 0) return;
  double* step = step_.data() + static_cast<std::size_t>(k) * wide_;
  step[unknown] = 1;
  // Rows of the failed group of four are not finished: their Cholesky rows are computed here.
  Eigen::MatrixXd W =
      Eigen::Map<const RowMajor, 0, Eigen::OuterStride<>>(slab(factor_, k), n_, n_, Eigen::OuterStride<>(stride_));
  const int first = unknown / 4 * 4;
  for (int i = 0; i < first; ++i) W(i, i) = 1 / W(i, i);
  for (int i = first; i < unknown; ++i) {
    W(i, i) = std::sqrt(W(i, i));
    for (int j = i + 1; j <= unknown; ++j) W(i, j) /= W(i, i);
    for (int r = i + 1; r < unknown; ++r) {
      for (int j = r; j <= unknown; ++j) W(r, j) -= W(i, r) * W(i, j);
    }
  }
  for (int i = unknown - 1; i >= 0; --i) {
    double sum = 0;
    for (int j = i + 1; j <= unknown; ++j) sum -= W(i, j) * step[j];
    step[i] = sum / W(i, i);
  }
  for (int earlier = k - 1; earlier >= 0; --earlier) substitute_knot(earlier, false);
}

// Uₖₖ Xₖ = U_k,B − U_k,k+1 Xₖ₊₁ − U_k,k+2 Xₖ₊₂
void Arrowhead::find_border_response() {
  const ArrowheadKernel& kernel = arrowhead_kernel();
  const std::size_t block = static_cast<std::size_t>(wide_) * border_wide_;
  response_known_ = true;
  response_.assign(block * (knots_ + 2), 0.0);  // two knots of zeros at the end
  PanelProduct p;
  p.target_stride = p.right_stride = border_wide_;
  p.left_row = stride_, p.left_inner = 1;
  p.rows = wide_, p.columns = border_wide_, p.inner = 2 * wide_, p.subtract = true;
  for (int k = knots_ - 1; k >= 0; --k) {
    const double* U = slab(factor_, k);
    double* X = response_.data() + block * k;
    for (int i = 0; i < n_; ++i) {
      std::copy_n(U + static_cast<std::size_t>(i) * stride_ + 3 * wide_, border_wide_, X + i * border_wide_);
    }
    p.left = U + wide_, p.right = X + block, p.target = X;
    kernel.multiply(p);
    kernel.solve(U, stride_, wide_, X, border_wide_);
  }
}

Arrowhead::KnotMatrix Arrowhead::border_response(int k) const {
  assert(response_known_);
  return {response_.data() + static_cast<std::size_t>(k) * wide_ * border_wide_, n_, p_,
          Eigen::OuterStride<>(border_wide_)};
}

void Arrowhead::add_score(int k, const double* states, const double* border, const double* residual, int rows,
                          int width, Eigen::VectorXd& score) const {
  const Eigen::Map<const RowMajor> J(states, rows, static_cast<Eigen::Index>(width) * n_);
  const Eigen::Map<const Eigen::VectorXd> r(residual, rows);
  if (border) score.noalias() += Eigen::Map<const RowMajor>(border, rows, p_).transpose() * r;
  for (int t = 0; t < width; ++t) {
    for (int i = 0; i < n_; ++i) {
      const double gradient = J.col(static_cast<Eigen::Index>(t) * n_ + i).dot(r);
      if (gradient != 0) score.noalias() -= gradient * border_response(k + t).row(i).transpose();
    }
  }
}

void Arrowhead::add_information(int k, const double* states, const double* border, int rows, int width,
                                Eigen::MatrixXd& S) const {
  RowMajor effective = border ? RowMajor(Eigen::Map<const RowMajor>(border, rows, p_)) : RowMajor::Zero(rows, p_);
  const Eigen::Map<const RowMajor> J(states, rows, static_cast<Eigen::Index>(width) * n_);
  for (int t = 0; t < width; ++t) {
    effective.noalias() -= J.middleCols(static_cast<Eigen::Index>(t) * n_, n_) * border_response(k + t);
  }
  S.noalias() += effective.transpose() * effective;
}

// Uᵀ Y = X forward in time, then U X = Y backward.
void Arrowhead::solve(Eigen::Ref<RowMajor> X) const {
  assert(X.rows() == static_cast<Eigen::Index>(n_) * knots_);
  const auto factor = [&](int k) {
    return Eigen::Map<const RowMajor, 0, Eigen::OuterStride<>>(slab(factor_, k), n_, stride_,
                                                               Eigen::OuterStride<>(stride_));
  };
  const auto at = [&](int k) { return X.middleRows(static_cast<Eigen::Index>(k) * n_, n_); };
  for (int k = 0; k < knots_; ++k) {
    const auto U = factor(k);
    auto x = at(k);
    for (int i = 0; i < n_; ++i) {
      for (int j = 0; j < i; ++j) x.row(i) -= U(j, i) * x.row(j);
      x.row(i) *= U(i, i);  // the diagonal holds reciprocals
    }
    for (int t = 1; t <= 2 && k + t < knots_; ++t) {
      at(k + t).noalias() -= U.middleCols(t * wide_, n_).transpose() * x;
    }
  }
  for (int k = knots_ - 1; k >= 0; --k) {
    const auto U = factor(k);
    auto x = at(k);
    for (int t = 1; t <= 2 && k + t < knots_; ++t) x.noalias() -= U.middleCols(t * wide_, n_) * at(k + t);
    for (int i = n_ - 1; i >= 0; --i) {
      for (int j = i + 1; j < n_; ++j) x.row(i) -= U(i, j) * x.row(j);
      x.row(i) *= U(i, i);
    }
  }
}

// Backward in time, Z the covariance of the two knots after k and L = Uₖₖ⁻¹ [U_k,k+1 U_k,k+2]:
//
//     cov(δₖ, later) = −L Z,    cov(δₖ) = Uₖₖ⁻¹ Uₖₖ⁻ᵀ + L Z Lᵀ
void Arrowhead::covariances(const Eigen::MatrixXd& border_covariance, const Visit& visit, int first) {
  const bool with_border = border_covariance.size() > 0;
  if (with_border && !response_known_) find_border_response();
  const int n = n_;
  Eigen::MatrixXd Z = Eigen::MatrixXd::Zero(2 * n, 2 * n), next = Z, U(n, n), L(n, 2 * n), cross(n, 2 * n), P(n, n);
  for (int k = knots_ - 1; k >= first; --k) {
    const Eigen::Map<const RowMajor, 0, Eigen::OuterStride<>> W(slab(factor_, k), n, stride_,
                                                                Eigen::OuterStride<>(stride_));
    U = W.leftCols(n).triangularView<Eigen::Upper>();
    U.diagonal() = U.diagonal().cwiseInverse();
    L << W.middleCols(wide_, n), W.middleCols(2 * wide_, n);
    U.triangularView<Eigen::Upper>().solveInPlace(L);
    P.setIdentity();
    U.triangularView<Eigen::Upper>().solveInPlace(P);
    cross.noalias() = -L * Z;
    next.topLeftCorner(n, n).noalias() = P * P.transpose();
    next.topLeftCorner(n, n).noalias() -= cross * L.transpose();
    next.topRightCorner(n, n) = cross.leftCols(n);
    next.bottomLeftCorner(n, n) = cross.leftCols(n).transpose();
    next.bottomRightCorner(n, n) = Z.topLeftCorner(n, n);
    Z.swap(next);
    P = Z.topLeftCorner(n, n);
    if (with_border) P.noalias() += border_response(k) * border_covariance * border_response(k).transpose();
    visit(k, P);
  }
}

}  // namespace kinegraph::linear
