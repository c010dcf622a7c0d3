// Motions as graphs, drawn from the factors that our programs really solve (000, Figs. 1 to 4; 003, Fig. 5; 004, Figs.
// 2 and 4): planar mechanisms in dependent and independent coordinates, robots by their joints.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/clock.hpp"
#include "experiments/pictures.hpp"
#include "experiments/record.hpp"
#include "kinegraph/io/model_file.hpp"
#include "kinegraph/io/task_file.hpp"
#include "kinegraph/task/check.hpp"
#include "kinegraph/task/graph.hpp"

using namespace kinegraph;
using namespace kinegraph::experiments;

namespace {

constexpr int kKnots = 3;

/// What the particle filter computes with, as a network (004, Figs. 2 and 4): the state x = (z, ż) and its acceleration
/// lead to the next one, the assembly B stays. `dependent`: q and its rates, which follow from x and B, are nodes, too;
/// else what needs them needs x and B.
class Network {
 public:
  Network(const Model& model, bool dependent) : dependent_(dependent) {
    const task::CheckResult sizes = bench::require(task::check(model), "check");
    coordinates_ = sizes.coordinates, freedoms_ = sizes.degrees_of_freedom;
    for (const Sensor& sensor : model.sensors) {
      readings_ += static_cast<int>(sensor.channels.size());
      accelerations_ = accelerations_ || info(sensor.type).needs_acceleration;
    }
    graph_.knots = kKnots;
    branch_ = add({"B", ""}, 1, -1, dependent_ ? 4 : 2);
    for (int k = 0; k < kKnots; ++k) add_knot(k);
    std::reverse(order_.begin(), order_.end());  // what comes first is eliminated last, so that arrows lead from it
  }

  std::string picture(const std::string& title) const { return graph_picture(graph_, order_, title); }

 private:
  int add(report::Label label, int size, int half_step, int row, bool known = false) {
    const int index = static_cast<int>(graph_.variables.size());
    graph_.variables.push_back({label, label.text(), size, known, row, half_step, false});
    order_.push_back({index});
    return index;
  }
  /// A variable and the factor that gives it by others.
  int add(const char* symbol, int k, int size, int row, std::vector<int> from, bool known = false) {
    const int index = add({symbol, std::to_string(k)}, size, 2 * k, row, known);
    from.push_back(index);
    graph_.factors.push_back({fmt::format("{} at {}", symbol, k), size, std::move(from)});
    return index;
  }

  void add_knot(int k) {
    const int force = add({"Q", std::to_string(k)}, coordinates_, 2 * k, 0, true);
    order_.pop_back();  // known, and computed from nothing
    const int x = add("x", k, 2 * freedoms_, 1, k == 0 ? std::vector<int>{} : std::vector<int>{x_, a_});
    std::vector<int> seen;
    int a = -1;
    if (dependent_) {
      const int q = add("q", k, coordinates_, 3, {x, branch_}), v = add("q̇", k, coordinates_, 4, {x, q});
      a = add("z̈", k, freedoms_, 2, {force, q, v});
      seen = {q, v, add("q̈", k, coordinates_, 5, {a, q, v})};
    } else {
      a = add("z̈", k, freedoms_, 2, {force, x, branch_});
      seen = {x, branch_, a};
    }
    if (!accelerations_) seen.pop_back();
    add("o", k, readings_, dependent_ ? 6 : 3, seen, true);
    x_ = x, a_ = a;
  }

