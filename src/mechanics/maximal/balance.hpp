#pragma once

#include <Eigen/LU>
#include <cmath>

#include "kinegraph/base/dual.hpp"
#include "kinegraph/lie/so3.hpp"
#include "kinegraph/mechanics/maximal/joint_rows.hpp"

/// The equations of one step, element by element: what is left of
///
///     M v⁺ = M v′ + Gᵀλ + Σ impulses,      constraints as Regularization has them
///
/// (002, eq. 2.28) with v⁺ and λ given. v′ is v turned on by the gyroscopic term alone. Templated on the scalar, so
/// that the step's derivatives come from dual numbers that belong to one body or one joint.
namespace kinegraph::maximal {

/// When in a step constraints hold, see Regularization.
enum class Hold {
  end,    ///< at its end
  start,  ///< linearised at its start: where contacts have to be found with one linear system
};

/// How constraints give way: compliance ε (inverse stiffness), and the time τ in which an error is taken back.
///
/// At the end of a step, q⁺ = q ⊞ h v⁺ (ours):
///
///     force λ/h = −(g⁺ + τ (g⁺ − g)/h)/ε        G v⁺ + c + Σ λ = −g/(h + τ),   Σ = ε/(h (h + τ))
///     c = (g⁺ − g)/h − G v⁺ ≈ ½ h Ġ v⁺
///
/// As ε → 0 that is of second order, and in the plane a variational integrator: its energy neither rises nor falls. c
/// is found by iteration.
///
/// At the start of a step (002, eqs. 2.9, 2.10, 2.18), γ = 1/(1 + 4 τ/h):
///
///     G v⁺ + Σ λ = γ (G v − (4/h) g) − (1 − γ)² ½ h Ġ v,   Σ = 4 ε γ/h²
///
/// The last term is ours: v is the mean over the step that ended, v⁺ that over the one to come; where the constraint
/// bends they point off its tangent by ½ h Ġ v, one to either side, and damping takes that turn for an error. So
/// weighed it lets energy fall, by a share of order h³ in a step; without it the method is of first order.
struct Regularization {
  double compliance = 1e-8;          ///< m/N, of rows in metres
  double angular_compliance = 1e-8;  ///< rad/(N m), of rows of angles
  double relaxation = 0;             ///< s; 0: two steps
  Hold hold = Hold::end;

  double tau(double h) const { return relaxation > 0 ? relaxation : 2 * h; }
  /// What G v counts.
  double gamma(double h) const { return hold == Hold::end ? 0 : 1 / (1 + 4 * tau(h) / h); }
  /// What −g counts.
  double correction(double h) const { return hold == Hold::end ? 1 / (h + tau(h)) : 4 / (h + 4 * tau(h)); }
  /// What −Ġ v counts: if constraints hold at the end, as a first guess of c.
  double curvature(double h) const { return 0.5 * h * (hold == Hold::end ? 1 : (1 - gamma(h)) * (1 - gamma(h))); }
  double softness(double h, bool angular) const {
    return (angular ? angular_compliance : compliance) * correction(h) / h;
  }
};

/// Whether dry friction holds a freedom, or the way in which that moves.
enum class Grip : signed char { none, held, forward, backward };

/// What is known of one freedom in a step.
struct FreedomStep {
  double torque = 0, control = 0;  ///< means about its beginning; the control counts gain times
  double reference = 0;            ///< near its position: to which angles are continued
  double load = 0;                 ///< force through the joint, of load_friction
  double held = 0;                 ///< impulse of dry friction that holds it
  double driven = 0;               ///< impulse of its drive
  double target = 0;               ///< of its drive: position at the end of the step
  double mobility = 0;             ///< rate by a unit impulse, about: fixed for a machine, see Damping
  Grip grip = Grip::none;
};

/// A position, angles continued to the turn nearest to a reference.
template <class T>
T continued(T position, bool angular, double reference) {
  constexpr double kTurn = 6.283185307179586;
  if (angular) position -= T(kTurn * std::round((value_of(position) - reference) / kTurn));
  return position;
}

/// Viscous damping over a step, by rates before (ω) and after (ω⁺), which are those of half a step before and after
/// the time at which forces act (ours):
///
///     impulse −h d ((1 − θ) ω + θ ω⁺),     θ = 1 − 1/√(4 + z²),     z = h d m
///
/// m: the mobility of what is damped, the rate that a unit impulse gives it. Little damping is that by the rate in the
/// middle, θ = ½ + z²/16 + …: of second order. Strong damping is that by the rate after: θ → 1. The rate before counts
/// h d (1 − θ) < 1/m: it does not turn a motion round, so that nothing rings; and with θ ≥ ½ no energy is made,
///
///     −h d ((1 − θ) ω + θ ω⁺) (ω + ω⁺)/2 = −h d ((ω + ω⁺)/2)² − h d (θ − ½) (ω⁺² − ω²)/2
template <class T>
struct Damping {
  T before, after;  ///< h d (1 − θ), h d θ

