#include "kinegraph/task/maximal_simulate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "kinegraph/base/names.hpp"
#include "kinegraph/model/friction_support.hpp"
#include "kinegraph/task/maximal_reactions.hpp"
#include "kinegraph/task/maximal_recorder.hpp"
#include "kinegraph/task/maximal_watch.hpp"
#include "kinegraph/task/option_rules.hpp"
#include "kinegraph/task/times.hpp"

namespace kinegraph::task {
namespace {

constexpr double kNoMotion = 1e4;  // rad or m in one step: this is no motion any more
constexpr double kGives = 0.01;    // rad: joints that give way by more are not held

Failure check_maximal_options(const SimulateOptions& o) {
  Failure faults{Failure::Kind::bad_input, {}};
  check_time_and_step(o.time, o.step, faults);
  check_rule(o.every >= 1, "every", "must be >= 1", o.every, faults);
  check_rule(std::isfinite(o.compliance) && o.compliance > 0, "compliance", "must be > 0", o.compliance, faults);
  check_rule(std::isfinite(o.relaxation) && o.relaxation >= 0, "relaxation", "must be >= 0", o.relaxation, faults);
  check_rule(o.method == "smoother" || o.method == "step", "method", "must be step with formulation maximal", o.method,
             faults);
  check_rule(o.integrator.empty() || o.integrator == "regularized", "integrator",
             "has no meaning with formulation maximal, leave it out", o.integrator, faults);
  check_rule(o.weights == "hard", "weights", "must be hard with formulation maximal", o.weights, faults);
  check_rule(o.window == 2, "window", "has no meaning with formulation maximal, leave it out", o.window, faults);
  if (!o.soft_scale.empty()) {
    faults.diagnostics.push_back(
        {Severity::error, {}, "soft-scale: has no meaning with formulation maximal, leave it out"});
  }
  return faults;
}

class MaximalRun {
 public:
  MaximalRun(const Model& model, const SimulateOptions& options, const MaximalStart& start,
             const std::function<void(const MaximalStep&)>& watch)
      : options_(options),
        start_(start),
        mechanism_(*start.mechanism),
        tell_(watch),
        steps_(std::max(1L, std::lround(options.time / options.step))),
        regularization_{options.compliance, options.compliance, options.relaxation},
        contact_(start.mechanism, regularization_, contact_options(options)),
        touches_(!contact_.finder().empty()),
        smooth_(start.mechanism, regularization_),
        input_(mechanism_, options.step),
        grip_(mechanism_.freedoms().size(), maximal::Grip::none),
        state_(mechanism_),
        watch_(mechanism_),
        reactions_(mechanism_),
        recorder_(model, start.mechanism, start.drive, {options.poses, options.reactions}),
        q_(mechanism_.stored()),
        before_(mechanism_.tangent()),
        after_(mechanism_.tangent()),
        move_(mechanism_.tangent()) {
    result_.trajectory = Trajectory(recorder_.names());
    if (options.keep) result_.trajectory.reserve(static_cast<int>(steps_ / options.every + 2));
    if (options.begin) options.begin(recorder_.names());
  }

  Result<SimulateResult> run() {
    const auto begin = Clock::now();
    if (!begin_motion()) return no_motion(0);
    for (long k = 0; k <= steps_; ++k) {
      const double t = double(k) * options_.step;
      if (!advance(t) || lost()) return no_motion(k);
      record(k, t);
      move_ = options_.step * after_;
      maximal::retract(bodies(), q_.data(), move_.data(), q_.data());
      before_.swap(after_);
      if (options_.progress && k % 1024 == 1023 && !options_.progress(double(k) / double(steps_))) {
        return Failure::interrupted();
      }
    }
    result_.summary.wall_s = seconds_since(begin);
    return finish();
  }

 private:
  int bodies() const { return static_cast<int>(mechanism_.bodies().size()); }
  static step::ContactOptions contact_options(const SimulateOptions& options) {
    step::ContactOptions contact;
    contact.compliance = options.compliance;
    contact.relaxation = options.relaxation;
    return contact;
  }
  const step::RegularizedStep& step() const { return touches_ ? contact_.smooth() : smooth_; }

  bool advance(double t) {
    start_.drive.fill(t, options_.step, input_);
    const double *q = q_.data(), *v = before_.data();
    return touches_ ? contact_.advance(q, v, input_, grip_.data(), after_.data())
                    : smooth_.advance(q, v, input_, grip_.data(), after_.data());
  }

