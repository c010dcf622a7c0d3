#pragma once

#include <array>
#include <vector>

#include "kinegraph/factor/screw/pose_link.hpp"
#include "kinegraph/factor/screw/state_slots.hpp"

namespace kinegraph::screw {

/// The state in the middle of a step of h, from those at both ends: the cubic through both (Hermite), and the
/// acceleration with which Simpson's rule leads from one rate to the other (Hargraves and Paris 1987, compressed).
///
///     qₘ = ½ (q₀ + q₁) + (h/8)(v₀ − v₁)     vₘ = ½ (v₀ + v₁) + (h/8)(a₀ − a₁)     aₘ = (3/2h)(v₁ − v₀) − ¼ (a₀ + a₁)
///
/// A base that floats moves by Θ = log(X₀⁻¹ X) (pose_link.hpp):     Xₘ = X₀ exp(Θₘ),     Θₘ = ½ Θ₁ + (h/8)(V₀ − Θ̇₁)
class MiddleState {
 public:
  MiddleState(const StateSlots& state, double h)
      : state_(state), h_(h), q(state.joints + (state.floating ? 7 : 0)), v(state.freedoms()), a(state.freedoms()) {}

  void set_step(double h) { h_ = h; }

  /// Slots: q v (a) of the one end, then of the other, `levels` of them each: 2 give qₘ alone, 3 all.
  void set(Slots x, int levels, bool derivatives) {
    const int s = state_.slots(), end = levels * s;
    if (state_.floating) {
      set_pose(x[0], x[s], x[end], x[end + s], derivatives);
      if (levels > 2) rates(6, x[s], x[end + s], x[2 * s], x[end + 2 * s], v.data(), a.data());
    }
    const int n = state_.joints, j = s - 1, first = state_.floating ? 6 : 0;
    if (n == 0) return;
    const double *q0 = x[j], *q1 = x[end + j], *v0 = x[s + j], *v1 = x[end + s + j];
    double* const to = q.data() + (state_.floating ? 7 : 0);
    for (int i = 0; i < n; ++i) to[i] = 0.5 * (q0[i] + q1[i]) + h_ / 8 * (v0[i] - v1[i]);
    if (levels > 2) rates(n, v0, v1, x[2 * s + j], x[end + 2 * s + j], v.data() + first, a.data() + first);
  }

  /// How a number of a level in the middle changes with (q v a) of both ends; of the pose the matrices below.
  struct Share {
    double start[3], end[3];
  };
  Share share(int level) const {
    switch (level) {
      case 0:
        return {{0.5, h_ / 8, 0}, {0.5, -h_ / 8, 0}};
      case 1:
        return {{0, 0.5, h_ / 8}, {0, 0.5, -h_ / 8}};
      default:
        return {{0, -1.5 / h_, -0.25}, {0, 1.5 / h_, -0.25}};
    }
  }
  std::array<Matrix6d, 4> pose_by;  ///< X₀ V₀ X₁ V₁

  /// How the middle changes with h: all of q (along its tangent), then of v, then of a. After set(…, true).
  void by_step(Slots x, int levels, double* change) const {
    const int s = state_.slots(), end = levels * s, n = state_.freedoms();
    if (state_.floating) {
      Eigen::Map<Vector6d>(change + 0) = pose_by_step_;
      if (levels > 2) rates_by_step(6, x[s], x[end + s], x[2 * s], x[end + 2 * s], change + n, change + 2 * n);
    }
    const int joints = state_.joints, j = s - 1, first = state_.floating ? 6 : 0;
    if (joints == 0) return;
    const double *v0 = x[s + j], *v1 = x[end + s + j];
    for (int i = 0; i < joints; ++i) change[first + i] = (v0[i] - v1[i]) / 8;
    if (levels < 3) return;
    rates_by_step(joints, v0, v1, x[2 * s + j], x[end + 2 * s + j], change + n + first, change + 2 * n + first);
  }

