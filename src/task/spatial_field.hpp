#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kinegraph/build/dynamics.hpp"
#include "kinegraph/mechanics/screw/kinematics.hpp"
#include "kinegraph/step/joint_response.hpp"
#include "kinegraph/step/lie_stepper.hpp"
#include "kinegraph/step/loop_projection.hpp"
#include "kinegraph/task/compiled_dynamics.hpp"
#include "kinegraph/task/spatial_drive.hpp"

namespace kinegraph::task {

/// The motion of a driven robot: accelerations by elimination of its dynamics graph with all torques known, loops kept
/// closed by projection. Along with it go the work of all that is not conservative,
///
///     Ẇ = Σ τ q̇ + Σ load · V − Σ (damping, friction) q̇
///
/// and, of a robot that nothing ties to the ground, the impulse of gravity, loads and base wrenches about the world's
/// origin: integrated by the same method as the motion, they tell its error.
class SpatialField final : public step::Field {
 public:
  /// `freedoms`: of the mechanism, its loops closed.
  SpatialField(std::shared_ptr<const screw::Tree> tree, int freedoms, const SpatialDrive& drive);

  int extras() const override { return floating_ ? 7 : 1; }  // work; angular and linear impulse
  bool rates(double t, const double* q, const double* v, double* a, double* extra) override;
  void begin_step(const double* q) override;
  bool project(double* q, double* v) override;
  bool correct(double half, const double* q, const double* v, const double* g, double* delta) override;

  /// Accelerations from now on by this code, where there is some and no loads act.
  void use(CompiledDynamics compiled);
  const std::string& compiled_note() const { return compiled_.note(); }  ///< after use()
  /// With such code: makes dynamics() those of a state, with the torques of the last rates().
  void look(const double* q, const double* v);

  bool floating() const { return floating_; }
  const build::Dynamics& dynamics() const { return dynamics_; }
  step::LoopProjection& loops() { return loops_; }
  const std::vector<double>& tau() const { return tau_; }  ///< of the last rates()
  const screw::Poses& poses() const { return poses_; }     ///< of the last rates()
  const std::string& message() const { return message_; }  ///< why the last call said no
  int undetermined() const { return undetermined_; }

 private:
  bool accelerations(const double* q, const double* v, double* a);
  screw::Vector6d base_wrench(int body) const;
  double power(const double* v) const;
  void impulse_rate(double* rate) const;

  std::shared_ptr<const screw::Tree> tree_;
  const SpatialDrive& drive_;
  build::Dynamics dynamics_;
  CompiledDynamics compiled_;
  bool by_code_ = false;  // the last accelerations
  std::vector<double> looked_;
  step::LoopProjection loops_;
  step::JointResponse response_;
  bool response_prepared_ = false;  // for this step
  screw::Surroundings surroundings_;
  std::vector<double> tau_;
  std::vector<screw::Vector6d> loads_;
  screw::Poses poses_;
  bool floating_ = false;
  int undetermined_ = 0;
  std::string message_;
};

}  // namespace kinegraph::task