  /// The stepper's v is the mean over the step before: from q(−h) to q(0), where
  ///
  ///     q(−h) = q − h v + h²/2 a,     a: the acceleration that a step from there gives
  bool begin_motion() {
    const screw::Tree& tree = mechanism_.tree();
    const Eigen::VectorXd& numbers = mechanism_.numbers();
    const double h = options_.step;
    maximal::poses_of(mechanism_, numbers, start_.q_tree.data(), q_.data());
    state_.q_tree = start_.q_tree;
    refer(start_.q_tree);
    Eigen::VectorXd q_tree(tree.stored()), earlier(q_.size()), a = Eigen::VectorXd::Zero(tree.freedoms());
    const auto guess = grip_;
    for (int i = 0; i < 3; ++i) {
      const Eigen::VectorXd back = -h * start_.v_tree + 0.5 * h * h * a;
      tree.retract(start_.q_tree.data(), back.data(), q_tree.data());
      maximal::poses_of(mechanism_, numbers, q_tree.data(), earlier.data());
      maximal::local(bodies(), earlier.data(), q_.data(), before_.data());
      before_ /= h;
      if (i == 2 || touches_) break;  // an impact at the start is none before it
      if (!advance(0)) return false;
      state_.set(mechanism_, 0, h, q_.data(), before_.data(), after_.data());
      a = state_.a_tree;
      grip_ = guess;
    }
    return true;
  }

  /// Near which positions of joints angles are.
  void refer(const Eigen::VectorXd& q_tree) {
    for (std::size_t f = 0; f < mechanism_.freedoms().size(); ++f) {
      const int at = mechanism_.freedoms()[f].position;
      if (at >= 0) input_.reference[static_cast<Eigen::Index>(f)] = q_tree[at];
    }
  }

  void record(long k, double t) {
    // angles are counted on from step to step
    for (std::size_t f = 0; f < mechanism_.freedoms().size(); ++f) {
      const int at = mechanism_.freedoms()[f].position;
      if (at >= 0) state_.q_tree[at] = step().position()[static_cast<Eigen::Index>(f)];
    }
    watch_.add(t, q_.data(), state_.q_tree.data(), before_.data(), after_.data(), step(), input_, grip_,
               touches_ ? &contact_ : nullptr);
    const bool kept = k % options_.every == 0 || k == steps_;
    if (kept) state_.set(mechanism_, t, options_.step, q_.data(), before_.data(), after_.data());
    if (recorder_.reactions() || tell_) {
      state_.instant.reaction = reactions_.find(step(), q_.data(), before_.data(), input_);
    }
    if (tell_) tell(t, k == steps_);
    if (kept) write(t);
    refer(state_.q_tree);
  }

  void tell(double t, bool last) {
    for (const int v : start_.drive.driven()) state_.instant.tau[v] = start_.drive.torque(v, t);
    tell_({t, options_.step, last, q_.data(), before_.data(), after_.data(), &state_.q_tree, &state_.instant.tau,
           &state_.instant.reaction});
  }

  void write(double t) {
    const double* row = recorder_.row(state_);
    if (options_.sample) options_.sample(t, row);
    if (options_.keep) std::copy_n(row, recorder_.names().size(), result_.trajectory.append(t));
  }

  bool lost() const { return !(after_.lpNorm<Eigen::Infinity>() * options_.step <= kNoMotion); }

  Failure no_motion(long k) const {
    return Failure::no_answer(
        fmt::format("no motion past t = {:g} s: {}; a smaller step may help", double(k) * options_.step, why()));
  }

  /// The body whose motion is lost.
  std::string why() const {
    int worst = 0;
    for (int i = 0; i < after_.size(); ++i) {
      if (!std::isfinite(after_[i])) return fmt::format("the velocity of {} is not finite", name_of(i));
      if (std::abs(after_[i]) > std::abs(after_[worst])) worst = i;
    }
    if (!lost()) return "no balance of dry friction and contacts was found";
    return fmt::format("{} would move by {:.3g} in one step of {:g} s", name_of(worst),
                       std::abs(after_[worst]) * options_.step, options_.step);
  }
  std::string name_of(int number) const { return "link " + quote(mechanism_.bodies()[number / 6].name); }

