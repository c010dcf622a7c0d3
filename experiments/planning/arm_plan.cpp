// An arm of seven joints picks a block from the floor and sets it upright behind a post (003, section VII-B), with and
// without least torque. The paper gives neither mass, start nor goal: those here are ours, in the task file.

#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "bench/clock.hpp"
#include "experiments/pictures.hpp"
#include "experiments/record.hpp"
#include "kinegraph/io/model_file.hpp"
#include "kinegraph/io/task_file.hpp"
#include "kinegraph/mechanics/screw/kinematics.hpp"
#include "kinegraph/task/graph.hpp"
#include "kinegraph/task/plan.hpp"

namespace {

using namespace kinegraph;
using namespace kinegraph::experiments;

/// As the collocation has it; `refined`: the motion next to it that its roll-out follows.
Result<task::PlanResult> solve(PlanTask task, bool least_torque, bool refined) {
  // Without: a ten-thousandth of its weight, so that the motion that no goal asks for is still determined.
  for (TaskObjective& objective : task.objectives) {
    if (!least_torque && objective.type == TaskObjective::Type::torque) objective.sigma *= 100;
  }
  const Result<Model> model = read_model(task.model.text);
  if (!model) return model.failure();
  task::PlanOptions options;
  if (!refined) options.refine = 0;
  return task::plan(*model, task, options);
}

/// The arm at nine times, seen from the side: its joints one after the other.
void strobe(const Model& model, const Trajectory& motion, int colour, std::vector<Linkage>& all) {
  const auto tree = bench::require(task::tree_of(model), "tree");
  screw::Poses poses(tree->bodies().size());
  Eigen::VectorXd q = tree->start_position();
  for (int i = 0; i <= 8; ++i) {
    const int sample = (motion.samples() - 1) * i / 8;
    for (const screw::Coordinate& c : tree->coordinates()) q[c.q] = motion.at(sample, motion.find(c.name + ".q"));
    screw::body_poses(*tree, q.data(), poses);
    Linkage arm{{{{0, 0}}}, colour};
    for (const auto& pose : poses) arm.lines[0].emplace_back(pose.p[0], pose.p[2]);
    all.push_back(std::move(arm));
  }
}

/// What is asked of the motion with least torque, beside that without.
void judge(Record& record, const task::PlanSummary& without, const task::PlanSummary& least, double margin) {
  const auto ask = [&](const char* what, double value, double most) {
    if (value <= most) return;
    record.missing("003 Fig. 8", fmt::format("{} is {:.3g}, asked for {:.3g}: not reached", what, value, most));
  };
  const auto loaded = [](const task::PlanSummary& s) { return s.torque_square[1] + s.torque_square[3]; };
  ask("∫τ² of joints 2 and 4, with least torque over without,", loaded(least) / loaded(without), 0.8);
  ask("the excess of limits at a tenth of the step", least.limit_excess, 1e-6);
  ask("what lacks of the margin at a tenth of the step, in m,", margin - least.clearance, 1e-6);
  ask("the time in s", least.solve_s, 1);
}

}  // namespace

int main() {
  Record record("arm_plan");
  const std::filesystem::path models = KINEGRAPH_SOURCE_DIR "/models";
  Result<PlanTask> task = read_task(models / "tasks/kuka_pick.yaml");
  if (task) task->model.text = named_file(task->model.text);
  if (task && task->model.text.empty()) {
    for (const char* result : {"003 Fig. 7", "003 Fig. 8"}) {
      record.missing(result,
                     "the paper's arm, which is in the reference data; shown is one of our own, of seven joints too");
    }
    task = read_task(models / "tasks/arm_pick.yaml");
  }
  if (!task) {
    fmt::print("{}\n", task.failure().to_string());
    return 2;
  }
  Table table("arm_plan", {"", "without least torque", "with", "ratio"});
  report::Plot plot{
      "Torque of the joints that carry the block, with least torque and without", "t in s", "torque in N m", {}};
  std::vector<task::PlanSummary> found, refined;
  std::vector<Linkage> arms;
  for (const bool least : {false, true}) {
    const Result<task::PlanResult> result = solve(*task, least, false), followed = solve(*task, least, true);
    for (const auto* each : {&result, &followed}) {
      if (*each) continue;
      fmt::print("{}\n", each->failure().to_string());
      return 1;
    }
    found.push_back(result->summary);
    refined.push_back(followed->summary);
    strobe(bench::require(read_model(task->model.text), "arm"), result->trajectory, least ? 0 : 1, arms);
    for (const std::size_t joint : {1, 3}) {
      const std::string& name = found[0].torques[joint];
      plot.curves.push_back({fmt::format("joint {}, {}", joint + 1, least ? "least" : "without"),
                             result->trajectory.times(), result->trajectory.column(result->trajectory.find(name))});
    }
  }
  const auto row_of = [&](const std::string& label, const std::vector<task::PlanSummary>& of, auto value) {
    const double a = value(of[0]), b = value(of[1]);
    table.add({label, fmt::format("{:.4g}", a), fmt::format("{:.4g}", b), a != 0 ? fmt::format("{:.3f}", b / a) : "−"});
  };
  const auto row = [&](const std::string& label, auto value) { row_of(label, found, value); };
  row("∫τ² of joints 2 and 4", [](const auto& s) { return s.torque_square[1] + s.torque_square[3]; });
  row("∫τ² of joint 2 alone", [](const auto& s) { return s.torque_square[1]; });
  row("∫τ² of joint 4 alone", [](const auto& s) { return s.torque_square[3]; });
  row("largest violation", [](const auto& s) { return s.solver.violation; });
  row("beyond limits at a tenth of the step", [](const auto& s) { return s.limit_excess; });
  row("least clearance in m", [](const auto& s) { return s.clearance; });
  row("largest miss of the roll-out in rad: an open loop amplifies what the collocation misses",
      [](const auto& s) { return s.miss_max; });
  row_of("the same of the motion next to it that the roll-out follows (--refine)", refined,
         [](const auto& s) { return s.miss_max; });
  row_of("corrections until it does", refined, [](const auto& s) { return s.corrections; });
  row("iterations", [](const auto& s) { return s.solver.iterations; });
  row("s on one thread", [](const auto& s) { return s.solve_s; });
  record.show("003 Fig. 8", table);
  judge(record, found[0], found[1], task->collision.value_or(TaskCollision{}).margin);
  record.draw("003 Fig. 8", "arm_plan", plot);
  record.compare({"003 Fig. 8", "∫τ² of joints 2 and 4, with least torque over without", "", NAN,
                  (found[1].torque_square[1] + found[1].torque_square[3]) /
                      (found[0].torque_square[1] + found[0].torque_square[3]),
                  "paper: a more efficient motion"});
  record.draw("003 Fig. 7", "arm_plan_motion", linkage_picture(arms, "The arm from the side, nine times"),
              "blue: least torque; orange: without");
  return 0;
}
