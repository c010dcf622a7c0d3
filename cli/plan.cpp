#include "kinegraph/task/plan.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <optional>
#include <thread>

#include "kinegraph/base/names.hpp"
#include "kinegraph/io/csv.hpp"
#include "kinegraph/io/task_file.hpp"
#include "kinegraph/io/task_meshes.hpp"
#include "memory.hpp"
#include "outputs.hpp"
#include "plan_report.hpp"
#include "progress_bar.hpp"

namespace kinegraph::cli {
namespace {

class Plan final : public Verb {
 public:
  std::string_view name() const override { return "plan"; }
  std::string_view purpose() const override {
    return "a motion with its torques: from goals, limits, contacts and obstacles";
  }
  std::string_view teaching() const override {
    return "Examples:\n"
           "  kinegraph plan cart_pole_swing_up.yaml --out plan.csv\n"
           "  kinegraph plan arm_pick.yaml --set tool.mass=2 --json -\n"
           "  kinegraph plan arm_pick.yaml --guess plan.csv --out again.csv     start from an earlier plan, also\n"
           "                                                    of another start or other goals: plan again\n"
           "  kinegraph plan cart_pole_swing_up.yaml --soft 1e-3                dynamics as a cost: see what it "
           "misses\n\n"
           "TASK is a YAML file. The shortest one swings a pole up:\n"
           "  model: cart_pole.urdf\n"
           "  horizon: 2                # s\n"
           "  steps: 200\n"
           "  passive: [pole]           # joints without a motor\n"
           "  goals:\n"
           "    - {time: 2, joints: {cart: 1, pole: 180deg}, rest: true}\n"
           "  objectives:\n"
           "    - {type: torque, sigma: 20}\n"
           "A task may also have start, limits, contacts, gait, phases, paths, obstacles, solids, collision, payload\n"
           "and guess: docs/formats.md.\n"
           "The dynamics hold at every knot, the collocation between them. Every plan is rolled out open loop by an\n"
           "independent integrator at a tenth of the step; how far that misses each goal is told and stored. Where it\n"
           "misses by more than --refine, the motion next to the plan is found that it follows: the steps of that are\n"
           "those of the roll-out itself, and no longer of the collocation.\n"
           "Dry friction of joints is the model's own there, rounded off in the plan (friction_speed).\n"
           "--out has q v a tau of every joint at all knots, and name.fx .fy .fz of contacts; --motion has the same "
           "of\n"
           "the roll-out. No plan: exit 1, with the constraints that cannot be met, or are not where the search ends "
           "from\n"
           "this start and a few others: which, when and by how much.\n";
  }
  void declare(CLI::App& app) override {
    app.add_option("--guess", guess_, "start from this motion: an earlier plan, or any table with all q")
        ->type_name("FILE.csv");
    app.add_option("--soft", soft_, "dynamics, collocation and goals as costs of this sigma, limits as hinges")
        ->type_name("SIGMA");
    app.add_option("--max-iterations", iterations_, "of the search")->type_name("N")->capture_default_str();
    app.add_option("--tolerance", tolerance_, "of what must hold: the largest violation of an answer")
        ->type_name("T")
        ->capture_default_str();
    app.add_option("--optimality", optimality_, "of the least cost: the largest scaled fault of its conditions")
        ->type_name("T")
        ->capture_default_str();
    app.add_option("--roll-out", divisions_, "steps of the roll-out per step of the plan; 0: none")
        ->type_name("N")
        ->capture_default_str();
    app.add_option("--refine", refine_,
                   "where the roll-out misses a goal by more (rad or m), the motion next to the plan is found that it "
                   "follows; 0: never")
        ->type_name("MISS")
        ->capture_default_str();
    app.add_option("--motion", motion_, "write the rolled-out motion")->type_name("FILE.csv");
    app.add_flag("--verbose", verbose_, "cost and violation of every iteration, on standard error");
    common_.declare(app, true);
    app.get_option("MODEL")->description("what to do: a YAML file (docs/formats.md, Tasks)")->type_name("TASK");
  }
  Done run() override;

 private:
  Result<Model> read_model_of(const PlanTask& task) const;
  std::function<void(const SqpIteration&)> watcher(ProgressBar& bar) const;
  Summary summarize(const PlanTask& task, const task::PlanSummary& s) const;