  Damping(const T& d, double mobility, double h) {
    using std::sqrt;
    const T z = (h * mobility) * d;
    before = h * d / sqrt(4.0 + z * z);
    after = h * d - before;
  }
};

/// The impulse along a freedom, by its rates before (ω) and after (ω⁺) the step.
///
///     μ = (a − D) ω − (a + D⁺ + h c |ω|) ω⁺ + h (K u + τ − k (q − q₀)) ∓ h τ_dry(ω)         D, D⁺: Damping
///     τ_dry = μ₀ + μ_s exp(−(ω/ω_s)²) + μ_F |F|                  (Stribeck: 002, eq. 2.23, by the speed before)
///
/// ω ω⁺ is the square of the rate in the middle, but for a quarter of its change's: of second order, too.
template <class T>
struct FreedomImpulse {
  T given;  ///< what does not depend on ω⁺
  T drag;   ///< what −ω⁺ counts
  T dry;    ///< h τ_dry: the largest impulse of dry friction

  FreedomImpulse(const T* n, T position, const T& rate, bool angular, const FreedomStep& step, double h) {
    using std::abs, std::exp;
    using N = FreedomNumbers;
    position = continued(position, angular, step.reference);
    const Damping<T> damping(n[N::damping], step.mobility, h);
    given = (n[N::armature] - damping.before) * rate + h * (n[N::gain] * step.control + T(step.torque));
    given -= h * n[N::stiffness] * (position - n[N::rest]);
    drag = n[N::armature] + damping.after + h * n[N::quadratic] * abs(rate);
    const T fast = rate / n[N::stribeck_speed];
    dry = h * (n[N::friction] + n[N::stribeck] * exp(-fast * fast) + n[N::load_friction] * T(step.load));
  }

  T at(const T& rate_after, const FreedomStep& step) const {
    T sum = given - drag * rate_after + T(step.held + step.driven);
    if (step.grip == Grip::forward) sum -= dry;
    if (step.grip == Grip::backward) sum += dry;
    return sum;
  }
};

template <class T>
Matrix3<T> inertia_of(const T* n) {
  Matrix3<T> J;
  J << n[0], n[3], n[4], n[3], n[1], n[5], n[4], n[5], n[2];
  return J;
}

/// ω′ of a body that turns freely through the step: the implicit midpoint rule keeps its energy and momentum exactly.
///
///     J (ω′ − ω) + h ω_m × J ω_m = 0,   ω_m = (ω + ω′)/2
template <class T>
Vector3<T> free_spin(const Matrix3<T>& J, const Vector3<T>& before, double h) {
  const auto newton = [h](const auto& inertia, const auto& start, const auto& at) {
    using S = typename std::decay_t<decltype(at)>::Scalar;
    const Vector3<S> middle = S(0.5) * (start + at), momentum = inertia * middle;
    const Vector3<S> left = inertia * (at - start) + S(h) * middle.cross(momentum);
    const Matrix3<S> slope = inertia + S(0.5 * h) * (skew<S>(middle) * inertia - skew<S>(momentum));
    return Vector3<S>(at - slope.inverse() * left);
  };
  if constexpr (kDirections<T> == 0) {
    Vector3<T> after = before;
    for (int i = 0; i < 8; ++i) {
      const Vector3<T> next = newton(J, before, after);
      const double change = (next - after).norm();
      after = next;
      if (!(change > 1e-15 * after.norm())) break;
    }
    return after;
  } else {
    Matrix3<double> values;
    Vector3<double> start;
    for (int i = 0; i < 9; ++i) values(i) = J(i).a;
    for (int i = 0; i < 3; ++i) start[i] = before[i].a;
    const Vector3<double> end = free_spin<double>(values, start, h);
    return newton(J, before, Vector3<T>(end.template cast<T>()));  // one more: its derivative is exact
  }
}

/// M v′ − M v⁺ + h m g of a body; 6 numbers.
template <class T>
void body_balance(const T* numbers, const T* gravity, const T* v, const double* after, double h, T* left) {
  const Matrix3<T> J = inertia_of(numbers + BodyNumbers::inertia);
  const Eigen::Map<const Vector3<T>> omega(v), down(gravity);
  const Vector3<T> spin = free_spin<T>(J, omega, h);
  const Vector3<T> turn = J * (spin - Eigen::Map<const Eigen::Vector3d>(after).template cast<T>());
  for (int k = 0; k < 3; ++k) {
    left[k] = turn[k];
    left[3 + k] = numbers[BodyNumbers::mass] * (v[3 + k] - T(after[3 + k]) + T(h) * down[k]);
  }
}

/// The frames of a joint and the bodies they sit on.
template <class T>
struct JointPlace {
  Frame<T> F, M;

