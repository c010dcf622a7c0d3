#include "kinegraph/task/spatial_inverse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "kinegraph/model/friction_support.hpp"
#include "kinegraph/task/compiled_dynamics.hpp"
#include "kinegraph/task/spatial_solver.hpp"

namespace kinegraph::task {
namespace {

using build::Given;
using screw::Coordinate;

constexpr double kAccelerationLost = 1e-6;
constexpr double kTorqueLost = 0.1;  // of the largest torque: what is more uncertain is no answer

/// Per coordinate: its acceleration is known (a motor follows it, or a floating base is led), or its torque (none).
Result<std::vector<Given>> choose_given(const screw::Tree& tree, const SpatialMotion& motion,
                                        const std::vector<std::string>& asked) {
  const std::vector<Coordinate>& coordinates = tree.coordinates();
  std::vector<Given> given(coordinates.size(), Given::torque);
  std::vector<std::string> valid;
  for (const Coordinate& c : coordinates) valid.push_back(c.name);
  Failure faults{Failure::Kind::bad_input, {}};
  for (const std::string& name : asked) {
    const int c = tree.find_coordinate(name);
    if (c >= 0) {
      given[c] = Given::acceleration;
    } else {
      faults.diagnostics.push_back(
          {Severity::error, {}, fmt::format("actuators: unknown joint '{}'{}", name, did_you_mean(name, valid))});
    }
  }
  if (!faults.diagnostics.empty()) return faults;

  const bool marked = std::any_of(coordinates.begin(), coordinates.end(),
                                  [](const Coordinate& c) { return c.in_loop && c.passive && c.joint >= 0; });
  int motors = 0;
  for (std::size_t c = 0; c < coordinates.size(); ++c) {
    const Coordinate& coordinate = coordinates[c];
    bool motor = !coordinate.passive;
    if (coordinate.in_loop && !marked) {
      motor = false;
      for (int k = 0; k < coordinate.freedoms; ++k) motor = motor || motion.held()[coordinate.v + k];
    }
    const bool led = coordinate.joint < 0;  // a floating base
    if (led || (asked.empty() && motor)) given[c] = Given::acceleration;
    if (coordinate.in_loop && given[c] == Given::acceleration) motors += coordinate.freedoms;
  }
  if (motors < motion.loop_freedoms()) {
    return Failure::bad_input(
        fmt::format("actuators: the loops have {} freedoms and {} motor{}; name {} joints or more "
                    "with --actuators",
                    motion.loop_freedoms(), motors, motors == 1 ? "" : "s", motion.loop_freedoms()));
  }
  return given;
}

/// Samples by generated code, where the ground is at rest and nothing pulls at links; numeric elimination does the
/// rest.
class CodeForSamples {
 public:
  CodeForSamples(const screw::Tree& tree, const std::vector<Given>& given, CompiledDynamics code)
      : tree_(tree), given_(given), code_(std::move(code)), known_(tree.freedoms()), out_(tree.freedoms()) {}

  bool solve(const SpatialMotion& motion, Eigen::VectorXd& a, Eigen::VectorXd& tau) {
    const screw::Surroundings& around = motion.surroundings();
    if (!code_ || around.loads || !around.base_twist.isZero() || !around.base_acceleration.isZero() ||
        around.gravity != tree_.gravity()) {
      return false;
    }
    each([&](int i, bool torque) { known_[i] = torque ? tau[i] : a[i]; });
    if (!code_.run(motion.q().data(), motion.v().data(), known_.data(), out_.data()) || !out_.allFinite()) return false;
    each([&](int i, bool torque) { (torque ? a : tau)[i] = out_[i]; });
    ++solved_;
    return true;
  }

  std::string note(long samples) const {
    if (!code_ || solved_ == samples) return code_.note();
    return fmt::format("{}; {} of {} samples by numeric elimination (loads, a moved base or singular positions)",
                       code_.note(), samples - solved_, samples);
  }

 private:
  template <class F>
  void each(const F& f) const {
    for (std::size_t c = 0; c < given_.size(); ++c) {
      const Coordinate& coordinate = tree_.coordinates()[c];
      for (int k = 0; k < coordinate.freedoms; ++k) f(coordinate.v + k, given_[c] == Given::torque);
    }
  }

  const screw::Tree& tree_;
  const std::vector<Given>& given_;
  CompiledDynamics code_;
  Eigen::VectorXd known_, out_;
  long solved_ = 0;
};

/// How certain torques are near singular positions of loops: what becomes of them when the last digits of the table are
/// others.
class TorqueDoubt {
 public:
  explicit TorqueDoubt(const screw::Tree& tree) : tree_(tree), clear_(0) {}

