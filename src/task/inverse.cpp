#include "kinegraph/task/inverse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "kinegraph/model/friction_support.hpp"
#include "kinegraph/task/branch_march.hpp"
#include "kinegraph/task/differentiate.hpp"
#include "kinegraph/task/motion.hpp"
#include "kinegraph/task/natural_positions.hpp"
#include "kinegraph/task/recorder.hpp"

namespace kinegraph::task {
namespace {

constexpr double kLargeStep = 0.2;  // a step of a prescribed coordinate that is no longer small (rad, m)
constexpr double kUseless = 1e-6;   // quality below which coordinates do not determine the mechanism

constexpr int kLooked = 60;  // coordinates up to which every row is looked at for singular positions

/// A column of the motion file that prescribes a coordinate.
struct Prescribed {
  int series = 0;
  std::string name;
  int coordinate = 0;
  bool relative = false, angle = false;
};

Location header(const Trajectory& motion, int series = -1) {
  const bool known = series >= 0 && series < static_cast<int>(motion.columns.size());
  return {motion.file, motion.header_line, known ? motion.columns[series] : motion.file.empty() ? 0 : 1};
}

/// Columns named like coordinates. Rates, torques and reactions, which other verbs write, are passed over.
Result<std::vector<Prescribed>> find_columns(const Model& model, const natural::System& system,
                                             const Trajectory& motion) {
  std::vector<std::string> valid;
  for (const RelativeCoordinate& r : model.relative) valid.push_back(r.name + ".q");
  for (const Point& p : model.points) {
    if (!p.fixed) valid.push_back(p.name + ".x"), valid.push_back(p.name + ".y");
  }
  std::vector<Prescribed> found;
  Failure faults{Failure::Kind::bad_input, {}};
  for (int s = 0; s < motion.series(); ++s) {
    const std::string& name = motion.names()[s];
    const std::size_t dot = name.rfind('.');
    const std::string quantity = dot == std::string::npos ? "" : name.substr(dot);
    if (dot != std::string::npos && quantity != ".q" && quantity != ".x" && quantity != ".y") continue;
    const auto ref = model.coordinate(name);
    const int coordinate = ref ? system.index_of(*ref) : -1;
    if (coordinate < 0) {
      faults.diagnostics.push_back({Severity::error, header(motion, s),
                                    fmt::format("unknown coordinate '{}'{}", name, did_you_mean(name, valid))});
      continue;
    }
    const bool relative = ref->what == CoordinateRef::What::relative;
    const bool angle = relative && model.relative[ref->index].type != RelativeCoordinate::Type::relative_position;
    found.push_back({s, name, coordinate, relative, angle});
  }
  if (!faults.diagnostics.empty()) return faults;
  if (found.empty()) {
    return Failure::bad_input(
        header(motion), fmt::format("no column prescribes a coordinate; expected one of {}", fmt::join(valid, ", ")));
  }
  return found;
}

/// As many columns as degrees of freedom, such that they determine the mechanism; relative coordinates first.
Result<std::vector<Prescribed>> choose_columns(std::vector<Prescribed> found, const Start& start, int relative,
                                               const Trajectory& motion) {
  const std::size_t freedom = start.mobility.degrees_of_freedom;
  if (found.size() < freedom) {
    return Failure::bad_input(
        header(motion),
        fmt::format("the mechanism has {} degrees of freedom, the motion prescribes {} coordinate{} ({})", freedom,
                    found.size(), found.size() == 1 ? "" : "s", found.empty() ? "none" : found.front().name));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Prescribed& a, const Prescribed& b) { return a.relative > b.relative; });
  build::IndependentChoice choice(*start.system, relative, start.mobility.redundant);
  // The first selection, in this order, that full pivoting accepts.
  std::vector<char> use(found.size(), 0);
  std::fill(use.begin(), use.begin() + freedom, 1);
  do {
    std::vector<Prescribed> chosen;
    std::vector<int> indices;
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (use[i]) chosen.push_back(found[i]), indices.push_back(found[i].coordinate);
    }
    if (choice.quality(start.q.data(), 0, indices) > kUseless) return chosen;
  } while (std::prev_permutation(use.begin(), use.end()));
  return Failure::bad_input(header(motion), "the prescribed coordinates do not determine the mechanism");
}

