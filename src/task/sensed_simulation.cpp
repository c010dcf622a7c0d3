#include "kinegraph/task/sensed_simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kinegraph/task/estimate_table.hpp"
#include "kinegraph/task/machine.hpp"
#include "kinegraph/task/maximal_sensing.hpp"
#include "kinegraph/task/option_rules.hpp"
#include "kinegraph/task/sense.hpp"
#include "kinegraph/task/times.hpp"

namespace kinegraph::task {
namespace {

constexpr std::uint64_t kProcessStream = 1;

Failure check_disturbed(const SimulateOptions& o) {
  Failure faults{Failure::Kind::bad_input, {}};
  check_time_and_step(o.time, o.step, faults);
  check_rule(o.every >= 1, "every", "must be >= 1", o.every, faults);
  return faults;
}

/// A motion driven by noise, step by step.
class DisturbedRun {
 public:
  DisturbedRun(Machine& machine, const SensedOptions& options, Sensing* sensing)
      : machine_(machine),
        options_(options.motion),
        sensing_(sensing),
        table_(machine, {.deviations = false, .sensors = false}),
        random_(options.seed, kProcessStream),
        steps_(std::max(1L, std::lround(options.motion.time / options.motion.step))),
        next_(machine.space->stored()),
        normal_(machine.space->noises()),
        row_(table_.names().size()) {
    belief_.x = machine.space->state(machine.q, machine.v);
    const Eigen::VectorXd sd = machine.space->extra_sd();
    const int forces = machine.plant().forces();
    for (int j = 0; j < forces; ++j)
      belief_.x[belief_.x.size() - forces + j] = sd[sd.size() - forces + j] * random_.normal();
    result_.trajectory = Trajectory(table_.names());
    if (options_.begin) options_.begin(table_.names());
  }

  Result<SimulateResult> run() {
    const auto begin = Clock::now();
    if (!record(0)) return no_motion(0);
    for (long k = 1; k <= steps_; ++k) {
      if (!advance(static_cast<double>(k) * options_.step) || !record(k)) return no_motion(belief_.t);
      if (options_.progress && k % 1024 == 0 && !options_.progress(double(k) / double(steps_))) {
        return Failure::interrupted();
      }
    }
    SimulateSummary& s = result_.summary;
    s.wall_s = seconds_since(begin);
    s.steps = steps_;
    s.step = options_.step;
    s.time = belief_.t;
    s.step_us = s.wall_s / double(steps_) * 1e6;
    s.formulation = machine_.tree ? "screw" : "natural";
    s.method = "step";
    s.weights = "hard";
    s.integrator = machine_.plant().options().integrator.name;
    s.degrees_of_freedom = machine_.plant().freedoms();
    return std::move(result_);
  }

 private:
  /// To a time, with a stop at every reading on the way.
  bool advance(double end) {
    filter::MachineSpace& space = *machine_.space;
    while (belief_.t < end) {
      const double due = sensing_ ? sensing_->next() : end;
      const double to = due < end - kSameTime && due > belief_.t + kSameTime ? due : end;
      const double h = to - belief_.t;
      if (!space.advance(belief_.t, h, belief_.x.data(), next_.data())) return false;
      random_.normal(normal_.data(), static_cast<int>(normal_.size()));
      if (!space.disturb(to, h, next_.data(), normal_.data()) || !next_.allFinite()) return false;
      belief_.x.swap(next_);
      belief_.t = to;
      if (to < end && !sense()) return false;
    }
    return true;
  }

  bool sense() {
    const double* x = belief_.x.data();
    return !sensing_ || sensing_->at(belief_.t, x, x + belief_.x.size() - machine_.plant().forces());
  }

  bool record(long k) {
    if (!sense()) return false;
    if (k % options_.every != 0 && k != steps_) return true;
    if (!machine_.space->choose(belief_.t, belief_.x.data(), belief_.chart)) return false;
    if (!table_.row(belief_, {}, row_.data())) return false;
    if (options_.sample) options_.sample(belief_.t, row_.data());
    if (options_.keep) std::copy(row_.begin(), row_.end(), result_.trajectory.append(belief_.t));
    return true;
  }

  static Failure no_motion(double t) {
    return Failure::no_answer(fmt::format("no motion past t = {:g} s; a smaller step may help", t));
  }

