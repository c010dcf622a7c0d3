#pragma once

#include "kinegraph/base/dual.hpp"
#include "kinegraph/mechanics/screw/joint/list.hpp"
#include "kinegraph/mechanics/screw/tree.hpp"

namespace kinegraph::screw {

/// How a joint moves the frame M on its far side against F, for any scalar: its ratio, offset and direction included.
template <class T>
struct JointMotion {
  Transform<T> X;                            ///< X_FM
  Vector6T<T> twist = Vector6T<T>::Zero();   ///< S θ̇, seen from M
  Vector6T<T> change = Vector6T<T>::Zero();  ///< S θ̈ + Ṡ θ̇, seen from M
};

/// q, v, a are those of the joint's coordinate. v or a may be null: zero.
template <class T>
JointMotion<T> joint_motion(const ScrewJoint& joint, const T* q, const T* v, const T* a) {
  JointMotion<T> motion;
  visit_joint(joint.type, [&](auto kind) {
    using Kind = decltype(kind);
    constexpr int n = Kind::kFreedoms;
    if constexpr (n > 0) {
      using Rates = Eigen::Matrix<T, n, 1>;
      const bool single = n == 1;  // only such joints have a ratio
      const T scaled = single ? T(joint.ratio * q[0] + joint.offset) : T(0.0), ratio(single ? joint.ratio : 1.0);
      const T* own = single ? &scaled : q;
      motion.X = Kind::template transform<T>(joint.shape, own);
      if (!v) return;
      const auto S = Kind::template subspace<T>(joint.shape, own);
      const Rates rates = ratio * Eigen::Map<const Rates>(v);
      motion.twist = S * rates;
      if constexpr (!Kind::kConstant) motion.change = Kind::template bias<T>(joint.shape, own, rates.data());
      if (a) motion.change += S * (ratio * Eigen::Map<const Rates>(a));
    }
  });
  if (joint.reversed) {
    // of F against M, seen from F: as in Motion
    motion.twist = -motion.X.twist(motion.twist);
    motion.change = -motion.X.twist(motion.change);
    motion.X = motion.X.inverse();
  }
  return motion;
}

/// A body in motion: where it is in the world, its twist and that twist's rate, both in its frame.
template <class T>
struct FrameMotion {
  Transform<T> X;
  Vector6T<T> V = Vector6T<T>::Zero(), A = Vector6T<T>::Zero();

  /// The body that hangs on this one by a joint, X_PB = X_PF X_FM.
  ///
  ///     V = Ad(X_PB)⁻¹ V_P + S θ̇,      V̇ = Ad(X_PB)⁻¹ V̇_P + S θ̈ + ad(V) S θ̇ + Ṡ θ̇      (001, eq. 5)
  FrameMotion next(const Transform<T>& X_PB, const JointMotion<T>& joint) const {
    FrameMotion b;
    b.X = X * X_PB;
    b.V = X_PB.twist_back(V) + joint.twist;
    b.A = X_PB.twist_back(A) + joint.change + cross_twist<T>(b.V, joint.twist);
    return b;
  }
};

/// The change of a FrameMotion along N directions, all twists seen from the world: Ad(X) of those of the body.
template <int N>
struct FrameVariation {
  using Columns = Eigen::Matrix<double, 6, N>;
  Columns pose = Columns::Zero(), V = Columns::Zero(), A = Columns::Zero();

  /// Values and changes together, seen from the body again.   δR = R φ^,   δp = R r   where the pose moves by (φ, r)
  FrameMotion<Dual<N>> with(const FrameMotion<double>& values) const {
    FrameMotion<Dual<N>> m;
    const auto write = [](const Vector6d& x, const Columns& dx, Vector6T<Dual<N>>& to) {
      for (int r = 0; r < 6; ++r) to[r].a = x[r], to[r].v = dx.row(r);
    };
    const Columns by_pose = seen_back(values.X, pose);
    write(values.V, seen_back(values.X, V), m.V);
    write(values.A, seen_back(values.X, A), m.A);
    const Eigen::Matrix<double, 3, N> by_p = values.X.R * by_pose.template bottomRows<3>();
    for (int r = 0; r < 3; ++r) {
      for (int c = 0; c < 3; ++c) {
        const int next = (c + 1) % 3, last = (c + 2) % 3;  // column c of R φ^ is R (φ × e_c)
        m.X.R(r, c).a = values.X.R(r, c);
        m.X.R(r, c).v = values.X.R(r, next) * by_pose.row(last) - values.X.R(r, last) * by_pose.row(next);
      }
      m.X.p[r].a = values.X.p[r];
      m.X.p[r].v = by_p.row(r);
    }
    return m;
  }

 private:
  static Columns seen_back(const Transform<double>& X, const Columns& columns) {
    Columns seen;
    for (int j = 0; j < N; ++j) seen.col(j) = X.twist_back(columns.col(j));
    return seen;
  }
};

}  // namespace kinegraph::screw
