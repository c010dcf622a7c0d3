#pragma once

#include <Eigen/Core>
#include <memory>
#include <optional>

#include "kinegraph/solve/kkt.hpp"
#include "kinegraph/solve/optimizer.hpp"

namespace kinegraph {

/// What the three optimisers share: the present point, its model, steps and how they are judged.
///
/// Minimise f(x) under c(x) = 0. Each hard row is divided by the norm sᵢ of its Jacobian row at the start: c̃ = c/s. A
/// step is judged by the exact penalty
///
///     φ(x) = f(x) + ν ‖c̃(x)‖₂,      model  φ̂(d) = f + gᵀd + ½ dᵀHd + ν ‖c̃ + J̃d‖₂
///
/// Replacing ‖c̃ + J̃d‖ by its majorant ‖c̃ + J̃d‖²/(2‖c̃‖) + ‖c̃‖/2 makes the model quadratic, and its minimum the solution
/// of a Newton system in which the hard rows have a compliance C:
///
///     [ H + Λ  Jᵀ ] [ d ]   [ −g ]
///     [ J      −C ] [ y ] = [ −c ]       Cᵢ = κ sᵢ² ‖c̃‖ / ν,   κ = 1
///
/// so every such d descends φ. Far from c = 0 that is Levenberg-Marquardt on the hard rows, which passes singular
/// positions; as c → 0 it is Newton's method with hard rows. A smaller κ trusts the linear model of the hard rows more.
/// A small proximal compliance is always there (least norm for the multipliers of redundant rows); it acts on y −
/// y_last and so does not move the solution. Where a step fails because c is curved, a second-order correction is
/// tried: one more solve that also takes away c(x + d).
class Search {
 public:
  Search(Linearization& linearization, const OptimizerOptions& options);

  /// Linearises at the present values. False if something is not finite: see evaluation().
  bool linearize();
  const Evaluation& evaluation() const { return evaluation_; }

  /// Computes step() with damping Λ = λ D and softness κ. `wrong_curvature` if the system has no unique minimum.
  enum class Outcome { ok, wrong_curvature, failure };
  Outcome newton(double lambda, double softness);
  /// Adds to a step what takes away the curvature of c that its attempt has found. False if there is nothing to
  /// correct.
  bool correct_for_curvature(Eigen::VectorXd& step);

  /// How much the model falls under a step.
  double predicted(const Eigen::VectorXd& step);
  /// Moves the values by a step and says how much the merit fell; −∞ where it is not finite. keep() or restore() next.
  double attempt(const Eigen::VectorXd& step);
  void keep();
  void restore();

  /// For a minimum of φ at which c ≠ 0. False if that has been tried often enough.
  bool raise_penalty();
  double hard_norm() const { return hard_norm_; }

  const Eigen::VectorXd& step() const { return step_; }
  double cost() const { return evaluation_.cost; }
  double merit() const { return evaluation_.cost + penalty_ * hard_norm_; }
  double rounding() const;  ///< changes of the merit below this are noise
  const Eigen::VectorXd& hard() const { return hard_; }
  const Eigen::VectorXd& damping_scale() const { return scale_; }  ///< D
  const Failure& failure() const { return failure_; }              ///< why the last newton() failed

  bool feasible() const;    ///< every hard row holds
  bool stationary() const;  ///< the gradient of the Lagrangian is small, with the y of step()
  /// Against the largest size that each variable has had, times `slack`.
  bool small_step(const Eigen::VectorXd& step, double slack = 1) const;
  bool hard_rows_stuck() const;  ///< c ≠ 0, and yet Jᵀc is small beside its terms
  Eigen::VectorXd merit_gradient() const;
  double majorant_curvature(const Eigen::VectorXd& p);  ///< pᵀ (H + ν/‖c̃‖ J̃ᵀJ̃) p

 private:
  void measure();
  void measure_sizes();
  void relax_penalty();
  double scaled_norm(const Eigen::VectorXd& hard) const { return hard.cwiseQuotient(row_scale_).norm(); }
  void multiply(const Eigen::VectorXd& step);

  Linearization* linearization_;
  const OptimizerOptions* options_;
  std::unique_ptr<KktSystem> system_;
  Failure failure_;
  Evaluation evaluation_, trial_;
  Eigen::VectorXd hard_, trial_hard_;  // c
  Eigen::VectorXd row_scale_;          // s
  Eigen::VectorXd row_terms_;          // Σ |J| |x| + s: what a row's residual is compared with
  Eigen::VectorXd scale_;              // D
  Eigen::VectorXd y_, last_y_;
  Eigen::VectorXd step_, product_, rhs_, damping_, compliance_, lagrangian_, squares_;
  std::vector<double> saved_, sorted_, size_;
  double typical_ = 1;  // a typical curvature: the median of the diagonal of H
  double hard_norm_ = 0, trial_norm_ = 0, penalty_ = 0;
  double proximal_ = 0;
  int relaxations_ = 0, raises_ = 0;
};

}  // namespace kinegraph
