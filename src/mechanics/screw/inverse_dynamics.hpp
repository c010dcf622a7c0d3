#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kinegraph/mechanics/screw/motion.hpp"
#include "kinegraph/mechanics/screw/state_hessian.hpp"

namespace kinegraph::screw {

/// A place on a body at which a force acts from outside: a foot on the ground.
struct BodyPoint {
  int body = 0;
  Eigen::Vector3d at = Eigen::Vector3d::Zero();  ///< in the body's frame
};

/// What the motors of a tree of joints must give, with its exact derivatives:
///
///     τ = M(q) a + h(q, v) − Σ J_c(q)ᵀ f_c − joint forces      f_c: a force at a point, in the world's axes
///
/// by recursion over the bodies, and its differential in the world's frame (see inverse_dynamics.cpp). Allocates when
/// it is made, never after. Not for loops, nor for joints whose axes move on their body: refusal() tells.
class InverseDynamics {
 public:
  /// `friction_speed`: v₀ of dry friction, μ tanh(v / v₀).
  explicit InverseDynamics(std::shared_ptr<const Tree> tree, std::vector<BodyPoint> points = {},
                           double friction_speed = kFrictionSpeed);

  /// Why a robot cannot be treated here; empty if it can.
  static std::string refusal(const Tree& tree);

  /// Where results go. Matrices are column-major with as many rows as there are freedoms; columns of `by_q` are along
  /// the tangent of q, as v. Null: not wanted; derivatives are wanted all or none.
  struct Output {
    double* tau = nullptr;
    double *by_q = nullptr, *by_v = nullptr, *by_a = nullptr;
    double* by_force = nullptr;  ///< freedoms × 3 per point; may be null where there are none
  };
  /// `forces`: 3 numbers per point, one after the other.
  void evaluate(const double* q, const double* v, const double* a, const double* const* forces, const Output& out);

  /// Adds the second derivatives of Σ wᵢ τᵢ along (q v a f), exactly (see inverse_dynamics_curvature.cpp), to the lower
  /// triangle of a column-major matrix of `size` rows: v follows q, a follows v, forces begin at `first_force`.
  void add_curvature(const double* q, const double* v, const double* a, const double* const* forces,
                     const double* weight, double* hessian, int size, int first_force);

  const Tree& tree() const { return *tree_; }
  const std::vector<BodyPoint>& points() const { return points_; }

 private:
  struct Place {
    Transform<double> X_WB;
    Matrix6d Y, B;                  // of all that hangs on the joint, this body included
    Vector6d V, A, F;               // V, V̇ − g: of the body; F: through its joint
    Eigen::Matrix<double, 6, 3> K;  // how forces that keep their direction change F when the body turns
    bool loaded = false;            // K is not zero
    int first = 0, count = 0;       // its columns
  };
  /// One freedom of one joint, in the world's frame.
  struct Column {
    Vector6d J, V_q, A_q, A_v;  // its axis; how V and V̇ of all bodies beyond change along it
    Vector6d YJ, BJ, F_q, F_v;  // Y J, Bᵀ J; how F changes along q and v
    Eigen::Vector3d KJ;         // Kᵀ J
    int row = 0;                // number of the freedom
  };
  /// Of all that hangs on the joint, for w instead of v: how the weighted sum bends.
  struct Bend {
    Vector6d U, P, R;                             // U = Σ J w: of the body;  Σ Y U;  Σ Bᵀ U
    Matrix6d C;                                   // how R changes with V
    Eigen::Vector3d k = Eigen::Vector3d::Zero();  // Σ Kᵀ U = Σ f × s, and how that turns
    Matrix3d N = Matrix3d::Zero();
  };
  struct ColumnBend {
    Vector6d U_q, P_q, R_q, CJ;  // how U, P, R change along q, and R along v
    Eigen::Vector3d k_q;
  };
  void outward(const double* q, const double* v, const double* a, bool derivatives);
  void add_forces(const double* const* forces, bool derivatives);
  void inward(double* tau, bool derivatives);
  void fill_columns();
  void fill_bends(const double* const* forces, const double* weight);
  void fill_column_bends();
  double bent(int near, int far) const;
  void add_joint_bends(StateHessian& to, int body) const;
  void add_pair_bends(StateHessian& to, int near, int far) const;
  void add_force_bends(StateHessian& to, int first_force) const;
  void pair(const Column& near, const Column& far, const Output& out, int n) const;
  void add_joint_forces(const double* q, const double* v, const double* a, const Output& out) const;

  std::shared_ptr<const Tree> tree_;
  std::vector<BodyPoint> points_;
  std::vector<Place, Eigen::aligned_allocator<Place>> places_;
  std::vector<Column, Eigen::aligned_allocator<Column>> columns_;
  std::vector<Bend, Eigen::aligned_allocator<Bend>> bends_;  // made when they are first asked for
  std::vector<ColumnBend, Eigen::aligned_allocator<ColumnBend>> column_bends_;
  std::vector<double> torque_;
  std::vector<Eigen::Vector3d> at_, moved_;  // the points in the world; how U moves them
  double friction_speed_;
};

}  // namespace kinegraph::screw
