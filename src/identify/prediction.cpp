#include "kinegraph/identify/prediction.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "kinegraph/base/numbers.hpp"
#include "kinegraph/identify/expected_reading.hpp"

namespace kinegraph::identify {
namespace {

using Eigen::VectorXd;

constexpr double kTickSlack = 1e-6;  // of a step

/// What is left of a difference of angles that are read modulo a turn; 0: no angles.
double shorter_way(double angle, double turn) { return turn > 0 ? angle - turn * std::round(angle / turn) : angle; }

/// What a channel may be read modulo.
double turn_of(const Sensor& sensor, const SensorChannel& channel) {
  const bool angle = channel.circular || (sensor.type == SensorType::encoder && channel.unit == "rad");
  return angle ? kTurn * std::abs(channel.scale) : 0;
}

/// Readings of one channel beside what was foretold.
class ErrorSum {
 public:
  void add(double y, double expected, double turn, double before) {
    const double error = shorter_way(y - expected, turn);
    // what is compared with its mean must not jump by a turn
    if (!seen_.empty()) y = seen_.back() + shorter_way(y - seen_.back(), turn);
    seen_.push_back(y);
    squares_ += error * error;
    if (std::isnan(before)) return;
    const double change = shorter_way(y - before, turn);
    persistence_ += change * change;
    with_persistence_ += error * error;
  }

  /// Both followed from reading to reading: a turn too many counts.
  void follow(double y, double expected, double turn) {
    expected =
        seen_.empty() ? y - shorter_way(y - expected, turn) : expected_ + shorter_way(expected - expected_, turn);
    if (!seen_.empty()) y = seen_.back() + shorter_way(y - seen_.back(), turn);
    expected_ = expected;
    seen_.push_back(y);
    squares_ += (y - expected) * (y - expected);
  }

  bool empty() const { return seen_.empty(); }

  ChannelError error(const SensorChannel& channel) const {
    ChannelError out{channel.name, channel.unit, static_cast<long>(seen_.size()), kNan, kNan, kNan};
    if (seen_.empty()) return out;
    double mean = 0, spread = 0;
    for (const double y : seen_) mean += y;
    mean /= static_cast<double>(seen_.size());
    for (const double y : seen_) spread += (y - mean) * (y - mean);
    out.rmse = std::sqrt(squares_ / static_cast<double>(seen_.size()));
    if (spread > 0) out.r_squared = 1 - squares_ / spread;
    if (persistence_ > 0) out.persistence = 1 - with_persistence_ / persistence_;
    return out;
  }

 private:
  std::vector<double> seen_;  // continued over turns
  double squares_ = 0, persistence_ = 0, with_persistence_ = 0, expected_ = 0;
};

}  // namespace

std::vector<ChannelPlace> channel_places(const std::vector<Sensor>& sensors) {
  std::vector<ChannelPlace> places;
  for (std::size_t s = 0; s < sensors.size(); ++s) {
    for (std::size_t row = 0; row < sensors[s].channels.size(); ++row) {
      places.push_back({static_cast<int>(s), static_cast<int>(row)});
    }
  }
  return places;
}

struct Predictor::Implementation {
  const MachinePoint& machine;
  std::shared_ptr<const maximal::Mechanism> mechanism;
  const Run& run;
  const std::vector<double>& poses;
  PredictionOptions options;
  step::RegularizedStep stepper;
  ExpectedReading expected;
  step::StepInput input;
  VectorXd q, before, after, reference, target, guess;
  VectorXd earlier;  // velocities of the step before
  bool moved = false;
  std::vector<maximal::Grip> grips;
  std::vector<int> first_reading;  // per knot; one more at the end
  std::vector<int> first_channel;  // per sensor
  std::vector<ErrorSum> errors;    // per channel
  std::vector<ControlLoop> loops;

  Implementation(const MachinePoint& m, std::shared_ptr<const maximal::Mechanism> made_of, const Run& r,
                 const std::vector<double>& p, const PredictionOptions& o)
      : machine(m),
        mechanism(std::move(made_of)),
        run(r),
        poses(p),
        options(o),
        stepper(mechanism, o.regularization),
        expected(m, mechanism) {
    stepper.set_numbers(machine.numbers);
    q.resize(mechanism->stored());
    before.resize(mechanism->tangent());
    after.resize(mechanism->tangent());
    int channels = 0;
    for (const Sensor& sensor : machine.sensors) {
      first_channel.push_back(channels);
      channels += static_cast<int>(sensor.channels.size());
    }
    errors.resize(channels);
    for (std::size_t i = 0; i < options.controllers.size(); ++i) {
      loops.emplace_back(options.controllers[i], run.control[i]);
    }
    first_reading.assign(run.knots() + 1, static_cast<int>(run.readings.size()));
    for (int i = static_cast<int>(run.readings.size()) - 1; i >= 0; --i) first_reading[run.readings[i].knot] = i;
    for (int k = run.knots() - 1; k >= 0; --k) first_reading[k] = std::min(first_reading[k], first_reading[k + 1]);
  }

