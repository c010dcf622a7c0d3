#pragma once

#include <Eigen/Core>
#include <array>
#include <cmath>
#include <optional>

#include "kinegraph/model/model.hpp"

namespace kinegraph::identify {

/// The mass, centre and moments of a link as ten coordinates x, any of which is a possible solid; x = 0 is a given one.
///
///     P = [Σ + m c cᵀ  m c; m cᵀ  m] = U Uᵀ,   Σ = ½ tr(I) 1 − I about the centre,   U = U₀ Ũ(x)      (notes of 002)
///     Ũ = e^(x₀/2) [e^(x₁/2) x₄ x₅ x₇; 0 e^(x₂/2) x₆ x₈; 0 0 e^(x₃/2) x₉; 0 0 0 1]
///
/// Taken from U₀ on, coordinates have no unit and are of order one: x₀ is a relative change of the mass, x₁ … x₃ of
/// second moments, x₇ … x₉ move the centre in radii of gyration.
class Solid {
 public:
  static constexpr int kSize = 10;
  using Numbers = Eigen::Matrix<double, kSize, 1>;  ///< mass, com x y z, ixx ixy ixz iyy iyz izz about it
  using Slope = Eigen::Matrix<double, kSize, kSize>;

  explicit Solid(const Inertia& start);  ///< must be possible()
  Numbers at(const double* x) const;
  Slope slope(const double* x) const;  ///< ∂ numbers / ∂ x

  /// Strictly: the mass and the second moments Σ are above zero.
  static bool possible(const Inertia& inertia);
  /// The nearest that is. `mass`, `length`: of the machine, for what has none at all.
  static Inertia nearest(const Inertia& inertia, double mass, double length);
  /// Moments that a search may start from, ixx, iyy and izz being moved where they are `free`: each alone no farther
  /// than it must. None if they cannot mend what the others are.
  static std::optional<Matrix3d> mended(Matrix3d about_com, const std::array<bool, 3>& free);
  static Matrix3d second_moments(const Matrix3d& inertia) {
    return 0.5 * inertia.trace() * Matrix3d::Identity() - inertia;
  }

 private:
  template <class T>
  Eigen::Matrix<T, kSize, 1> evaluate(const T* x) const;

  Eigen::Matrix4d U_;
};

/// The same in the plane: mass, cog x y, and the moment I_c about it. Files have that about the body's first point.
///
///     m = m₀ e^x₀,   cog = cog₀ + ρ₀ (x₁, x₂),   I_c = I_c₀ e^(x₀ + x₃),   ρ₀² = I_c₀ / m₀,   I₀ = I_c + m |cog|²
class FlatSolid {
 public:
  static constexpr int kSize = 4;
  using Numbers = Eigen::Matrix<double, kSize, 1>;
  using Slope = Eigen::Matrix<double, kSize, kSize>;

  explicit FlatSolid(const Numbers& start);  ///< mass, cog, I₀: must be possible()
  Numbers at(const double* x) const;         ///< mass, cog, I_c
  Slope slope(const double* x) const;

  /// I₀ of mass, cog, I_c; and its slopes by these.
  static double about_point(const Numbers& n) { return n[3] + n[0] * (n[1] * n[1] + n[2] * n[2]); }
  static Numbers point_slope(const Numbers& n) {
    return {n[1] * n[1] + n[2] * n[2], 2 * n[0] * n[1], 2 * n[0] * n[2], 1};
  }

  // Of mass, cog, I₀:
  static Numbers numbers(const PlanarBody& body) { return {body.mass, body.cog.x(), body.cog.y(), body.inertia}; }
  static double about_cog(const Numbers& n) { return n[3] - n[0] * (n[1] * n[1] + n[2] * n[2]); }
  static bool possible(const Numbers& numbers);
  static Numbers nearest(Numbers numbers, double mass, double length);

 private:
  double mass_, x_, y_, inertia_, radius_;
};

}  // namespace kinegraph::identify
