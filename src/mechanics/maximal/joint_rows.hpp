#pragma once

#include "kinegraph/base/dual.hpp"
#include "kinegraph/mechanics/maximal/mechanism.hpp"

namespace kinegraph::maximal {

template <class T>
using Vector3 = Eigen::Matrix<T, 3, 1>;
template <class T>
using Matrix3 = Eigen::Matrix<T, 3, 3>;

inline double value_of(double x) { return x; }
template <int N>
double value_of(const Dual<N>& x) {
  return x.a;
}

/// A body's pose as equations use it.
template <class T>
struct Pose {
  Matrix3<T> R = Matrix3<T>::Identity();
  Vector3<T> p = Vector3<T>::Zero();
};

/// A frame on a body, in world axes.
template <class T>
struct Frame {
  Matrix3<T> R;       ///< its axes
  Vector3<T> p, arm;  ///< its origin; the same from the body's centre of mass
  Matrix3<T> body;    ///< the body's axes
};

/// A relation between bodies a and b: its value, and how fast it changes by their velocities (ω in body axes, v).
template <class T>
struct Row {
  T value;
  T G[12];

  T rate(const T* v) const {
    T sum = G[0] * v[0];
    for (int k = 1; k < 12; ++k) sum += G[k] * v[k];
    return sum;
  }
};

/// The same in world axes, where it is short.   ġ = turn_a · ω_a + turn_b · ω_b + shift · (v_b − v_a)
template <class T>
struct WorldRow {
  T value;
  Vector3<T> turn_a, turn_b, shift;
  T curvature = T(0.0);  ///< Ġ v: how the rate changes by the motion alone

  T rate(const Vector3<T>& omega_a, const Vector3<T>& omega_b, const Vector3<T>& v) const {
    return turn_a.dot(omega_a) + turn_b.dot(omega_b) + shift.dot(v);
  }
};

/// The frame at R, p (12 numbers) of a body whose centre of mass is at `com`. On the ground: pose and com are zero.
template <class T>
Frame<T> frame_of(const Pose<T>& pose, const T* com, const T* numbers) {
  const Eigen::Map<const Matrix3<T>> R(numbers);
  const Eigen::Map<const Vector3<T>> p(numbers + 9), c(com);
  Frame<T> frame;
  frame.body = pose.R;
  frame.R = pose.R * R;
  frame.arm = pose.R * (p - c);
  frame.p = pose.p + frame.arm;
  return frame;
}

/// Velocities of bodies a and b in world axes.
template <class T>
struct PairMotion {
  Vector3<T> a, b, relative;  ///< ω_a, ω_b; v_b − v_a

  PairMotion() = default;
  /// Of ω in body axes and v, 6 numbers of a, then of b.
  template <class V>
  PairMotion(const Frame<T>& F, const Frame<T>& M, const V* v) : a(turned(F.body, v)), b(turned(M.body, v + 6)) {
    for (int k = 0; k < 3; ++k) relative[k] = T(v[9 + k]) - T(v[3 + k]);
  }

 private:
  template <class V>
  static Vector3<T> turned(const Matrix3<T>& R, const V* w) {
    return R.col(0) * T(w[0]) + R.col(1) * T(w[1]) + R.col(2) * T(w[2]);
  }
};

/// Rows between two frames, from their parts in world axes; with their curvature if the bodies' motion is given.
template <class T>
class RowMaker {
 public:
  RowMaker(const Frame<T>& F, const Frame<T>& M, const PairMotion<T>* motion = nullptr)
      : F_(F), M_(M), d_(M.p - F.p), motion_(motion) {
    if (!motion) return;
    const Vector3<T> x_F = motion->a.cross(F.arm), x_M = motion->b.cross(M.arm);
    d_dot_ = motion->relative + x_M - x_F;
    d_ddot_ = motion->b.cross(x_M) - motion->a.cross(x_F);
  }

  const Vector3<T>& d() const { return d_; }