  /// At a sample: before it is solved, so that `dynamics` keeps the sample itself.
  void try_others(const SpatialMotion& motion, build::Dynamics& dynamics) {
    tried_ = motion.near_singular();
    if (!tried_) return;
    const MarchState other = motion.shifted();
    Eigen::VectorXd a = other.a;
    tau_.setZero(tree_.freedoms());
    Eigen::VectorXd q = motion.q();
    for (const Coordinate& c : tree_.coordinates()) {
      if (c.in_loop) q.segment(c.q, c.stored) = other.q.segment(c.q, c.stored);
    }
    tried_ = dynamics.solve(q.data(), other.v.data(), a.data(), tau_.data(), motion.surroundings()).ok;
  }
  /// `a` is what the equations of motion say, which must be what closes the loops.
  void compare(double t, const SpatialMotion& motion, const Eigen::VectorXd& a, const Eigen::VectorXd& tau) {
    for (const Coordinate& c : tree_.coordinates()) {
      for (int i = c.v; motion.near_singular() && c.in_loop && i < c.v + c.freedoms; ++i) {
        const double off = std::abs(a[i] - motion.a()[i]);
        if (off > kAccelerationLost * (1 + a.lpNorm<Eigen::Infinity>()) && off > lost_) {
          lost_ = off, when_lost_ = t, lost_joint_ = i;
        }
      }
    }
    if (!tried_) {
      clear_ = std::max(clear_, tau.lpNorm<Eigen::Infinity>());
      return;
    }
    Eigen::Index worst = 0;
    const double doubt = (tau - tau_).cwiseAbs().maxCoeff(&worst);
    if (doubt > largest_)
      largest_ = doubt, when_ = t, joint_ = static_cast<int>(worst), tau_there_ = std::abs(tau[worst]);
  }
  double largest() const { return largest_; }
  double when() const { return when_; }
  /// An answer that is none: as uncertain as the largest torque of the rows that are far from singular positions.
  std::optional<Failure> failure() const {
    if (lost_ > 0) {
      return Failure::no_answer(fmt::format(
          "at t = {:g} s the motion does not determine the torques: the loops are in a singular position, and "
          "the equations of motion leave '{}' off by {:.2g} from what closes them",
          when_lost_, tree_.acceleration_names()[lost_joint_], lost_));
    }
    const double scale = clear_ > 0 ? clear_ : tau_there_;
    if (!(largest_ > kTorqueLost * scale)) return std::nullopt;
    return Failure::no_answer(fmt::format(
        "at t = {:g} s the motion does not determine the torques: the loops are in a singular position, and "
        "the last digits of the table change '{}' by {:.3g} (N m, N)",
        when_, tree_.torque_names()[joint_], largest_));
  }
  std::string text() const {
    return fmt::format("the last digits of the table change '{}' by {:.2g} (N m, N) at t = {:g} s",
                       tree_.torque_names()[joint_], largest_, when_);
  }

 private:
  const screw::Tree& tree_;
  Eigen::VectorXd tau_;
  bool tried_ = false;
  double clear_, largest_ = 0, when_ = 0, tau_there_ = 0, lost_ = 0, when_lost_ = 0;
  int joint_ = 0, lost_joint_ = 0;
};

Result<CompiledDynamics> make_code(const std::shared_ptr<const screw::Tree>& tree, const std::vector<Given>& given,
                                   const SpatialInverseOptions& options) {
  if (!options.compiled) return CompiledDynamics();
  if (options.reactions) return CompiledDynamics::none("joint forces are asked for");
  return CompiledDynamics::make(tree, given, options.progress);
}

}  // namespace

Result<SpatialDynamicsResult> spatial_inverse(const Model& model, const Trajectory& table,
                                              const SpatialInverseOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  if (auto known = screw_friction(model.robot); !known) return known.failure();
  const auto start = make_spatial_start(model);
  if (!start) return start.failure();
  const screw::Tree& tree = *start->tree;
  const auto columns = find_spatial_columns(tree, table, model.points);
  if (!columns) return columns.failure();
  auto motion = SpatialMotion::make(*start, table, *columns, {true, options.noise});
  if (!motion) return motion.failure();
  const auto given = choose_given(tree, *motion, options.actuators);
  if (!given) return given.failure();
  SpatialSolver solver(start->tree, options.ordering, options.planar_loops);
  const auto dynamics = solver.plan(*given);
  if (!dynamics) return dynamics.failure();

  Result<CompiledDynamics> made = make_code(start->tree, *given, options);
  if (!made) return made.failure();
  CodeForSamples code(tree, *given, *std::move(made));

  SpatialRecord record(start->tree, options.reactions, table.samples());
  TorqueDoubt doubt(tree);
  Eigen::VectorXd a(tree.freedoms()), tau(tree.freedoms());
  for (int k = 0; k < table.samples(); ++k) {
    if (auto done = motion->go_to(k); !done) return done.failure();
    doubt.try_others(*motion, **dynamics);
    a = motion->a();
    tau.setZero();
    build::Dynamics::Outcome outcome;
    outcome.ok = code.solve(*motion, a, tau);
    if (outcome.ok) {
      (*dynamics)->write(motion->q().data(), motion->v().data(), a.data(), tau.data(), motion->surroundings());
    } else {
      const auto solved = solver.solve(**dynamics, *motion, table.times()[k], a, tau);
      if (!solved) return solved.failure();
      outcome = *solved;
    }
    doubt.compare(table.times()[k], *motion, a, tau);
    record.add(table.times()[k], *motion, a, tau, **dynamics, outcome);
    if (options.progress && k % 256 == 0 && !options.progress(double(k) / table.samples())) {
      return Failure::interrupted();
    }
  }

  if (const auto lost = doubt.failure()) return *lost;
  SpatialDynamicsResult result{record.take(), record.summary(*motion)};
  SpatialDynamicsSummary& summary = result.summary;
  summary.torque_doubt = doubt.largest();
  if (doubt.largest() > 0 && !summary.warnings.empty()) summary.warnings.back() += "; " + doubt.text();
  for (std::size_t c = 0; c < given->size(); ++c) {
    if ((*given)[c] == Given::acceleration) summary.actuators.push_back(tree.coordinates()[c].name);
  }
  summary.degrees_of_freedom = start->mobility.freedoms;
  if (options.compiled) summary.code = code.note(table.samples());
  summary.ordering = options.ordering.empty() ? "best" : options.ordering;
  summary.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  summary.sample_us = summary.wall_s / table.samples() * 1e6;
  return result;
}

}  // namespace kinegraph::task
