#pragma once

#include <Eigen/Cholesky>
#include <functional>
#include <memory>
#include <vector>

#include "kinegraph/build/dynamics.hpp"
#include "kinegraph/filter/screw_tangent.hpp"
#include "kinegraph/mechanics/screw/differential.hpp"
#include "kinegraph/mechanics/screw/mass_matrix.hpp"

namespace kinegraph::filter {

/// Known torques at a time: fills one number per freedom of the tree.
using ScrewDrive = std::function<void(double t, double* tau)>;

/// The accelerations of a robot under known torques and unknown forces along some freedoms, by elimination of its
/// dynamics graph, and their exact derivatives. See screw_motion.cpp.
class ScrewMotion {
 public:
  /// `freedoms`: of the mechanism, its loops closed. `forces`: freedoms along which unknown forces act.
  /// `friction_speed`: of dry friction per freedom (kept, not copied); null: as sharp as it is.
  ScrewMotion(std::shared_ptr<const screw::Tree> tree, int freedoms, ScrewDrive drive, std::vector<int> forces,
              const double* friction_speed = nullptr);

  /// a at (t, q, v), loops closed. `force`: the unknown ones, null: none. False: there is no answer.
  bool accelerate(double t, const double* q, const double* v, const double* force, double* a);
  const std::vector<double>& tau() const { return tau_; }  ///< of all freedoms, at the last accelerate()

  /// Mass and motions at q, for what follows.
  bool prepare(const double* q);
  ScrewTangent& tangent() { return tangent_; }
  const ScrewTangent& tangent() const { return tangent_; }
  const Eigen::MatrixXd& mass() const { return mass_; }
  /// K X: accelerations by forces along the freedoms,   K = Z (Zᵀ M Z)⁻¹ Zᵀ. In place.
  void mobilise(Eigen::MatrixXd& X);
  void orthonormal(Eigen::MatrixXd& N) const;  ///< spans the motions, Nᵀ M N = 1

  /// How v changes with q where loops stay closed (after prepare(q)): δv with J δv + δJ[η] v = 0, one of many.
  void velocity_changes(const double* q, const double* v, const Eigen::MatrixXd& eta, Eigen::MatrixXd& change);

  /// After accelerate() and prepare() at (q, v): α along the columns of (η, ξ). With `forced` the last columns are
  /// besides along one unknown force each.
  void accelerate_along(const double* q, const double* v, const double* a, const Eigen::MatrixXd& eta,
                        const Eigen::MatrixXd& xi, bool forced, Eigen::MatrixXd& alpha);
  /// After accelerate_along() with the same: changes of the wrenches through all joints, then loops (6 numbers each).
  void react_along(const double* q, const double* v, const double* a, const Eigen::MatrixXd& eta,
                   const Eigen::MatrixXd& xi, const Eigen::MatrixXd& alpha, Eigen::MatrixXd& reaction);
  void reactions(Eigen::VectorXd& reaction);  ///< after accelerate(): the wrenches themselves

 private:
  int bodies() const { return static_cast<int>(tree_->bodies().size()); }
  int loops() const { return static_cast<int>(tree_->loops().size()); }
  void read_wrenches();

  std::shared_ptr<const screw::Tree> tree_;
  ScrewDrive drive_;
  std::vector<int> forces_;
  build::Dynamics dynamics_;
  screw::MassMatrix mass_matrix_;
  screw::Surroundings surroundings_;
  std::vector<double> tau_;
  Eigen::VectorXd wrenches_;  // of loops
  ScrewTangent tangent_;
  screw::Differential differential_;
  screw::Motion kinematics_;  // for velocities where there is no acceleration
  Eigen::MatrixXd mass_, scaled_, reduced_;
  Eigen::LLT<Eigen::MatrixXd> cholesky_;
  Eigen::MatrixXd torque_, closure_, right_, reduced_right_, mu_, idle_, spread_;
};

}  // namespace kinegraph::filter
