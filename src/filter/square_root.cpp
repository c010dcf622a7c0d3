#include "kinegraph/filter/square_root.hpp"

#include <cmath>

#include "kinegraph/linear/qr.hpp"

namespace kinegraph::filter {

bool square_root(const Eigen::MatrixXd& P, Eigen::MatrixXd& L) {
  constexpr double nothing = 1e-14, wrong = 1e-7;  // of the entry; of what a correlation could be
  const Eigen::Index n = P.rows();
  L.setZero(n, n);
  for (Eigen::Index j = 0; j < n; ++j) {
    double d = P(j, j);
    for (Eigen::Index k = 0; k < j; ++k) d -= L(j, k) * L(j, k);
    if (!std::isfinite(d) || P(j, j) < 0 || d < -wrong * P(j, j)) return false;
    const bool pivot = d > nothing * P(j, j);
    const double root = pivot ? std::sqrt(d) : 0;
    L(j, j) = root;
    for (Eigen::Index i = j + 1; i < n; ++i) {
      double s = P(i, j);
      for (Eigen::Index k = 0; k < j; ++k) s -= L(i, k) * L(j, k);
      if (!std::isfinite(s)) return false;
      if (pivot) {
        L(i, j) = s / root;
      } else if (std::abs(s) > wrong * std::sqrt(std::abs(P(i, i)) * P(j, j))) {
        return false;
      }
    }
  }
  return true;
}

void compress(Eigen::MatrixXd& A, Eigen::MatrixXd& S) {
  const Eigen::Index n = A.cols();
  linear::triangularise(A, {0, 0, static_cast<int>(n)}, false, 0);
  S.setZero(n, n);
  for (Eigen::Index i = 0; i < std::min(n, A.rows()); ++i) {
    for (Eigen::Index j = i; j < n; ++j) S(j, i) = A(i, j);
  }
}

void covariance(const Eigen::MatrixXd& S, Eigen::MatrixXd& P) {
  const Eigen::Index n = S.rows();
  P.resize(n, n);
  for (Eigen::Index j = 0; j < n; ++j) {
    for (Eigen::Index i = j; i < n; ++i) P(i, j) = P(j, i) = S.row(i).dot(S.row(j));
  }
}

}  // namespace kinegraph::filter
