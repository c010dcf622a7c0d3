// A quadruped trots along a hexagon of side 1.6 m (003, section VII-C) with hard dynamics and the friction cone, at
// 1/60 s. Gait, times and heights are ours, in the task file; another task may be given as the argument. The search
// ends after a time; if there is no plan by then, that is what is recorded, and a single step of a trot stands beside
// it.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>

#include "bench/clock.hpp"
#include "experiments/record.hpp"
#include "kinegraph/io/model_file.hpp"
#include "kinegraph/io/task_file.hpp"
#include "kinegraph/mechanics/screw/centre_of_mass.hpp"
#include "kinegraph/task/ground_roll_out.hpp"
#include "kinegraph/task/plan.hpp"

namespace {

using namespace kinegraph;
using namespace kinegraph::experiments;

const char* const kResult = "003 Fig. 9";

/// What must hold of contacts and of the centre of mass, the worst over all knots.
struct Worst {
  double slip = 0;                ///< m: how far a standing point moves
  double slide = 0;               ///< N: beyond the cone
  double pull = 0;                ///< N
  double centre = 0, corner = 0;  ///< m: from the path of the centre of mass, of the base from a corner
};

Worst measure(const build::PlanProblem& problem, report::Plot& plot) {
  const build::PlanSetting& setting = *problem.setting;
  Worst worst;
  screw::CentreOfMass centre(setting.tree);
  screw::Poses poses(setting.tree->bodies().size());
  std::vector<Eigen::Vector3d> stands(setting.contacts.size());
  report::Curve base{"base", {}, {}}, mass{"centre of mass", {}, {}};
  std::vector<report::Curve> feet;  // where each stands, one place after the other
  for (std::size_t i = 0; i < setting.contacts.size(); ++i) feet.push_back({fmt::format("foot {}", i + 1), {}, {}});
  for (int k = 0; k < setting.knots(); ++k) {
    const build::PlanSample sample = problem.sample(k);
    screw::body_poses(*setting.tree, sample.q.data(), poses);
    const Eigen::Vector3d c = centre.at(sample.q.data(), nullptr);
    base.x.push_back(sample.q[4]), base.y.push_back(sample.q[5]);
    mass.x.push_back(c[0]), mass.y.push_back(c[1]);
    for (const TaskPath& path : setting.task.paths) {
      if (path.frame.text == "com") worst.centre = std::max(worst.centre, (c - path.at(setting.time(k))).norm());
    }
    for (std::size_t i = 0; i < setting.contacts.size(); ++i) {
      const build::PlanContact& contact = setting.contacts[i];
      const Eigen::Vector3d f = sample.forces[i], foot = poses[contact.point.body] * contact.point.at;
      worst.slide = std::max(worst.slide, f.head<2>().norm() - contact.friction * f[2]);
      worst.pull = std::max(worst.pull, -f[2]);
      const auto begins = [&](const auto& interval) { return interval.first == k; };
      if (std::any_of(contact.closed.begin(), contact.closed.end(), begins)) {
        stands[i] = foot;
        feet[i].x.push_back(foot[0]), feet[i].y.push_back(foot[1]);
      }
      if (setting.stands(contact, k, false)) worst.slip = std::max(worst.slip, (foot - stands[i]).norm());
    }
  }
  plot.curves = {base, mass};
  plot.curves.insert(plot.curves.end(), feet.begin(), feet.end());
  return worst;
}

/// The model and the plan of a task, and where the search stood last.
struct Attempt {
  std::optional<task::Planner> planner;
  Result<task::PlanResult> plan = Failure::interrupted();
  std::shared_ptr<SqpIteration> last = std::make_shared<SqpIteration>();
};

/// Gives up after so many seconds of processor time.
Attempt attempt(const Model& model, const PlanTask& task, double limit_s) {
  Attempt attempt;
  const double end = bench::cpu_seconds() + limit_s;
  task::PlanOptions options;
  options.threads = 2;
  options.roll_out = 0;
  options.on_iteration = [last = attempt.last](const SqpIteration& i) { *last = i; };
  options.progress = [end](double) { return bench::cpu_seconds() < end; };
  Result<task::Planner> planner = task::Planner::make(model, task, options);
  if (!planner) {
    attempt.plan = planner.failure();
    return attempt;
  }
  attempt.planner = std::move(*planner);
  attempt.plan = attempt.planner->plan();
  return attempt;
}

/// The centre of mass of a motion, seen from above, and how far it strays from its path until a time. What comes after
/// that is left out.
report::Curve mass_of(const build::PlanSetting& setting, const std::string& label, const task::GroundRollOut& ground,
                      double until, double& strays) {
  report::Curve path{label, {}, {}};
  screw::CentreOfMass centre(setting.tree);
  const Trajectory& motion = ground.motion;
  std::vector<std::pair<int, int>> columns;  // of the motion, of q
  for (const screw::Coordinate& c : setting.tree->coordinates()) {
    const int first = motion.find(c.name + (c.stored == 7 ? ".qw" : ".q"));
    for (int i = 0; i < c.stored; ++i) columns.emplace_back(first + i, c.q + i);
  }
  Eigen::VectorXd q = setting.start_q;
  for (int k = 0; k < motion.samples() && motion.times()[k] <= until; ++k) {
    for (const auto& [column, place] : columns) q[place] = motion.at(k, column);
    const Eigen::Vector3d c = centre.at(q.data(), nullptr);
    if (k % 20 == 0) path.x.push_back(c[0]), path.y.push_back(c[1]);
    for (const TaskPath& way : setting.task.paths) {
      if (way.frame.text == "com") strays = std::max(strays, (c - way.at(motion.times()[k])).norm());
    }
  }
  return path;
}

/// The largest torque that a motor exerts at a knot until a time, as a share of its limit.
double largest_share(const build::PlanProblem& problem, const task::GroundRollOut& ground,
                     const task::JointServo& servo, double until) {
  const build::PlanSetting& setting = *problem.setting;
  const Trajectory& motion = ground.motion;
  double most = 0;
  for (int k = 0, row = 0; k < setting.knots() && problem.time(k) <= until; ++k) {
    while (row + 1 < motion.samples() && motion.times()[row] < problem.time(k) - 1e-9) ++row;
    const build::PlanSample plan = problem.sample(k);
    for (std::size_t i = 0; i < setting.motors.size(); ++i) {
      const auto& all = setting.tree->coordinates();
      const auto c = std::find_if(all.begin(), all.end(), [&](const auto& c) { return c.v == setting.motors[i]; });
      const double q = motion.at(row, motion.find(c->name + ".q")), v = motion.at(row, motion.find(c->name + ".v"));
      const double torque =
          plan.u[static_cast<int>(i)] + servo.stiffness * (plan.q[c->q] - q) + servo.damping * (plan.v[c->v] - v);
      most = std::max(most, std::abs(torque) / setting.effort[i]);
    }
  }
  return most;
}

/// The paper's figure: the path that the centre of mass is to take, and the one it takes on the ground. Nothing brings
/// the base back: the motors know the plan alone, its torques, or also its angles, which they hold as a position
/// control does. The paper does not say which its motors do.
void execute(Record& record, const build::PlanProblem& problem) {
  const build::PlanSetting& setting = *problem.setting;
  constexpr double kServoStep = 1e-3, kTorqueTime = 5;
  report::Plot plot{"The centre of mass, seen from above: as planned and as executed", "x in m", "y in m", {}, true};
  report::Curve planned{"as planned", {}, {}, true};
  screw::CentreOfMass centre(setting.tree);
  for (int k = 0; k < setting.knots(); ++k) {
    const Eigen::Vector3d c = centre.at(problem.sample(k).q.data(), nullptr);
    planned.x.push_back(c[0]), planned.y.push_back(c[1]);
  }
  plot.curves = {planned};
  const double end = problem.time(setting.task.steps);
  struct Case {
    std::string label;
    double time, step;
    task::JointServo servo;
  };
  std::vector<Case> cases;
  for (const double stiffness : {100.0, 300.0, 1000.0}) {
    cases.push_back(
        {fmt::format("joints held, {} N m/rad", stiffness), end, kServoStep, {stiffness, 0.02 * stiffness}});
  }
  cases.push_back({"torques alone", std::min(end, kTorqueTime), 5e-4, {}});
  for (const Case& c : cases) {
    const auto ground = task::roll_out_on_ground(problem, c.time, c.step, c.servo);
    if (!ground) {
      record.missing(kResult, fmt::format("executed, {}: {}", c.label, ground.failure().to_string()));
      continue;
    }
    double strays = 0;
    plot.curves.push_back(mass_of(setting, c.label, *ground, ground->upright_for, strays));
    record.compare({kResult, fmt::format("executed, {}: upright for", c.label), "s", NAN, ground->upright_for,
                    fmt::format("of {:.3g} s", c.time)});
    record.compare({kResult, fmt::format("executed, {}: centre of mass from its path until then", c.label), "m", NAN,
                    strays, "paper: “low error”, no number"});
    record.compare({kResult, fmt::format("executed, {}: largest torque at a knot over its limit", c.label), "", NAN,
                    largest_share(problem, *ground, c.servo, ground->upright_for),
                    c.servo.damping > 0 ? fmt::format("with {:g} N m s/rad; limits do not act", c.servo.damping) : ""});
  }
  record.draw(kResult, "quadruped_executed", plot,
              "rolled out on the ground with dry friction, as long as it is upright: nothing brings the base back, so "
              "that what a foot slips stays");
}

/// What was asked for and what was found, as a table and seen from above.
void show(Record& record, const PlanTask& task, const Attempt& found, const std::string& name, report::Plot plot) {
  const task::PlanSummary& summary = found.plan->summary;
  Worst worst = measure(found.planner->problem(), plot);
  for (const task::GoalMiss& miss : summary.misses) {
    if (miss.what != "rest" && miss.unit == "m") worst.corner = std::max(worst.corner, miss.plan);
  }
  Table table(name, {"quantity", "asked for", "ours"});
  const auto row = [&](const char* what, const std::string& asked, double value) {
    table.add({what, asked, fmt::format("{:.3g}", value)});
  };
  // `digits`: what counts as none of a quantity that shall be none
  const auto ask = [&](const char* what, double asked, double value, double digits = 0) {
    row(what, fmt::format("{:g}", asked), value);
    if (value <= asked + digits) return;
    record.missing(kResult, fmt::format("{}: {}: {:.3g}, asked for {:g}: not reached", name, what, value, asked));
  };
  ask("largest violation of what must hold", 1e-6, summary.solver.violation);
  ask("beyond limits between knots", 0, summary.limit_excess, 1e-6);
  ask("base from a goal at its time, m", 0.05, worst.corner);
  if (!task.paths.empty() && task.paths.back().frame.text == "com")
    ask("centre of mass from its path, m", 0.03, worst.centre);
  ask("a standing foot moves, m", 0, worst.slip, 1e-3);
  ask("force beyond the cone of friction, N", 0, worst.slide, 2e-2);
  ask("pull of a contact, N", 0, worst.pull, 1e-6);
  row("iterations", "−", summary.solver.iterations);
  ask("s on two threads", 30, summary.solve_s);
  const double cycle = task.gait ? task.gait->from + task.gait->cycle : task.horizon;
  if (const auto ground = task::roll_out_on_ground(found.planner->problem(), cycle)) {
    ask("rolled out on the ground: it does not stand at the end, s", 0, cycle - ground->upright_for, 2e-3);
    row("rolled out on the ground: upright for, s", fmt::format("{:g}", cycle), ground->upright_for);
    row("rolled out on the ground: base off by, m", "−", ground->base_miss);
  } else {
    fmt::print("{}\n", ground.failure().to_string());
  }
  record.show(kResult, table);
  record.draw(kResult, name, plot);
}

/// A trotting step of our own quadruped: the same equations over 0.6 s.
void step(Record& record) {
  const auto task = bench::require(read_task(KINEGRAPH_SOURCE_DIR "/models/tasks/quadruped_step.yaml"), "step");
  const auto model = bench::require(read_model(task.model.text, {.base = Robot::Base::floating}), "quadruped");
  const Attempt found = attempt(model, task, 60);
  if (!found.plan) return record.missing(kResult, "a single step: " + found.plan.failure().to_string());
  show(record, task, found, "quadruped_step",
       {"A single step of our own quadruped, from above", "x in m", "y in m", {}, true});
}

}  // namespace