  int bodies() const { return static_cast<int>(mechanism->bodies().size()); }
  int steps() const { return run.knots() - 1; }
  const double* pose(int knot) const { return poses.data() + static_cast<std::size_t>(knot + 1) * mechanism->stored(); }
  double step_before(int k) const { return run.step(std::max(k - 1, 0)); }

  /// vₖ = (qₖ ⊟ qₖ₋₁)/hₖ₋₁
  void velocity(int k, VectorXd& v) const {
    maximal::local(bodies(), pose(k - 1), pose(k), v.data());
    v /= step_before(k);
  }

  /// What controllers command about the beginning of a step at time t, of length in.h, beside what else drives their
  /// freedoms there, that is about `knot`. What is read later than that is told by the velocity so far.
  void command(double t, int knot, step::StepInput& in) {
    const auto read = [&](int sensor, int row, double at) {
      return expected.read(q.data(), before.data(), before.data(), in.h, (at - t) / in.h, sensor)[row];
    };
    const auto place = [&](const ControlRecord& record) -> double& {
      return (record.control ? in.control : in.torque)[record.freedom];
    };
    for (const ControlLoop& loop : loops) {
      const std::vector<double>& rest = loop.record().rest;
      place(loop.record()) = rest.empty() ? 0 : rest[knot];
    }
    for (ControlLoop& loop : loops) place(loop.record()) += loop.mean(t - 0.5 * in.h, t + 0.5 * in.h, read);
  }

  /// What controllers read in a step that was computed.
  void pass(double t) {
    const auto read = [&](int sensor, int row, double at) {
      return expected.read(q.data(), before.data(), after.data(), input.h, (at - t) / input.h, sensor)[row];
    };
    for (ControlLoop& loop : loops) loop.pass(t + input.h, read);
  }

  /// The state at knot k as sub-steps have it: vₖ is the mean over the step before, that is what it was half a step
  /// ago; of a finer step it is what it was half a finer step ago.
  void start(int k, const std::vector<double>* starts = nullptr) {
    grips.assign(mechanism->freedoms().size(), maximal::Grip::none);
    reference = run.input[std::min(k, steps() - 1)].reference;
    target = VectorXd();
    moved = false;
    for (ControlLoop& loop : loops) loop.start(run.times[k] + kTickSlack * step_before(k));
    bool ahead = options.substeps > 1 && k < steps();
    if (starts) {
      const double* pair = starts->data() + 2 * static_cast<std::size_t>(k) * q.size();
      std::copy_n(pair + q.size(), q.size(), q.data());
      maximal::local(bodies(), pair, q.data(), before.data());
      before /= step_before(k);
      // what the motion does next is not known: what the machine would do is
      if (ahead) {
        input = run.input[k];
        command(run.times[k], k, input);
        ahead = stepper.advance(q.data(), before.data(), input, grips.data(), after.data());
      }
    } else {
      std::copy_n(pose(k), q.size(), q.data());
      velocity(k, before);
      if (ahead) velocity(k + 1, after);
    }
    if (ahead) before += 0.5 * (1 - 1.0 / options.substeps) * (after - before);
    guess = before;
    if (!starts && k < steps()) velocity(k + 1, guess);
  }