  /// e · (p_M − p_F) of a direction e that turns with F.   ġ = e · (ẋ_M − ẋ_F) + ω_a · (e × d)
  WorldRow<T> along(const Vector3<T>& e) const { return {e.dot(d_), e.cross(d_ + F_.arm), M_.arm.cross(e), e}; }
  /// One of the world's axes · (p_M − p_F)
  WorldRow<T> offset(int axis) const {
    WorldRow<T> row{d_[axis], Vector3<T>::Zero(), Vector3<T>::Zero(), Vector3<T>::Unit(axis)};
    const int next = (axis + 1) % 3, last = (axis + 2) % 3;  // arm × e
    row.turn_a[next] = -F_.arm[last], row.turn_a[last] = F_.arm[next];
    row.turn_b[next] = M_.arm[last], row.turn_b[last] = -M_.arm[next];
    if (motion_) row.curvature = d_ddot_[axis];
    return row;
  }
  /// e · f of a direction e of F and a direction f of M.   ġ = (ω_b − ω_a) · (f × e)
  WorldRow<T> parallel(const Vector3<T>& e, const Vector3<T>& f) const {
    const Vector3<T> n = f.cross(e);
    WorldRow<T> row{e.dot(f), -n, n, Vector3<T>::Zero()};
    if (motion_) {
      const Vector3<T> e_dot = motion_->a.cross(e), f_dot = motion_->b.cross(f);
      row.curvature = motion_->a.cross(e_dot).dot(f) + T(2.0) * e_dot.dot(f_dot) + e.dot(motion_->b.cross(f_dot));
    }
    return row;
  }
  /// An angle whose rate is (ω_b − ω_a) · e, of a direction e that turns with F where the curvature counts.
  WorldRow<T> spin(const T& angle, const Vector3<T>& e) const {
    WorldRow<T> row{angle, -e, e, Vector3<T>::Zero()};
    if (motion_) row.curvature = motion_->a.cross(e).dot(motion_->b);
    return row;
  }
  /// In the bodies' own axes.
  Row<T> in_bodies(const WorldRow<T>& row) const {
    Row<T> r;
    r.value = row.value;
    const Vector3<T> a = F_.body.transpose() * row.turn_a, b = M_.body.transpose() * row.turn_b;
    for (int k = 0; k < 3; ++k) r.G[k] = a[k], r.G[3 + k] = -row.shift[k], r.G[6 + k] = b[k], r.G[9 + k] = row.shift[k];
    return r;
  }
  /// Of M against F about z of F.
  T angle() const {
    using std::atan2;
    return atan2(M_.R.col(0).dot(F_.R.col(1)), M_.R.col(0).dot(F_.R.col(0)));
  }
  /// The direction by which angle() turns, exactly:   θ̇ = (ω_b − ω_a) · n; z of F where the axes are parallel.
  Vector3<T> angle_axis() const {
    const Vector3<T> x = M_.R.col(0), x_F = F_.R.col(0), y_F = F_.R.col(1);
    const T c = x.dot(x_F), s = x.dot(y_F);
    return (c * x.cross(y_F) - s * x.cross(x_F)) / (c * c + s * s);
  }
  const Frame<T>& F() const { return F_; }
  const Frame<T>& M() const { return M_; }

