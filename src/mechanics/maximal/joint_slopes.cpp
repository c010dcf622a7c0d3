#include "kinegraph/mechanics/maximal/joint_slopes.hpp"

namespace kinegraph::maximal {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Map3 = Eigen::Map<const Vector3d>;
using Map33 = Eigen::Map<const Matrix3d>;

FreedomSlopes::FreedomSlopes(const double* n, double position, double rate, double rate_after, bool angular,
                             const FreedomStep& step, double h) {
  using N = FreedomNumbers;
  const double sign = step.grip == Grip::forward ? -h : step.grip == Grip::backward ? h : 0.0;
  const double stretch = continued(position, angular, step.reference) - n[N::rest];
  const Damping<double> damping(n[N::damping], step.mobility, h);
  const double speed = std::abs(rate), drag = n[N::armature] + damping.after + h * n[N::quadratic] * speed;
  const double fast = rate / n[N::stribeck_speed], share = sign == 0 ? 0.0 : std::exp(-fast * fast);
  const double dry = n[N::friction] + n[N::stribeck] * share + n[N::load_friction] * step.load;
  const double early = n[N::armature] - damping.before;
  impulse = early * rate + h * (n[N::gain] * step.control + step.torque - n[N::stiffness] * stretch) -
            drag * rate_after + step.held + step.driven + sign * dry;
  const double by_fast = -2 * sign * n[N::stribeck] * share * fast;
  by_position = -h * n[N::stiffness];
  by_rate = early - h * n[N::quadratic] * std::copysign(1.0, rate) * rate_after + by_fast / n[N::stribeck_speed];
  by_rate_after = -drag;
  by_number[N::armature] = rate - rate_after;
  by_number[N::gain] = h * step.control;
  by_number[N::stiffness] = -h * stretch;
  by_number[N::rest] = h * n[N::stiffness];
  const Damping<Dual<1>> by_damping(Dual<1>(n[N::damping], 0), step.mobility, h);
  by_number[N::damping] = -by_damping.before.v[0] * rate - by_damping.after.v[0] * rate_after;
  by_number[N::quadratic] = -h * speed * rate_after;
  by_number[N::friction] = sign;
  by_number[N::stribeck] = sign * share;
  by_number[N::stribeck_speed] = -by_fast * fast / n[N::stribeck_speed];
  by_number[N::load_friction] = sign * step.load;
}

JointSlopes::JointSlopes(const JointMotion& motion, const JointStep& step, const FreedomSlopes* freedoms)
    : motion_(motion), step_(step), freedoms_(freedoms) {
  of_value_ = (step.at_end ? 1 / step.h : 0) - step.correction;
  of_rate_ = step.at_end ? 0 : step.gamma;
  of_curvature_ = step.at_end ? 0 : -step.curved;
  of_rate_after_ = step.at_end ? 0 : -1;
  of_end_ = step.at_end ? -1 / step.h : 0;
  by_shift = of_value_ + of_end_;
  R_ab_.noalias() = motion.a.R.transpose() * motion.b.R;
  F_ = Map33(motion.frames + JointNumbers::F);
  M_.noalias() = R_ab_ * Map33(motion.frames + JointNumbers::M);
  turned_b_.noalias() = R_ab_ * motion.turned_b * R_ab_.transpose();
  before_ = {Map3(motion.before), R_ab_ * Map3(motion.before + 6)};
  after_ = {Map3(motion.after), R_ab_ * Map3(motion.after + 6)};
  on_a_.setZero(), on_b_.setZero();
  add_place();
  const Joint& joint = *motion.joint;
  if (joint.type == JointType::ball) {
    for (int k = 0; k < joint.freedoms; ++k) add_spin(k, M_.col(k), true, Vector3d::Zero());
  } else {
    add_parallel(3, 0, 2);
    add_parallel(4, 1, 2);
  }
  if (joint.type == JointType::fixed) add_parallel(5, 1, 0);
  if (joint.freedoms > 0 && joint.type != JointType::ball) {
    // θ = atan2(Y, X),   X = x_M · x,   Y = x_M · y
    const Vector3d x_M = M_.col(0);
    const double X = x_M.dot(F_.col(0)), Y = x_M.dot(F_.col(1));
    const Vector3d by_angle = (X * F_.col(1) - Y * F_.col(0)).cross(x_M) / ((X * X + Y * Y) * joint.ratio);
    add_spin(0, F_.col(2) / joint.ratio, false, by_angle);
  }
  spread();
}

/// x(f), in a body's own axes.
Vector3d JointSlopes::weighed(const Vector3d& f, const double* before, const double* after,
                              const Matrix3d& turned) const {
  if (step_.at_end) return of_value_ * f + of_end_ * (turned * f);
  const Vector3d w = Map3(before), moved = w.cross(f);
  return of_value_ * f + of_rate_ * moved + of_curvature_ * w.cross(moved) + of_rate_after_ * Map3(after).cross(f);
}

/// The same of c = e · f.
double JointSlopes::weighed(const Vector3d& e, const Vector3d& f) const {
  if (step_.at_end) return of_value_ * e.dot(f) + of_end_ * (motion_.turned_a * e).dot(turned_b_ * f);
  const Vector3d e1 = before_.a.cross(e), f1 = before_.b.cross(f);
  const double curvature = before_.a.cross(e1).dot(f) + 2 * e1.dot(f1) + e.dot(before_.b.cross(f1));
  const double rate_after = after_.a.cross(e).dot(f) + e.dot(after_.b.cross(f));
  return of_value_ * e.dot(f) + of_rate_ * (e1.dot(f) + e.dot(f1)) + of_curvature_ * curvature +
         of_rate_after_ * rate_after;
}

/// The rows of p_M = p_F and their impulses −f × R_aᵀλ on a, m × R_bᵀλ on b.
void JointSlopes::add_place() {
  const Map3 lambda(step_.lambda);
  const auto add = [&](const Pose<double>& pose, const Vector3d& f, const double* before, const double* after,
                       const Matrix3d& turned, double sign, Matrix3d& turn, Rows3& rows, Rows3& by_spin) {
    const Vector3d push = pose.R.transpose() * lambda, w = Map3(before);
    turn = sign * (push * f.transpose());
    turn.diagonal().array() -= sign * f.dot(push);
    rows.topRows<3>().noalias() = pose.R * skew<double>(Vector3d(-sign * weighed(f, before, after, turned)));
    // ∂/∂ω of ω × (ω × f) = ω fᵀ − 2 f ωᵀ + (ω · f) 1
    Matrix3d V = w * f.transpose() - 2 * f * w.transpose();
    V.diagonal().array() += w.dot(f);
    by_spin.topRows<3>().noalias() = pose.R * ((sign * of_curvature_) * V);
  };
  const double *F = motion_.frames + JointNumbers::F + 9, *M = motion_.frames + JointNumbers::M + 9;
  add(motion_.a, Map3(F) - Map3(motion_.com_a), motion_.before, motion_.after, motion_.turned_a, -1, turn_a[0], left[0],
      bend[0]);
  add(motion_.b, Map3(M) - Map3(motion_.com_b), motion_.before + 6, motion_.after + 6, motion_.turned_b, 1, turn_b[1],
      left[1], bend[1]);
}

/// A row e · f and its impulses ∓λ f × e. These change by λ (ρ × f) × e on a, and λ f × (ρ × e) on b.
void JointSlopes::add_parallel(int row, int axis, int other) {
  axes_[parallels_][0] = axis, axes_[parallels_++][1] = other;
  const double lambda = step_.lambda[row];
  const Vector3d e = F_.col(axis), f = M_.col(other);
  Matrix3d on_a = lambda * (f * e.transpose());
  on_a.diagonal().array() -= lambda * f.dot(e);
  on_a_ += on_a;
  on_b_ -= on_a.transpose();
  Vector3d by_turn = of_value_ * e.cross(f), by_a = Vector3d::Zero(), by_b = by_a;
  if (step_.at_end) {
    by_turn += of_end_ * (motion_.turned_a * e).cross(turned_b_ * f);
  } else {
    const Vector3d e1 = before_.a.cross(e), f1 = before_.b.cross(f);
    by_turn += of_rate_ * (e1.cross(f) + e.cross(f1)) +
               of_curvature_ * (before_.a.cross(e1).cross(f) + 2 * e1.cross(f1) + e.cross(before_.b.cross(f1))) +
               of_rate_after_ * (after_.a.cross(e).cross(f) + e.cross(after_.b.cross(f)));
    by_a = of_curvature_ * (e1.cross(f) + e.cross(f.cross(before_.a)) + 2 * e.cross(f1));
    by_b = of_curvature_ * (f1.cross(e) + f.cross(e.cross(before_.b)) + 2 * f.cross(e1));
  }
  left[0].row(row) = by_turn.transpose();
  left[1].row(row) = -by_turn.transpose() * R_ab_;
  bend[0].row(row) = by_a.transpose();
  bend[1].row(row) = by_b.transpose() * R_ab_;
}

/// A freedom whose rate is (ω_b − ω_a) · e, e fixed on a, or on b. Its impulse is −μ e on a and μ e on b, and
///
///     ∂((ω_b − ω_a) · e)/∂ρ = e × ω_b, or e × ω_a
void JointSlopes::add_spin(int f, const Vector3d& e, bool on_b, const Vector3d& by_angle) {
  const FreedomSlopes& freedom = freedoms_[f];
  const Vector3d by_rate = e.cross(on_b ? before_.a : before_.b), by_after = e.cross(on_b ? after_.a : after_.b);
  const Vector3d by = freedom.by_position * by_angle + freedom.by_rate * by_rate + freedom.by_rate_after * by_after;
  const Matrix3d change = e * by.transpose();
  on_a_ -= change;
  on_b_ += change;
  (on_b ? on_a_ : on_b_) -= freedom.impulse * skew<double>(e);
  const Vector3d drive = -by_angle / step_.h - by_after;
  held[f][0] = -by_after.transpose();
  held[f][1] = by_after.transpose() * R_ab_;
  driven[f][0] = drive.transpose();
  driven[f][1] = -drive.transpose() * R_ab_;
}

/// From ρ to φ_a and φ_b, and from a's axes to b's for what acts on b.
void JointSlopes::spread() {
  const Matrix3d b = R_ab_.transpose() * on_b_;
  turn_a[0] += on_a_;
  turn_a[1].noalias() = -on_a_ * R_ab_;
  turn_b[0] = b;
  turn_b[1].noalias() -= b * R_ab_;
}

/// dθ of θ = atan2(Y, X), X = x_M · x, Y = x_M · y
double JointSlopes::turned(const Matrix3d& dF, const Matrix3d& dM) const {
  const Vector3d x_M = M_.col(0);
  const double X = x_M.dot(F_.col(0)), Y = x_M.dot(F_.col(1));
  const double dX = dM.col(0).dot(F_.col(0)) + x_M.dot(dF.col(0));
  const double dY = dM.col(0).dot(F_.col(1)) + x_M.dot(dF.col(1));
  return (X * dY - Y * dX) / (X * X + Y * Y);
}

/// All is linear in places, and bilinear in directions.
JointSlopes::Change JointSlopes::along(const Direction& direction) const {
  const Joint& joint = *motion_.joint;
  const double *F = direction.frames + JointNumbers::F, *M = direction.frames + JointNumbers::M;
  const Vector3d df = Map3(F + 9) - Map3(direction.com_a), dm = Map3(M + 9) - Map3(direction.com_b);
  const Matrix3d dF = Map33(F), dM = R_ab_ * Map33(M);
  const Map3 lambda(step_.lambda);
  Change change{};
  Eigen::Map<Vector3d>{change.left} =
      motion_.b.R * weighed(dm, motion_.before + 6, motion_.after + 6, motion_.turned_b) -
      motion_.a.R * weighed(df, motion_.before, motion_.after, motion_.turned_a);
  Vector3d turn = Vector3d::Zero();  // on b, and the opposite on a
  for (int i = 0; i < parallels_; ++i) {
    const Vector3d e = F_.col(axes_[i][0]), f = M_.col(axes_[i][1]), de = dF.col(axes_[i][0]), d = dM.col(axes_[i][1]);
    turn += step_.lambda[3 + i] * (d.cross(e) + f.cross(de));
    change.left[3 + i] = weighed(de, f) + weighed(e, d);
  }
  for (int f = 0; f < joint.freedoms; ++f) {
    const bool ball = joint.type == JointType::ball;
    const double share = ball ? 1 : 1 / joint.ratio;
    const Vector3d e = share * (ball ? M_.col(f) : F_.col(2)), de = share * (ball ? dM.col(f) : dF.col(2));
    const double angle = ball ? 0.0 : share * turned(dF, dM);
    const double rate = (before_.b - before_.a).dot(de), rate_after = (after_.b - after_.a).dot(de);
    const FreedomSlopes& its = freedoms_[f];
    double impulse = its.by_position * angle + its.by_rate * rate + its.by_rate_after * rate_after;
    for (int k = 0; k < FreedomNumbers::count; ++k) impulse += its.by_number[k] * direction.freedoms[f][k];
    turn += impulse * e + its.impulse * de;
    change.held[f] = -rate_after;
    change.driven[f] = -angle / step_.h - rate_after;
  }
  change.turn_a = -df.cross(motion_.a.R.transpose() * lambda) - turn;
  change.turn_b = dm.cross(motion_.b.R.transpose() * lambda) + R_ab_.transpose() * turn;
  return change;
}

}  // namespace kinegraph::maximal