 private:
  void rates(int n, const double* v0, const double* v1, const double* a0, const double* a1, double* to_v,
             double* to_a) const {
    for (int i = 0; i < n; ++i) {
      to_v[i] = 0.5 * (v0[i] + v1[i]) + h_ / 8 * (a0[i] - a1[i]);
      to_a[i] = 1.5 / h_ * (v1[i] - v0[i]) - 0.25 * (a0[i] + a1[i]);
    }
  }
  void rates_by_step(int n, const double* v0, const double* v1, const double* a0, const double* a1, double* of_v,
                     double* of_a) const {
    for (int i = 0; i < n; ++i) {
      of_v[i] = (a0[i] - a1[i]) / 8;
      of_a[i] = -1.5 / (h_ * h_) * (v1[i] - v0[i]);
    }
  }
  void set_pose(const double* X0, const double* V0, const double* X1, const double* V1, bool derivatives) {
    const PoseStep end(X0, X1);
    const ChartRate rate(end.theta, V1);
    const Vector6d theta = 0.5 * end.theta + h_ / 8 * (Eigen::Map<const Vector6d>(V0) - rate.value);
    (SE3::load(X0) * SE3::exp(theta)).store(q.data());
    if (!derivatives) return;
    const Matrix6d by_chart = SE3::right_jacobian(theta);
    const Matrix6d by_theta = by_chart * (0.5 * Matrix6d::Identity() - h_ / 8 * rate.by_theta());
    pose_by[0] = SE3::exp(-theta).Ad() + by_theta * end.by_start();
    pose_by[1] = h_ / 8 * by_chart;
    pose_by[2] = by_theta * end.by_end();
    pose_by[3] = -h_ / 8 * by_chart * rate.by_twist();
    pose_by_step_ = by_chart * (Eigen::Map<const Vector6d>(V0) - rate.value) / 8;
  }

  StateSlots state_;
  double h_;
  Vector6d pose_by_step_ = Vector6d::Zero();

 public:
  std::vector<double> q, v, a;
};

/// Simpson's rule for a pose, its middle given by both ends.     e = Θ₁ − (h/6)(V₀ + 4 Θ̇ₘ + Θ̇₁)
/// Slots: X₀ V₀ A₀ X₁ V₁ A₁.
class PoseHermiteSimpson final : public Factor {
 public:
  explicit PoseHermiteSimpson(double h)
      : Factor("simpson base", 6, {7, 6, 6, 7, 6, 6}, dense(6, {6, 6, 6, 6, 6, 6})), h_(h) {}
  void evaluate(Slots x, double* residual, double* jacobian) const override {
    const PoseStep end(x[0], x[3]);
    const ChartRate at_end(end.theta, x[4]);
    const auto twist = [&](int slot) { return Eigen::Map<const Vector6d>(x[slot]); };
    const Vector6d theta = 0.5 * end.theta + h_ / 8 * (twist(1) - at_end.value);
    const Vector6d V = 0.5 * (twist(1) + twist(4)) + h_ / 8 * (twist(2) - twist(5));
    const ChartRate middle(theta, V.data());
    column6(residual) = end.theta - h_ / 6 * (twist(1) + 4 * middle.value + at_end.value);
    if (!jacobian) return;
    const Matrix6d one = Matrix6d::Identity(), by_middle = middle.by_theta(), by_V = middle.by_twist();
    const Matrix6d end_by = at_end.by_theta();
    const Matrix6d by_theta = one - h_ / 6 * (4 * by_middle * (0.5 * one - h_ / 8 * end_by) + end_by);
    block6(jacobian) = by_theta * end.by_start();
    block6(jacobian + 36) = -h_ / 6 * (one + by_middle * (h_ / 2) + 2 * by_V);
    block6(jacobian + 72) = -h_ / 6 * (h_ / 2) * by_V;
    block6(jacobian + 108) = by_theta * end.by_end();
    block6(jacobian + 144) = -h_ / 6 * (-(h_ / 2) * by_middle * at_end.by_twist() + 2 * by_V + at_end.by_twist());
    block6(jacobian + 180) = h_ / 6 * (h_ / 2) * by_V;
  }
  std::string row_name(int row) const override { return pose_row(name(), row); }

 private:
  double h_;
};

}  // namespace kinegraph::screw
