#pragma once

#include <limits>
#include <string>
#include <vector>

#include "kinegraph/base/progress.hpp"
#include "kinegraph/identify/control_loop.hpp"
#include "kinegraph/identify/parameters.hpp"
#include "kinegraph/identify/prediction.hpp"
#include "kinegraph/model/trajectory.hpp"

namespace kinegraph::task {

struct IdentifyOptions {
  std::vector<identify::FreeParameter> free;
  double step = 0;  ///< s, between knots; 0: 10 ms, or the sampling interval if that is longer
  /// "states": motion and parameters together, the motion may miss the model (κ). "replay": then the motion follows the
  /// model from its start on, and what counts is the error of that simulation over the whole recording.
  std::string fit = "states";
  /// How much impulses that the model misses count against errors of readings; NaN: as the recordings have it, from
  /// identify::natural_kappa() on (fit_and_weigh).
  double kappa = std::numeric_limits<double>::quiet_NaN();
  double length = 1;          ///< m: a turning impulse counts as one at this arm; of κ = NaN the machine's own
  double compliance = 1e-8;   ///< of constraints, m/N and rad/(N m)
  double relaxation = 0.02;   ///< s: in which an error of a constraint is taken back
  std::string loss = "none";  ///< of readings: none | huber | cauchy | tukey
  double loss_scale = 3;      ///< in standard deviations
  double from = -std::numeric_limits<double>::infinity(), to = std::numeric_limits<double>::infinity();
  double validate_from = std::numeric_limits<double>::infinity();  ///< what is later is held out
  double noise = 0;              ///< of columns that are no sensor of the model; 0: 1e-3
  double smoothing = 10;         ///< Hz: of the first guess
  bool held = false;             ///< recorded inputs keep each value until the next; else straight lines
  std::vector<double> horizons;  ///< s: of predictions beside the replay
  /// That computed recorded commands. Their laws are found in the recordings that are fitted; what is foretold then
  /// is the machine with its controllers, and of commands after the start of a prediction nothing is used.
  std::vector<identify::ControlLaw> controllers;
  std::vector<std::string> compare;  ///< friction of joints: "viscous", "dry+quadratic", "stribeck", …
  bool richardson = false;           ///< also at half the step; the answer is extrapolated to none
  bool reestimate = true;  ///< noise of readings and impulses from what is left of them, before deviations (002, 3.26)
  int iterations = 30;
  bool keep = true;  ///< false: no trajectory is made
  Progress progress;
};

struct IdentifySummary {
  /// One number of the answer.
  struct Quantity {
    std::string name;
    double start = 0, value = 0;
    double sd = 0, sandwich = 0;  ///< NaN: cannot be told; the second is no smaller, and counts the step's bias
    bool at_bound = false;
    bool identifiable = true;
    std::string remark;                    ///< what can or cannot be told, in words; may be empty
    double at_step = 0, at_half_step = 0;  ///< with Richardson extrapolation
    double step_bias = 0;  ///< about as much the step moves it; counted in `sandwich`. 0 where it is not known
  };
  /// A combination of quantities, in words, with its size and deviation where it is known.
  struct Combination {
    std::string text;
    double value = 0, sd = 0;
    double size = 0;  ///< of its largest term
  };
  struct Channel {
    std::string name, unit;
    long count = 0;
    double rms = 0;                   ///< of what is left, in the channel's unit
    double noise = 0;                 ///< that was assumed
    std::vector<double> correlation;  ///< with that of 1, 2, … readings before
    double ljung_box = 0, p_value = 1;
    bool white = true;
  };
  /// How well a recording is foretold.
  struct Check {
    std::string file;
    double from = 0, to = 0;
    bool held_out = false;
    bool complete = true;  ///< the replay stayed finite
    double reached = 0;    ///< s: where it ended
    double cost = 0;       ///< per number read, states estimated, parameters as fitted
    std::vector<identify::ChannelError> replay;
    Trajectory motion;  ///< of the replay, as IdentifyResult::motions; empty unless IdentifyOptions::keep
    std::vector<double> horizons;
    std::vector<std::vector<identify::ChannelError>> ahead;  ///< per horizon, from states that all readings tell
    /// The same from states that the readings before each forecast tell; empty where they do not.
    std::vector<std::vector<identify::ChannelError>> filtered;
  };
  struct Comparison {
    std::string name;
    int parameters = 0;
    bool converged = false;
    double cost = 0, bic = 0;
    std::vector<identify::ChannelError> replay, held_out;  ///< per channel
    double held_out_cost = 0;                              ///< per number read
    std::vector<Quantity> quantities;
    std::string failure;  ///< why there is no answer; else empty
  };

  std::vector<Quantity> quantities;
  std::vector<Combination> known, unknown;  ///< combinations that can and cannot be told
  Eigen::MatrixXd correlations;             ///< of quantities; NaN of those that cannot be told
  std::vector<Channel> channels;
  std::vector<Check> checks;                      ///< recordings that were fitted, then those held out
  std::vector<identify::ControlLaw> controllers;  ///< with their gains
  std::vector<Comparison> comparisons;
  /// Per iteration that made them smaller, of the last search alone: those before it, where κ was reached or weights
  /// were found in several, or a replay became longer, had other weights or other parts of the recordings.
  std::vector<double> costs;
  std::vector<Settings> path;  ///< per such iteration, of all searches: what is free, from the start to the answer
  std::string why_stopped, fit;
  bool converged = false, richardson = false;
  int iterations = 0, coordinates = 0, fitted_runs = 0;
  long knots = 0, readings = 0;
  double step = 0, kappa = 0, length = 0, first_cost = 0, cost = 0;
  /// |Δp|², mean over the knots: impulses that the model misses, turning ones over `length`; NaN of a replay, which
  /// misses none.
  double impulse_square = 0;
  double kappa_found = 0;  ///< what the residuals make of it; NaN of a replay, which has none
  double wall_s = 0, solve_s = 0;
  std::vector<std::string> warnings;
};

struct IdentifyResult {
  IdentifySummary summary;
  std::vector<Trajectory> motions;  ///< per fitted recording: joints as `simulate` has them, readings to expect
  Settings fitted;                  ///< by the names of --set
  Settings start;                   ///< of the first recording: initial values, likewise
};

/// Values out of their range and options that contradict each other, all at once.
Failure check_options(const IdentifyOptions& options);

/// Parameters of a machine from recordings of its motion, and what of them can be known. `held_out` are not fitted but
/// foretold. Where the recordings tell nothing of what is free: no_answer.
Result<IdentifyResult> identify(const Model& model, const std::vector<Trajectory>& recordings,
                                const std::vector<Trajectory>& held_out, const IdentifyOptions& options);

}  // namespace kinegraph::task
