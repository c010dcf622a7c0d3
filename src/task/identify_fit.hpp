#pragma once

#include <vector>

#include "kinegraph/identify/solver.hpp"
#include "kinegraph/task/identify.hpp"

namespace kinegraph::task {

/// Recordings on a grid of knots, and the machine with the sensors that their columns stand for.
struct FitData {
  Model model;
  std::vector<identify::Run> runs, held_out;
  identify::RunOptions options;  ///< of `runs`
  std::vector<std::string> warnings;
};

/// The step unless it is given: 10 ms, or the sampling interval (the median) if that is longer.
double default_step(const std::vector<Trajectory>& recordings);

Result<FitData> read_data(const Model& model, const maximal::Mechanism& mechanism,
                          const std::vector<Trajectory>& recordings, const std::vector<Trajectory>& held_out,
                          const IdentifyOptions& options, double step);

maximal::Regularization regularization_of(const IdentifyOptions& options);
/// Noise as the sensors say, 1e-3 where they say nothing. κ weighs squared impulses against squared readings (002, Ω⁻¹
/// = κ 1, R = 1): readings count over their noise here, so it is divided by the square of the noise unit.
identify::Weights weights_of(const std::vector<Sensor>& sensors, const std::vector<identify::Run>& runs,
                             const IdentifyOptions& options);
/// The geometric mean of the noise of what was read.
double noise_unit(const std::vector<Sensor>& sensors, const std::vector<identify::Run>& runs,
                  const identify::Weights& weights);

/// Parameters and motions that agree with recordings.
struct Fit {
  identify::Parameters parameters;
  Eigen::VectorXd x;
  identify::MachinePoint machine;           ///< at x
  std::vector<identify::Run> runs;          ///< with references along the motion
  std::vector<std::vector<double>> poses;   ///< per run
  std::vector<identify::Problem> problems;  ///< per run, at the solution
  identify::SolverReport report;
  std::shared_ptr<identify::SolverMemory> memory;  ///< for searches that follow

  // as of Problem, of all runs
  double impulse_cost() const;
  double reading_cost() const;
  long reading_rows() const;

  void free_rows();  ///< that problems keep for others, which then find them themselves
};

/// Where a fit starts: parameters, and motions if they are known already. The motions of a first guess are those of
/// the model as it is given.
struct FitStart {
  Eigen::VectorXd x;
  const std::vector<std::vector<double>>* poses = nullptr;
  std::shared_ptr<identify::SolverMemory> memory = nullptr;  ///< of a fit before
  bool fitted = false;                                       ///< the poses are those of a fit, not a first guess
  bool lend = true;  ///< the problems keep their rows at the answer, for deviations with other weights
};

Result<Fit> fit(const Model& model, const identify::Parameters& parameters, const std::vector<identify::Run>& runs,
                const identify::RunOptions& run_options, const identify::Weights& weights,
                const IdentifyOptions& options, const FitStart& start, const Progress& progress);

/// Motions alone, with all parameters as the model has them.
Result<Fit> fit_motion(const Model& model, const std::vector<identify::Run>& runs,
                       const identify::RunOptions& run_options, const identify::Weights& weights,
                       const IdentifyOptions& options, const Progress& progress);

/// One search goes on where another ended, or near: iterations and path are those of both. Costs are of the last alone,
/// as they are of its own weights and its own part of the recordings.
void continue_search(const identify::SolverReport& before, identify::SolverReport& after);

/// The first steps of a run, or all of it.
identify::Run beginning_of(const identify::Run& run, int steps);

/// The part of a progress between two shares.
Progress part_of(const Progress& progress, double begin, double end);

}  // namespace kinegraph::task