/// The model with a motor on every coordinate whose torque is asked for. Its other motors keep their laws.
Result<Model> with_actuators(const Model& model, const std::vector<std::string>& asked, std::vector<int>& given) {
  Model result = model;
  std::vector<std::string> names = asked, valid;
  for (const RelativeCoordinate& r : model.relative) valid.push_back(r.name);
  if (names.empty()) {
    for (const Motor& m : model.motors) names.push_back(model.relative[m.coordinate.value].name);
    if (names.empty()) names = valid;
  }
  std::vector<char> wanted(model.motors.size(), 0);
  for (const std::string& name : names) {
    const auto it = std::find(valid.begin(), valid.end(), name);
    std::optional<int> coordinate;
    if (it != valid.end()) coordinate = static_cast<int>(it - valid.begin());
    for (const Motor& m : model.motors) {
      if (m.name == name) coordinate = m.coordinate.value;
    }
    if (!coordinate) {
      return Failure::bad_input(fmt::format("actuators: unknown coordinate '{}'{}{}", name, did_you_mean(name, valid),
                                            valid.empty() ? "; the model has no relative coordinates" : ""));
    }
    bool there = false;
    for (std::size_t m = 0; m < model.motors.size(); ++m) {
      if (model.motors[m].coordinate.value == *coordinate) there = true, wanted[m] = 1;
    }
    if (!there) result.motors.push_back({name, RelativeIndex(*coordinate), Law(0), 1, 0, {}});
  }
  for (std::size_t m = 0; m < wanted.size(); ++m) {
    if (!wanted[m]) given.push_back(static_cast<int>(m));
  }
  return result;
}

void set_targets(Motion& motion, const std::vector<SmoothMotion>& targets, int k) {
  const build::NaturalChain& names = motion.names();
  for (std::size_t c = 0; c < targets.size(); ++c) {
    motion.at(motion.last(), names.target)[c] = targets[c].value[k];
    motion.at(motion.last(), names.target_rate)[c] = targets[c].rate[k];
    motion.at(motion.last(), names.target_acceleration)[c] = targets[c].acceleration[k];
  }
}

std::vector<Held> columns_at(const std::vector<Prescribed>& columns, const std::vector<SmoothMotion>& targets, int k) {
  std::vector<Held> held;
  for (std::size_t c = 0; c < columns.size(); ++c) held.push_back({columns[c].coordinate, targets[c].value[k]});
  return held;
}

/// Where the samples are far apart, the next pose is found in stages: an extrapolation would be anywhere.
void leap(const Start& start, Motion& march, double t, const Eigen::VectorXd& last_pose,
          const std::vector<Held>& held) {
  double way = 0;
  for (const Held& h : held) way = std::max(way, std::abs(h.value - last_pose[h.coordinate]));
  if (way < kLargeStep * std::max(1.0, start.system->typical_length())) return;
  if (const auto pose = assemble(start.system, t, last_pose, held)) {
    std::copy(pose->begin(), pose->end(), march.at(march.last(), march.names().q));
  }
}

/// Looks at every row whether it keeps the branch, whatever the solver says.
class RowWatch {
 public:
  RowWatch(const Model& model, const Start& start, const std::vector<int>& leading, double digits)
      : positions_(model, start.system, start.q),
        march_(positions_, leading, positions_.others(leading), positions_.names(),
               {true, std::clamp(std::cbrt(digits), 1e-3, 0.05), 0, digits, positions_.changes() <= kLooked}) {}

  Result<std::monostate> look(Motion& found, double t) {
    const Eigen::Index n = positions_.changes();
    using Part = Eigen::Map<const Eigen::VectorXd>;
    const int k = found.last();
    positions_.set_time(t);
    const auto done = march_.watch({t, Part(found.q(k), n), Part(found.v(k), n), Part(found.a(k), n)});
    if (done) return done;
    return Failure::no_answer(fmt::format("the mechanism cannot follow the motion to t = {:g} s: {}", t,
                                          done.failure().diagnostics.front().message));
  }
  std::vector<std::string> warnings() const { return march_.warnings(); }