 private:
  const Frame<T>&F_, &M_;
  Vector3<T> d_, d_dot_, d_ddot_;
  const PairMotion<T>* motion_;
};

/// The constraints of a joint; returns how many (6 at most).
template <class T>
int constraint_rows(const Joint& joint, const RowMaker<T>& make, WorldRow<T>* rows) {
  const auto x = make.F().R.col(0), y = make.F().R.col(1), z = make.F().R.col(2);
  const auto z_M = make.M().R.col(2);
  int n = 0;
  const auto same_place = [&] {
    for (int k = 0; k < 3; ++k) rows[n++] = make.offset(k);
  };
  const auto on_axis = [&] { rows[n++] = make.along(x), rows[n++] = make.along(y); };
  const auto parallel_axes = [&] { rows[n++] = make.parallel(x, z_M), rows[n++] = make.parallel(y, z_M); };
  const auto no_spin = [&] { rows[n++] = make.parallel(y, make.M().R.col(0)); };
  switch (joint.type) {
    case JointType::fixed:
      same_place(), parallel_axes(), no_spin();
      break;
    case JointType::revolute:
    case JointType::continuous:
      same_place(), parallel_axes();
      break;
    case JointType::prismatic:
      on_axis(), parallel_axes(), no_spin();
      break;
    case JointType::cylindrical:
      on_axis(), parallel_axes();
      break;
    case JointType::planar:
      rows[n++] = make.along(z), parallel_axes();
      break;
    case JointType::ball:
      same_place();
      break;
    case JointType::universal:
      same_place();
      rows[n++] = make.parallel(z, Vector3<T>(make.M().R * joint.axis2.template cast<T>()));
      rows[n - 1].value -= T(joint.axis2[2]);
      break;
    case JointType::screw: {
      on_axis(), parallel_axes();
      // z · d = pitch · θ: the turn nearest to where the slide is
      const WorldRow<T> spin = make.spin(make.angle(), make.angle_axis());
      rows[n] = make.along(z);
      rows[n].value -= joint.pitch * spin.value;
      rows[n].curvature -= joint.pitch * spin.curvature;
      rows[n].turn_a -= T(joint.pitch) * spin.turn_a;
      rows[n].turn_b -= T(joint.pitch) * spin.turn_b;
      const double turn = 6.283185307179586 * joint.pitch;
      if (turn != 0) rows[n].value -= T(turn * std::round(value_of(rows[n].value) / turn));
      ++n;
      break;
    }
    case JointType::floating:
      break;
  }
  return n;
}

/// The values of constraint_rows() alone, of joints that JointSlopes::known(): balls have the first three, welds all.
///
///     g = (p_M − p_F,  x_F · z_M,  y_F · z_M,  y_F · x_M)                              (002, eq. F.1, of frames F and M)
inline void constraint_values(const Joint& joint, const Frame<double>& F, const Frame<double>& M, double* g) {
  Eigen::Map<Eigen::Vector3d>{g} = M.p - F.p;
  if (joint.rows < 5) return;
  const auto x = F.R.col(0), y = F.R.col(1), z_M = M.R.col(2);
  g[3] = x.dot(z_M), g[4] = y.dot(z_M);
  if (joint.rows == 6) g[5] = y.dot(M.R.col(0));
}

/// How many constraints a type of joint has.
inline int constraint_count(JointType type) { return type == JointType::screw ? 5 : 6 - kinegraph::freedoms(type); }

/// ω = q̇₁ z_F + q̇₂ a: with c = z · a,   q̇₁ = ω · (z − c a)/(1 − c²),   q̇₂ = ω · (a − c z)/(1 − c²)
template <class T>
void universal_rows(const Joint& joint, const RowMaker<T>& make, WorldRow<T>* rows) {
  using std::atan2;
  const Vector3<T> z = make.F().R.col(2), a2 = joint.axis2.template cast<T>(), a = make.M().R * a2;
  const T c = z.dot(a), s = T(1.0) - c * c;
  // R_FM = Rz(q₁) exp(a^ q₂): q₁ from R a, q₂ from Rᵀ z, both about their axes
  const Vector3<T> turned = make.F().R.transpose() * a, down = make.M().R.transpose() * z, e_z = Vector3<T>::UnitZ();
  const T q1 = atan2(a2[0] * turned[1] - a2[1] * turned[0], a2[0] * turned[0] + a2[1] * turned[1]);
  const T q2 = -atan2(a2.dot(e_z.cross(down)), e_z.dot(down) - a2.dot(e_z) * a2.dot(down));
  rows[0] = make.spin(q1, Vector3<T>((z - c * a) / s));
  rows[1] = make.spin(q2, Vector3<T>((a - c * z) / s));
}

/// The freedoms of a joint: position (angles within half a turn of zero; of a ball: none) and rate; returns how many.
template <class T>
int freedom_rows(const Joint& joint, const RowMaker<T>& make, WorldRow<T>* rows) {
  const auto x = make.F().R.col(0), y = make.F().R.col(1), z = make.F().R.col(2);
  int n = 0;
  const auto scaled = [&](WorldRow<T> row) {
    row.value = (row.value - T(joint.offset)) / joint.ratio;
    if (joint.ratio != 1) {
      for (Vector3<T>* part : {&row.turn_a, &row.turn_b, &row.shift}) *part *= T(1 / joint.ratio);
    }
    rows[n++] = row;
  };
  switch (joint.type) {
    case JointType::revolute:
    case JointType::continuous:
    case JointType::screw:
      scaled(make.spin(make.angle(), z));
      break;
    case JointType::prismatic:
      scaled(make.along(z));
      break;
    case JointType::cylindrical:
      rows[n++] = make.spin(make.angle(), z), rows[n++] = make.along(z);
      break;
    case JointType::planar:
      rows[n++] = make.along(x), rows[n++] = make.along(y), rows[n++] = make.spin(make.angle(), z);
      break;
    case JointType::ball:
      for (int k = 0; k < 3; ++k) rows[n++] = make.spin(T(0.0), make.M().R.col(k));
      break;
    case JointType::universal:
      universal_rows(joint, make, rows), n = 2;
      break;
    case JointType::fixed:
    case JointType::floating:
      break;
  }
  return n;
}

/// Both of them in the bodies' own axes.
template <class T>
int constraint_rows(const Joint& joint, const RowMaker<T>& make, Row<T>* rows) {
  WorldRow<T> world[6];
  const int n = constraint_rows(joint, make, world);
  for (int i = 0; i < n; ++i) rows[i] = make.in_bodies(world[i]);
  return n;
}
template <class T>
int freedom_rows(const Joint& joint, const RowMaker<T>& make, Row<T>* rows) {
  WorldRow<T> world[3];
  const int n = freedom_rows(joint, make, world);
  for (int i = 0; i < n; ++i) rows[i] = make.in_bodies(world[i]);
  return n;
}

}  // namespace kinegraph::maximal
