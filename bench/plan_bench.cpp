// Planning beside IPOPT (Debian's, MUMPS) on the same transcription: the same variables, residuals, Jacobians, second
// derivatives and start. Told: seconds that the processor computed, iterations, cost, largest violation. Then the
// quadruped on one thread and on two, and Crocoddyl, which has a transcription of its own (plan_peers.py). With
// --strict the exit status is 1 where ours is slower than IPOPT or ends at a worse point, or where two threads gain too
// little.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "bench/clock.hpp"
#include "bench/plan_peer.hpp"
#include "kinegraph/io/model_file.hpp"
#include "kinegraph/io/task_file.hpp"
#include "kinegraph/io/task_meshes.hpp"
#include "kinegraph/solve/sqp.hpp"
#include "kinegraph/task/plan.hpp"

namespace kinegraph::bench {
namespace {

constexpr double kSpeedUp = 1.6;

std::filesystem::path task_file(const std::string& name) {
  return std::filesystem::path(KINEGRAPH_SOURCE_DIR "/models/tasks") / name;
}

PlanRun ours(const build::PlanProblem& problem, bool far) {
  PlanRun run;
  const double start = cpu_seconds();
  Values values = problem.values;
  Sqp solver = require(Sqp::make(problem.graph, values), "solver");
  SqpOptions options;
  options.max_iterations = 1000;
  if (!far) options.warm_iterations = 10;
  const SqpReport report = require(solver.solve(values, options), "solve");
  run.seconds = cpu_seconds() - start;
  run.iterations = report.iterations + report.warm_iterations;
  run.cost = report.cost;
  run.violation = report.violation;
  run.converged = report.converged();
  return run;
}

void show(const char* who, const PlanRun& r) {
  fmt::print("  {:<10} {:9.3f} s {:5} iterations   cost {:12.6f}   violation {:8.1e}   {}\n", who, r.seconds,
             r.iterations, r.cost, r.violation, r.converged ? "" : "not converged: " + r.message);
}

/// Whether ours was faster and ended at least as low.
bool compare(const std::string& file) {
  PlanTask task = require(read_task(task_file(file)), "task");
  if (!std::filesystem::exists(task.model.text)) {
    fmt::print("{}: its model is not there; passed over\n", file);
    return true;
  }
  const Model model = require(read_model(task.model.text), "model");
  read_meshes(task, model);
  const task::Planner planner = require(task::Planner::make(model, task, {}), "planner");
  const build::PlanProblem& problem = planner.problem();
  fmt::print("{}: {} variables, {} factors\n", file, problem.values.count(), problem.graph.size());
  const PlanRun own = ours(problem, task.guess.type == TaskGuess::Type::rest);
  show("kinegraph", own);
#ifdef KINEGRAPH_WITH_IPOPT
  const PlanRun peer = ipopt(problem);
  show("IPOPT", peer);
  return own.converged && (!peer.converged || (own.seconds < peer.seconds && own.cost <= peer.cost * 1.001));
#else
  fmt::print("  IPOPT was not there when this was built\n");
  return own.converged;
#endif
}

/// Seconds of the wall clock for some iterations of a plan, and the point where they end.
std::pair<double, std::vector<double>> some_iterations(const build::PlanProblem& problem, int threads) {
  Values values = problem.values;
  Sqp solver = require(Sqp::make(problem.graph, values), "solver");
  SqpOptions options;
  options.threads = threads;
  options.warm_iterations = options.max_iterations = 8;
  const auto start = std::chrono::steady_clock::now();
  require(solver.solve(values, options), "solve");
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  return {time.count(), {values.buffer().begin(), values.buffer().end()}};
}

/// The quadruped's step in eight times as many steps: faster on two threads than on one, with the same bits. Where
/// others compute as well, their share is in it: the best of three.
bool gains_by_threads() {
  PlanTask task = require(read_task(task_file("quadruped_step.yaml")), "task");
  task.steps *= 8;
  const Model model = require(read_model(task.model.text, {.base = Robot::Base::floating}), "quadruped");
  const task::Planner planner = require(task::Planner::make(model, task, {}), "planner");
  double gain = 0;
  bool same = true;
  for (int i = 0; i < 3 && gain < kSpeedUp; ++i) {
    const auto one = some_iterations(planner.problem(), 1), two = some_iterations(planner.problem(), 2);
    gain = std::max(gain, one.first / two.first);
    same = same && one.second == two.second;
  }
  const bool fine = same && gain >= kSpeedUp;
  fmt::print("quadruped_step.yaml in {} steps: {:.2f} x on two threads, {} bits  {}\n", task.steps, gain,
             same ? "same" : "OTHER", fine ? "pass" : "FAIL");
  return fine;
}

void show_crocoddyl() {
#ifdef KINEGRAPH_CROCODDYL_PYTHON
  std::fflush(stdout);
  if (std::system("OMP_NUM_THREADS=1 " KINEGRAPH_CROCODDYL_PYTHON " -B " KINEGRAPH_SOURCE_DIR "/bench/plan_peers.py") !=
      0)
    fmt::print("Crocoddyl could not be run\n");
#else
  fmt::print("Crocoddyl was not there when this was built\n");
#endif
}

int run(bool strict) {
  int failed = 0;
  for (const char* file : {"cart_pole_swing_up.yaml", "cart_pole_twice.yaml", "arm_pick.yaml", "kuka_pick.yaml"}) {
    if (!compare(file)) ++failed;
  }
  if (failed > 0) fmt::print("FAIL: see above\n");
  if (!gains_by_threads()) ++failed;
  show_crocoddyl();
  return strict && failed > 0 ? 1 : 0;
}

}  // namespace
}  // namespace kinegraph::bench

int main(int argc, char** argv) { return kinegraph::bench::run(argc > 1 && std::string(argv[1]) == "--strict"); }
