#pragma once

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>

#include "kinegraph/graph/factor.hpp"

namespace kinegraph {

/// A contact on level ground pushes, and does not slip, as an inequality.
///
///     g = (μ f_z + ε − √(f_x² + f_y² + ε²),  f_z) ≥ 0      (003, section V-C: ‖f_t‖ ≤ μ f_n)
///
/// The cone of second order, rounded at its tip so that it is smooth there: no force at all is allowed, and the cone is
/// left by less than ε. Unlike μ² f_n² − f_t² it does not let a contact pull. Slot: f, in the world's axes.
class FrictionCone final : public Factor {
 public:
  static constexpr double kRounding = 1e-3;  ///< N

  FrictionCone(const std::string& contact, double friction)
      : Factor("friction of " + contact, 2, {3}, dense(2, {3})), friction_(friction) {}

  void evaluate(Slots x, double* residual, double* jacobian) const override {
    const double fx = x[0][0], fy = x[0][1], fz = x[0][2];
    const double tangent = std::sqrt(fx * fx + fy * fy + kRounding * kRounding);
    residual[0] = friction_ * fz + kRounding - tangent;
    residual[1] = fz;
    if (!jacobian) return;
    const double columns[] = {-fx / tangent, 0, -fy / tangent, 0, friction_, 1};
    std::copy(std::begin(columns), std::end(columns), jacobian);
  }
  std::string row_name(int row) const override { return row == 0 ? name() : "push of " + name().substr(12); }

 private:
  double friction_;
};

}  // namespace kinegraph
