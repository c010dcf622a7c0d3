#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kinegraph/solve/sqp_search.hpp"

namespace kinegraph {
namespace {

constexpr int kMostViolations = 1000, kNamed = 5;

}  // namespace

const char* name(SqpStatus status) {
  constexpr const char* kNames[] = {"converged", "max_iterations", "infeasible", "stuck", "not_finite", "interrupted"};
  return kNames[static_cast<int>(status)];
}

std::vector<Diagnostic> SqpOptions::check() const {
  std::vector<Diagnostic> faults;
  const auto positive = [&](const char* field, double value) {
    if (value > 0 && std::isfinite(value)) return;
    faults.push_back({Severity::error, {}, fmt::format("{}: must be > 0, is {}", field, value)});
  };
  positive("violation_tolerance", violation_tolerance);
  positive("optimality_tolerance", optimality_tolerance);
  positive("cost_tolerance", cost_tolerance);
  positive("barrier", barrier);
  positive("warm_sigma", warm_sigma);
  positive("threads", threads);
  if (max_iterations < 0) faults.push_back({Severity::error, {}, "max_iterations: must be ≥ 0"});
  if (warm_iterations < 0) faults.push_back({Severity::error, {}, "warm_iterations: must be ≥ 0"});
  return faults;
}

Failure SqpReport::failure() const {
  if (status == SqpStatus::interrupted) return Failure::interrupted();
  Failure failure = Failure::no_answer(message);
  for (std::size_t i = 1; i < violations.size() && i < kNamed; ++i) {
    failure.diagnostics.push_back(
        {Severity::error, {}, fmt::format("{}: off by {:.3g}", violations[i].name, violations[i].amount)});
  }
  return failure;
}

void SqpSearch::list_violations(SqpReport& report) const {
  const Graph& graph = problem_.graph();
  for (int f = 0; f < graph.size(); ++f) {
    const int first = problem_.structure().row[f];
    if (first < 0 || graph[f].role == Role::cost || (graph[f].role == Role::inequality && slacks_ == 0)) continue;
    for (int r = 0; r < graph[f].factor->rows(); ++r) {
      const double amount =
          graph[f].role == Role::equality ? std::abs(point_.equality[first + r]) : -point_.inequality[first + r];
      if (amount > options_.violation_tolerance) report.violations.push_back({f, r, "", kNoStep, amount});
    }
  }
  std::stable_sort(report.violations.begin(), report.violations.end(),
                   [](const Violation& a, const Violation& b) { return a.amount > b.amount; });
  if (report.violations.size() > kMostViolations) report.violations.resize(kMostViolations);
  for (Violation& v : report.violations) {
    v.name = row_name(graph[v.factor], v.row);
    for (const Key& key : graph[v.factor].keys) {
      if (key.step != kNoStep && (v.step == kNoStep || key.step < v.step)) v.step = key.step;
    }
  }
}

SqpReport SqpSearch::report(SqpStatus status) const {
  SqpReport r;
  r.status = status;
  r.iterations = iteration_;
  r.warm_iterations = warm_iterations_;
  r.restorations = restorations_;
  r.factorizations = factorizations_;
  r.passed_on = factorizations_ > 0 ? elimination_.passed_on() : 0;
  if (status == SqpStatus::not_finite) {
    r.message = to_string(problem_.graph()[point_.bad_factor]) + ": is not finite at the start";
    return r;
  }
  r.cost = point_.cost;
  r.violation = violation_of(point_);
  r.optimality = lagrangian_.size() > 0 ? error(0) : 0;
  if (!options_.soft_equalities) list_violations(r);
  const std::string worst =
      r.violations.empty() ? "" : fmt::format("{}: off by {:.3g}", r.violations[0].name, r.violations[0].amount);
  switch (status) {
    case SqpStatus::converged:
      r.message =
          fmt::format("converged in {} iterations: cost {:.6g}, violation {:.2g}", iteration_, r.cost, r.violation);
      break;
    case SqpStatus::infeasible:
      r.message = "the violation is at a local minimum, which leaves " + worst;
      break;
    case SqpStatus::max_iterations:
      r.message = fmt::format("not converged in {} iterations", iteration_) + (worst.empty() ? "" : "; " + worst);
      break;
    case SqpStatus::stuck:
      r.message = fmt::format("no step improves the point, and yet it is not optimal (by {:.2g})", r.optimality) +
                  (worst.empty() ? "" : "; " + worst);
      break;
    default:
      r.message = "interrupted";
  }
  return r;
}

}  // namespace kinegraph
