#pragma once

#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "kinegraph/base/random.hpp"
#include "kinegraph/filter/plant.hpp"
#include "kinegraph/mechanics/sensor/observer.hpp"
#include "kinegraph/model/trajectory.hpp"

namespace kinegraph::task {

/// How the readings of one sensor go wrong: offset, noise, outliers, rounding, losses. The random numbers are those of
/// the seed and of the names of sensor and channels: they do not change when the model has one sensor more.
class SensorFaults {
 public:
  SensorFaults(const Sensor& sensor, unsigned long seed);

  /// y ← what the sensor says where y would be right. Called for every sample, in order of time. False: lost.
  bool apply(double t, double* y);

 private:
  Sensor sensor_;
  Random sensor_random_;
  std::vector<Random> channel_random_;
  std::vector<double> wander_;  ///< per channel: the part of the offset that is random
  double last_ = 0;
  bool begun_ = false;
};

/// What the sensors of a machine have read so far. Sensor i reads at k / rate, k = 0, 1, ….
class ReadingLog {
 public:
  /// `go_on` is asked now and then, for a step may have many readings: false, stopped() from there on.
  ReadingLog(std::shared_ptr<const sensor::Observer> observer, unsigned long seed, std::function<bool()> go_on = {});

  /// How many bytes a log of a time and its table take, if no reading gets lost.
  static double bytes(const std::vector<Sensor>& sensors, double time);

  const sensor::Observer& observer() const { return *observer_; }
  /// When a sensor reads next; and when any does.
  double due(int sensor) const;
  double next() const;
  /// The sensor that reads next up to a time, of those at the same time the first; −1: none.
  int next_until(double t) const;
  /// The reading of a sensor that is due at t, as the instant says it should be.
  void read(int sensor, double t, const sensor::Instant& instant);

  /// All readings: one row per time at which some arrive (delays included), NaN in the channels of the others.
  Trajectory table() const;
  long lost() const { return lost_; }
  bool stopped() const { return stopped_; }

 private:
  struct Reading {
    double t = 0;  ///< of arrival
    int sensor = 0;
    std::size_t first = 0;  ///< in values_
  };
  std::shared_ptr<const sensor::Observer> observer_;
  std::vector<SensorFaults> faults_;
  std::vector<long> count_;  ///< samples taken, per sensor
  std::deque<Reading> readings_;  // not vectors, which take three times as much while they grow
  std::deque<double> values_;
  std::function<bool()> go_on_;
  long lost_ = 0, asked_ = 0;
  bool stopped_ = false;
};

/// What the sensors of a machine read along a motion that is told step by step.
class Sensing {
 public:
  Sensing(std::unique_ptr<filter::Plant> plant, std::shared_ptr<const sensor::Observer> observer, unsigned long seed,
          std::function<bool()> go_on = {});

  /// The next state of a smooth motion, its steps in order of time. Between two of them
  ///
  ///     v(s): the cubic with v and a of both,    q(s): its integral,    both brought back onto the constraints.
  ///
  /// False: that did not close, or it was stopped().
  bool add(double t, const double* q, const double* v, const double* a);
  /// The readings due at a state, of a motion that has one wherever next() says. `force`: the plant's unknown forces.
  bool at(double t, const double* x, const double* force);

  double next() const { return log_.next(); }
  Trajectory readings() const { return log_.table(); }
  long lost() const { return log_.lost(); }
  bool stopped() const { return log_.stopped(); }

 private:
  bool between(double s, const double* v, const double* a);
  bool read(int sensor, double t, const double* x, const double* force);

  std::unique_ptr<filter::Plant> plant_;
  ReadingLog log_;
  sensor::Instant instant_;
  Eigen::VectorXd x_, v_, a_, between_, dq_, dv_;  ///< x_, a_: the step before
  double t_ = 0, interval_ = 0;
  bool begun_ = false;
};

}  // namespace kinegraph::task
