#include "kinegraph/solve/report.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kinegraph {

const char* name(Status status) {
  switch (status) {
    case Status::small_step:
      return "converged (small step)";
    case Status::small_gradient:
      return "converged (small gradient)";
    case Status::small_change:
      return "converged (small change of cost)";
    case Status::max_iterations:
      return "stopped after the allowed number of iterations";
    case Status::singular:
      return "singular";
    case Status::infeasible:
      return "infeasible";
    case Status::diverged:
      return "diverged";
    case Status::not_finite:
      return "not finite";
    case Status::interrupted:
      return "interrupted";
  }
  return "?";
}

Failure Report::failure() const {
  return status == Status::interrupted ? Failure::interrupted() : Failure::no_answer(message);
}

std::string Report::to_string() const {
  std::string text = fmt::format("{}: {} iterations, cost {:.6g} -> {:.6g}, {} unknowns, {} hard and {} soft equations",
                                 name(status), iterations, cost_before, cost_after, unknowns, hard_rows, cost_rows);
  if (!converged()) text += "\n" + message;
  if (!hard_worst.empty()) text += fmt::format("\nlargest hard residual {:.3g}: {}", hard_after, hard_worst);
  for (const WorstFactor& w : worst) text += fmt::format("\n  cost {:<12.6g} {}", w.cost, w.name);
  return text;
}

void describe_point(const Linearization& l, const Eigen::VectorXd& hard, double cost, Report& report) {
  constexpr int kWorst = 5;
  report.unknowns = l.unknowns();
  report.hard_rows = l.hard_rows();
  report.cost_rows = l.structure().cost_rows;
  report.cost_after = cost;
  report.hard_after = 0;
  report.hard_worst.clear();
  if (hard.size() > 0) {
    Eigen::Index row = 0;
    report.hard_after = hard.cwiseAbs().maxCoeff(&row);
    report.hard_worst = l.hard_row_name(static_cast<int>(row));
  }
  std::vector<int> factors;
  for (int f = 0; f < l.graph().size(); ++f) {
    if (l.factor_cost(f) > 0) factors.push_back(f);
  }
  const auto kept = std::min<std::size_t>(kWorst, factors.size());
  std::partial_sort(factors.begin(), factors.begin() + static_cast<std::ptrdiff_t>(kept), factors.end(),
                    [&](int a, int b) { return l.factor_cost(a) > l.factor_cost(b); });
  report.worst.clear();
  for (std::size_t i = 0; i < kept; ++i) {
    report.worst.push_back({to_string(l.graph()[factors[i]]), l.factor_cost(factors[i])});
  }
}

}  // namespace kinegraph
