#pragma once

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>

#include "kinegraph/graph/factor.hpp"

namespace kinegraph {

/// A contact on level ground pushes, and does not slip, as an inequality.
///
///     g = (μ f_z − (f_x² + f_y²) / d,  f_z) ≥ 0,     d = ½ (μ f_z + √(μ² f_z² + ε²))      (003, section V-C: ‖f_t‖ ≤ μ
///     f_n)
///
/// With d = μ f_z that is the cone of second order. As it stands it is smooth for any force, also for one that pulls on
/// the way to a solution, and curved by no more than 2/d: √(f_x² + f_y²) instead has a tip that Newton's method meets
/// with every force that is nearly vertical. The cone is left by less than ε/5, by ε²/(8 μ f_z) where the contact
/// bears. Unlike μ² f_n² − f_t² it does not let a contact pull. Slot: f, in the world's axes.
class FrictionCone final : public Factor {
 public:
  static constexpr double kRounding = 0.1;  ///< ε, N

  FrictionCone(const std::string& contact, double friction)
      : Factor("friction of " + contact, 2, {3}, dense(2, {3})), friction_(friction) {}

  void evaluate(Slots x, double* residual, double* jacobian) const override {
    const double fx = x[0][0], fy = x[0][1], normal = friction_ * x[0][2];
    const double root = std::sqrt(normal * normal + kRounding * kRounding);
    // a sum without cancellation where the contact pulls
    const double d = normal >= 0 ? 0.5 * (normal + root) : 0.5 * kRounding * kRounding / (root - normal);
    const double share = (fx * fx + fy * fy) / d;
    residual[0] = normal - share;
    residual[1] = x[0][2];
    if (!jacobian) return;
    const double columns[] = {-2 * fx / d, 0, -2 * fy / d, 0, friction_ * (1 + share / root), 1};  // d' = μ d / root
    std::copy(std::begin(columns), std::end(columns), jacobian);
  }
  /// Of (f_x² + f_y²)/d with d' = μ d/root:  ∂²/∂f_z² = μ² (f_x² + f_y²)/d (1/root² + normal/root³)
  bool add_curvature(Slots x, const double* weight, double* hessian) const override {
    const double fx = x[0][0], fy = x[0][1], normal = friction_ * x[0][2];
    const double root = std::sqrt(normal * normal + kRounding * kRounding);
    const double d = normal >= 0 ? 0.5 * (normal + root) : 0.5 * kRounding * kRounding / (root - normal);
    const double w = -weight[0] / d, slope = friction_ / root;
    hessian[0] += 2 * w;
    hessian[2] -= 2 * w * fx * slope;
    hessian[4] += 2 * w;
    hessian[5] -= 2 * w * fy * slope;
    hessian[8] += w * (fx * fx + fy * fy) * slope * slope * (1 + normal / root);
    return true;
  }
  std::string row_name(int row) const override { return row == 0 ? name() : "push of " + name().substr(12); }

 private:
  double friction_;
};

}  // namespace kinegraph