  /// One step of the run; `take(reading, y)` for every reading in it if `read`. False: not finite.
  template <class Take>
  bool go(int k, bool read, const Take& take) {
    const int n = options.substeps;
    input = run.input[k];
    input.h = run.step(k) / n;
    const VectorXd aim = input.target;
    if (target.size() != aim.size()) target = aim;
    int reading = first_reading[k], knot = k;  // about which inputs are
    for (int sub = 0; sub < n; ++sub) {
      // forces are means about knots: from the middle on they are those of the next
      if (sub > 0 && 2 * sub >= n && 2 * (sub - 1) < n) {
        knot = std::min(k + 1, steps() - 1);
        input = run.input[knot];
        input.h = run.step(k) / n;
      }
      input.reference = reference;
      if (aim.size() > 0) input.target = target + (sub + 1.0) / n * (aim - target);
      const double t = run.times[k] + sub * input.h;
      command(t, knot, input);
      // speeds go on changing as they did
      if (moved) guess = 2 * before - earlier;
      if (!stepper.advance(q.data(), before.data(), input, grips.data(), after.data(), guess.data())) return false;
      if (!after.allFinite() || !(after.lpNorm<Eigen::Infinity>() * input.h < 1e4)) return false;
      reference = stepper.position();
      pass(t);
      for (; read && reading < first_reading[k + 1]; ++reading) {
        const Reading& taken = run.readings[reading];
        const double s = taken.fraction * n - sub;
        if (s >= 1 && sub < n - 1) break;
        take(taken, expected.read(q.data(), before.data(), after.data(), input.h, s, taken.sensor));
      }
      earlier = before, moved = true;
      before = after;
      after *= input.h;
      maximal::retract(bodies(), q.data(), after.data(), q.data());
    }
    target = aim;
    return true;
  }

  /// Calls f(channel, turn, y, ŷ) for the numbers that a reading has.
  template <class F>
  void each(const Reading& reading, const double* y, const F& f) {
    const Sensor& sensor = machine.sensors[reading.sensor];
    for (std::size_t row = 0; row < sensor.channels.size(); ++row) {
      if (std::isnan(reading.y[row])) continue;
      f(first_channel[reading.sensor] + static_cast<int>(row), turn_of(sensor, sensor.channels[row]), reading.y[row],
        y[row]);
    }
  }

  std::vector<ChannelError> take_errors() {
    std::vector<ChannelError> out;
    const std::vector<ChannelPlace> places = channel_places(machine.sensors);
    for (std::size_t c = 0; c < errors.size(); ++c) {
      if (!errors[c].empty()) out.push_back(errors[c].error(machine.sensors[places[c].sensor].channels[places[c].row]));
      errors[c] = {};
    }
    return out;
  }
};

Predictor::Predictor(const MachinePoint& machine, std::shared_ptr<const maximal::Mechanism> mechanism, const Run& run,
                     const std::vector<double>& poses, const PredictionOptions& options)
    : implementation_(std::make_unique<Implementation>(machine, std::move(mechanism), run, poses, options)) {}

Predictor::~Predictor() = default;

Replay Predictor::replay() {
  Implementation& is = *implementation_;
  Replay out;
  out.poses.reserve(is.poses.size());
  out.poses.assign(is.pose(-1), is.pose(0) + is.q.size());
  out.knots = 1;
  is.start(0);
  const auto take = [&](const Reading& reading, const double* y) {
    is.each(reading, y, [&](int channel, double turn, double read, double foretold) {
      is.errors[channel].follow(read, foretold, turn);
    });
  };
  for (int k = 0; k < is.steps() && is.go(k, true, take); ++k) {
    out.poses.insert(out.poses.end(), is.q.data(), is.q.data() + is.q.size());
    ++out.knots;
  }
  out.complete = out.knots == is.run.knots();
  out.channels = is.take_errors();
  return out;
}

std::vector<ChannelError> Predictor::ahead(double horizon, int every, const std::vector<double>* starts) {
  Implementation& is = *implementation_;
  std::vector<double> last(is.errors.size(), kNan);  // readings before the forecast
  std::vector<double> before;
  int seen = 0;
  for (int k = 0; k < is.steps(); k += std::max(every, 1)) {
    // The last step ends `horizon` after knot k, or is the first to do so; readings are those of the step after it.
    int end = k + 1;
    while (end < is.steps() && is.run.times[end] < is.run.times[k] + horizon * (1 - 1e-9)) ++end;
    if (end >= is.steps()) break;
    for (; seen < is.first_reading[k]; ++seen) {
      is.each(is.run.readings[seen], is.run.readings[seen].y.data(),
              [&](int channel, double, double y, double) { last[channel] = y; });
    }
    before = last;
    for (int i = is.first_reading[k]; i < is.first_reading[k + 1] && is.run.readings[i].t <= is.run.times[k]; ++i) {
      is.each(is.run.readings[i], is.run.readings[i].y.data(),
              [&](int channel, double, double y, double) { before[channel] = y; });
    }
    is.start(k, starts);
    bool finite = true;
    for (int j = k; finite && j <= end; ++j) {
      finite = is.go(j, j == end, [&](const Reading& reading, const double* y) {
        is.each(reading, y, [&](int channel, double turn, double read, double foretold) {
          is.errors[channel].add(read, foretold, turn, before[channel]);
        });
      });
    }
  }
  return is.take_errors();
}

}  // namespace kinegraph::identify
