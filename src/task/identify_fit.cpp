#include "kinegraph/task/identify_fit.hpp"

#include <algorithm>
#include <cmath>

#include "kinegraph/identify/natural_kappa.hpp"
#include "kinegraph/task/identify_compare.hpp"

namespace kinegraph::task {
namespace {

constexpr double kDefaultStep = 0.01;
constexpr double kDefaultNoise = 1e-3;

template <class F>
double total(const std::vector<identify::Problem>& problems, F f) {
  double sum = 0;
  for (const identify::Problem& problem : problems) sum += static_cast<double>(f(problem));
  return sum;
}

/// Where κ is large the motion has to follow the model over the whole recording, and the way there is narrow: κ grows
/// in stages, each of which starts from the motion of the one before. Shares of κ, the last is 1. `large`: κ over what
/// suits the machine.
std::vector<double> stages(double large) {
  constexpr double kDirect = 100, kFactor = 100;
  std::vector<double> shares = {1};
  for (; large > kDirect; large /= kFactor) shares.insert(shares.begin(), shares.front() / kFactor);
  return shares;
}

/// Leaves the problems as they are at an answer; rows that they kept are of another search.
void evaluate(const identify::Parameters& parameters, std::vector<identify::Problem>& problems,
              const Eigen::VectorXd& x, const std::vector<std::vector<double>>& poses) {
  const Result<identify::MachinePoint> machine = parameters.at(x, false);
  for (std::size_t r = 0; machine && r < problems.size(); ++r) {
    problems[r].keep_rows(false);
    problems[r].cost(*machine, poses[r]);
  }
}

Result<identify::SolverReport> solve_in_stages(const identify::Parameters& parameters,
                                               std::vector<identify::Problem>& problems, Eigen::VectorXd& x,
                                               std::vector<std::vector<double>>& poses, double large,
                                               const IdentifyOptions& options,
                                               const std::function<void(double share)>& make,
                                               const identify::SolverOptions& common, const Progress& progress) {
  identify::SolverReport report;
  const std::vector<double> shares = stages(large);
  const double count = static_cast<double>(shares.size());
  for (std::size_t stage = 0; stage < shares.size(); ++stage) {
    make(shares[stage]);
    identify::SolverOptions solver = common;
    const bool last = stage + 1 == shares.size();
    solver.lend = last && common.lend;
    solver.measure = last && !options.reestimate;
    solver.absorbed = last && options.reestimate;
    solver.progress = part_of(progress, static_cast<double>(stage) / count, static_cast<double>(stage + 1) / count);
    Result<identify::SolverReport> one = identify::solve(parameters, problems, x, poses, solver);
    if (!one) return one.failure();
    continue_search(report, *one);
    report = *std::move(one);
  }
  return report;
}

/// Where readings do not tell the whole motion, what a first guess makes of the rest leaves the truth after some
/// swings, and no search finds back there. Recordings are then fitted from their beginnings on, a few steps more each
/// time, which are guessed from the motion and the parameters so far.
std::optional<Failure> lead_along(const Model& model, const identify::Parameters& parameters,
                                  std::vector<identify::Run>& runs, const identify::RunOptions& run_options,
                                  const identify::Weights& weights, const IdentifyOptions& options,
                                  const identify::SolverOptions& common, Eigen::VectorXd& x,
                                  std::vector<std::vector<double>>& poses, const Progress& progress) {
  constexpr int kFirst = 50, kIterations = 10;
  constexpr double kGrowth = 1.15;
  const maximal::Mechanism& mechanism = parameters.mechanism();
  const std::size_t stored = static_cast<std::size_t>(mechanism.stored());
  int longest = 0;
  bool told = true;
  for (const identify::Run& run : runs) {
    longest = std::max(longest, run.knots() - 1);
    told = told && identify::readings_tell_all(model, mechanism, mechanism.numbers(), run, run_options);
  }
  if (told) return {};
  identify::SolverOptions solver = common;
  solver.measure = solver.lend = false;
  solver.most_iterations = std::min(common.most_iterations, kIterations);
  for (int steps = kFirst; steps < longest; steps = std::max(steps + kFirst, static_cast<int>(kGrowth * steps))) {
    std::vector<identify::Problem> problems;
    problems.reserve(runs.size());
    std::vector<std::vector<double>> some;
    for (std::size_t r = 0; r < runs.size(); ++r) {
      const int part = std::min(steps, runs[r].knots() - 1);
      problems.emplace_back(model, parameters.shared_mechanism(), beginning_of(runs[r], part),
                            regularization_of(options), weights);
      some.emplace_back(poses[r].begin(), poses[r].begin() + static_cast<std::ptrdiff_t>((part + 2) * stored));
    }
    const double done = std::pow(static_cast<double>(steps) / longest, 2);
    solver.progress = part_of(progress, done, done);
    Eigen::VectorXd there = x;
    const Result<identify::SolverReport> one = identify::solve(parameters, problems, there, some, solver);
    if (!one && one.failure().kind == Failure::Kind::interrupted) return one.failure();
    const Result<identify::MachinePoint> machine = parameters.at(there, false);
    if (!one || !machine) return {};
    std::vector<std::vector<double>> longer = poses;
    for (std::size_t r = 0; r < runs.size(); ++r) {
      std::copy(some[r].begin(), some[r].end(), longer[r].begin());
      if (steps < runs[r].knots() - 1) {
        identify::guess_further(model, mechanism, machine->numbers, runs[r], run_options, steps, longer[r]);
      }
      const auto finite = [](double p) { return std::isfinite(p); };
      if (!std::all_of(longer[r].begin(), longer[r].end(), finite)) return {};
      identify::set_references(mechanism, machine->numbers, longer[r], runs[r]);
    }
    x = there, poses = std::move(longer);
  }
  return {};
}

/// A long search may have bent the motion to a model that was far off, and end where neither gives way: parameters far
/// from the best ones, "converged". From the motion as it was at first, and the parameters as they are now, it finds
/// out of there. As long as that makes the residuals smaller; short searches went straight and are left alone.
std::optional<Failure> search_again(const identify::Parameters& parameters, std::vector<identify::Problem>& problems,
                                    const std::vector<std::vector<double>>& first_poses, const IdentifyOptions& options,
                                    const identify::SolverOptions& common, Eigen::VectorXd& x,
                                    std::vector<std::vector<double>>& poses, identify::SolverReport& report,
                                    const Progress& progress) {
  constexpr int kLong = 12, kMostTimes = 3;
  constexpr double kBetter = 0.99;  // of the cost: friction that comes and goes makes smaller differences
  if (parameters.size() == 0 || report.iterations <= kLong) return {};
  identify::SolverOptions solver = common;
  solver.measure = !options.reestimate;
  solver.absorbed = options.reestimate;
  solver.progress = progress;
  bool better = true;
  for (int time = 0; time < kMostTimes && better; ++time) {
    Eigen::VectorXd other = x;
    std::vector<std::vector<double>> motion = first_poses;
    Result<identify::SolverReport> one = identify::solve(parameters, problems, other, motion, solver);
    if (!one && one.failure().kind == Failure::Kind::interrupted) return one.failure();
    better = one && one->cost < kBetter * report.cost;
    if (better) {
      continue_search(report, *one);
      report = *std::move(one), x = std::move(other), poses = std::move(motion);
    } else if (one) {
      report.iterations += one->iterations;
      report.seconds += one->seconds;
    }
  }
  if (!better) evaluate(parameters, problems, x, poses);
  return {};
}

/// A long simulation answers to its parameters so much that far from the answer nothing leads there: recordings are
/// fitted from their beginnings on, twice as much of them each time.
Result<identify::SolverReport> solve_replay(const Model& model, const identify::Parameters& parameters,
                                            const std::vector<identify::Run>& runs, const identify::Weights& weights,
                                            const IdentifyOptions& options, std::vector<identify::Problem>& problems,
                                            Eigen::VectorXd& x, std::vector<std::vector<double>>& poses,
                                            const identify::SolverOptions& common, const Progress& progress) {
  constexpr int kParts = 16, kLeastSteps = 50;
  const std::size_t stored = static_cast<std::size_t>(parameters.mechanism().stored());
  identify::SolverReport report;
  double begin = 0;
  for (int part = kParts; part >= 1; part /= 2) {
    problems.clear();
    problems.reserve(runs.size());
    std::vector<std::vector<double>> some;
    for (std::size_t r = 0; r < runs.size(); ++r) {
      const int all = runs[r].knots() - 1, steps = std::min(all, std::max(kLeastSteps, all / part));
      problems.emplace_back(model, parameters.shared_mechanism(), beginning_of(runs[r], steps),
                            regularization_of(options), weights);
      some.emplace_back(poses[r].begin(), poses[r].begin() + static_cast<std::ptrdiff_t>((steps + 2) * stored));
    }
    identify::SolverOptions solver = common;
    solver.measure = part == 1 && !options.reestimate;
    const double end = begin + 0.5 / part;
    solver.progress = part_of(progress, begin, end);
    begin = end;
    Result<identify::SolverReport> one = identify::solve(parameters, problems, x, some, solver);
    if (!one && one.failure().kind == Failure::Kind::no_answer) {
      return Failure::no_answer(
          "fit: the motion cannot be replayed over this recording, it is lost on the way; take --fit states, or less "
          "of "
          "it (--to)");
    }
    if (!one) return one.failure();
    for (std::size_t r = 0; r < runs.size(); ++r) std::copy(some[r].begin(), some[r].end(), poses[r].begin());
    continue_search(report, *one);
    report = *std::move(one);
  }
  return report;
}

/// From the answer without it: Stribeck's friction becomes free, from several starts, of which the best answer counts.
/// `problems` are those of whole recordings.
std::optional<Failure> free_stribeck(const identify::Parameters& parameters, const std::vector<identify::Run>& runs,
                                     const IdentifyOptions& options, std::vector<identify::Problem>& problems,
                                     Eigen::VectorXd& x, std::vector<std::vector<double>>& poses,
                                     identify::SolverReport& report, const identify::SolverOptions& common,
                                     const Progress& progress) {
  const Result<identify::MachinePoint> machine = parameters.at(x, false);
  if (!machine) return machine.failure();
  std::vector<Eigen::VectorXd> starts = stribeck_starts(parameters, x, *machine, runs, poses);
  starts.push_back(x);
  const std::vector<std::vector<double>> from = poses;
  const identify::SolverReport before = report;
  int iterations = report.iterations;
  double seconds = report.seconds;
  std::size_t best = starts.size();
  for (std::size_t i = 0; i < starts.size(); ++i) {
    identify::SolverOptions solver = common;
    solver.frozen.clear();
    solver.measure = !options.reestimate;
    solver.progress = part_of(progress, static_cast<double>(i) / static_cast<double>(starts.size()),
                              static_cast<double>(i + 1) / static_cast<double>(starts.size()));
    std::vector<std::vector<double>> motion = from;
    Result<identify::SolverReport> one = identify::solve(parameters, problems, starts[i], motion, solver);
    if (!one && one.failure().kind == Failure::Kind::interrupted) return one.failure();
    if (!one) continue;
    iterations += one->iterations;
    seconds += one->seconds;
    if (best < starts.size() && !(one->cost < report.cost)) continue;
    continue_search(before, *one);
    best = i, x = starts[i], poses = std::move(motion), report = *std::move(one);
  }
  report.iterations = iterations;
  report.seconds = seconds;
  evaluate(parameters, problems, x, poses);
  return {};
}

void warn(const std::vector<Diagnostic>& found, std::vector<std::string>& warnings) {
  for (const Diagnostic& warning : found) {
    const std::string place = to_string(warning.where);
    warnings.push_back(place.empty() ? warning.message : place + ": " + warning.message);
  }
}

}  // namespace

void continue_search(const identify::SolverReport& before, identify::SolverReport& after) {
  std::vector<Eigen::VectorXd> path = before.path;
  const bool same = !path.empty() && !after.path.empty() && path.back() == after.path.front();
  path.insert(path.end(), after.path.begin() + (same ? 1 : 0), after.path.end());
  after.path = std::move(path);
  after.iterations += before.iterations;
  after.seconds += before.seconds;
}

identify::Run beginning_of(const identify::Run& run, int steps) {
  identify::Run part = run;
  if (steps >= run.knots() - 1) return part;
  part.times.resize(steps + 1);
  part.input.resize(steps);
  std::erase_if(part.readings, [&](const identify::Reading& reading) { return reading.knot >= steps; });
  return part;
}

Progress part_of(const Progress& progress, double begin, double end) {
  if (!progress) return {};
  return [progress, begin, end](double share) { return progress(begin + share * (end - begin)); };
}

double default_step(const std::vector<Trajectory>& recordings) {
  std::vector<double> intervals;
  for (const Trajectory& table : recordings) {
    for (int i = 1; i < table.samples(); ++i) {
      const double interval = table.times()[i] - table.times()[i - 1];
      if (interval > 0) intervals.push_back(interval);
    }
  }
  if (intervals.empty()) return kDefaultStep;
  const auto middle = intervals.begin() + static_cast<std::ptrdiff_t>(intervals.size() / 2);
  std::nth_element(intervals.begin(), middle, intervals.end());
  return std::max(kDefaultStep, *middle);
}

Result<FitData> read_data(const Model& model, const maximal::Mechanism& mechanism,
                          const std::vector<Trajectory>& recordings, const std::vector<Trajectory>& held_out,
                          const IdentifyOptions& options, double step) {
  FitData data;
  data.options.step = step;
  data.options.noise = options.noise;
  data.options.smoothing = options.smoothing;
  data.options.held = options.held;
  data.options.controllers = options.controllers;
  data.options.from = options.from;
  data.options.to = std::min(options.to, options.validate_from);
  Result<identify::Recordings> fitted = identify::read_runs(model, mechanism, recordings, data.options);
  if (!fitted) return fitted.failure();
  data.model = std::move(fitted->model);
  data.runs = std::move(fitted->runs);
  warn(fitted->warnings, data.warnings);
  const auto hold_out = [&](const std::vector<Trajectory>& tables, double from, double to) -> std::optional<Failure> {
    if (tables.empty()) return {};
    identify::RunOptions part = data.options;
    part.from = from;
    part.to = to;
    Result<identify::Recordings> read = identify::read_runs(data.model, mechanism, tables, part);
    if (!read) return read.failure();
    data.model = std::move(read->model);
    for (identify::Run& run : read->runs) data.held_out.push_back(std::move(run));
    warn(read->warnings, data.warnings);
    return {};
  };
  if (std::isfinite(options.validate_from)) {
    if (const auto failure = hold_out(recordings, options.validate_from, options.to)) return *failure;
  }
  if (const auto failure = hold_out(held_out, options.from, options.to)) return *failure;
  return data;
}

maximal::Regularization regularization_of(const IdentifyOptions& options) {
  return {options.compliance, options.compliance, options.relaxation};
}

identify::Weights weights_of(const std::vector<Sensor>& sensors, const std::vector<identify::Run>& runs,
                             const IdentifyOptions& options) {
  identify::Weights weights;
  weights.loss = options.loss;
  weights.loss_scale = options.loss_scale;
  weights.hard = options.fit == "replay";
  for (const Sensor& sensor : sensors) {
    for (const SensorChannel& channel : sensor.channels) {
      const double otherwise = options.noise > 0 ? options.noise : kDefaultNoise;
      weights.noise.push_back(channel.noise > 0 ? channel.noise : otherwise);
    }
  }
  const double unit = noise_unit(sensors, runs, weights);
  weights.kappa = options.kappa / (unit * unit);
  weights.length = options.length;
  return weights;
}

double noise_unit(const std::vector<Sensor>& sensors, const std::vector<identify::Run>& runs,
                  const identify::Weights& weights) {
  std::vector<char> used(sensors.size(), 0);
  for (const identify::Run& run : runs) {
    for (const identify::Reading& reading : run.readings) used[reading.sensor] = 1;
  }
  double sum = 0;
  int count = 0;
  const std::vector<identify::ChannelPlace> places = identify::channel_places(sensors);
  for (std::size_t c = 0; c < places.size(); ++c) {
    if (used[places[c].sensor]) sum += std::log(weights.noise[c]), ++count;
  }
  return count > 0 ? std::exp(sum / count) : 1;
}

double Fit::impulse_cost() const {
  return total(problems, [](const identify::Problem& p) { return p.impulse_cost(); });
}
double Fit::reading_cost() const {
  return total(problems, [](const identify::Problem& p) { return p.reading_cost(); });
}
long Fit::reading_rows() const {
  return static_cast<long>(total(problems, [](const identify::Problem& p) { return p.reading_rows(); }));
}

void Fit::free_rows() {
  for (identify::Problem& problem : problems) problem.keep_rows(false);
}

Result<Fit> fit(const Model& model, const identify::Parameters& parameters, const std::vector<identify::Run>& runs,
                const identify::RunOptions& run_options, const identify::Weights& weights,
                const IdentifyOptions& options, const FitStart& start, const Progress& progress) {
  Result<identify::MachinePoint> first = parameters.at(start.x, false);
  if (!first) return first.failure();
  std::vector<identify::Run> placed = runs;
  std::vector<std::vector<double>> poses;
  for (std::size_t i = 0; i < placed.size(); ++i) {
    if (start.poses) {
      poses.push_back((*start.poses)[i]);
    } else {
      auto guess = identify::first_guess(model, parameters.mechanism(), first->numbers, placed[i], run_options);
      if (!guess) return guess.failure();
      poses.push_back(*std::move(guess));
    }
    identify::set_references(parameters.mechanism(), first->numbers, poses.back(), placed[i]);
  }
  std::vector<identify::Problem> problems;
  Eigen::VectorXd x = start.x;
  const auto make = [&](double share) {
    identify::Weights now = weights;
    now.hard = false;
    now.kappa *= share;
    problems.clear();
    problems.reserve(runs.size());
    for (const identify::Run& run : placed) {
      problems.emplace_back(model, parameters.shared_mechanism(), run, regularization_of(options), now);
    }
  };
  constexpr double kStates = 0.3, kReplayed = 0.5;  // of the time of a replay, about
  const double unit = noise_unit(model.sensors, runs, weights);
  const double large = start.poses
                           ? 1
                           : weights.kappa * unit * unit /
                                 identify::natural_kappa(parameters.mechanism(), placed, poses, unit, weights.length);
  std::shared_ptr<identify::SolverMemory> memory =
      start.memory ? start.memory : std::make_shared<identify::SolverMemory>();
  identify::SolverOptions common;
  common.memory = memory.get();
  common.most_iterations = options.iterations;
  common.lend = start.lend && options.reestimate && !weights.hard && parameters.size() > 0;
  // The beginning of a recording, fast as it mostly is, tells little of Stribeck's friction, and leads it astray.
  std::vector<bool>& frozen = common.frozen;
  if (weights.hard) frozen = stribeck_coordinates(parameters);
  if (std::find(frozen.begin(), frozen.end(), true) == frozen.end()) frozen.clear();
  const double replayed = frozen.empty() ? 1 : kReplayed;
  if (!start.fitted) {
    identify::Weights soft = weights;
    soft.hard = false;
    const auto lost =
        lead_along(model, parameters, placed, run_options, soft, options, common, x, poses, part_of(progress, 0, 0));
    if (lost) return *lost;
  }
  const std::vector<std::vector<double>> first_poses = poses;
  Result<identify::SolverReport> report = solve_in_stages(parameters, problems, x, poses, large, options, make, common,
                                                          part_of(progress, 0, weights.hard ? kStates : 1));
  if (!report) return report.failure();
  const double done = weights.hard ? kStates : 1;
  const auto broken = search_again(parameters, problems, first_poses, options, common, x, poses, *report,
                                   part_of(progress, done, done));
  if (broken) return *broken;
  if (weights.hard) {
    const identify::SolverReport before = *std::move(report);
    report = solve_replay(model, parameters, placed, weights, options, problems, x, poses, common,
                          part_of(progress, kStates, replayed));
    if (!report) return report.failure();
    continue_search(before, *report);
    if (!frozen.empty()) {
      const auto lost = free_stribeck(parameters, placed, options, problems, x, poses, *report, common,
                                      part_of(progress, replayed, 1));
      if (lost) return *lost;
    }
  }
  Result<identify::MachinePoint> machine = parameters.at(x);
  if (!machine) return machine.failure();
  for (std::size_t i = 0; i < problems.size(); ++i) {
    identify::set_references(parameters.mechanism(), machine->numbers, poses[i], placed[i]);
  }
  return Fit{parameters,       std::move(x),        *std::move(machine), std::move(placed),
             std::move(poses), std::move(problems), *std::move(report),  std::move(memory)};
}

Result<Fit> fit_motion(const Model& model, const std::vector<identify::Run>& runs,
                       const identify::RunOptions& run_options, const identify::Weights& weights,
                       const IdentifyOptions& options, const Progress& progress) {
  const Result<identify::Parameters> none = identify::Parameters::make(model, {});
  if (!none) return none.failure();
  identify::Weights soft = weights;
  soft.hard = false;
  return fit(model, *none, runs, run_options, soft, options, {none->start(), nullptr}, progress);
}

}  // namespace kinegraph::task
