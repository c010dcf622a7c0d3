#pragma once

#include <memory>
#include <vector>

#include "kinegraph/mechanics/screw/joint_derivatives.hpp"

namespace kinegraph::screw {

/// One number, or a vector of three or six, along four directions at once.
using Lane = Eigen::Array4d;
struct Lanes3 {
  Lane x, y, z;
};
struct Lanes6 {
  Lanes3 angular, linear;
};

/// How the equations of motion change along directions of the state, exactly: the differential of the recursion that
/// Motion writes down, with η along q (in the tangent, as v), ξ along v, and, where given, α along a and μ along the
/// loops' wrenches. See differential.cpp. Allocates only where there are more directions than ever before.
class Differential {
 public:
  explicit Differential(std::shared_ptr<const Tree> tree);

  /// The state: `motion` set at (q, v). `wrenches`: 6 numbers per loop, as Dynamics::wrench. Both are read now.
  void set(const Motion& motion, const double* q, const double* v, const double* a, const double* wrenches);
  /// For velocities() alone.
  void set(const Motion& motion, const double* q, const double* v) { set(motion, q, v, nullptr, nullptr); }

  /// Along the columns of η (freedoms × k): the change of J(q) v, at fixed v (6 loops × k).
  void velocities(const Motion& motion, const Eigen::MatrixXd& eta, Eigen::MatrixXd& closure);
  /// Along (η, ξ, α, μ); α and μ may be null. Changes of
  ///     torque:  M(q) a + h(q, v) − J(q)ᵀ wrenches − joint forces, what the motors would have to give (freedoms × k)
  ///     closure: the acceleration with which each loop opens (6 loops × k)
  void accelerations(const Motion& motion, const Eigen::MatrixXd& eta, const Eigen::MatrixXd& xi,
                     const Eigen::MatrixXd* alpha, const Eigen::MatrixXd* mu, Eigen::MatrixXd& torque,
                     Eigen::MatrixXd& closure);

  const Vector6d& wrench(int body) const { return bodies_[body].F; }  ///< through the joint of a body
  Vector6d wrench_change(int body, int direction) const;              ///< along a direction of the last accelerations()

 private:
  /// Of a joint whose subspace is not constant, or that is reversed: derivatives by its own freedoms.
  struct Varying {
    SubspaceDerivative velocity, acceleration;  // of S v, S a
    JointBias bias;
    Eigen::Matrix<double, 6, 6> torque;  // of Sᵀ F: row k is Fᵀ ∂S_k
  };
  struct Place {
    Vector6d V, A, F;  // of bodies: V, V̇, the wrench; of loops: V_F, V̇_F, the wrench
    Vector6d XV, XA;   // of bodies: what the parent's V and V̇ are here
    Vector6d Sv;
    bool varies = false;
    Varying varying;
  };
  struct Change {       // of a body, along four directions
    Lanes6 u, V, A, F;  // u = S η
    Lanes3 gravity;
  };
  struct Directions {
    const Eigen::MatrixXd* eta;
    const Eigen::MatrixXd *xi = nullptr, *alpha = nullptr, *mu = nullptr;
  };

  Change& change(int body, int group) { return changes_[body * stride_ + group]; }
  const Change& change(int body, int group) const { return changes_[body * stride_ + group]; }
  void set_place(const ScrewJoint& joint, const Matrix6d& S, const double* q, const double* v, const double* a,
                 Place& place) const;
  void set_torque(const ScrewJoint& joint, const double* q, Place& place) const;
  int reserve(Eigen::Index directions);  // the number of groups of four
  void outward(const Motion& motion, int i, int group, const Directions& along);
  void inward(const Motion& motion, int i, int group, const Directions& along, Eigen::MatrixXd& torque);
  void loop(const Motion& motion, int l, int group, const Directions& along, Eigen::MatrixXd& torque,
            Eigen::MatrixXd& closure);
  void joint_forces(const Directions& along, Eigen::MatrixXd& torque) const;

  std::shared_ptr<const Tree> tree_;
  std::vector<Place, Eigen::aligned_allocator<Place>> bodies_, loops_;
  std::vector<double> rates_;  // −∂(joint force)/∂v
  std::vector<Change, Eigen::aligned_allocator<Change>> changes_;
  int stride_ = 0;
};

}  // namespace kinegraph::screw
