#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kinegraph/filter/particle_filter.hpp"
#include "kinegraph/task/branches.hpp"
#include "kinegraph/task/machine.hpp"

namespace kinegraph::experiments {

/// The four-bar of (004, Table 2), models/fourbar_gyro.yaml, with `more` sections of YAML after it.
Model fourbar(const std::string& more = "");

/// The particles of a planar machine move by code that is generated for it and compiled here; without a compiler they
/// stay with the kernels that serve every machine: false. The same numbers, to rounding.
bool compile_particles(const task::Machine& machine);

/// What really moves: states and gyroscope readings without noise, from rest at theta = 0 (or `angle`) in a branch.
struct Truth {
  double step = 1e-3;
  std::vector<double> angle, gyroscope;  ///< of the crank, unwrapped; per step
};
Truth fall(const Model& model, int branch, double angle, double time);

struct TrackSettings {
  int particles = 200;
  double density = 0.1;                     ///< of the crank's acceleration, rad/s² per √Hz
  double noise = 0.3, assumed_noise = 0.3;  ///< °/s: of the gyroscope, and what the filter takes it for
  double period = 5e-3;                     ///< of the gyroscope
  double step = 5e-3;                       ///< of the filter
  filter::Proposal proposal = filter::Proposal::optimal;
  bool stratified = true;     ///< start set even over branch × angle; else at random (004, eq. 22)
  bool keep_branches = true;  ///< resampling lets no branch die by chance
  double resample = 0.5;
  bool kernels = true;  ///< resampling spreads particles over the gaps between them
  /// The start particles stand for all states around them (cell_particles.hpp), in up to so many cells of a branch;
  /// 0: for points.
  int cells = 36;
  std::string integrator = "rk4";
  bool compiled = true;  ///< compile_particles()
};

struct Track {
  std::vector<double> t, error, sd;         ///< of the crank angle, degrees
  std::vector<double> reading;              ///< of the gyroscope, with its noise, °/s
  std::vector<std::vector<double>> branch;  ///< probabilities
  double cpu_s = 0;
  filter::ParticleFilter::StageTimes stages;  ///< without cells
};

/// The particle filter on one log, start unknown.
class Tracker {
 public:
  Tracker(const Model& assumed, const TrackSettings& settings);

  Track run(const Truth& truth, std::uint64_t seed) const;
  int branches() const { return count_; }
  bool compiled() const { return compiled_; }  ///< particles move by generated code

 private:
  std::unique_ptr<filter::Estimator> as_points(const filter::StateSpace& space,
                                               const std::vector<filter::Particle>& start,
                                               const filter::ParticleOptions& options) const;
  std::unique_ptr<filter::Estimator> in_cells(const filter::StateSpace& space,
                                              const std::vector<filter::Particle>& start,
                                              const filter::ParticleOptions& options) const;

  TrackSettings settings_;
  task::Machine machine_;
  bool compiled_ = false;
  int count_ = 0, crank_ = 0;
  std::vector<std::vector<Eigen::VectorXd>> positions_;  // per branch, by angle
};

/// The score of a track (issue: |error| < 3° from 1 s to the end; RMSE over the last 2 s).
struct Score {
  bool converged = false, right_branch = false;
  double rmse_last = 0, rmse = 0;        ///< degrees; rmse: from 1 s on
  double within_3 = 0, branch_time = 0;  ///< s: from when on the error stays below 3°, P(right branch) above 0.99
};
Score score(const Track& track, int branch);

/// Scores of seeds 0 … n − 1, on all cores.
std::vector<Score> scores(const Tracker& tracker, const Truth& truth, int branch, int n);

}  // namespace kinegraph::experiments
