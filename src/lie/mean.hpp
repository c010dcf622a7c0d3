#pragma once

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "kinegraph/lie/so3.hpp"

namespace kinegraph {

/// Where angles point on average: the direction of Σ wᵢ (cos aᵢ, sin aᵢ) / Σ wᵢ, and its length, 1 if all are the same
/// (up to whole turns), 0 if they point nowhere (then the angle is 0).
struct CircularMean {
  double angle = 0;  ///< in [−π, π]
  double length = 0;
  /// The standard deviation of a wrapped normal distribution of this length, rad; infinity for length 0.
  double sd() const {
    return length > 0 ? std::sqrt(-2 * std::log(std::min(length, 1.0))) : std::numeric_limits<double>::infinity();
  }
};

/// `weights`: not negative, in any scale; empty: all the same.
inline CircularMean circular_mean(std::span<const double> angles, std::span<const double> weights = {}) {
  double c = 0, s = 0, total = 0;
  for (std::size_t i = 0; i < angles.size(); ++i) {
    const double w = weights.empty() ? 1 : weights[i];
    c += w * std::cos(angles[i]);
    s += w * std::sin(angles[i]);
    total += w;
  }
  if (!(total > 0)) return {};
  const double length = std::hypot(c, s) / total;
  // What rounding leaves of vectors that cancel points anywhere.
  if (length < 1e-14) return {};
  return {std::atan2(s, c), length};
}

/// The rotation R that makes Σ wᵢ |log(R⁻¹ Rᵢ)|² smallest. It starts from the mean of the quaternions, the eigenvector
/// of Σ wᵢ qᵢ qᵢᵀ with the largest eigenvalue (Markley et al. 2007): qᵢ and −qᵢ count as the same, as they must. Then
///
///     R ← R exp(Σ wᵢ log(R⁻¹ Rᵢ) / Σ wᵢ)
///
/// until it stands. Without weight: the identity.
inline SO3 mean_rotation(std::span<const SO3> rotations, std::span<const double> weights = {}) {
  Eigen::Matrix4d moment = Eigen::Matrix4d::Zero();
  double total = 0;
  for (std::size_t i = 0; i < rotations.size(); ++i) {
    const double w = weights.empty() ? 1 : weights[i];
    const Eigen::Vector4d q = rotations[i].quaternion().coeffs();  // x y z w
    moment += w * q * q.transpose();
    total += w;
  }
  if (!(total > 0)) return {};
  const Eigen::Vector4d q = Eigen::SelfAdjointEigenSolver<Eigen::Matrix4d>(moment).eigenvectors().col(3);
  SO3 mean(Eigen::Quaterniond(q[3], q[0], q[1], q[2]));
  for (int iteration = 0; iteration < 50; ++iteration) {
    const SO3 inverse = mean.inverse();
    Eigen::Vector3d step = Eigen::Vector3d::Zero();
    for (std::size_t i = 0; i < rotations.size(); ++i) {
      step += (weights.empty() ? 1 : weights[i]) * (inverse * rotations[i]).log();
    }
    step /= total;
    mean = mean * SO3::exp(step);
    if (step.norm() < 1e-14) break;
  }
  return mean;
}

}  // namespace kinegraph
