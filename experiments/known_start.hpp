#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kinegraph/filter/estimator.hpp"
#include "kinegraph/task/machine.hpp"

namespace kinegraph::experiments {

/// Logs of the four-bar with gyroscope (200 Hz) and encoder (100 Hz) that are just what estimators assume: the motion
/// is driven by white noise of the given density, its start drawn from their prior (2°, 10 °/s).
class KnownStart {
 public:
  static constexpr double kStep = 5e-3;

  /// `compiled`: particles move by generated code, where there is a compiler.
  KnownStart(double density, int seeds, int steps, bool compiled = false);

  struct Log {
    std::vector<Eigen::VectorXd> truth;  ///< per step
    std::vector<filter::Measurement> readings;
    filter::Belief prior;
  };
  /// What an estimator says after every step.
  using Told = std::function<void(int step, const filter::Belief& belief)>;
  struct Contestant {
    std::string name;
    std::function<void(const Log& log, const Told& told)> run;
  };
  /// All estimators; the particle filters with so many particles.
  std::vector<Contestant> contestants(int particles) const;

  struct Verdict {
    double rmse = 0;           ///< of the crank angle, degrees
    std::vector<double> nees;  ///< per step: mean over the seeds, per number of the state; 1 expected
    double mean_nees = 0;
    double inside = 0;  ///< share of the steps at which it is within the 95 % band
    double converged = 0;
    double step_us = 0;  ///< processor time, of the first kTimed logs, which run one after the other
  };
  static constexpr int kTimed = 10;
  Verdict judge(const Contestant& contestant) const;
  /// Of the mean NEES over the seeds.
  double band_low() const { return low_; }
  double band_high() const { return high_; }

 private:
  struct Run {
    std::vector<double> nees;  // per step, per number of the state
    double squares = 0, seconds = 0;
    long count = 0;
    bool converged = false;
  };
  Log make_log(int seed) const;
  Run run(const Contestant& contestant, const Log& log) const;

  int steps_, crank_ = 0;
  double low_ = 0, high_ = 0;
  task::Machine machine_, manifold_, for_particles_;
  bool compiled_ = false;  // for_particles_ has generated code
  std::vector<Log> logs_;
};

}  // namespace kinegraph::experiments
