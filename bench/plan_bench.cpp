// Planning beside IPOPT (Debian's, MUMPS) on the same transcription: the same variables, residuals, Jacobians, second
// derivatives and start. Told: seconds that the processor computed, iterations, cost, largest violation. With --strict
// the exit status is 1 where ours is slower, or ends at a worse point.
#include <fmt/format.h>

#include <filesystem>
#include <string>

#include "bench/clock.hpp"
#include "bench/plan_peer.hpp"
#include "kinegraph/io/model_file.hpp"
#include "kinegraph/io/task_file.hpp"
#include "kinegraph/io/task_meshes.hpp"
#include "kinegraph/solve/sqp.hpp"
#include "kinegraph/task/plan.hpp"

namespace kinegraph::bench {
namespace {

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
  const std::filesystem::path path = std::filesystem::path(KINEGRAPH_SOURCE_DIR "/models/tasks") / file;
  PlanTask task = require(read_task(path), "task");
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

int run(bool strict) {
  int failed = 0;
  for (const char* file : {"cart_pole_swing_up.yaml", "cart_pole_twice.yaml", "arm_pick.yaml", "kuka_pick.yaml"}) {
    if (!compare(file)) ++failed;
  }
  fmt::print("{}\n", failed == 0 ? "ours is faster everywhere, at costs that are as low" : "FAIL: see above");
  return strict && failed > 0 ? 1 : 0;
}

}  // namespace
}  // namespace kinegraph::bench

int main(int argc, char** argv) { return kinegraph::bench::run(argc > 1 && std::string(argv[1]) == "--strict"); }
