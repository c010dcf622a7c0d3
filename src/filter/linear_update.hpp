#pragma once

#include <Eigen/Core>
#include <array>

#include "kinegraph/filter/state_space.hpp"

namespace kinegraph::filter {

/// What a reading says of δ = S u, where u ~ N(0, 1) before it:   e = Aᵀ u + n,  n ~ N(0, R).
struct LinearReading {
  using Vector = Eigen::Matrix<double, kMostRows, 1>;
  using Square = Eigen::Matrix<double, kMostRows, kMostRows>;

  int rows = 0;
  std::array<int, kMostRows> channel = {};  ///< which of the sensor's numbers each row is
  Vector e = Vector::Zero();
  MatrixXd A;  ///< n × kMostRows, the first `rows` columns in use
  Square R = Square::Zero();

  /// Expected standard deviation of a row.
  double sd(int row) const;
};

/// The Kalman update of a square root: row by row, after whitening (Potter 1963; Bierman 1977, ch. II),
///
///     f = Sᵀ hᵀ,  s = fᵀ f + 1,  δ += S f r / s,  S ← S − S f fᵀ / (s + √s)
///
/// which is the Joseph form's P ← (1 − K H) P (1 − K H)ᵀ + K R Kᵀ with twice the digits.
class LinearUpdate {
 public:
  /// Compares a reading with what is expected of it. Noise of row i is taken `inflate[i]` times as large (variance;
  /// null: as it is). False if R is not positive or nothing finite comes out.
  bool compare(const LinearReading& reading, const double* inflate = nullptr);

  double nis() const { return nis_; }                        ///< eᵀ (Aᵀ A + R)⁻¹ e
  double log_likelihood() const { return log_likelihood_; }  ///< ln N(e; 0, Aᵀ A + R)

  /// δ and S after the reading last compared. `after` may not be `before`.
  void apply(const MatrixXd& before, MatrixXd& after, VectorXd& delta);

 private:
  bool whiten(const LinearReading& reading, const double* inflate);

  int rows_ = 0;
  MatrixXd w_;  // n × kMostRows: first the whitened rows, then the f
  LinearReading::Square L_;
  LinearReading::Vector r_, s_;
  VectorXd moved_;
  double nis_ = 0, log_likelihood_ = 0;
};

}  // namespace kinegraph::filter
