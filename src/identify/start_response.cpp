#include "kinegraph/identify/start_response.hpp"

#include <Eigen/LU>

namespace kinegraph::identify {

void StartResponse::reset(int n, int p) {
  n_ = n, p_ = p;
  before_.setZero(n, 2 * n + p);
  before_.leftCols(n).setIdentity();
  now_.setZero(n, 2 * n + p);
  now_.middleCols(n, n).setIdentity();
  next_.setZero(n, 2 * n + p);
}

void StartResponse::advance(RowBlock& step, int k) {
  if (k > 0) {
    before_.swap(now_);
    now_.swap(next_);
  }
  using Rows = Eigen::Map<const Matrix>;
  const Rows J(step.states(0), n_, 3 * n_), J_x(step.border(0), n_, p_);
  product_.noalias() = J.leftCols(n_) * before_;
  product_.noalias() += J.middleCols(n_, n_) * now_;
  product_.rightCols(p_) += J_x;
  for (int i = 0; i < n_; i += 3) {
    const Eigen::Matrix3d inverse = J.block<3, 3>(i, 2 * n_ + i).inverse();
    next_.middleRows<3>(i).noalias() = -inverse * product_.middleRows<3>(i);
  }
}

void StartResponse::condense(RowBlock& block, RowKind kind) {
  using Rows = Eigen::Map<const Matrix>;
  const int rows = block.count();
  const Rows J(block.states(0), rows, 3 * n_), J_x(block.border(0), rows, p_);
  if (kind == RowKind::start) {
    states_ = J.leftCols(2 * n_);
    border_ = J_x;
    return;
  }
  rows_.noalias() = J.leftCols(n_) * before_;
  rows_.noalias() += J.middleCols(n_, n_) * now_;
  rows_.noalias() += J.rightCols(n_) * next_;
  states_ = rows_.leftCols(2 * n_);
  border_ = rows_.rightCols(p_) + J_x;
}

}  // namespace kinegraph::identify
