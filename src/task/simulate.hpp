#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kinegraph/base/progress.hpp"
#include "kinegraph/model/model.hpp"
#include "kinegraph/model/trajectory.hpp"

namespace kinegraph::task {

struct SimulateOptions {
  double time = 5.0;                    ///< s
  double step = 1e-3;                   ///< s
  std::string formulation = "natural";  ///< natural | independent; screw, maximal: see spatial_, maximal_simulate.hpp
  std::string method = "smoother";      ///< smoother (fixed lag, past frozen) | batch | step
  std::string integrator = "";   ///< euler | trapezoidal | hermite-simpson (default); with step: rk4 (default) …
  int window = 2;                ///< knots of the smoother, the frozen one included
  std::string weights = "hard";  ///< hard | soft (the covariances of 000, Table 2)
  std::map<std::string, double> soft_scale;  ///< factors on those: prior, integrator, dynamics, constraint, equality
  double compliance = 1e-8;                  ///< m/N and rad/(N m): how constraints of the maximal formulation give way
  double relaxation = 0;                     ///< s: in which they come back; 0: two steps
  std::optional<Trajectory> input;  ///< recorded torques and forces: motor.tau (or .u), load.fx, load.fy, torque.tau
  bool reactions = false;
  bool poses = false;     ///< spatial models: also the pose of every link
  bool compiled = false;  ///< spatial models: accelerations by generated code, where that can be
  int every = 1;          ///< keep every n-th sample
  bool keep = true;       ///< false: samples go to `sample` only, and memory does not grow
  std::function<void(const std::vector<std::string>&)> begin;  ///< told the names of the series, once
  std::function<void(double t, const double* row)> sample;     ///< told every sample kept, as it is made
  /// Told the state at every step, kept or not: q, v, a of natural::System, or of screw::Tree; not with maximal.
  std::function<void(double t, const double* q, const double* v, const double* a)> state;
  Progress progress;
};

struct SimulateSummary {
  long steps = 0;
  double wall_s = 0;  ///< of the step loop
  double step_us = 0;
  double iterations_mean = 0;
  int iterations_max = 0;
  double constraint_max = 0;           ///< max |Φ| over all steps, in the units of the constraints (m², m)
  double constraint_velocity_max = 0;  ///< max |Φ̇|
  double energy_start = 0, energy_end = 0;
  double kinetic_start = 0, kinetic_max = 0;
  double energy_error = 0;    ///< max |E − E₀ − work done|, J
  double energy_drift = 0;    ///< the same over the largest kinetic energy or work; NaN where there is neither
  double energy_worst_t = 0;  ///< s: the end of the step in which it changes most
  long divided_steps = 0;     ///< taken in parts, because the energy did not balance over the whole
  int degrees_of_freedom = 0, redundant_constraints = 0;
  double assembly_moved = 0;  ///< m: how far points of a planar drawing that is not assembled had to go; else 0
  int repivots = 0, coordinate_changes = 0;
  long singular_passes = 0;  ///< times the mechanism went through a position where it could branch
  std::string formulation, integrator, method, weights;
  std::string integrator_reason;  ///< where it is not the default, though none was named: "because …"
  int window = 0;
  double step = 0, time = 0;

  // Of spatial models:
  std::string code;  ///< with `compiled`: what computed, see CompiledDynamics::note()
  double work = 0;   ///< of torques, loads and damping, J
  int loops = 0;
  double closure_m = 0, closure_rad = 0;  ///< largest opening of a loop
  bool floating = false;                  ///< nothing ties the robot to the ground: its momentum is watched
  bool shapes_pass = false;               ///< links have shapes that could touch, and go through each other here
  double momentum_error = 0, angular_momentum_error = 0;  ///< largest, less the impulses of gravity and loads

  // Of the maximal formulation:
  std::string formulation_reason;  ///< where it was not named: "because …"
  double compliance = 0, relaxation = 0;
  long held_steps = 0;     ///< in which dry friction held a joint
  bool can_touch = false;  ///< links have shapes that may collide
  long contact_steps = 0;  ///< in which links pressed on each other
  int contacts_max = 0;    ///< at once
  double penetration_max = 0;

  std::vector<std::string> limits_exceeded;  ///< "j2.q: in 12 of 1001 samples, by 0.3 at most"
  std::vector<std::string> warnings;
};

struct SimulateResult {
  Trajectory trajectory;  ///< P1.x P1.y P1.vx P1.vy P1.ax P1.ay, theta.q .v .a, motor.tau, reactions A.fx A.fy
  SimulateSummary summary;
};

Result<SimulateResult> simulate(const Model& model, const SimulateOptions& options);

}  // namespace kinegraph::task
