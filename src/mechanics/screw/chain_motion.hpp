#pragma once

#include <memory>
#include <vector>

#include "kinegraph/mechanics/screw/motion.hpp"
#include "kinegraph/mechanics/screw/state_hessian.hpp"

namespace kinegraph::screw {

/// A body in motion and all that moves it: the joints between it and the ground. Twists are seen from the world, at its
/// origin, as in inverse_dynamics.cpp. Allocates when it is made, never after.
class ChainMotion {
 public:
  ChainMotion(std::shared_ptr<const Tree> tree, int body);

  /// v or a may be null: then what depends on them is not set.
  void set(const double* q, const double* v, const double* a);

  /// One freedom of the chain.
  struct Column {
    int freedom = 0, body = 0;
    Vector6d J;                                               // its axis
    Vector6d V_q = Vector6d::Zero();                          // how V of the body changes along q, beside being carried
    Vector6d A_q = Vector6d::Zero(), A_v = Vector6d::Zero();  // A along q and along v: DA = A_q − V × V_q
  };
  const std::vector<Column, Eigen::aligned_allocator<Column>>& columns() const { return columns_; }
  const Transform<double>& pose() const { return X_; }
  const Vector6d& V() const { return V_; }
  const Vector6d& A() const { return A_; }  ///< V̇

 private:
  std::shared_ptr<const Tree> tree_;
  std::vector<int> bodies_;  // from the ground outward
  std::vector<Column, Eigen::aligned_allocator<Column>> columns_;
  Transform<double> X_;
  Vector6d V_ = Vector6d::Zero(), A_ = Vector6d::Zero();
};

/// A point of a body: where it is, how it moves, and how both change along each column of its chain.
///
///     p,     ṗ = v + ω × p,     p̈ = v̇ + ω̇ × p + ω × ṗ
struct PointState {
  Eigen::Vector3d p, velocity, acceleration;
};
PointState point_state(const ChainMotion& chain, const Eigen::Vector3d& at);
struct PointChange {
  Eigen::Vector3d p_q, velocity_q, acceleration_q, acceleration_v;  ///< ṗ along v and p̈ along a are p_q
};
PointChange point_change(const ChainMotion& chain, const PointState& state, const ChainMotion::Column& column);

/// Of a weighted sum of its numbers. What stands above the highest weight that is not zero needs not be set.
struct PointWeight {
  Eigen::Vector3d p = Eigen::Vector3d::Zero(), velocity = p, acceleration = p;
};
/// Adds the second derivatives of w_p · p + w_v · ṗ + w_a · p̈, of as many levels of the state as asked for (1: q).
void add_point_curvature(const ChainMotion& chain, const PointState& state, const PointWeight& weight, int levels,
                         StateHessian& to);

}  // namespace kinegraph::screw
