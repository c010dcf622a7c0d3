#include "kinegraph/task/plan_roll_out.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kinegraph/mechanics/screw/centre_of_mass.hpp"
#include "kinegraph/mechanics/screw/kinematics.hpp"

namespace kinegraph::task {

using build::PlanProblem;
using build::PlanSample;
using build::PlanSetting;

std::vector<std::string> plan_columns(const PlanSetting& setting) {
  std::vector<std::string> names = setting.tree->position_names();
  for (const auto* more :
       {&setting.tree->velocity_names(), &setting.tree->acceleration_names(), &setting.tree->torque_names()}) {
    names.insert(names.end(), more->begin(), more->end());
  }
  for (const build::PlanContact& contact : setting.contacts) {
    for (const char* axis : {".fx", ".fy", ".fz"}) names.push_back(contact.name + axis);
  }
  return names;
}

namespace {

/// Appends states to a motion.
auto writer(const PlanSetting& setting, Trajectory& motion) {
  return [&setting, &motion](const step::LieStepper& stepper, const PlannedField& field) {
    double* row = motion.append(stepper.t());
    row = std::copy(stepper.q().begin(), stepper.q().end(), row);
    row = std::copy(stepper.v().begin(), stepper.v().end(), row);
    row = std::copy(stepper.a().begin(), stepper.a().end(), row);
    row = std::copy_n(field.tau().begin(), setting.tree->freedoms(), row);
    for (std::size_t c = 0; c < setting.contacts.size(); ++c) {
      const Eigen::Vector3d f = field.force(c, stepper.t());
      row = std::copy_n(f.data(), 3, row);
    }
  };
}

}  // namespace

Trajectory roll_out(const PlanProblem& problem, int divisions, PlanFriction friction) {
  const PlanSetting& setting = *problem.setting;
  Trajectory motion(plan_columns(setting));
  StepRoller roller(problem, divisions, friction);
  std::vector<double> q(setting.start_q.begin(), setting.start_q.end()),
      v(setting.start_v.begin(), setting.start_v.end());
  for (int k = 0; k < setting.task.steps; ++k) {
    if (!roller.run(k, q, v, writer(setting, motion))) break;
  }
  return motion;
}

RolledSteps roll_steps(const PlanProblem& problem, int divisions) {
  const PlanSetting& setting = *problem.setting;
  RolledSteps out{Trajectory(plan_columns(setting)), {}, {}, 0};
  StepRoller roller(problem, divisions, PlanFriction::planned);
  Eigen::VectorXd off(setting.tree->freedoms());
  for (int k = 0; k < setting.task.steps; ++k) {
    const PlanSample from = problem.sample(k), to = problem.sample(k + 1);
    std::vector<double> q(from.q.begin(), from.q.end()), v(from.v.begin(), from.v.end());
    if (!roller.run(k, q, v, writer(setting, out.motion))) {
      out.miss = std::numeric_limits<double>::infinity();
      return out;
    }
    setting.tree->local(q.data(), to.q.data(), off.data());
    out.q.emplace_back(Eigen::Map<const Eigen::VectorXd>(q.data(), to.q.size()));
    out.v.emplace_back(Eigen::Map<const Eigen::VectorXd>(v.data(), to.v.size()));
    out.miss = std::max(out.miss, off.lpNorm<Eigen::Infinity>());
  }
  return out;
}

double step_miss(const PlanProblem& problem, int divisions) { return roll_steps(problem, divisions).miss; }

namespace {

/// y(s) and ẏ(s) of the cubic with y(0) = 0, y(1) = d and rates v0, v1 (per unit of time, over a step h).
Eigen::VectorXd cubic(double s, double h, const Eigen::VectorXd& d, const Eigen::VectorXd& v0,
                      const Eigen::VectorXd& v1) {
  return s * s * (3 - 2 * s) * d + h * s * (1 - s) * ((1 - s) * v0 - s * v1);
}

}  // namespace

Trajectory between_knots(const PlanProblem& problem, int divisions) {
  const PlanSetting& setting = *problem.setting;
  const screw::Tree& tree = *setting.tree;
  Trajectory motion(plan_columns(setting));
  for (int k = 0; k < setting.task.steps; ++k) {
    const double h = problem.step(k), start = problem.time(k);
    const PlanSample from = problem.sample(k), to = problem.sample(k + 1);
    const PlanSample middle = setting.has_middles() ? problem.sample(k, true) : from;
    Eigen::VectorXd whole(tree.freedoms());
    tree.local(from.q.data(), to.q.data(), whole.data());
    const int last = k + 1 == setting.task.steps ? divisions : divisions - 1;
    for (int i = 0; i <= last; ++i) {
      const double s = static_cast<double>(i) / divisions;
      double* row = motion.append(start + s * h);
      const Eigen::VectorXd moved = cubic(s, h, whole, from.v, to.v);
      tree.retract(from.q.data(), moved.data(), row);
      row += tree.stored();
      const Eigen::VectorXd v = from.v + cubic(s, h, to.v - from.v, from.a, to.a), a = (1 - s) * from.a + s * to.a;
      row = std::copy(v.begin(), v.end(), row);
      row = std::copy(a.begin(), a.end(), row);
      std::fill_n(row, tree.freedoms(), 0.0);
      const double w0 = setting.has_middles() ? (1 - s) * (1 - 2 * s) : 1 - s;
      const double wm = setting.has_middles() ? 4 * s * (1 - s) : 0, w1 = 1 - w0 - wm;
      for (std::size_t m = 0; m < setting.motors.size(); ++m) {
        row[setting.motors[m]] = w0 * from.u[m] + wm * middle.u[m] + w1 * to.u[m];
      }
      row += tree.freedoms();
      for (std::size_t c = 0; c < setting.contacts.size(); ++c) {
        const Eigen::Vector3d f = w0 * from.forces[c] + wm * middle.forces[c] + w1 * to.forces[c];
        row = std::copy_n(f.data(), 3, row);
      }
    }
  }
  return motion;
}

namespace {

/// One goal at one state.
class GoalMeter {
 public:
  GoalMeter(const PlanSetting& setting, const TaskGoal& goal, int knot) : setting_(setting), goal_(goal), knot_(knot) {}

