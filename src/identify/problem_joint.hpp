#pragma once

#include "kinegraph/mechanics/maximal/balance.hpp"

namespace kinegraph::identify {

/// Derivatives along the 12 tangents of a joint's bodies, and by the 30 numbers that say where its frames are: both
/// frames, then the centres of mass of both bodies.
using ByPose = Dual<12>;
using ByNumbers = Dual<30>;

/// Where these 30 are among the mechanism's numbers; −1: of the ground.
inline int joint_number(const maximal::Mechanism& mechanism, const maximal::Joint& joint, int i) {
  if (i < maximal::JointNumbers::count) return joint.numbers + i;
  const int k = i - maximal::JointNumbers::count, body = k < 3 ? joint.a : joint.b;
  return body < 0 ? -1 : mechanism.bodies()[body].numbers + maximal::BodyNumbers::com + k % 3;
}

/// A joint between bodies at q_a and q_b (7 numbers; of the ground: nullptr), with the derivatives of its scalar.
template <class T>
class JointSight {
 public:
  JointSight(const maximal::Mechanism& mechanism, const maximal::Joint& joint, const Eigen::VectorXd& numbers,
             const double* q_a, const double* q_b)
      : numbers_(mechanism, joint, numbers),
        place_(pose(q_a, 0), pose(q_b, 6), numbers_.n + 24, numbers_.n + 27, numbers_.n),
        make_(place_.F, place_.M) {}

  const maximal::RowMaker<T>& make() const { return make_; }

 private:
  struct Numbers {
    T n[30];
    Numbers(const maximal::Mechanism& mechanism, const maximal::Joint& joint, const Eigen::VectorXd& numbers) {
      for (int i = 0; i < 30; ++i) {
        const int at = joint_number(mechanism, joint, i);
        n[i] = T(at < 0 ? 0.0 : numbers[at]);
        if constexpr (std::is_same_v<T, ByNumbers>) n[i].v[i] = 1;
      }
    }
  };
  /// R exp(δ) = R (1 + δ^) to first order
  static maximal::Pose<T> pose(const double* q, [[maybe_unused]] int first) {
    maximal::Pose<T> out;
    if (!q) return out;
    const Eigen::Matrix3d R = SO3::load(q).matrix();
    out.R = R.cast<T>();
    out.p = Eigen::Vector3d(q[4], q[5], q[6]).cast<T>();
    if constexpr (std::is_same_v<T, ByPose>) {
      for (int k = 0; k < 3; ++k) {
        const Eigen::Matrix3d turned = R * skew<double>(Eigen::Vector3d::Unit(k));
        for (int i = 0; i < 9; ++i) out.R(i).v[first + k] = turned(i);
        out.p[k].v[first + 3 + k] = 1;
      }
    }
    return out;
  }

  Numbers numbers_;
  maximal::JointPlace<T> place_;
  maximal::RowMaker<T> make_;
};

}  // namespace kinegraph::identify
