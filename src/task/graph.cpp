#include "kinegraph/task/graph.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kinegraph/base/names.hpp"
#include "kinegraph/build/dynamics.hpp"
#include "kinegraph/build/screw_incidence.hpp"
#include "kinegraph/model/planar_robot.hpp"

namespace kinegraph::task {

using build::Given;

Result<std::shared_ptr<const screw::Tree>> tree_of(const Model& model) {
  if (model.spatial()) return screw::Tree::make(model.robot);
  const Result<Robot> robot = robot_of(model);
  if (!robot) return robot.failure();
  return screw::Tree::make(*robot);
}

Result<std::vector<Given>> given_of(const screw::Tree& tree, const std::string& problem,
                                    const std::vector<std::string>& known) {
  if (problem == "inverse") return build::given_inverse(tree);
  std::vector<Given> given = build::given_forward(tree);
  if (problem == "forward") return given;

  std::vector<std::string> valid;
  for (const screw::Coordinate& c : tree.coordinates())
    valid.push_back(c.name + ".a"), valid.push_back(c.name + ".tau");
  std::vector<bool> torque(given.size(), false), acceleration(given.size(), false);
  std::vector<Diagnostic> faults;
  for (const std::string& name : known) {
    const std::size_t dot = name.rfind('.');
    const int c = dot == std::string::npos ? -1 : tree.find_coordinate(name.substr(0, dot));
    const std::string what = dot == std::string::npos ? "" : name.substr(dot + 1);
    if (c < 0 || (what != "a" && what != "tau")) {
      faults.push_back(
          {Severity::error,
           {},
           fmt::format("known: {} is no acceleration or torque of a joint{}", quote(name), did_you_mean(name, valid))});
    } else if (auto& flags = what == "a" ? acceleration : torque; flags[c]) {
      faults.push_back({Severity::error, {}, fmt::format("known: {} is named twice", quote(name))});
    } else {
      flags[c] = true;
    }
  }
  if (!faults.empty()) return Failure{Failure::Kind::bad_input, std::move(faults)};
  for (std::size_t c = 0; c < given.size(); ++c) {
    if (acceleration[c]) given[c] = torque[c] ? Given::both : Given::acceleration;
  }
  return given;
}

Result<std::vector<OrderingCost>> compare_orderings(const build::ScrewProblem& problem,
                                                    const std::vector<std::string>& custom) {
  std::vector<OrderingCost> costs;
  std::vector<build::ScrewOrder> orders;
  for (const std::string& name : build::screw_order_names()) {
    if (name == "custom" && custom.empty()) continue;
    Result<build::ScrewOrder> order = build::screw_order(problem, name, custom);
    if (!order) return order.failure();
    const linear::EliminationGame game = linear::play(build::incidence(problem), *order);
    OrderingCost cost;
    cost.name = name;
    cost.edges = static_cast<int>(game.edges().size());
    cost.fill = game.fill();
    cost.width = game.width();
    cost.width_in_numbers = game.width_in_numbers();
    cost.flops = game.flops();
    const auto same = std::find(orders.begin(), orders.end(), *order);
    if (same != orders.end()) cost.same_as = costs[same - orders.begin()].name;
    const build::Dynamics dynamics(problem.tree, problem.given, *order);
    cost.plan_flops = dynamics.plan().flops();
    cost.plan_fill = dynamics.plan().fill();
    costs.push_back(std::move(cost));
    orders.push_back(*std::move(order));
  }
  return costs;
}

}  // namespace kinegraph::task
