#include "kinegraph/identify/state_filter.hpp"

#include <Eigen/Cholesky>

namespace kinegraph::identify {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

void StateFilter::reset(int n) {
  n_ = n;
  information_.setZero(3 * n, 3 * n);
  gradient_.setZero(3 * n);
}

void StateFilter::add(const double* states, double residual) {
  const Eigen::Map<const Eigen::VectorXd> row(states, 2 * n_);
  information_.topLeftCorner(2 * n_, 2 * n_).selfadjointView<Eigen::Lower>().rankUpdate(row);
  gradient_.head(2 * n_) += residual * row;
}

void StateFilter::add_next(RowBlock& rows) {
  if (rows.count() == 0) return;
  const Eigen::Map<const RowMajor> J(rows.states(0), rows.count(), 3 * n_);
  information_.selfadjointView<Eigen::Lower>().rankUpdate(J.transpose());
  gradient_ += J.transpose() * Eigen::Map<const Eigen::VectorXd>(rows.residual(), rows.count());
}

bool StateFilter::advance() {
  const Eigen::LLT<Eigen::MatrixXd> first(information_.topLeftCorner(n_, n_));
  if (first.info() != Eigen::Success) return false;
  // L⁻¹ [H₀₁ H₀₂ | g₀]: their products are what the first knot takes away
  RowMajor side(n_, 2 * n_ + 1);
  side.leftCols(2 * n_) = information_.bottomLeftCorner(2 * n_, n_).transpose();
  side.col(2 * n_) = gradient_.head(n_);
  first.matrixL().solveInPlace(side);
  information_.bottomRightCorner(2 * n_, 2 * n_)
      .selfadjointView<Eigen::Lower>()
      .rankUpdate(side.leftCols(2 * n_).transpose(), -1);
  gradient_.tail(2 * n_) -= side.leftCols(2 * n_).transpose() * side.col(2 * n_);
  information_.topLeftCorner(2 * n_, 2 * n_) = information_.bottomRightCorner(2 * n_, 2 * n_).eval();
  gradient_.head(2 * n_) = gradient_.tail(2 * n_).eval();
  information_.bottomRows(n_).setZero();
  gradient_.tail(n_).setZero();
  return gradient_.allFinite();
}

bool StateFilter::solve(Eigen::VectorXd& steps) const {
  const Eigen::LLT<Eigen::MatrixXd> both(information_.topLeftCorner(2 * n_, 2 * n_));
  if (both.info() != Eigen::Success) return false;
  steps = both.solve(-gradient_.head(2 * n_));
  return steps.allFinite();
}

}  // namespace kinegraph::identify
