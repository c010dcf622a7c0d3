// An arm of seven joints picks a block from the floor and sets it upright behind a post (003, section VI-B), with and
// without least torque. The paper gives neither mass, start nor goal: those here are ours, in the task file.

#include <fmt/format.h>

#include <filesystem>

#include "experiments/table.hpp"
#include "kinegraph/io/model_file.hpp"
#include "kinegraph/io/task_file.hpp"
#include "kinegraph/task/plan.hpp"

namespace {

using namespace kinegraph;
using namespace kinegraph::experiments;

Result<task::PlanResult> solve(PlanTask task, bool least_torque) {
  // Without: a ten-thousandth of its weight, so that the motion that no goal asks for is still determined.
  for (TaskObjective& objective : task.objectives) {
    if (!least_torque && objective.type == TaskObjective::Type::torque) objective.sigma *= 100;
  }
  const Result<Model> model = read_model(task.model.text);
  if (!model) return model.failure();
  return task::plan(*model, task);
}

}  // namespace

int main() {
  const std::filesystem::path models = KINEGRAPH_SOURCE_DIR "/models";
  const Result<PlanTask> task = read_task(models / "tasks/kuka_pick.yaml");
  if (!task) {
    fmt::print("{}\n", task.failure().to_string());
    return 2;
  }
  if (!std::filesystem::exists(task->model.text)) {
    fmt::print("{} is not there: nothing to plan for\n", task->model.text);
    return 0;
  }
  Table table("arm_plan", {"", "without least torque", "with", "ratio"});
  report::Plot plot{"Torque of the joints that carry the block", "t in s", "torque in N m", {}};
  std::vector<task::PlanSummary> found;
  for (const bool least : {false, true}) {
    const Result<task::PlanResult> result = solve(*task, least);
    if (!result) {
      fmt::print("{}\n", result.failure().to_string());
      return 1;
    }
    found.push_back(result->summary);
    for (const std::size_t joint : {1, 3}) {
      const std::string& name = found[0].torques[joint];
      plot.curves.push_back({fmt::format("{}, {}", name, least ? "least torque" : "without"),
                             result->trajectory.times(), result->trajectory.column(result->trajectory.find(name))});
    }
  }
  const auto row = [&](const std::string& label, auto value) {
    const double a = value(found[0]), b = value(found[1]);
    table.add({label, fmt::format("{:.4g}", a), fmt::format("{:.4g}", b), a != 0 ? fmt::format("{:.3f}", b / a) : "−"});
  };
  row("∫τ² of joints 2 and 4", [](const auto& s) { return s.torque_square[1] + s.torque_square[3]; });
  row("largest violation", [](const auto& s) { return s.solver.violation; });
  row("beyond limits at a tenth of the step", [](const auto& s) { return s.limit_excess; });
  row("least clearance in m", [](const auto& s) { return s.clearance; });
  row("largest miss of the roll-out", [](const auto& s) { return s.miss_max; });
  row("iterations", [](const auto& s) { return s.solver.iterations; });
  row("s on one thread", [](const auto& s) { return s.solve_s; });
  table.show();
  draw("arm_plan", plot);
  return 0;
}