  SimulateResult finish() {
    SimulateSummary& s = result_.summary;
    watch_.tell(s);
    s.steps = steps_;
    s.step_us = s.wall_s / double(steps_) * 1e6;
    s.step = options_.step;
    s.time = double(steps_) * options_.step;
    s.formulation = "maximal";
    s.method = "step";
    s.weights = "hard";
    s.integrator = "regularized";
    s.compliance = options_.compliance;
    s.relaxation = options_.relaxation > 0 ? options_.relaxation : 2 * options_.step;
    s.can_touch = touches_;
    s.assembly_moved = start_.moved;
    s.loops = static_cast<int>(mechanism_.tree().loops().size());
    s.degrees_of_freedom = start_.mobility.freedoms - static_cast<int>(mechanism_.tree().robot().drives.size());
    s.redundant_constraints = start_.mobility.closure_equations - start_.mobility.rank;
    warn(s);
    return std::move(result_);
  }

  void warn(SimulateSummary& s) const {
    std::vector<std::string> weightless;
    for (const maximal::Body& body : mechanism_.bodies()) {
      if (body.weightless) weightless.push_back(quote(body.name));
    }
    if (!weightless.empty()) {
      s.warnings.push_back(
          fmt::format("{} without mass: a millionth of the others' stands in for it", fmt::join(weightless, ", ")));
    }
    if (const std::vector<std::string>& through = contact_.finder().ignored(); !through.empty()) {
      const std::string more = through.size() > 1 ? fmt::format(" (and {} pairs more)", through.size() - 1) : "";
      s.warnings.push_back(fmt::format("{}{} pass through each other: nothing is known about contacts of such shapes",
                                       through.front(), more));
    }
    warn_of_energy(s, true);
    if (s.closure_rad > kGives) {
      s.warnings.push_back(
          fmt::format("joints give way by up to {:.2g} rad: take a smaller --compliance or --step", s.closure_rad));
    }
  }

  const SimulateOptions& options_;
  const MaximalStart& start_;
  const maximal::Mechanism& mechanism_;
  const std::function<void(const MaximalStep&)>& tell_;
  long steps_;
  maximal::Regularization regularization_;
  step::ContactStep contact_;
  bool touches_;
  step::RegularizedStep smooth_;
  step::StepInput input_;
  std::vector<maximal::Grip> grip_;
  MaximalState state_;
  MaximalWatch watch_;
  MaximalReactions reactions_;
  MaximalRecorder recorder_;
  Eigen::VectorXd q_, before_, after_, move_;
  SimulateResult result_;
};

}  // namespace

Result<MaximalStart> make_maximal_start(const Model& model, const SimulateOptions& options) {
  Result<Robot> robot = driven_robot(model, options.input, options.time);
  if (!robot) return robot.failure();
  Result<std::shared_ptr<const maximal::Mechanism>> mechanism = maximal::Mechanism::make(*robot);
  if (!mechanism) return mechanism.failure();
  Result<SpatialStart> start = make_spatial_start(model, PlanarForces::kept);
  if (!start) return start.failure();
  return MaximalStart{*mechanism,
                      MaximalDrive(**mechanism, options.input),
                      std::move(start->mobility),
                      std::move(start->q),
                      std::move(start->v),
                      start->moved};
}

Result<SimulateResult> simulate_maximal(const Model& model, const SimulateOptions& options,
                                        const std::function<void(const MaximalStep&)>& watch) {
  if (Failure faults = check_maximal_options(options); !faults.diagnostics.empty()) return faults;
  const Result<MaximalStart> start = make_maximal_start(model, options);
  if (!start) return start.failure();
  return MaximalRun(model, options, *start, watch).run();
}

std::string needs_maximal(const Model& model) {
  for (const Joint& joint : model.robot.joints) {
    for (const JointDynamics& dynamics : joint.dynamics) {
      const std::vector<const char*> kinds = beyond_screw(dynamics);
      if (!kinds.empty()) return fmt::format("because of {} in joint {}", fmt::join(kinds, ", "), quote(joint.name));
    }
  }
  if (!model.frictions.empty()) return "because of friction in joint " + quote(model.frictions.front().name);
  for (const Motor& motor : model.motors) {
    if (motor.inertia != 0) return "because of the inertia of motor " + quote(motor.name);
  }
  return "";
}

}  // namespace kinegraph::task