 private:
  NaturalPositions positions_;
  BranchMarch march_;
};

/// Columns beyond those that determine the mechanism: they are not used, so they are compared.
class OtherColumns {
 public:
  OtherColumns(const std::vector<Prescribed>& found, const std::vector<Prescribed>& used, const Trajectory& motion,
               double noise)
      : motion_(motion), noise_(noise) {
    for (const Prescribed& column : found) {
      const auto same = [&](const Prescribed& p) { return p.series == column.series; };
      if (std::none_of(used.begin(), used.end(), same)) others_.push_back({column});
    }
    for (const Prescribed& p : used) used_ += (used_.empty() ? "" : ", ") + p.name;
  }
  void compare(int k, const double* q) {
    for (Other& other : others_) {
      const double given = motion_.at(k, other.column.series);
      double off = given - q[other.column.coordinate];
      if (other.column.angle) off = std::remainder(off, 2 * std::numbers::pi);
      other.low = std::min(other.low, given), other.high = std::max(other.high, given);
      if (std::abs(off) > std::abs(other.off)) other.off = off, other.t = motion_.times()[k];
    }
  }
  std::vector<std::string> warnings() const {
    std::vector<std::string> told;
    for (const Other& other : others_) {
      const int series = other.column.series;
      const double digits = series < static_cast<int>(motion_.resolution.size()) ? motion_.resolution[series] : 0;
      if (std::abs(other.off) <= std::max({kAgrees * (other.high - other.low), 6 * noise_, 2 * digits, kSame}))
        continue;
      told.push_back(
          fmt::format("column '{}' contradicts {}, which determine{} the mechanism, and was not used: at t = "
                      "{:g} s it is off by {:.3g} {}",
                      other.column.name, used_, used_.find(',') == std::string::npos ? "s" : "", other.t, other.off,
                      other.column.angle ? "rad" : "m"));
    }
    return told;
  }

 private:
  static constexpr double kAgrees = 0.01, kSame = 1e-6;  // share of the column's range; m or rad
  struct Other {
    Prescribed column;
    double low = std::numeric_limits<double>::infinity(), high = -low, off = 0, t = 0;
  };
  const Trajectory& motion_;
  double noise_;
  std::vector<Other> others_;
  std::string used_;
};

Failure cannot_follow(const Start& start, double t, const Eigen::VectorXd& last_pose, const std::vector<Held>& held) {
  const auto pose = assemble(start.system, t, last_pose, held);
  return Failure::no_answer(
      fmt::format("the mechanism cannot follow the motion past t = {:g} s: {}", t,
                  pose ? "its torques are not determined there" : pose.failure().diagnostics.front().message));
}

}  // namespace

