#pragma once

#include <utility>

#include "kinegraph/factor/screw/slot_list.hpp"

// Collocation of a pose and its twist over a step of h. The pose moves as X(t) = X₀ exp(Θ(t)), and V is the twist seen
// from the body, so that
//
//     Θ̇ = J_r(Θ)⁻¹ V = V + ½ [Θ, V] + (1/12) [Θ, [Θ, V]] + O(Θ⁴)      (dexp⁻¹; Iserles et al., Lie-group methods, 2000)
//
// and the rules of vectors hold for Θ. What is left out is of the order of the rules' own errors, or below.

namespace kinegraph::screw {

/// Θ = log(X₀⁻¹ X), with its derivatives by displacements of X₀ and X.
struct PoseStep {
  PoseStep(const double* X0, const double* X) : theta((SE3::load(X0).inverse() * SE3::load(X)).log()) {}
  Matrix6d by_end() const { return SE3::right_jacobian_inverse(theta); }
  Matrix6d by_start() const { return -SE3::left_jacobian_inverse(theta); }
  Vector6d theta;
};

/// Θ̇ at the end of a step, as above, with its derivatives.
struct ChartRate {
  ChartRate(const Vector6d& theta, const double* twist)
      : theta_ad(ad(theta)), V(Eigen::Map<const Vector6d>(twist)), bracket(theta_ad * V) {
    value = V + 0.5 * bracket + theta_ad * bracket / 12;
  }
  Matrix6d by_twist() const { return Matrix6d::Identity() + 0.5 * theta_ad + theta_ad * theta_ad / 12; }
  Matrix6d by_theta() const { return -0.5 * ad(V) - (ad(bracket) + theta_ad * ad(V)) / 12; }
  Matrix6d theta_ad;
  Vector6d V, bracket, value;
};

/// e = Θ₁ − h V₀.      Slots: X₀ V₀ X₁.
class PoseEuler final : public Factor {
 public:
  explicit PoseEuler(double h) : Factor("euler base", 6, {7, 6, 7}, dense(6, {6, 6, 6})), h_(h) {}
  void evaluate(Slots x, double* residual, double* jacobian) const override {
    const PoseStep step(x[0], x[2]);
    column6(residual) = step.theta - h_ * Eigen::Map<const Vector6d>(x[1]);
    if (!jacobian) return;
    block6(jacobian) = step.by_start();
    block6(jacobian + 36) = -h_ * Matrix6d::Identity();
    block6(jacobian + 72) = step.by_end();
  }
  std::string row_name(int row) const override { return pose_row(name(), row); }

 private:
  double h_;
};

/// e = Θ₁ − (h/2)(V₀ + V₁).      Slots: X₀ V₀ X₁ V₁.
class PoseTrapezoidal final : public Factor {
 public:
  explicit PoseTrapezoidal(double h) : Factor("trapezoidal base", 6, {7, 6, 7, 6}, dense(6, {6, 6, 6, 6})), h_(h) {}
  void evaluate(Slots x, double* residual, double* jacobian) const override {
    const PoseStep step(x[0], x[2]);
    column6(residual) = step.theta - h_ / 2 * (Eigen::Map<const Vector6d>(x[1]) + Eigen::Map<const Vector6d>(x[3]));
    if (!jacobian) return;
    block6(jacobian) = step.by_start();
    block6(jacobian + 72) = step.by_end();
    block6(jacobian + 36) = block6(jacobian + 108) = -h_ / 2 * Matrix6d::Identity();
  }
  std::string row_name(int row) const override { return pose_row(name(), row); }

 private:
  double h_;
};

}  // namespace kinegraph::screw
