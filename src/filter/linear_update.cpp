#include "kinegraph/filter/linear_update.hpp"

#include <cmath>

namespace kinegraph::filter {

double LinearReading::sd(int row) const { return std::sqrt(A.col(row).squaredNorm() + R(row, row)); }

// R = L Lᵀ; rows and e become L⁻¹ Aᵀ and L⁻¹ e.
bool LinearUpdate::whiten(const LinearReading& reading, const double* inflate) {
  for (int i = 0; i < rows_; ++i) {
    for (int j = 0; j <= i; ++j) {
      double v = reading.R(i, j);
      if (inflate) v *= std::sqrt(inflate[i] * inflate[j]);
      for (int k = 0; k < j; ++k) v -= L_(i, k) * L_(j, k);
      if (j < i) {
        L_(i, j) = v / L_(j, j);
      } else {
        if (!(v > 0) || !std::isfinite(v)) return false;
        L_(i, i) = std::sqrt(v);
      }
    }
    auto row = w_.col(i);
    row = reading.A.col(i);
    r_[i] = reading.e[i];
    for (int k = 0; k < i; ++k) {
      row -= L_(i, k) * w_.col(k);
      r_[i] -= L_(i, k) * r_[k];
    }
    row /= L_(i, i);
    r_[i] /= L_(i, i);
  }
  return true;
}

// S need not be touched to compare: what row i does to S, S (1 − f fᵀ / (s + √s)), it does to the rows after it.
bool LinearUpdate::compare(const LinearReading& reading, const double* inflate) {
  rows_ = reading.rows;
  if (w_.rows() != reading.A.rows()) w_.resize(reading.A.rows(), kMostRows);
  if (!whiten(reading, inflate)) return false;
  nis_ = 0;
  double log_determinant = rows_ * std::log(2 * M_PI);
  for (int i = 0; i < rows_; ++i) {
    const auto f = w_.col(i);
    const double s = s_[i] = f.squaredNorm() + 1;
    nis_ += r_[i] * r_[i] / s;
    log_determinant += std::log(s) + 2 * std::log(L_(i, i));
    for (int k = i + 1; k < rows_; ++k) {
      const double c = f.dot(w_.col(k));
      r_[k] -= c * r_[i] / s;
      w_.col(k) -= (c / (s + std::sqrt(s))) * f;
    }
  }
  log_likelihood_ = -0.5 * (nis_ + log_determinant);
  return std::isfinite(nis_) && std::isfinite(log_determinant);
}

void LinearUpdate::apply(const MatrixXd& before, MatrixXd& after, VectorXd& delta) {
  after = before;
  delta.setZero(before.rows());
  moved_.resize(before.rows());
  for (int i = 0; i < rows_; ++i) {
    const auto f = w_.col(i);
    moved_.noalias() = after * f;
    delta += (r_[i] / s_[i]) * moved_;
    const double g = 1 / (s_[i] + std::sqrt(s_[i]));
    for (Eigen::Index j = 0; j < f.size(); ++j) after.col(j) -= (g * f[j]) * moved_;
  }
}

}  // namespace kinegraph::filter