Result<InverseResult> inverse(const Model& original, const Trajectory& motion, const InverseOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  if (motion.samples() == 0) return Failure::bad_input(header(motion), "the motion has no samples");
  std::vector<int> given_inputs;
  auto actuated = with_actuators(original, options.actuators, given_inputs);
  if (!actuated) return actuated.failure();
  const Model& model = *actuated;
  const int relative = static_cast<int>(model.relative.size());

  const auto step = motion.samples() > 1 ? motion.even_step() : Result<double>(1.0);
  if (!step) return step.failure();
  if (auto known = natural_friction(model); !known) return known.failure();
  auto start = make_start(model);
  if (!start) return start.failure();
  const natural::System& system = *start->system;
  auto found = find_columns(model, system, motion);
  if (!found) return found.failure();
  auto columns = choose_columns(*found, *start, relative, motion);
  if (!columns) return columns.failure();
  const int freedom = start->mobility.degrees_of_freedom;
  const int unknown = system.motors() - static_cast<int>(given_inputs.size());
  if (unknown != freedom) {
    return Failure::bad_input(
        fmt::format("actuators: {} torques are asked for, the mechanism has {} degrees of freedom; name {} with "
                    "--actuators",
                    unknown, freedom, freedom == 1 ? "one" : fmt::format("{}", freedom)));
  }

  std::vector<SmoothMotion> targets;
  build::NaturalOptions graph;
  InverseSummary summary;
  double digits = 0;
  for (const Prescribed& p : *columns) {
    std::vector<double> samples = motion.column(p.series);
    if (p.angle && within_one_turn(samples)) unwrap(samples);
    const bool printed = p.series < static_cast<int>(motion.resolution.size());
    targets.push_back(differentiate(samples, *step, printed ? motion.resolution[p.series] : 0.0, options.noise));
    if (printed) digits = std::max(digits, motion.resolution[p.series]);
    graph.given.prescribed.push_back(p.coordinate);
    summary.prescribed.push_back(p.name);
    summary.following_error_max = std::max(summary.following_error_max, targets.back().residual_max);
  }
  graph.given.inputs = false;
  graph.given.known_inputs = given_inputs;
  graph.redundant = start->mobility.redundant;
  graph.step = *step;
  auto pose = assemble(start->system, motion.times()[0], start->q, columns_at(*columns, targets, 0));
  if (!pose) return pose.failure();

  Motion march(*start, graph, relative, 2);
  march.begin(motion.times()[0], *pose, Eigen::VectorXd::Zero(system.coordinates()), start->a, start->lambda);
  Recorder recorder(model, start->system, options.reactions);
  InverseResult result;
  result.trajectory = Trajectory(recorder.names());
  result.trajectory.reserve(motion.samples());
  std::vector<double> phi(system.constraints());
  long iterations = 0;
  Eigen::VectorXd last_pose = *pose;
  RowWatch watch(model, *start, graph.given.prescribed, digits);
  OtherColumns others(*found, *columns, motion, options.noise);
  for (int k = 0; k < motion.samples(); ++k) {
    const double t = motion.times()[k];
    march.advance(t);
    set_targets(march, targets, k);
    leap(*start, march, t, last_pose, columns_at(*columns, targets, k));
    const ChainOutcome outcome = march.solve();
    if (!outcome.converged || !system.proper(march.q(march.last())))
      return cannot_follow(*start, t, last_pose, columns_at(*columns, targets, k));
    if (auto kept = watch.look(march, t); !kept) return kept.failure();
    std::copy_n(march.q(march.last()), last_pose.size(), last_pose.begin());
    others.compare(k, march.q(march.last()));
    iterations += outcome.iterations;
    const int knot = march.last();
    system.position(march.q(knot), t, phi.data(), nullptr);
    for (double p : phi) summary.constraint_max = std::max(summary.constraint_max, std::abs(p));
    const double* row = recorder.row(march.q(knot), march.v(knot), march.a(knot), march.lambda(knot), march.u(knot), t);
    std::copy(row, row + recorder.names().size(), result.trajectory.append(t));
    if (options.progress && k % 256 == 0 && !options.progress(double(k) / motion.samples())) {
      return Failure::interrupted();
    }
  }

  for (int m = 0; m < system.motors(); ++m) {
    if (std::find(given_inputs.begin(), given_inputs.end(), m) != given_inputs.end()) continue;
    summary.actuators.push_back(model.motors[m].name);
    const int series = result.trajectory.find(model.motors[m].name + ".tau");
    double peak = 0, square = 0;
    for (int k = 0; k < motion.samples(); ++k) {
      const double tau = result.trajectory.at(k, series);
      peak = std::max(peak, std::abs(tau));
      square += tau * tau;
    }
    summary.torque_peak.push_back(peak);
    summary.torque_rms.push_back(std::sqrt(square / motion.samples()));
  }
  summary.warnings = watch.warnings();
  for (std::string& warning : others.warnings()) summary.warnings.push_back(std::move(warning));
  summary.samples = motion.samples();
  summary.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  summary.sample_us = summary.wall_s / motion.samples() * 1e6;
  summary.iterations_mean = double(iterations) / motion.samples();
  result.summary = std::move(summary);
  return result;
}

}  // namespace kinegraph::task