  /// Poses and centres of mass of both bodies; of the ground: the identity and zeros.
  JointPlace(const Pose<T>& a, const Pose<T>& b, const T* com_a, const T* com_b, const T* numbers)
      : F(frame_of(a, com_a, numbers + JointNumbers::F)), M(frame_of(b, com_b, numbers + JointNumbers::M)) {}
};

/// What a step has found for a joint.
struct JointStep {
  double h = 0, gamma = 0, correction = 0, curved = 0;
  bool at_end = false;                      ///< what is left of constraints is that at the end of the step
  double softness[6] = {}, lambda[6] = {};  ///< per constraint
  FreedomStep freedom[3];
  const double* after = nullptr;  ///< v⁺ of a and b, 12 numbers
};

/// Impulses of a joint on its bodies (12 numbers) and what is left of its constraints, of freedoms that are held, and
/// of those that are driven.
template <class T, class V>
void joint_balance(const Joint& joint, const JointPlace<T>& place, const T* freedom_numbers, const bool* angular,
                   const V* before, const JointStep& step, T* impulse, T* left, T* left_held, T* left_driven) {
  const double h = step.h;
  const PairMotion<T> start(place.F, place.M, before), end(place.F, place.M, step.after);
  const RowMaker<T> make(place.F, place.M, step.at_end ? nullptr : &start);
  Vector3<T> turn_a = Vector3<T>::Zero(), turn_b = turn_a, shift = turn_a;
  const auto push = [&](const WorldRow<T>& row, const T& by) {
    turn_a += by * row.turn_a;
    turn_b += by * row.turn_b;
    shift += by * row.shift;
  };
  WorldRow<T> rows[6];
  const int constraints = constraint_rows(joint, make, rows);
  for (int i = 0; i < constraints; ++i) {
    push(rows[i], T(step.lambda[i]));
    left[i] = -T(step.softness[i] * step.lambda[i]);
    if (step.at_end) {
      left[i] += (1 / h - step.correction) * rows[i].value;  // τ/(h + τ)/h
    } else {
      left[i] += step.gamma * rows[i].rate(start.a, start.b, start.relative) - step.correction * rows[i].value -
                 step.curved * rows[i].curvature - rows[i].rate(end.a, end.b, end.relative);
    }
  }
  if (joint.freedoms > 0) freedom_rows(joint, make, rows);
  for (int f = 0; f < joint.freedoms; ++f) {
    const T after = rows[f].rate(end.a, end.b, end.relative);
    const FreedomImpulse<T> force(freedom_numbers + f * FreedomNumbers::count, rows[f].value,
                                  rows[f].rate(start.a, start.b, start.relative), angular[f], step.freedom[f], h);
    push(rows[f], force.at(after, step.freedom[f]));
    left_held[f] = -after;
    left_driven[f] =
        (T(step.freedom[f].target) - continued(rows[f].value, angular[f], step.freedom[f].reference)) / h - after;
  }
  const Vector3<T> on_a = place.F.body.transpose() * turn_a, on_b = place.M.body.transpose() * turn_b;
  for (int k = 0; k < 3; ++k) {
    impulse[k] = on_a[k], impulse[3 + k] = -shift[k];
    impulse[6 + k] = on_b[k], impulse[9 + k] = shift[k];
  }
}

/// Whether a constraint is one of angles.
inline bool angular_row(JointType type, int row) {
  const int lengths = type == JointType::prismatic || type == JointType::cylindrical || type == JointType::screw ? 2
                      : type == JointType::planar                                                                ? 1
                                                                                                                 : 3;
  return row >= lengths && !(type == JointType::screw && row == 4);
}

/// Impulse of a force at a place of a body: 6 numbers, added to.
template <class T>
void push(const Pose<T>& pose, const Vector3<T>& arm, const Vector3<T>& force, T* impulse) {
  const Vector3<T> moment = pose.R.transpose() * arm.cross(force);
  for (int k = 0; k < 3; ++k) impulse[k] += moment[k], impulse[3 + k] += force[k];
}

/// Impulse h (F, torque) of a load, both in world axes: 6 numbers, added to.
template <class T>
void load_balance(const Pose<T>& pose, const Vector3<T>& arm, const Eigen::Vector3d& force,
                  const Eigen::Vector3d& torque, double h, T* impulse) {
  push<T>(pose, pose.R * arm, Vector3<T>((h * force).template cast<T>()), impulse);
  const Vector3<T> turn = pose.R.transpose() * (h * torque).template cast<T>();
  for (int k = 0; k < 3; ++k) impulse[k] += turn[k];
}

/// The ends of a spring, from the centres of mass of its bodies, and its line, in the world's axes.
template <class T>
struct SpringLine {
  Vector3<T> arm_a, arm_b, along;
  T length;

