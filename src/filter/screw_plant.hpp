#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kinegraph/filter/plant.hpp"
#include "kinegraph/filter/screw_stepper.hpp"
#include "kinegraph/step/loop_projection.hpp"

namespace kinegraph::filter {

/// A robot: a tree of bodies, closed loops, floating bases. x = (q as the tree stores it, v of all its freedoms).
/// Joints' damping, friction, springs and armature act as in simulate, but for PlantOptions::friction_speed. See
/// screw_plant.cpp.
class ScrewPlant final : public Plant {
 public:
  using Drive = ScrewDrive;
  /// `freedoms`: of the mechanism, its loops closed (task::SpatialMobility). `drive` fills the known torques; empty:
  /// none.
  ScrewPlant(std::shared_ptr<const screw::Tree> tree, int freedoms, Drive drive, PlantOptions options);

  std::unique_ptr<Plant> clone() const override {
    return std::make_unique<ScrewPlant>(tree_, freedoms_, drive_, options_);
  }
  const std::string& column_name(int i) const override { return names_[i]; }
  bool circular(int column) const override { return circular_[column]; }

  bool choose(double t, const double* x, Chart& chart) override;
  bool lift(double t, const double* x, const Chart& chart, Eigen::MatrixXd& N, Eigen::MatrixXd& D) override;
  bool retract(double t, const double* x, const Chart& chart, const double* delta, double* out) override;
  void local(const double* x, const Chart& chart, const double* other, double* delta) const override;
  bool shift(double t, double* x, const double* dq, const double* dv) override;

  bool advance(double t, double h, const double* x, const double* force, double* next) override;
  bool advance(double t, double h, const double* x, const double* force, const Chart& chart, double* next,
               Chart& next_chart, Eigen::MatrixXd& by_state, Eigen::MatrixXd& by_force) override;
  bool noise_directions(double t, const double* x, Eigen::MatrixXd& directions) override;
  bool instant(double t, const double* x, const double* force, bool accelerations, const Eigen::MatrixXd* dq,
               const Eigen::MatrixXd* dv, sensor::Instant& out) override;

  const screw::Tree& tree() const { return *tree_; }
  /// Into how many parts a step h from q is divided, so that stiff joints stay stable; 0: the step is implicit.
  int substeps(const double* q, double h);

 private:
  bool tree_only() const { return motion_.tangent().rank() == 0; }
  const double* friction_speed() const {
    return options_.friction_speed.empty() ? nullptr : options_.friction_speed.data();
  }
  bool serves(const Chart& chart);
  bool move(const double* delta, int stages);
  bool steps(double t, double h, const double* x, const double* force, double* next, bool along);
  double stiffness();  // as motion_ is prepared: 1/s
  double stiffest_pose();

  std::shared_ptr<const screw::Tree> tree_;
  Drive drive_;
  ScrewMotion motion_;
  ScrewStepper stepper_;
  ScrewClosure closure_;
  step::LoopProjection projection_;
  std::vector<std::string> names_;
  std::vector<bool> circular_;
  std::vector<int> damped_;
  double stiffest_ = 0;  // of many poses
  std::vector<double> q_;
  Eigen::VectorXd delta_, predicted_, dv_;
  mutable Eigen::VectorXd difference_;
  Eigen::MatrixXd N_, counted_, inverse_, v_, eta_, xi_, damping_, fresh_;
  Eigen::PartialPivLU<Eigen::MatrixXd> lu_;
};

}  // namespace kinegraph::filter
