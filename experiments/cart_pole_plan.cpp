// Swing-up of a cart-pole (003, section VI-A) with the dynamics as hard equalities, and as the costs of the paper: what
// the torques of each plan really do, rolled out open loop.

#include <fmt/format.h>

#include <algorithm>

#include "experiments/table.hpp"
#include "kinegraph/io/model_file.hpp"
#include "kinegraph/io/task_file.hpp"
#include "kinegraph/task/plan.hpp"

namespace {

using namespace kinegraph;
using namespace kinegraph::experiments;

struct Case {
  const char *label, *file;
  double soft;
  double reference;  ///< cost of a stationary point found independently; 0: none
};

Result<task::PlanResult> solve(const Case& c) {
  const Result<PlanTask> task = read_task(std::string(KINEGRAPH_SOURCE_DIR "/models/tasks/") + c.file);
  if (!task) return task.failure();
  const Result<Model> model = read_model(task->model.text);
  if (!model) return model.failure();
  task::PlanOptions options;
  options.soft = c.soft;
  return task::plan(*model, *task, options);
}

report::Curve curve(const std::string& label, const Trajectory& motion, const std::string& name) {
  return {label, motion.times(), motion.column(motion.find(name))};
}

}  // namespace

int main() {
  const Case cases[] = {{"2 s, hard", "cart_pole_swing_up.yaml", 0, 777.0301},
                        {"2 s, soft 1e-3", "cart_pole_swing_up.yaml", 1e-3, 0},
                        {"6 s, hard", "cart_pole_twice.yaml", 0, 1419.2494},
                        {"6 s, soft 1e-3", "cart_pole_twice.yaml", 1e-3, 0},
                        {"2 s, Gaussian process", "cart_pole_smooth.yaml", 0, 0}};
  Table table("cart_pole_plan", {"problem", "reference J", "J", "J / reference", "violation",
                                 "miss of the roll-out in rad", "iterations", "s on one thread"});
  report::Plot plot{"Swing-up: the pole as planned and as its torques move it", "t in s", "angle in rad", {}};
  bool all = true;
  for (const Case& c : cases) {
    const Result<task::PlanResult> result = solve(c);
    if (!result) {
      fmt::print("{}: {}\n", c.label, result.failure().to_string());
      all = false;
      continue;
    }
    const task::PlanSummary& s = result->summary;
    table.add({c.label, c.reference > 0 ? fmt::format("{:.4f}", c.reference) : "−",
               fmt::format("{:.4f}", s.solver.cost),
               c.reference > 0 ? fmt::format("{:.5f}", s.solver.cost / c.reference) : "−",
               fmt::format("{:.1e}", s.solver.violation), fmt::format("{:.2e}", s.miss_max),
               std::to_string(s.solver.iterations), fmt::format("{:.3f}", s.solve_s)});
    if (std::string(c.file) != "cart_pole_swing_up.yaml") continue;
    plot.curves.push_back(curve(fmt::format("{}: plan", c.label), result->trajectory, "pole.q"));
    plot.curves.push_back(curve(fmt::format("{}: rolled out", c.label), result->motion, "pole.q"));
  }
  table.show();
  draw("cart_pole_plan", plot);
  return all ? 0 : 1;
}