  SpringLine(const Pose<T>& a, const Pose<T>& b, const T* com_a, const T* com_b, const T* n) {
    using std::sqrt;
    using Map = Eigen::Map<const Vector3<T>>;
    arm_a = a.R * (Map(n + SpringNumbers::a) - Map(com_a));
    arm_b = b.R * (Map(n + SpringNumbers::b) - Map(com_b));
    const Vector3<T> line = b.p + arm_b - a.p - arm_a;
    length = sqrt(line.squaredNorm() + T(1e-24));
    along = line / length;
  }

  /// Impulses of a force along the line, which pulls (12 numbers, added to): its row times that force.
  void pull(const Pose<T>& a, const Pose<T>& b, const T& force, T* impulse) const {
    const Vector3<T> on_a = force * along;
    push<T>(a, arm_a, on_a, impulse);
    push<T>(b, arm_b, -on_a, impulse + 6);
  }
};

/// Impulses of a spring on its bodies (12 numbers, added to), by velocities before the step and after it.
///
///     h k (l − l₀) + D l̇ + D⁺ l̇⁺ along the line            D, D⁺: Damping
template <class T, class V>
void spring_balance(const Pose<T>& a, const Pose<T>& b, const T* com_a, const T* com_b, const T* n, const T* before,
                    const V* after, double mobility, double h, T* impulse) {
  using N = SpringNumbers;
  const SpringLine<T> line(a, b, com_a, com_b, n);
  T row[12];
  for (T& x : row) x = T(0.0);
  line.pull(a, b, T(-1.0), row);
  T rate(0.0), rate_after(0.0);
  for (int k = 0; k < 12; ++k) rate += row[k] * before[k], rate_after += row[k] * T(after[k]);
  const Damping<T> damping(n[N::damping], mobility, h);
  line.pull(a, b, h * n[N::stiffness] * (line.length - n[N::rest]) + damping.before * rate + damping.after * rate_after,
            impulse);
}

}  // namespace kinegraph::maximal
