#include "kinegraph/solve/optimizer.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <optional>

#include "kinegraph/solve/diagnose.hpp"
#include "kinegraph/solve/search.hpp"
#include "kinegraph/solve/step_rule.hpp"

namespace kinegraph {
namespace {

/// A hard row among known variables only cannot be helped by any step.
std::string violated_constant(const Graph& graph, const Values& values, const Structure& structure, double tolerance) {
  std::vector<const double*> slots;
  std::vector<double> residual;
  for (int f : structure.constant) {
    const BoundFactor& bound = graph[f];
    if (bound.role != Role::equality) continue;
    slots.clear();
    for (const Key& key : bound.keys) slots.push_back(values.data(values.find(key)));
    residual.assign(bound.factor->rows(), 0);
    bound.factor->evaluate(slots, residual.data(), nullptr);
    double size = 1;
    for (const Key& key : bound.keys) {
      for (double x : values.at(key)) size = std::max(size, std::abs(x));
    }
    for (int row = 0; row < bound.factor->rows(); ++row) {
      if (std::abs(residual[row]) <= tolerance * size * size) continue;
      return fmt::format("{} is {:.3g}, not 0, and all its variables are known", row_name(bound, row), residual[row]);
    }
  }
  return {};
}

class Optimizer {
 public:
  Optimizer(Linearization& linearization, const OptimizerOptions& options)
      : linearization_(linearization),
        options_(options),
        search_(linearization, options),
        rule_(StepRule::make(options)) {}

  Result<Report> run() {
    if (!search_.linearize()) return finish(Status::not_finite, linearization_.describe_fault(search_.evaluation()));
    report_.cost_before = search_.cost();
    report_.hard_before = search_.hard().size() > 0 ? search_.hard().cwiseAbs().maxCoeff() : 0;
    if (linearization_.unknowns() == 0) return finish(Status::small_step, "nothing is unknown");
    for (; report_.iterations < options_.max_iterations; ++report_.iterations) {
      if (options_.progress && !options_.progress(double(report_.iterations) / options_.max_iterations)) {
        return finish(Status::interrupted, "interrupted");
      }
      const auto outcome = rule_->prepare(search_);
      if (outcome == Search::Outcome::failure) return search_.failure();
      if (outcome == Search::Outcome::wrong_curvature) return finish_singular();
      if (search_.feasible() && search_.stationary()) return finish(Status::small_gradient);
      if (const auto status = advance()) return finish_at(*status);
    }
    return finish_at(Status::max_iterations);
  }

 private:
  /// One step. Says why to stop, if so.
  std::optional<Status> advance() {
    const double promised = search_.predicted(search_.step()), before = search_.cost();
    const bool at_the_end = search_.small_step(rule_->stretch() * search_.step(), 1e3);
    Eigen::VectorXd step;
    const StepRule::Result result = rule_->advance(search_, step);
    if (result.accepted && !search_.linearize()) return Status::not_finite;
    if (!search_.feasible()) return judge_infeasible(result.accepted && !search_.small_step(step));
    if (!result.accepted) {
      if (at_the_end) return Status::small_step;
      // Residuals may have rounding errors of their own: what is left then cannot be told from noise.
      return promised <= 1e-9 * before + search_.rounding() ? Status::small_change : Status::diverged;
    }
    if (search_.small_step(result.stretch * step)) return Status::small_step;
    const double negligible = options_.cost_tolerance * before + search_.rounding();
    if (result.stretch * result.predicted <= negligible) return Status::small_change;
    return std::nullopt;
  }

  /// Whether to go on at a point where hard rows do not hold: as long as they come nearer, or could.
  std::optional<Status> judge_infeasible(bool moving) {
    constexpr int kPatience = 10;
    const bool stuck = search_.hard_rows_stuck();
    if (search_.hard_norm() < 0.99 * best_hard_norm_) {
      best_hard_norm_ = search_.hard_norm();
      patience_ = kPatience;
    } else if (--patience_ <= 0 && stuck) {
      return Status::infeasible;
    }
    if (moving || search_.raise_penalty()) return std::nullopt;
    return stuck ? Status::infeasible : Status::diverged;
  }

  Report finish_at(Status status) {
    switch (status) {
      case Status::not_finite:
        return finish(status, linearization_.describe_fault(search_.evaluation()));
      case Status::max_iterations:
        --report_.iterations;
        break;  // counted below
      default:
        break;
    }
    ++report_.iterations;
    return finish(status);
  }

  Report finish_singular() { return finish(Status::singular, diagnose(linearization_).to_string()); }

  Report finish(Status status, std::string message = {}) {
    report_.status = status;
    Eigen::VectorXd hard;
    const Evaluation last = linearization_.evaluate(hard);
    describe_point(linearization_, hard, last.cost, report_);
    if (message.empty()) message = sentence(status);
    report_.message = std::move(message);
    return report_;
  }

  std::string sentence(Status status) const {
    const auto& r = report_;
    switch (status) {
      case Status::infeasible:
        return fmt::format("cannot bring '{}' to zero from here: it stays at {:.3g}", r.hard_worst, r.hard_after);
      case Status::diverged:
        if (!search_.feasible()) return fmt::format("no step leads on: '{}' is {:.3g}", r.hard_worst, r.hard_after);
        return fmt::format("no step lowers the cost below {:.6g}{}", r.cost_after, worst());
      case Status::max_iterations:
        if (r.hard_rows > 0 && !search_.feasible()) {
          return fmt::format("not done after {} iterations: '{}' is still {:.3g}", r.iterations, r.hard_worst,
                             r.hard_after);
        }
        return fmt::format("not done after {} iterations: cost {:.6g}{}", r.iterations, r.cost_after, worst());
      default:
        return fmt::format("{} after {} iterations", name(status), r.iterations);
    }
  }
  std::string worst() const {
    return report_.worst.empty() ? "" : fmt::format(", most of it in '{}'", report_.worst.front().name);
  }

  Linearization& linearization_;
  const OptimizerOptions& options_;
  Search search_;
  std::unique_ptr<StepRule> rule_;
  Report report_;
  double best_hard_norm_ = std::numeric_limits<double>::infinity();
  int patience_ = 0;
};

}  // namespace

std::vector<Diagnostic> OptimizerOptions::check() const {
  std::vector<Diagnostic> faults;
  const auto positive = [&](const char* field, double value) {
    if (!(value > 0) || !std::isfinite(value)) {
      faults.push_back({Severity::error, {}, fmt::format("{}: must be > 0, is {}", field, value)});
    }
  };
  if (max_iterations < 0) {
    faults.push_back({Severity::error, {}, fmt::format("max_iterations: must be >= 0, is {}", max_iterations)});
  }
  positive("step_tolerance", step_tolerance);
  positive("gradient_tolerance", gradient_tolerance);
  positive("cost_tolerance", cost_tolerance);
  positive("hard_tolerance", hard_tolerance);
  positive("initial_damping", initial_damping);
  return faults;
}

Result<Report> optimize(const Graph& graph, Values& values, const OptimizerOptions& options) {
  if (auto faults = options.check(); !faults.empty()) return Failure{Failure::Kind::bad_input, std::move(faults)};
  auto linearization = Linearization::make(graph, values);
  if (!linearization) return std::move(linearization).failure();
  const std::string violated =
      violated_constant(graph, values, linearization->structure(), std::max(1e-9, options.hard_tolerance));
  if (!violated.empty()) {
    Report report;
    report.status = Status::infeasible;
    report.message = violated;
    return report;
  }
  return Optimizer(*linearization, options).run();
}

}  // namespace kinegraph
