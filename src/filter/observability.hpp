#pragma once

#include <cstdint>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include "kinegraph/base/progress.hpp"
#include "kinegraph/base/result.hpp"
#include "kinegraph/filter/state_space.hpp"

namespace kinegraph::filter {

/// A reading to come: a sensor at a time.
struct ScheduledReading {
  double t = 0;
  int sensor = 0;
};

struct ObservabilityOptions {
  double step = 0.01;  ///< longest step of the motion, s
  /// What is a large change of each number of δ: 1 rad, the length of a link, the top speed, the largest force to be
  /// expected. Directions are compared in these units. Empty: 1 each (rad, m, rad/s, …).
  VectorXd sizes = {};
  /// What is known of the start beforehand: numbers of δ with their standard deviation.
  struct Known {
    int column = 0;
    double sd = 0;
  };
  std::vector<Known> known = {};
  int trials = 4;       ///< motions from other starts, besides the given one
  double spread = 0.3;  ///< how far from it, in sizes
  std::uint64_t seed = 1;
  double tolerance = 1e-8;  ///< singular values below this, relative to the largest, are zero
  /// A direction is practically unobservable if the readings leave a standard deviation of more than so many sizes: a
  /// full turn.
  double worthless = 2 * std::numbers::pi;
  Progress progress = {};
};

/// A change of the start that the readings do not show.
struct HiddenDirection {
  struct Share {
    int column = 0;
    double share = 0;  ///< of the squared length of the direction, in sizes
  };
  std::vector<Share> shares;  ///< 5 % or more, largest first
  std::string name;           ///< "theta.q", "theta.q together with phi.q"
  double sd = 0;              ///< what the readings leave, in sizes; infinity if nothing is seen at all
};

struct ObservabilityReport {
  int tangent = 0, rank = 0;
  int rank_at_start = 0;           ///< of the given start alone; less than `rank` at singular poses
  Chart chart;                     ///< in which δ is meant, at `start`
  VectorXd start;                  ///< of the motion from which most is seen
  std::vector<std::string> names;  ///< of the numbers of δ
  VectorXd sd;  ///< the least standard deviation that an estimate of the start could have (Cramér–Rao); infinity: none
  std::vector<HiddenDirection> unobservable;
  std::vector<HiddenDirection> practically;  ///< seen, but worse than is of any use

  bool observable() const { return unobservable.empty() && practically.empty(); }
  std::vector<std::string> sentences() const;  ///< what cannot be seen, in words; empty if all can
};

/// What readings at the given times (rising) could tell of the state at t0, whatever the estimator: motions are rolled
/// out from x0 and from starts near it, without process noise, and linearised (see observability.cpp). One motion alone
/// gives false alarms, as that of a machine at rest: the one from which most is seen counts.
/// no_answer if not even one motion can be followed.
Result<ObservabilityReport> observability(StateSpace& space, const VectorXd& x0, double t0,
                                          std::span<const ScheduledReading> schedule,
                                          const ObservabilityOptions& options = {});

}  // namespace kinegraph::filter
