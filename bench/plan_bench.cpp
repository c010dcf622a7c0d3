// Planning beside IPOPT (Debian's, MUMPS) on the same transcription: the same variables, residuals, Jacobians, second
// derivatives and start. Told: seconds that the processor computed, iterations, cost, largest violation. Then what an
// iteration costs against the horizon, the quadruped on one thread and on two, and Crocoddyl, which has a transcription
// of its own (plan_peers.py). With --strict the exit status is 1 where ours is slower than IPOPT or ends at a worse
// point, where iterations cost more per step of longer horizons, or where two threads gain too little.
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
#include "bench/table.hpp"
#include "kinegraph/io/model_file.hpp"
#include "kinegraph/io/task_file.hpp"
#include "kinegraph/io/task_meshes.hpp"
#include "kinegraph/solve/sqp.hpp"
#include "kinegraph/task/plan.hpp"

namespace kinegraph::bench {
namespace {

constexpr double kSpeedUp = 1.6, kGrowth = 1.3;

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

void show(const MarkdownTable& table, const std::string& task, const char* who, const PlanRun& r,
          const std::string& verdict) {
  table.row({task, who, fmt::format("{:.3f}", r.seconds), fmt::format("{}", r.iterations),
             fmt::format("{:.6f}", r.cost), fmt::format("{:.1e}", r.violation),
             r.converged ? verdict : "not converged: " + r.message});
}

/// Why ours is not the better of two; empty: it is. A peer that finds nothing shows nothing.
std::string worse(const PlanRun& own, const PlanRun& peer) {
  constexpr double digits = 1e-9;  // asked of ours
  if (!own.converged) return "FAIL";
  if (!peer.converged) return "no comparison";
  if (own.violation > std::max(peer.violation, digits)) return "FAIL: violation";
  if (own.cost > peer.cost * 1.001) return "FAIL: cost";
  return own.seconds < peer.seconds ? "" : "FAIL: time";
}

/// Whether ours was faster and ended at a point as good: its cost and its violation.
bool compare(const std::string& file, const MarkdownTable& table) {
  PlanTask task = require(read_task(task_file(file)), "task");
  if (!std::filesystem::exists(task.model.text)) {
    table.row({file, "its model is not there"});
    return true;
  }
  const Model model = require(read_model(task.model.text), "model");
  read_meshes(task, model);
  const task::Planner planner = require(task::Planner::make(model, task, {}), "planner");
  const build::PlanProblem& problem = planner.problem();
  const PlanRun own = ours(problem, task.guess.type == TaskGuess::Type::rest);
#ifdef KINEGRAPH_WITH_IPOPT
  const PlanRun peer = ipopt(problem);
  const std::string why = worse(own, peer);
  show(table, file, "ours", own, why.empty() ? "pass" : why);
  show(table, "", "IPOPT", peer, "");
  return why.empty();
#else
  show(table, file, "ours", own, "IPOPT was not there when this was built");
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

/// Processor seconds of an iteration of a plan, the middle of the first ones and the best of some runs: the rows and
/// their derivatives, the elimination, the search along the step.
double iteration_seconds(const build::PlanProblem& problem, int runs) {
  double best = 1e300;
  for (int i = 0; i < runs; ++i) {
    Values values = problem.values;
    Sqp solver = require(Sqp::make(problem.graph, values), "solver");
    SqpOptions options;
    options.warm_iterations = 0;
    options.max_iterations = 24;
    std::vector<double> seconds;
    double last = 0;
    options.on_iteration = [&](const SqpIteration&) {
      const double now = cpu_seconds();
      if (last > 0) seconds.push_back(now - last);
      last = now;
    };
    require(solver.solve(values, options), "solve");
    if (seconds.empty()) continue;
    std::nth_element(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2), seconds.end());
    best = std::min(best, seconds[seconds.size() / 2]);
  }
  return best;
}

/// The cart and pole over ever more steps of one length.
bool costs_the_same_per_step() {
  bool fine = true;
  double first = 0;
  section("iterations: cart_pole_swing_up.yaml with steps of 10 ms, one thread, processor's time of one iteration");
  const MarkdownTable table({"steps", "µs per step", "vs 50", "target", "    "}, 0);
  for (const int steps : {50, 200, 1000, 5000}) {
    PlanTask task = require(read_task(task_file("cart_pole_swing_up.yaml")), "task");
    task.horizon *= static_cast<double>(steps) / task.steps;
    for (TaskGoal& goal : task.goals) goal.time = goal.until = task.horizon;
    task.steps = steps;
    const Model model = require(read_model(task.model.text), "cart and pole");
    const task::Planner planner = require(task::Planner::make(model, task, {}), "planner");
    const double us = 1e6 * iteration_seconds(planner.problem(), steps < 1000 ? 20 : 3) / steps;
    if (first == 0) first = us;
    const bool passes = us <= kGrowth * first;
    fine = fine && passes;
    table.row({fmt::format("{}", steps), cell(us), fmt::format("{:.2f}", us / first), cell(kGrowth),
               passes ? "pass" : "FAIL"});
  }
  return fine;
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
  section(fmt::format("threads: quadruped_step.yaml in {} steps, by the clock on the wall", task.steps));
  const MarkdownTable table({"one on two", "target", "bits ", "    "}, 0);
  table.row({fmt::format("{:.2f}", gain), cell(kSpeedUp), same ? "same" : "OTHER", fine ? "pass" : "FAIL"});
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
  section("peers: processor's seconds of one thread");
  {
    const MarkdownTable table(
        {"task                   ", "solver   ", "      s", "iterations", "       cost", "violation", "    "}, 2);
    for (const char* file : {"cart_pole_swing_up.yaml", "cart_pole_twice.yaml", "arm_pick.yaml", "kuka_pick.yaml"}) {
      if (!compare(file, table)) ++failed;
    }
  }
  show_crocoddyl();
  if (!costs_the_same_per_step()) ++failed;
  if (!gains_by_threads()) ++failed;
  return strict && failed > 0 ? 1 : 0;
}

}  // namespace
}  // namespace kinegraph::bench

int main(int argc, char** argv) { return kinegraph::bench::run(argc > 1 && std::string(argv[1]) == "--strict"); }
