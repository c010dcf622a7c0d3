#pragma once

#include <Eigen/Cholesky>
#include <Eigen/QR>
#include <memory>
#include <vector>

#include "kinegraph/mechanics/screw/kinematics.hpp"
#include "kinegraph/mechanics/screw/mass_matrix.hpp"
#include "kinegraph/mechanics/screw/motion.hpp"

namespace kinegraph::step {

/// How a robot answers to the damping, friction and springs of its joints, which may be far stiffer than the rest of
/// its motion. See joint_response.cpp. Allocates when it is made, never after.
class JointResponse {
 public:
  /// `freedoms`: of the mechanism, its loops closed. `friction_speed`: as of screw::Surroundings, read now.
  JointResponse(std::shared_ptr<const screw::Tree> tree, int freedoms, const double* friction_speed = nullptr);

  bool any() const { return any_; }  ///< some joint has damping, friction or a spring

  /// Mass and directions of motion at a q whose loops are closed.
  void prepare(const double* q);

  /// An implicit step asks for v = v₀ + half · a(q ⊕ half · v, v). At v it is off by g = v − v₀ − half · a: δ is the
  /// change of v after which it would hold, were the joint forces all that changes with it.
  void correct(double half, const double* q, const double* v, const double* g, double* delta);

  struct Stiffest {
    int coordinate = -1;  ///< −1: no damping and no friction
    bool friction = false;
    double rate = 0;  ///< 1/s: how fast the motion of that joint dies out
  };
  Stiffest stiffest() const;  ///< as prepared

 private:
  struct Freedom {
    JointDynamics dynamics;
    int coordinate = -1;
    int q = -1;  // −1: no plain coordinate, springs do not act
    double friction_speed = screw::kFrictionSpeed;
  };
  double force(int i, const double* q, const double* v, double half) const;
  void gradient(double half, const double* q, const double* v);
  void newton_step(double half, const double* v);
  void line_search(double half, const double* q, const double* v);

  std::shared_ptr<const screw::Tree> tree_;
  screw::MassMatrix mass_;
  screw::Poses poses_;
  std::vector<Freedom> freedoms_;
  bool any_ = false;
  int rank_ = 0;
  Eigen::MatrixXd jacobian_, transposed_;
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr_;
  Eigen::MatrixXd Z_, scaled_, reduced_mass_, hessian_;
  Eigen::LLT<Eigen::MatrixXd> cholesky_;
  Eigen::VectorXd base_, forces_, shift_, rates_;  // of all freedoms: −g, f at v, δ, −∂f/∂v
  Eigen::VectorXd z_, gradient_, step_, from_, workspace_;
};

}  // namespace kinegraph::step
