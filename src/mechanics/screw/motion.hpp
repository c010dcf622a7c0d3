#pragma once

#include <memory>
#include <vector>

#include "kinegraph/mechanics/screw/tree.hpp"

namespace kinegraph::screw {

/// rad/s or m/s: below it dry friction is rounded off.
inline constexpr double kFrictionSpeed = 1e-3;

/// What acts on a robot from outside, at one instant.
struct Surroundings {
  Eigen::Vector3d gravity{0, 0, -kGravity};       ///< in the ground's frame
  Vector6d base_twist = Vector6d::Zero();         ///< of the ground (a moving base), in its own frame
  Vector6d base_acceleration = Vector6d::Zero();  ///< V̇ of the ground
  const Vector6d* loads = nullptr;  ///< per body: an external wrench on it, in its frame at its origin; null: none
  bool joint_forces = true;         ///< damping, friction and springs of the joints act
  const double* friction_speed = nullptr;  ///< v₀ of dry friction, per freedom; null: kFrictionSpeed
};

/// The numbers of the equations of motion at (q, v), body by body (Xᵢ = Ad(Tᵢ,ₚ)):
///
///     V̇ᵢ − Xᵢ V̇ₚ − Sᵢ θ̈ᵢ = cᵢ,      cᵢ = ad(Vᵢ) Sᵢ θ̇ᵢ + Ṡᵢ θ̇ᵢ                             (001, eq. 5)
///     Fᵢ − Σ Xᵀ F(children) − Gᵢ V̇ᵢ = bᵢ,   bᵢ = −ad(Vᵢ)ᵀ Gᵢ Vᵢ − gravity − external wrench   (001, eq. 6)
///     Sᵢᵀ Fᵢ + aᵢ θ̈ᵢ − τᵢ = dᵢ,      dᵢ: damping, friction, spring; aᵢ: armature             (001, eq. 7)
///
/// and of loops, with V_M = Ad(X_MB) V_b, V_F = Ad(X_MA) V_a:   V̇_M − V̇_F − S θ̈ = c,   c = Ṡ θ̇ − ad(S θ̇) V_F.
/// Allocates when it is made, never after.
class Motion {
 public:
  explicit Motion(std::shared_ptr<const Tree> tree);

  void set(const double* q, const double* v, const Surroundings& surroundings);

  struct BodyMotion {
    Transform<double> X_PB;  ///< the body in its parent
    Vector6d V;              ///< its twist, in its frame
    Vector6d c, b;
    Eigen::Vector3d gravity;        ///< in its frame
    Eigen::Matrix<double, 6, 6> S;  ///< the first `freedoms` columns; constant joints: as from the start
  };
  struct LoopMotion {
    Transform<double> X_AM, X_BM;  ///< the joint's frame M, as its q says, from both sides
    Vector6d c;
    Eigen::Matrix<double, 6, 6> S;
  };
  const BodyMotion& body(int i) const { return bodies_[i]; }
  const LoopMotion& loop(int i) const { return loops_[i]; }
  /// Damping, friction and springs along each freedom (size freedoms()).
  const std::vector<double>& joint_force() const { return joint_force_; }
  const std::vector<double>& joint_rate() const { return joint_rate_; }  ///< −∂(joint force)/∂v
  const Tree& tree() const { return *tree_; }

 private:
  void set_body(int i, const double* q, const double* v, const Surroundings& surroundings);
  void set_loop(int i, const double* q, const double* v, const Surroundings& surroundings);

  std::shared_ptr<const Tree> tree_;
  std::vector<BodyMotion, Eigen::aligned_allocator<BodyMotion>> bodies_;
  std::vector<LoopMotion, Eigen::aligned_allocator<LoopMotion>> loops_;
  std::vector<double> joint_force_, joint_rate_;
};

/// X_FM and S of a joint at q (the whole vector), its ratio, offset and direction included. S may be null.
Transform<double> joint_transform(const ScrewJoint& joint, const double* q, Eigen::Matrix<double, 6, 6>* S = nullptr);

/// −d v − μ tanh(v / v₀) − k (q − q₀): what acts along one freedom besides the motor.
double joint_force(const JointDynamics& dynamics, double q, double v, double friction_speed = kFrictionSpeed);
/// The derivative of the friction's size by v.
double friction_rate(const JointDynamics& dynamics, double v, double friction_speed = kFrictionSpeed);

}  // namespace kinegraph::screw