  bool dependent_, accelerations_ = false;
  int coordinates_ = 0, freedoms_ = 0, readings_ = 0, branch_ = 0, x_ = 0, a_ = 0;
  report::TrajectoryGraph graph_;
  std::vector<std::vector<int>> order_;
};

/// A plan of a few knots with all that its task asks: start, goals, limits, obstacles and costs (003, Fig. 5).
std::string plan_picture(const PlanTask& task, const std::string& title) {
  const Model model = bench::require(read_model(task.model.text), task.model.text.c_str());
  report::TrajectoryGraph graph = report::trajectory_graph(*bench::require(task::tree_of(model), "tree"), kKnots);
  for (auto& variable : graph.variables) variable.known = false;
  const auto at = [&](int knot, const char* symbol) {
    const auto found = std::find_if(graph.variables.begin(), graph.variables.end(), [&](const auto& v) {
      return v.half_step == 2 * knot && v.label.symbol == symbol;
    });
    return static_cast<int>(found - graph.variables.begin());
  };
  const auto add = [&](const std::string& name, int knot, const std::vector<const char*>& symbols) {
    report::TrajectoryGraph::Factor factor{fmt::format("{} at {}", name, knot), 1, {}};
    for (const char* symbol : symbols) factor.variables.push_back(at(knot, symbol));
    graph.factors.push_back(std::move(factor));
  };
  std::vector<ToldFactor> told = {{"start"},        {"limits"},           {"obstacles"},
                                  {"least torque"}, {"smoothness", true}, {"dynamics"}};
  add("start", 0, {"q", "v"});
  for (const TaskGoal& goal : task.goals) {
    told.push_back({"goal " + goal.name});
    add(told.back().name, static_cast<int>(std::lround(goal.time / task.horizon * (kKnots - 1))),
        goal.rest ? std::vector<const char*>{"q", "v"} : std::vector<const char*>{"q"});
  }
  for (int k = 0; k < kKnots; ++k) {
    if (!task.obstacles.empty()) add("obstacles", k, {"q"});
    if (!task.limits.empty()) add("limits", k, {"v"});
    for (const TaskObjective& objective : task.objectives) {
      if (objective.type == TaskObjective::Type::torque) add("least torque", k, {"τ"});
      if (objective.type != TaskObjective::Type::smoothness || k + 1 == kKnots) continue;
      add("smoothness", k, {"q", "v", "a"});
      for (const char* symbol : {"q", "v", "a"}) graph.factors.back().variables.push_back(at(k + 1, symbol));
    }
  }
  return graph_picture(graph, {}, title, told);
}

}  // namespace

int main() {
  Record record("motion_graphs");
  const auto read = [](const std::string& file) {
    return bench::require(read_model(KINEGRAPH_SOURCE_DIR "/models/" + file), file.c_str());
  };
  const Model fourbar = read("fourbar.yaml");
  const std::string arrows =
      "eliminated back in time: arrows lead from what a variable is computed from; shaded: known";
  const std::string dependent_bayes = motion_picture(fourbar, "natural", true, "Dependent coordinates");
  const std::string independent_bayes = motion_picture(fourbar, "independent", true, "Independent coordinates");
  record.draw("000 Fig. 1", "network_dependent", dependent_bayes, "(a) " + arrows);
  record.draw("000 Fig. 1", "network_independent", independent_bayes, "(b) " + arrows);
  record.draw("000 Fig. 2", "factors_dependent", motion_picture(fourbar, "natural", false, "Dependent coordinates"),
              "three knots; the first is known");
  record.draw("000 Fig. 3", "factors_independent",
              motion_picture(fourbar, "independent", false, "Independent coordinates"),
              "three knots; the first is known");
  record.draw("000 Fig. 4", "factors_inverse_fourbar",
              instant_picture(fourbar, {"Inverse dynamics of the four-bar, one instant"}).svg,
              "bodies, joints and the loop of the four-bar; the crank's motion is known, its torque asked for");

  const Model sensed = read("fourbar_gyro.yaml");
  const std::string network = "arrows lead from what a variable follows from; shaded: known (forces Q, readings o)";
  record.draw("004 Fig. 2", "network_sensed_dependent", Network(sensed, true).picture("Dependent coordinates"),
              network + "; q and its rates follow from the state x = (z, ż) and the assembly B");
  record.draw("004 Fig. 4", "network_sensed_independent",
              Network(sensed, false).picture("Without dependent coordinates"),
              network + "; the acceleration is of the machine in its assembly, so that it needs B");

  const std::string task = "arm_pick.yaml";
  record.draw("003 Fig. 5", "factors_plan",
              plan_picture(bench::require(read_task(KINEGRAPH_SOURCE_DIR "/models/tasks/" + task), task.c_str()),
                           "A plan of three knots: arm_pick.yaml"),
              "all joints of the arm together; knots are tied by the trapezoidal rule (no name) and by the "
              "smoothness that is asked for");
}
