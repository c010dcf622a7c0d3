#pragma once

#include "kinegraph/mechanics/maximal/balance.hpp"

namespace kinegraph::maximal {

/// FreedomImpulse::at() and its derivatives, in closed form.
struct FreedomSlopes {
  double impulse = 0;                                      ///< μ
  double by_position = 0, by_rate = 0, by_rate_after = 0;  ///< ∂μ/∂q, ∂μ/∂ω, ∂μ/∂ω⁺
  double by_number[FreedomNumbers::count] = {};            ///< ∂μ/∂π

  FreedomSlopes() = default;
  FreedomSlopes(const double* numbers, double position, double rate, double rate_after, bool angular,
                const FreedomStep& step, double h);
};

/// Where a joint is and how its bodies move, as joint_balance() takes it.
struct JointMotion {
  const Joint* joint = nullptr;
  Pose<double> a, b;                                 ///< of the ground: the identity
  const double *com_a = nullptr, *com_b = nullptr;   ///< of the ground: zeros
  const double* frames = nullptr;                    ///< JointNumbers
  const double *before = nullptr, *after = nullptr;  ///< velocities of a and b, 12 numbers
  // where constraints hold at the end of the step: exp(h ω⁺) of both
  Eigen::Matrix3d turned_a = Eigen::Matrix3d::Identity(), turned_b = Eigen::Matrix3d::Identity();
};

/// Derivatives of joint_balance() in closed form, of joints that hold p_M = p_F: hinges, balls and welds. What is left
/// of a constraint c(q) = 0 is a sum of c, its rates before and after the step and its curvature, or of c at both ends
/// of the step, q and q⁺ = q ⊞ h v⁺,
///
///     r = s₀ c + s₁ ċ + s₂ c̈ + s₃ ċ⁺ − Σ λ,   or   r = s₀ c − c(q⁺)/h − Σ λ
///
/// Let the bodies turn by φ_a and φ_b in their own axes. Of c = p_M − p_F each body has a part of its own, with f, m
/// the places of the frames in the bodies' axes:
///
///     r = R_b x_b(m) − R_a x_a(f) + …,   x(f) = s₀ f + s₁ ω × f + s₂ ω × (ω × f) + s₃ ω⁺ × f
///     ∂r/∂φ_a = R_a x_a^                 ∂r/∂φ_b = −R_b x_b^
///
/// c = e · f of directions e on a and f on b depends only on how a turns against b, ρ = φ_a − R_ab φ_b in a's axes:
///
///     ∂c/∂ρ = e × f                      ∂ċ/∂ρ = ė × f + e × ḟ                      ∂c̈/∂ρ = ë × f + 2 ė × ḟ + e × f̈
///
/// and ∂c(q⁺)/∂ρ the same of e and f turned on by exp(h ω⁺). Shifts count in p_M − p_F alone: ∂r/∂p_b = s₀ = −∂r/∂p_a,
/// less 1/h.
class JointSlopes {
 public:
  using Rows3 = Eigen::Matrix<double, 6, 3, Eigen::RowMajor>;
  using Row3 = Eigen::RowVector3d;

  static bool known(JointType type) {
    return type == JointType::revolute || type == JointType::continuous || type == JointType::ball ||
           type == JointType::fixed;
  }

  /// `freedoms`: of each freedom at its rates before and after the step. Of the arguments, step and freedoms, and what
  /// motion points to, must outlive this.
  JointSlopes(const JointMotion& motion, const JointStep& step, const FreedomSlopes* freedoms);

  // by φ_a [0] and φ_b [1]
  Eigen::Matrix3d turn_a[2], turn_b[2];  ///< of the impulses that turn a and b; those that shift them do not change
  Rows3 left[2];                         ///< of what is left of the constraints
  double by_shift;                       ///< ∂r/∂p_b of the constraints on places
  Row3 held[3][2], driven[3][2];
  Rows3 bend[2];  ///< ∂/∂ω_a, ∂/∂ω_b of −w Ġ v: all that velocities do but for Υ G v and freedoms' rates

  /// A direction of the numbers: changes of the frames (JointNumbers), of the centres of mass, of each freedom's
  /// numbers.
  struct Direction {
    const double *frames, *com_a, *com_b, *freedoms[3];
  };
  struct Change {
    Eigen::Vector3d turn_a, turn_b;
    double left[6], held[3], driven[3];
  };
  Change along(const Direction& direction) const;

 private:
  /// Angular velocities in a's axes.
  struct Spins {
    Eigen::Vector3d a, b;
  };
  void add_place();
  void add_parallel(int row, int axis, int other);
  void add_spin(int f, const Eigen::Vector3d& e, bool on_b, const Eigen::Vector3d& by_angle);
  void spread();
  Eigen::Vector3d weighed(const Eigen::Vector3d& f, const double* before, const double* after,
                          const Eigen::Matrix3d& turned) const;
  double weighed(const Eigen::Vector3d& e, const Eigen::Vector3d& f) const;
  double turned(const Eigen::Matrix3d& dF, const Eigen::Matrix3d& dM) const;

  const JointMotion motion_;
  const JointStep& step_;
  const FreedomSlopes* freedoms_;
  double of_value_, of_rate_, of_curvature_, of_rate_after_, of_end_;  // s₀ … s₃, −1/h
  Eigen::Matrix3d R_ab_, F_, M_, turned_b_;                            // frames in a's axes
  Spins before_, after_;
  int parallels_ = 0, axes_[3][2];  // rows 3 + i: an axis of F and one of M
  Eigen::Matrix3d on_a_, on_b_;     // impulses that turn a and b by ρ, all in a's axes
};

}  // namespace kinegraph::maximal