  Machine& machine_;
  const SimulateOptions& options_;
  Sensing* sensing_;
  EstimateTable table_;
  Random random_;
  long steps_;
  filter::Belief belief_;
  Eigen::VectorXd next_, normal_;
  std::vector<double> row_;
  SimulateResult result_;
};

/// Readings are kept until the motion ends, when they become a table.
Failure check_readings(const Model& model, const SimulateOptions& o) {
  constexpr double kMost = 1e9;
  Failure faults{Failure::Kind::bad_input, {}};
  const double bytes = ReadingLog::bytes(model.sensors, o.time);
  if (bytes <= kMost) return faults;
  faults.diagnostics.push_back({Severity::error,
                                {},
                                fmt::format("sensors: their readings must take at most {:g} GB of memory, take {:.3g} "
                                            "GB in {:g} s; lower a rate, or the time",
                                            kMost * 1e-9, bytes * 1e-9, o.time)});
  return faults;
}

Result<SensedResult> sense_maximal(const Model& model, const SensedOptions& options, std::function<bool()> go_on) {
  if (options.disturbed) return Failure::bad_input("disturbed: formulation must be natural or screw, is 'maximal'");
  const Result<MaximalStart> start = make_maximal_start(model, options.motion);
  if (!start) return start.failure();
  MaximalSensing sensing(model, start->mechanism, options.seed, std::move(go_on));
  const auto watch = [&](const MaximalStep& step) { sensing.add(step); };
  Result<SimulateResult> motion = simulate_maximal(model, options.motion, watch);
  if (sensing.log().stopped()) return Failure::interrupted();
  if (!motion) return motion.failure();
  return SensedResult{*std::move(motion), sensing.log().table(), sensing.log().lost()};
}

}  // namespace

Result<SensedResult> simulate_sensed(const Model& model, const SensedOptions& asked) {
  SensedOptions options = asked;
  const Progress& progress = asked.motion.progress;
  double share = 0;
  if (progress) options.motion.progress = [&](double done) { return progress(share = done); };
  const auto go_on = [&] { return !progress || progress(share); };
  if (options.sensors && model.sensors.empty()) {
    return Failure::bad_input({model.file, 0, 0}, "sensors: the model has none; docs/formats.md tells how to add one");
  }
  if (options.disturbed) {
    if (Failure faults = check_disturbed(options.motion); !faults.diagnostics.empty()) return faults;
  }
  if (options.sensors) {
    if (Failure faults = check_readings(model, options.motion); !faults.diagnostics.empty()) return faults;
  }
  if (options.motion.formulation == "maximal") return sense_maximal(model, options, go_on);
  MachineSettings settings;
  settings.formulation = options.motion.formulation == "screw" ? "screw" : "natural";
  settings.input = options.motion.input;
  settings.time = options.motion.time;
  if (options.disturbed && !options.motion.integrator.empty()) settings.integrator = options.motion.integrator;
  Result<Machine> machine = make_machine(model, settings);
  if (!machine) return machine.failure();
  if (options.disturbed && machine->assumed_density && machine->unknowns.empty()) {
    return Failure::bad_input({model.file, 0, 0}, "disturbed: the model has neither process noise nor unknown forces");
  }
  std::optional<Sensing> sensing;
  if (options.sensors) sensing.emplace(machine->plant().clone(), machine->observer, options.seed, go_on);

  Result<SimulateResult> motion = Failure::internal("not run");
  bool closed = true;
  if (options.disturbed) {
    motion = DisturbedRun(*machine, options, sensing ? &*sensing : nullptr).run();
  } else {
    SimulateOptions simulation = options.motion;
    simulation.state = [&](double t, const double* q, const double* v, const double* a) {
      if (sensing) closed = closed && sensing->add(t, q, v, a);
    };
    motion = simulate(model, simulation);
  }
  if (sensing && sensing->stopped()) return Failure::interrupted();
  if (!motion) return motion.failure();
  if (!closed) return Failure::no_answer("the sensors have no reading along this motion: it is not finite everywhere");
  SensedResult result{*std::move(motion), {}, 0};
  if (sensing) {
    result.readings = sensing->readings();
    result.lost = sensing->lost();
  }
  return result;
}

}  // namespace kinegraph::task
