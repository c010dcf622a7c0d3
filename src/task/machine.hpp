#pragma once

#include <Eigen/Core>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kinegraph/filter/machine_space.hpp"
#include "kinegraph/model/model.hpp"
#include "kinegraph/model/trajectory.hpp"
#include "kinegraph/task/spatial_drive.hpp"

namespace kinegraph::task {

struct MachineSettings {
  std::string formulation = "natural";  ///< of planar models: natural coordinates, or `screw`; robots are always screw
  std::string integrator = "rk4";
  filter::ChartKind chart = filter::ChartKind::independent;
  std::optional<Trajectory> input;  ///< recorded torques and forces
  double time = 0;                  ///< s: how long the recording must last
  double friction_span = 0;         ///< s: dry friction is averaged over what noise makes of v in that time; 0: sharp
  std::map<std::string, double> process;  ///< densities of accelerations, over or beside the model's, by coordinate
  std::map<std::string, double> unknown;  ///< walks of unknown forces, likewise
};

/// Where nothing says how much the model misses of the forces, an acceleration of this density is assumed on every
/// independent coordinate: (rad or m)/s² per √Hz.
inline constexpr double kAssumedDensity = 1;

/// A machine as estimators see it, and where it starts.
struct Machine {
  Model model;                                    ///< driven by the recording
  std::shared_ptr<const natural::System> system;  ///< of natural coordinates; else null
  std::shared_ptr<const screw::Tree> tree;        ///< of links and joints in space; else null
  std::shared_ptr<const SpatialDrive> drive;      ///< of the same
  std::shared_ptr<const sensor::Observer> observer;
  std::unique_ptr<filter::MachineSpace> space;
  Eigen::VectorXd q, v;          ///< the start
  std::vector<int> independent;  ///< numbers of v, as many as the machine has freedoms
  std::vector<Disturbance> disturbances;
  std::vector<UnknownForce> unknowns;
  bool assumed_density = false;
  std::vector<std::string> columns;  ///< what the numbers of v are rates of: "theta", "P1.x", "elbow"

  filter::Plant& plant() const { return space->plant(); }
  /// The number of a state that number `column` of v is the rate of; of rotations: NaN.
  double position(const double* x, int column) const;
};

Result<Machine> make_machine(const Model& model, const MachineSettings& settings);

/// Refuses a machine of which nothing can move: there is no state to be estimated.
Result<std::monostate> check_movable(const Machine& machine);

}  // namespace kinegraph::task