int main(int argc, char** argv) {
  const double limit =
      1000;  // s of processor time: several times what it needs, so that a busy machine does not end it
  Record record("quadruped_hexagon");
  const std::filesystem::path file = argc > 1 ? argv[1] : KINEGRAPH_SOURCE_DIR "/models/tasks/vision60_hexagon.yaml";
  PlanTask task = bench::require(read_task(file), "task");
  step(record);
  task.model.text = named_file(task.model.text);
  if (task.model.text.empty()) {
    record.missing(kResult, "the hexagon: the model of the paper's quadruped is not here");
    return 0;
  }
  const Model model = bench::require(read_model(task.model.text, {.base = Robot::Base::floating}), "quadruped");
  const Attempt found = attempt(model, task, limit);
  if (found.plan) {
    show(record, task, found, "quadruped_hexagon",
         {"A hexagon of 1.6 m, seen from above", "x in m", "y in m", {}, true});
    execute(record, found.planner->problem());
    return 0;
  }
  const bool late = found.plan.failure().kind == Failure::Kind::interrupted;
  record.missing(kResult, fmt::format("the hexagon is not reached: {}. The search stood at iteration {}, the largest "
                                      "violation of what must hold was {:.2g}. {}",
                                      late ? fmt::format("no plan in {} s of processor time", limit)
                                           : found.plan.failure().to_string(),
                                      found.last->iteration, found.last->violation,
                                      "Beside it: a single step of the trot, which is reached."));
  return 0;
}
