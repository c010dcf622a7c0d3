#pragma once

#include <Eigen/Core>
#include <vector>

namespace kinegraph {

/// How much a residual may be trusted: it is whitened by W with Wᵀ W = Σ⁻¹. Deviations must be positive and finite,
/// covariances symmetric positive definite: std::invalid_argument else.
class Noise {
 public:
  static Noise unit() { return {}; }
  static Noise isotropic(double sigma);
  static Noise diagonal(const Eigen::VectorXd& sigmas);
  static Noise full(const Eigen::MatrixXd& covariance);

  enum class Shape { isotropic, diagonal, full };
  Shape shape() const { return shape_; }
  double sigma() const { return 1.0 / scale_; }                  ///< isotropic only
  const Eigen::MatrixXd& whitener() const { return whitener_; }  ///< diagonal: n×1; full: upper triangular n×n

  /// How many residuals it is made for; 0 if any number will do (isotropic).
  int rows() const { return static_cast<int>(whitener_.rows()); }
  /// X ← W X for `rows` residuals of `width` numbers each (row-major), in place, without allocation.
  void whiten(double* x, int rows, int width = 1) const;
  /// The weight that row `row` of W gives to residual `column` (0 where structurally zero).
  double weight(int row, int column) const;

 private:
  Shape shape_ = Shape::isotropic;
  double scale_ = 1.0;
  Eigen::MatrixXd whitener_;
};

/// A robust loss ρ(s) of the squared whitened residual norm s; the factor's cost is ½ ρ(s).
/// `k` is where doubt begins, in standard deviations. All are concave in s, so that weighting by ρ' (iteratively
/// reweighted least squares) keeps the Gauss-Newton matrix positive and every step a descent.
class Loss {
 public:
  enum class Shape { none, huber, cauchy, tukey, geman_mcclure };
  static Loss none() { return {Shape::none, 1.0}; }
  static Loss huber(double k) { return {Shape::huber, k}; }
  static Loss cauchy(double k) { return {Shape::cauchy, k}; }
  static Loss tukey(double k) { return {Shape::tukey, k}; }
  static Loss geman_mcclure(double k) { return {Shape::geman_mcclure, k}; }

  Shape shape() const { return shape_; }
  double rho(double s) const;
  double weight(double s) const;  ///< dρ/ds: 1 for `none`

 private:
  Loss(Shape shape, double k);  // throws std::invalid_argument unless k > 0
  Shape shape_ = Shape::none;
  double k_ = 1.0;
};

/// What a factor is for: something to make small (½ ‖W r‖²), or something that must hold, r = 0 or r ≥ 0 row by row.
enum class Role { cost, equality, inequality };

}  // namespace kinegraph
