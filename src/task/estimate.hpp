#pragma once

#include <limits>
#include <map>
#include <string>
#include <vector>

#include "kinegraph/base/progress.hpp"
#include "kinegraph/filter/estimator.hpp"
#include "kinegraph/model/trajectory.hpp"
#include "kinegraph/task/machine.hpp"

namespace kinegraph::task {

struct EstimateOptions {
  std::string filter = "smoother";  ///< smoother (fixed lag) | batch | ekf | ukf | particle
  double step = 0;                  ///< s; 0: the finest interval of a sensor in the log, 10 ms at most
  int window = 10;                  ///< instants that the fixed-lag smoother holds
  /// As in real time: readings are taken as they come, those more than so many seconds late are refused. < 0:
  /// afterwards, every reading in its place.
  double lag = -1;
  int particles = 200;
  int threads = 1;                         ///< of particle filter and batch smoother; the result does not depend on it
  std::string proposal = "optimal";        ///< optimal | prior
  std::string start;                       ///< file | unknown; empty: see start_of()
  std::string branches;                    ///< all | file; empty: all if the start is unknown, else file
  std::map<std::string, double> start_sd;  ///< of numbers of the state: theta.q, theta.v, imu.bias.wx
  double start_speed = 0;                  ///< unknown start: rates lie within ± this
  std::string loss = "none";               ///< none | huber | cauchy | …
  double loss_scale = 0;                   ///< in standard deviations; 0: that of the loss
  double gate = 0;                         ///< probability beyond which readings are not used; 0: all are
  bool check_observability = true;
  bool compiled = false;  ///< motion and sensors of particles by generated code, where that can be
  MachineSettings machine;
  unsigned long seed = 0;
  int every = 1;     ///< keep every n-th step
  bool keep = true;  ///< false: no trajectory is made
  bool keep_innovations = false;
  Progress progress;
};

/// A reading as the log has it.
struct LogReading {
  double arrival = 0;  ///< s
  filter::Measurement measurement;
};

struct EstimateSummary {
  struct SensorUse {
    std::string name;
    long readings = 0, refused = 0;  ///< refused: by the gate, or because they came too late
  };
  struct ChannelUse {
    std::string name;
    double correlation = 0;  ///< of one innovation with the next
    double rms = 0;          ///< of innovations, in their standard deviations: 1 is expected
    bool white = true;
    double largest = 0, largest_t = 0;  ///< innovation, in its standard deviations
    bool judged = false;                ///< there were readings enough
    /// Innovations as a rule, by their median: in standard deviations (1 is expected), and in the channel's unit.
    double typical = 0, off = 0;
  };
  struct Number {
    std::string name;
    double value = 0, sd = 0;
  };
  std::string filter, start, integrator, chart, loss;
  std::string code;         ///< where generated code was asked for: what computed
  std::string formulation;  ///< that of the machine
  double step = 0, time_start = 0, time_end = 0;
  int substeps = 1;  ///< of the motion per step: see fit()
  double turn = 0;   ///< rad: by how much the machine turns within a step, at most
  long steps = 0;
  double wall_s = 0, step_us = 0;
  int degrees_of_freedom = 0, hypotheses = 1, particles = 0, window = 0, iterations = 0;
  std::vector<double> branches;           ///< probabilities at the end
  std::vector<std::string> branch_names;  ///< what tells them apart
  int branch = 0;
  double branch_time = std::numeric_limits<double>::quiet_NaN();  ///< s from the start until the winner kept above 0.99
  double nis_mean = std::numeric_limits<double>::quiet_NaN();     ///< per number that was read: 1 is expected
  double nis_low = 0, nis_high = 0;                               ///< 95 % of such means
  std::vector<std::string> objections;                            ///< what speaks against the filter's deviations
  std::vector<SensorUse> sensors;
  std::vector<ChannelUse> channels;
  std::vector<Number> final;  ///< of every number of the state
  std::string observability;
  bool assumed_density = false;
  std::vector<std::string> warnings;
};

struct EstimateResult {
  Trajectory trajectory;   ///< as EstimateTable names it
  Trajectory innovations;  ///< as InnovationWatch names them; in the order in which they were taken in
  EstimateSummary summary;
};

/// Values out of their range and options that contradict each other, all at once.
Failure check_options(const EstimateOptions& options);

/// The motion of a machine from what its sensors read, with its uncertainty. The start holds at the first reading.
/// `readings` are in the order in which they came.
Result<EstimateResult> estimate(const Model& model, const std::vector<LogReading>& readings,
                                const EstimateOptions& options);

}  // namespace kinegraph::task
