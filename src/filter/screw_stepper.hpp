#pragma once

#include <memory>
#include <vector>

#include "kinegraph/filter/screw_closure.hpp"
#include "kinegraph/filter/screw_motion.hpp"
#include "kinegraph/step/joint_response.hpp"
#include "kinegraph/step/tableau.hpp"

namespace kinegraph::filter {

/// One step of a robot's motion, loops closed at every stage, with its exact derivative: of an explicit Runge-Kutta
/// method, or of the implicit midpoint rule where joints resist so much that the former would be unstable. See
/// screw_stepper.cpp. Allocates nothing after the first calls.
class ScrewStepper {
 public:
  /// `friction_speed`: as of `motion`.
  ScrewStepper(std::shared_ptr<const screw::Tree> tree, int freedoms, ScrewMotion& motion, const step::Tableau& tableau,
               const double* friction_speed = nullptr);

  /// (q, v) after a step h. η and ξ, unless null: changes of q and v along directions, which go along; the last of
  /// them, as many as there are unknown forces, are besides along these.
  bool step(double t, double h, const double* force, double* q, double* v, Eigen::MatrixXd* eta, Eigen::MatrixXd* xi);

  /// The same by the implicit midpoint rule.
  bool step_implicitly(double t, double h, const double* force, double* q, double* v, Eigen::MatrixXd* eta,
                       Eigen::MatrixXd* xi);

  /// How far on the negative real axis the method is stable: |λ h| of a motion that dies out as exp(−λ t).
  double stable() const { return stable_; }

 private:
  bool begin(const double* q, const double* v, int extra, const Eigen::MatrixXd* eta, const Eigen::MatrixXd* xi);
  void finish(double* q, double* v, Eigen::MatrixXd* eta, Eigen::MatrixXd* xi) const;
  void combine(double h, int s);
  bool place(bool with_mass);
  void combine_along(double h, int s);
  bool place_along();
  bool settle_middle(double t, double h, const double* force);
  bool solve_middle_along(double h, const Eigen::VectorXd& a);

  std::shared_ptr<const screw::Tree> tree_;
  ScrewMotion& motion_;
  ScrewClosure closure_;
  CurvedJoints curved_;
  step::JointResponse response_;
  step::Tableau tableau_;
  double stable_ = 0;
  std::vector<double> q_;                    // of a stage
  Eigen::VectorXd v_, v0_, delta_, wanted_;  // wanted_: v before it is fitted to the loops
  Eigen::MatrixXd span_, counted_, small_, solved_, spread_;
  Eigen::PartialPivLU<Eigen::MatrixXd> lu_;
  std::vector<Eigen::VectorXd> rate_q_, rate_v_;  // per stage
  std::vector<Eigen::MatrixXd> rate_q_along_, rate_v_along_;
  Eigen::MatrixXd eta0_, xi0_, start_, delta_along_, wanted_along_, eta_, xi_;
  Eigen::VectorXd off_, correction_, middle_;  // of the implicit rule
  Eigen::MatrixXd alpha_, right_, jacobian_, dw_;
};

}  // namespace kinegraph::filter
