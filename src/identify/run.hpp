#pragma once

#include <Eigen/Core>
#include <array>
#include <limits>
#include <string>
#include <vector>

#include "kinegraph/identify/control_loop.hpp"
#include "kinegraph/mechanics/maximal/mechanism.hpp"
#include "kinegraph/model/model.hpp"
#include "kinegraph/model/trajectory.hpp"
#include "kinegraph/step/regularized_step.hpp"

namespace kinegraph::identify {

/// One reading of one sensor, between knot `knot` and the next.
struct Reading {
  int knot = 0;
  double fraction = 0;           ///< of the step, in [0, 1); the last knot's readings: 1 of the step before
  int sensor = 0;                ///< of the model's sensors
  std::array<double, 6> y = {};  ///< per channel; NaN: not given
  double t = 0;
  int line = 0;
};

/// A recording on the grid of knots at which the machine's poses are unknowns.
struct Run {
  std::string file;
  std::vector<double> times;           ///< of knots 0 … K
  std::vector<step::StepInput> input;  ///< of steps 0 … K − 1: means about the time at which each begins
  std::vector<Reading> readings;       ///< by knot, then time
  std::vector<ControlRecord> control;  ///< per controller of the options
  int knots() const { return static_cast<int>(times.size()); }
  double step(int k) const { return times[k + 1] - times[k]; }
};

struct RunOptions {
  double step = 0.01;                                             ///< s, between knots
  double from = 0, to = std::numeric_limits<double>::infinity();  ///< the part of the recording that is used
  double noise = 0;       ///< standard deviation of columns that are no sensor of the model ("theta.q"); 0: 1e-3
  double smoothing = 10;  ///< Hz: cut-off of the filter whose output is the first guess of the motion
  bool held = false;      ///< inputs keep each value until the next, see RunInputs::over()
  std::vector<ControlLaw> controllers;  ///< whose readings, commands and targets are kept
};

/// Tables as `Run`s. Columns are
///   - channels of the model's sensors ("gyro.w"), as `simulate --sensors` writes them;
///   - positions and rates of joints or relative coordinates ("theta.q", "elbow.v"), read as encoders and tachometers,
///     which are added to `model`'s sensors;
///   - inputs: torques of motors ("motor.tau"), their controls ("motor.u": gain times that is the torque), loads
///     ("load.fx");
///   - targets and what is added to commands, as the options' controllers name them.
/// Readings of angles may be given modulo a turn. Refused, all faults at once, with their place: columns that are
/// neither, recordings without readings or shorter than three steps, times that go backwards.
struct Recordings {
  Model model;  ///< with the sensors that the columns stand for
  std::vector<Run> runs;
  std::vector<Diagnostic> warnings;
};
Result<Recordings> read_runs(const Model& model, const maximal::Mechanism& mechanism,
                             const std::vector<Trajectory>& tables, const RunOptions& options);

/// A first guess of the poses at knots −1 … K (7 numbers per body, K + 2 poses): the readings, low-pass filtered
/// forward and backward (second-order Butterworth, 002 section 4.4), with joints closed; what no reading tells follows
/// the machine's own motion from its initial values.
Result<std::vector<double>> first_guess(const Model& model, const maximal::Mechanism& mechanism,
                                        const Eigen::VectorXd& numbers, const Run& run, const RunOptions& options);

/// Whether readings and loops tell all positions of the machine, or their rates, at the first knot; else a first guess
/// has the model's own motion in part, which errors leave the sooner the more it is shaken.
bool readings_tell_all(const Model& model, const maximal::Mechanism& mechanism, const Eigen::VectorXd& numbers,
                       const Run& run, const RunOptions& options);
/// A first guess of what comes after knot `from`, from the motion that `poses` have there.
void guess_further(const Model& model, const maximal::Mechanism& mechanism, const Eigen::VectorXd& numbers,
                   const Run& run, const RunOptions& options, int from, std::vector<double>& poses);

/// Positions of the freedoms along those poses, as references of the run's steps: angles continue over turns.
void set_references(const maximal::Mechanism& mechanism, const Eigen::VectorXd& numbers,
                    const std::vector<double>& poses, Run& run);

/// Second-order Butterworth low-pass, run forward and backward over an even grid: no phase. The ends are reflected
/// about their values. A cut-off above 0.45 of the rate changes nothing.
std::vector<double> smooth_both_ways(const std::vector<double>& values, double rate, double cutoff);

}  // namespace kinegraph::identify
