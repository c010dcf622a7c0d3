#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kinegraph/build/dynamics.hpp"
#include "kinegraph/model/trajectory.hpp"
#include "kinegraph/task/spatial_motion.hpp"
#include "kinegraph/task/spatial_reactions.hpp"

namespace kinegraph::task {

/// What `inverse` and `hybrid` tell of a run on a robot.
struct SpatialDynamicsSummary {
  long samples = 0;
  double wall_s = 0, sample_us = 0;
  int degrees_of_freedom = 0;
  std::string ordering;
  std::string code;  ///< where generated code was asked for: what computed, see CompiledDynamics::note()
  std::vector<std::string> prescribed;  ///< joints whose position the table gives
  std::vector<std::string> actuators;   ///< joints whose torque was asked for at some sample
  std::vector<std::string> torques;     ///< "shoulder.tau", …: those of all joints, and per name
  std::vector<double> torque_peak, torque_rms;

  struct Excess {
    std::string name;   ///< "elbow.tau"
    double factor = 0;  ///< effort, velocity: of the limit. Position: how far beyond it
    double t = 0;       ///< when
  };
  std::vector<Excess> effort, velocity, position;  ///< the worst of each joint that breaks a limit

  double smoothing_max = 0;           ///< of positions that were differentiated
  std::vector<std::string> loops;     ///< joints that close loops
  std::vector<double> open_in_table;  ///< per loop
  double closure_max = 0;             ///< after closing
  int undetermined_max = 0;           ///< directions of wrenches or torques chosen by least norm
  double inconsistency_max = 0;       ///< of redundant equations, relative
  std::string inconsistent;           ///< the equation of that
  std::vector<std::string> warnings;  ///< singular positions of loops
  double torque_doubt = 0;            ///< N m, N: what the last digits of the table make of the torques there
  bool power_checked = false;         ///< not where the base is moved
  double power_max = 0,
         power_error = 0;  ///< in W: largest power (of forces, weight, inertia); largest |dE/dt − power of forces|
};

/// Gathers samples: the columns q v a tau of every joint, with `reactions` the wrench through every joint
/// (`j.reaction.mx` …, on the joint's child at the joint, in the world's axes); and what the summary tells of them.
class SpatialRecord {
 public:
  SpatialRecord(std::shared_ptr<const screw::Tree> tree, bool reactions, int samples);

  void add(double t, const SpatialMotion& motion, const Eigen::VectorXd& a, const Eigen::VectorXd& tau,
           const build::Dynamics& dynamics, const build::Dynamics::Outcome& outcome);
  Trajectory take() { return std::move(trajectory_); }
  SpatialDynamicsSummary summary(const SpatialMotion& motion) const;

 private:
  void write_row(double t, const SpatialMotion& motion, const Eigen::VectorXd& a, const Eigen::VectorXd& tau,
                 const build::Dynamics& dynamics);
  void check_limits(double t, const SpatialMotion& motion, const Eigen::VectorXd& tau);
  void check_power(const SpatialMotion& motion, const Eigen::VectorXd& a, const Eigen::VectorXd& tau,
                   const build::Dynamics& dynamics);

  std::shared_ptr<const screw::Tree> tree_;
  std::vector<std::string> names_;
  std::optional<SpatialReactions> reactions_;
  Trajectory trajectory_;
  SpatialDynamicsSummary summary_;
  Eigen::VectorXd peak_, square_;
  std::vector<SpatialDynamicsSummary::Excess> effort_, velocity_, position_;  ///< per freedom; factor 0: none
};

}  // namespace kinegraph::task
