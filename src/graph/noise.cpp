#include "kinegraph/graph/noise.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <stdexcept>

namespace kinegraph {
namespace {

void require_positive(const char* what, double value) {
  if (!(value > 0) || !std::isfinite(value)) {
    throw std::invalid_argument(fmt::format("{}: must be > 0 and finite, is {}", what, value));
  }
}

}  // namespace

Noise Noise::isotropic(double sigma) {
  require_positive("sigma", sigma);
  Noise noise;
  noise.scale_ = 1 / sigma;
  return noise;
}

Noise Noise::diagonal(const Eigen::VectorXd& sigmas) {
  for (double sigma : sigmas) require_positive("sigma", sigma);
  Noise noise;
  noise.shape_ = Shape::diagonal;
  noise.whitener_ = sigmas.cwiseInverse();
  return noise;
}

// Σ = V Vᵀ with V upper triangular (a Cholesky factorisation from the last row up), W = V⁻¹. Inverting Σ first would
// square its condition.
Noise Noise::full(const Eigen::MatrixXd& covariance) {
  const Eigen::Index n = covariance.rows();
  if (n == 0 || covariance.cols() != n || !covariance.allFinite()) {
    throw std::invalid_argument("covariance: must be square and finite");
  }
  if ((covariance - covariance.transpose()).cwiseAbs().maxCoeff() > 1e-9 * covariance.cwiseAbs().maxCoeff()) {
    throw std::invalid_argument("covariance: must be symmetric");
  }
  const Eigen::LLT<Eigen::MatrixXd> reversed(covariance.reverse().eval());
  if (reversed.info() != Eigen::Success) throw std::invalid_argument("covariance: must be positive definite");
  const Eigen::MatrixXd v = Eigen::MatrixXd(reversed.matrixL()).reverse();
  Noise noise;
  noise.shape_ = Shape::full;
  noise.whitener_ = v.triangularView<Eigen::Upper>().solve(Eigen::MatrixXd::Identity(n, n));
  return noise;
}

void Noise::whiten(double* x, int rows, int width) const {
  switch (shape_) {
    case Shape::isotropic:
      for (int i = 0; i < rows * width; ++i) x[i] *= scale_;
      return;
    case Shape::diagonal:
      for (int i = 0; i < rows; ++i) {
        for (int k = 0; k < width; ++k) x[i * width + k] *= whitener_(i, 0);
      }
      return;
    case Shape::full:  // upper triangular: row i needs only what is not yet overwritten
      for (int i = 0; i < rows; ++i) {
        for (int k = 0; k < width; ++k) {
          double sum = 0;
          for (int j = i; j < rows; ++j) sum += whitener_(i, j) * x[j * width + k];
          x[i * width + k] = sum;
        }
      }
      return;
  }
}

double Noise::weight(int row, int column) const {
  switch (shape_) {
    case Shape::isotropic:
      return row == column ? scale_ : 0;
    case Shape::diagonal:
      return row == column ? whitener_(row, 0) : 0;
    case Shape::full:
      return row <= column ? whitener_(row, column) : 0;
  }
  return 0;
}

Loss::Loss(Shape shape, double k) : shape_(shape), k_(k) { require_positive("k", k); }

double Loss::rho(double s) const {
  const double k2 = k_ * k_;
  switch (shape_) {
    case Shape::none:
      return s;
    case Shape::huber:
      return s <= k2 ? s : 2 * k_ * std::sqrt(s) - k2;
    case Shape::cauchy:
      return k2 * std::log1p(s / k2);
    case Shape::tukey: {
      if (s >= k2) return k2 / 3;
      const double rest = 1 - s / k2;
      return k2 / 3 * (1 - rest * rest * rest);
    }
    case Shape::geman_mcclure:
      return std::isinf(s) ? k2 : k2 * (s / (k2 + s));
  }
  return s;
}

double Loss::weight(double s) const {
  const double k2 = k_ * k_;
  switch (shape_) {
    case Shape::none:
      return 1;
    case Shape::huber:
      return s <= k2 ? 1 : k_ / std::sqrt(s);
    case Shape::cauchy:
      return 1 / (1 + s / k2);
    case Shape::tukey: {
      const double rest = s >= k2 ? 0 : 1 - s / k2;
      return rest * rest;
    }
    case Shape::geman_mcclure: {
      const double share = 1 / (1 + s / k2);
      return share * share;
    }
  }
  return 1;
}

}  // namespace kinegraph