  std::string guess_, soft_ = "0", iterations_ = "500", divisions_ = "10", refine_ = "0.01", motion_;
  std::string tolerance_ = "1e-9", optimality_ = "1e-6";
  bool verbose_ = false;
};

Result<Model> Plan::read_model_of(const PlanTask& task) const {
  CommonOptions of_model = common_;
  of_model.model = task.model.text;
  if (of_model.base.empty() && task.base) {
    of_model.base = *task.base == Robot::Base::floating ? "floating" : "fixed";
  }
  return of_model.read_model();
}

std::function<void(const SqpIteration&)> Plan::watcher(ProgressBar& bar) const {
  return [this, &bar](const SqpIteration& i) {
    static const char* const phases[] = {"warm start", "search", "restoration"};
    const char* phase = phases[static_cast<int>(i.phase)];
    if (verbose_ && !common_.quiet) {
      common_.warn(
          fmt::format("{:>11} {:4}: cost {:<12.7g} violation {:<9.3g} step {:<9.3g} optimality {:<9.3g} barrier {:.3g}",
                      phase, i.iteration, i.cost, i.violation, i.step, i.optimality, i.barrier));
    } else {
      bar.note(fmt::format("{} {}: cost {:.6g}, violation {:.2g}", phase, i.iteration, i.cost, i.violation));
    }
  };
}

Summary Plan::summarize(const PlanTask& task, const task::PlanSummary& s) const {
  Summary summary("plan", common_.model);
  summary.add("robot", task.model.text, "robot");
  summary.add("horizon_s", task.horizon, "horizon", "s");
  if (!s.phases.empty()) {
    summary.add("duration_s", s.duration, "duration found", "s");
    nlohmann::ordered_json phases = nlohmann::ordered_json::array();
    for (const task::PhaseFound& p : s.phases) {
      phases.push_back({{"from", p.from}, {"to", p.to}, {"least", p.least}, {"most", p.most}});
    }
    summary.add("phases", phases, "");
  }
  summary.add("steps", task.steps, "steps");
  summary.add("collocation", std::string(to_string(task.collocation)), "collocation");
  summary.add("unknowns", s.variables, "unknowns");
  summary.add("converged", s.solver.converged(), "converged");
  summary.add("iterations", s.solver.iterations, "iterations");
  if (!s.starts.empty()) summary.add("start", s.starts.back(), "start that led to it");
  summary.add("cost", s.solver.cost, "cost");
  if (s.corrections > 0) summary.add("cost_planned", s.cost_planned, "of the plan that it is next to");
  summary.add("violation_max", s.solver.violation, "largest violation");
  summary.add("solve_s", s.solve_s, "time to solve", "s");
  if (s.has_friction) summary.add("friction_speed", task.friction_speed, "dry friction turns over", "rad/s or m/s");
  if (s.rolled_out) {
    summary.add("roll_out_until_s", s.roll_out_until, "rolled out until", "s");
    summary.add("limit_excess_max", s.limit_excess, "beyond limits between knots");
    summary.add("rounds", s.rounds, "rounds of drawing limits in");
    if (s.has_clearance)
      summary.add("clearance_min", s.clearance, "least clearance", "m").add("nearest", s.nearest, "where");
    if (s.corrections > 0) summary.add("corrections", s.corrections, "shots until the roll-out followed");
    summary.add("miss_max", s.miss_max, "largest miss of the roll-out", "rad or m");
    if (s.step_miss > 0) summary.add("step_miss_max", s.step_miss, "of single steps", "rad or m");
  }
  nlohmann::ordered_json misses = nlohmann::ordered_json::array();
  std::string block;
  if (!s.phases.empty()) block += "\nphases               from           to     duration   of\n";
  for (const task::PhaseFound& p : s.phases) {
    block += fmt::format("  {:>20.6g} s {:>10.6g} s {:>10.6g} s   {:g} to {:g} s\n", p.from, p.to, p.to - p.from,
                         p.least, p.most);
  }
  std::size_t width = 16;
  for (const task::GoalMiss& m : s.misses) width = std::max(width, m.what.size());
  block += s.misses.empty()
               ? ""
               : fmt::format("\nmisses{:{}} goal                  in the plan   rolled out\n", "", width - 4);
  for (const task::GoalMiss& m : s.misses) {
    nlohmann::ordered_json entry{{"goal", m.goal}, {"what", m.what}, {"t", m.time}, {"unit", m.unit}, {"plan", m.plan}};
    entry["roll_out"] = std::isfinite(m.roll_out) ? nlohmann::ordered_json(m.roll_out) : nlohmann::ordered_json();
    misses.push_back(entry);
    block += fmt::format("  {:<{}} {:<20} {:12.3g} {:>12} {}\n", m.what, width, m.goal, m.plan,
                         std::isfinite(m.roll_out) ? fmt::format("{:.3g}", m.roll_out) : "-", m.unit);
  }
  summary.add("misses", misses, "");
  summary.add("warnings", s.warnings, "").add("starts", s.starts, "");
  summary.add("torques", s.torques, "").add("torque_peak", s.torque_peak, "").add("torque_square", s.torque_square, "");
  if (!s.torques.empty()) block += "\ntorques                    peak   integral of the square\n";
  for (std::size_t i = 0; i < s.torques.size(); ++i) {
    block += fmt::format("  {:<18} {:>10.4g} {:>14.5g}\n", s.torques[i], s.torque_peak[i], s.torque_square[i]);
  }
  summary.add_text(block);
  return summary;
}

Done Plan::run() {
  OptionReader reader;
  common_.read(reader);
  task::PlanOptions options;
  options.soft = reader.number("soft", soft_);
  if (!(options.soft >= 0)) reader.fault("soft", fmt::format("must be >= 0, is {}", soft_));
  options.max_iterations = static_cast<int>(reader.whole("max-iterations", iterations_, 1, 1000000));
  const auto small = [&](const char* option, const std::string& text) {
    const double value = reader.number(option, text);
    if (!(value >= 1e-12 && value <= 1)) reader.fault(option, fmt::format("must be from 1e-12 to 1, is {}", text));
    return value;
  };
  options.tolerance = small("tolerance", tolerance_);
  options.optimality = small("optimality", optimality_);
  options.roll_out = static_cast<int>(reader.whole("roll-out", divisions_, 0, 1000));
  options.refine = reader.number("refine", refine_);
  if (!(options.refine >= 0)) reader.fault("refine", fmt::format("must be >= 0, is {}", refine_));
  if (!motion_.empty() && options.roll_out == 0) reader.fault("motion", "there is none without a roll-out");
  options.threads = common_.threads.empty() ? static_cast<int>(std::max(1U, std::thread::hardware_concurrency()))
                                            : static_cast<int>(reader.whole("threads", common_.threads, 1, 4096));
  options.seed = common_.seed_value;
  if (!reader.ok()) return reader.failure();

  Result<Outputs> outputs = Outputs::open(common_);
  if (!outputs) return outputs.failure();
  Result<PlanTask> task = read_task(common_.model);
  if (!task) return task.failure();
  const Result<Model> model = read_model_of(*task);
  if (!model) return model.failure();
  read_meshes(*task, *model, {common_.meshes.begin(), common_.meshes.end()});
  if (ReportContent* page = outputs->show(*model, command)) fill_plan_report(*model, *task, *page);
  std::optional<Trajectory> guess;
  const std::string from = !guess_.empty()                            ? guess_
                           : task->guess.type == TaskGuess::Type::csv ? task->guess.file.text
                                                                      : "";
  if (!from.empty()) {
    Result<Trajectory> read = read_table(common_.embedding, from);
    if (!read) return read.failure();
    guess = *std::move(read);
    options.guess = &*guess;
  }
  ProgressBar bar("plan", common_);
  options.on_iteration = watcher(bar);
  options.progress = bar.callback();
  const Result<task::PlanResult> result = task::plan(*model, *task, options);
  bar.clear();
  if (!result) return result.failure();
  for (const std::string& warning : result->summary.warnings) common_.warn("warning: " + warning);
  if (!motion_.empty()) {
    Result<SideFile> file = SideFile::create(common_.embedding, motion_);
    if (!file) return file.failure();
    if (Done done = file->write(result->motion, {}, false); !done) return done;
  }
  return outputs->write(summarize(*task, result->summary), &result->trajectory, {});
}

}  // namespace

std::unique_ptr<Verb> make_plan() { return std::make_unique<Plan>(); }

}  // namespace kinegraph::cli
