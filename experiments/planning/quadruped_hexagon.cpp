// A quadruped trots along a hexagon of side 1.6 m (003, section VI-C) with hard dynamics and the friction cone, at 1/60
// s. Gait, times and heights are ours, in the task file; another task may be given as the argument.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "experiments/record.hpp"
#include "kinegraph/io/model_file.hpp"
#include "kinegraph/io/task_file.hpp"
#include "kinegraph/mechanics/screw/centre_of_mass.hpp"
#include "kinegraph/task/ground_roll_out.hpp"
#include "kinegraph/task/plan.hpp"

namespace {

using namespace kinegraph;
using namespace kinegraph::experiments;

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
  report::Curve base{"base", {}, {}}, mass{"centre of mass", {}, {}}, feet{"where feet stand", {}, {}};
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
        feet.x.push_back(foot[0]), feet.y.push_back(foot[1]);
      }
      if (setting.stands(contact, k, false)) worst.slip = std::max(worst.slip, (foot - stands[i]).norm());
    }
  }
  plot.curves = {base, mass, feet};
  return worst;
}

}  // namespace

int main(int argc, char** argv) {
  const char* const result = "003 Fig. 9";
  Record record("quadruped_hexagon");
  const std::filesystem::path file = argc > 1 ? argv[1] : KINEGRAPH_SOURCE_DIR "/models/tasks/vision60_hexagon.yaml";
  const Result<PlanTask> task = read_task(file);
  if (!task) {
    fmt::print("{}\n", task.failure().to_string());
    return 2;
  }
  if (!std::filesystem::exists(task->model.text)) return record.skip("the model of the quadruped is not here");
  const Result<Model> model = read_model(task->model.text, {.base = Robot::Base::floating});
  if (!model) {
    fmt::print("{}\n", model.failure().to_string());
    return 2;
  }
  task::PlanOptions options;
  options.threads = 2;
  options.tolerance = 1e-7;
  options.roll_out = 0;
  Result<task::Planner> planner = task::Planner::make(*model, *task, options);
  const Result<task::PlanResult> plan = planner ? planner->plan() : planner.failure();
  if (!plan) {
    fmt::print("{}\n", plan.failure().to_string());
    record.missing(result, "no plan was found");
    return 1;
  }
  report::Plot plot{"A hexagon of 1.6 m, seen from above", "x in m", "y in m", {}, true};
  Worst worst = measure(planner->problem(), plot);
  for (const task::GoalMiss& miss : plan->summary.misses) {
    if (miss.goal.starts_with("corner")) worst.corner = std::max(worst.corner, miss.plan);
  }
  Table table("quadruped_hexagon", {"quantity", "asked for", "ours"});
  const auto row = [&](const char* what, const char* asked, double value) {
    table.add({what, asked, fmt::format("{:.3g}", value)});
  };
  row("largest violation of what must hold", "1e-6", plan->summary.solver.violation);
  row("beyond limits between knots", "0", plan->summary.limit_excess);
  row("base from a corner at its time, m", "0.05", worst.corner);
  row("centre of mass from its path, m", "0.03", worst.centre);
  row("a standing foot moves, m", "0", worst.slip);
  row("force beyond the cone of friction, N", "0", worst.slide);
  row("pull of a contact, N", "0", worst.pull);
  row("iterations", "−", plan->summary.solver.iterations);
  row("s on two threads", "30", plan->summary.solve_s);
  const double cycle = task->gait ? task->gait->from + task->gait->cycle : task->horizon;
  if (const auto ground = task::roll_out_on_ground(planner->problem(), cycle)) {
    row("rolled out on the ground: upright for, s", fmt::format("{:g}", cycle).c_str(), ground->upright_for);
    row("rolled out on the ground: base off by, m", "−", ground->base_miss);
  } else {
    fmt::print("{}\n", ground.failure().to_string());
  }
  record.show(result, table);
  record.draw(result, "quadruped_hexagon", plot);
  return 0;
}
