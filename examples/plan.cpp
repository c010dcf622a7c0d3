// The twin of plan.py. A goal is known. Which motion reaches it, with which forces?
#include "kinegraph/task/plan.hpp"

#include "answer.hpp"
#include "kinegraph/io/model_file.hpp"
#include "kinegraph/io/task_file.hpp"

int main() {
  const auto task = answer(kinegraph::read_task("models/tasks/cart_pole_swing_up.yaml"));
  const auto found = answer(kinegraph::task::plan(answer(kinegraph::read_model(task.model.text)), task));
  const auto& motion = found.trajectory;
  std::printf("the pole ends at %.4f rad, peak force %.1f N\n", motion.at(motion.samples() - 1, motion.find("pole.q")),
              found.summary.torque_peak[0]);
  std::printf("cost %.3f, the roll-out misses by %.1e\n", found.summary.solver.cost, found.summary.miss_max);
}