  void measure(const Eigen::VectorXd& q, const Eigen::VectorXd& v, std::vector<GoalMiss>& out) const {
    for (const auto& [name, value] : goal_.joints) {
      const screw::Coordinate& c = setting_.tree->coordinates()[setting_.tree->find_coordinate(name.text)];
      const char* unit = c.type == JointType::prismatic ? "m" : "rad";
      out.push_back({goal_.name, name.text + ".q", unit, 0, std::abs(q[c.q] - value), 0});
    }
    if (goal_.frame.given()) frame(q, out);
    if (goal_.rest) out.push_back({goal_.name, "rest", "rad/s or m/s", 0, v.cwiseAbs().maxCoeff(), 0});
  }

 private:
  void frame(const Eigen::VectorXd& q, std::vector<GoalMiss>& out) const {
    screw::Transform<double> X;
    if (goal_.frame.text == "com") {
      X.p = screw::CentreOfMass(setting_.tree_at(knot_)).at(q.data(), nullptr);
    } else {
      screw::Poses poses(setting_.tree->bodies().size());
      screw::body_poses(*setting_.tree, q.data(), poses);
      X = screw::link_pose(*setting_.tree, poses, setting_.tree->robot().find_link(goal_.frame.text));
      X.p = X * goal_.offset;
    }
    if (goal_.position) {
      double square = 0;
      for (int i = 0; i < 3; ++i) {
        const double d = X.p[i] - (*goal_.position)[i];
        if (!std::isnan(d)) square += d * d;
      }
      out.push_back({goal_.name, goal_.frame.text, "m", 0, std::sqrt(square), 0});
    }
    if (goal_.rotation) {
      const Matrix3d off = goal_.rotation->toRotationMatrix().transpose() * X.R;
      out.push_back({goal_.name, goal_.frame.text + " rotation", "rad", 0, SO3(off).log().norm(), 0});
    }
  }

  const PlanSetting& setting_;
  const TaskGoal& goal_;
  int knot_;
};

}  // namespace

namespace {

/// By how much a goal is missed at a knot, in the plan and in its roll-out (NaN where that ended before).
std::vector<GoalMiss> misses_at(const PlanProblem& problem, const Trajectory& motion, const TaskGoal& goal, int knot) {
  const PlanSetting& setting = *problem.setting;
  const GoalMeter meter(setting, goal, knot);
  const PlanSample planned = problem.sample(knot);
  std::vector<GoalMiss> misses, real;
  meter.measure(planned.q, planned.v, misses);
  const auto& times = motion.times();
  const auto at = std::lower_bound(times.begin(), times.end(), problem.time(knot) - 1e-9);
  if (at != times.end()) {
    const double* row = motion.row(static_cast<int>(at - times.begin()));
    const int stored = setting.tree->stored();
    meter.measure(Eigen::Map<const Eigen::VectorXd>(row, stored),
                  Eigen::Map<const Eigen::VectorXd>(row + stored, setting.tree->freedoms()), real);
  }
  for (std::size_t i = 0; i < misses.size(); ++i) {
    misses[i].time = problem.time(knot);
    misses[i].roll_out = real.empty() ? std::nan("") : real[i].plan;
  }
  return misses;
}

/// The knot counts at which the roll-out misses by most; where it ends before, that.
bool is_worse(const GoalMiss& a, const GoalMiss& b) {
  if (std::isnan(b.roll_out)) return false;
  return std::isnan(a.roll_out) || std::max(a.plan, a.roll_out) > std::max(b.plan, b.roll_out);
}

}  // namespace

std::vector<GoalMiss> goal_misses(const PlanProblem& problem, const Trajectory& motion) {
  const PlanSetting& setting = *problem.setting;
  std::vector<GoalMiss> all;
  for (const TaskGoal& goal : setting.task.goals) {
    const int last = setting.task.knot(goal.until);
    std::vector<GoalMiss> worst = misses_at(problem, motion, goal, last);
    for (int k = std::max(1, setting.task.knot(goal.time)); k < last; ++k) {
      const std::vector<GoalMiss> misses = misses_at(problem, motion, goal, k);
      for (std::size_t i = 0; i < misses.size(); ++i) {
        if (is_worse(misses[i], worst[i])) worst[i] = misses[i];
      }
    }
    all.insert(all.end(), worst.begin(), worst.end());
  }
  return all;
}

void tell_roll_out(const PlanProblem& problem, const PlanOptions& options, PlanResult& result) {
  PlanSummary& summary = result.summary;
  if (options.roll_out > 0) {
    result.motion = roll_out(problem, options.roll_out);
    summary.rolled_out = true;
    summary.roll_out_until = result.motion.samples() > 0 ? result.motion.times().back() : 0;
  }
  summary.misses = goal_misses(problem, result.motion);
  summary.miss_max = 0;
  for (const GoalMiss& miss : summary.misses) {
    if (miss.what == "rest" || std::isnan(summary.miss_max)) continue;
    summary.miss_max = std::isnan(miss.roll_out) ? miss.roll_out : std::max(summary.miss_max, miss.roll_out);
  }
}

}  // namespace kinegraph::task
