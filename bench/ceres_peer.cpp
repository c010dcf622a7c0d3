#include <ceres/ceres.h>

#include <algorithm>
#include <vector>

#include "bench/clock.hpp"
#include "bench/smoothing_peer.hpp"

namespace kinegraph::bench {
namespace {

/// A factor as Ceres asks for it: whitened residuals, and a dense Jacobian by rows for every variable.
class FactorCost final : public ::ceres::CostFunction {
 public:
  explicit FactorCost(const BoundFactor& bound) : bound_(bound), raw_(bound.factor->pattern().size()) {
    set_num_residuals(bound.factor->rows());
    for (const int size : bound.factor->slot_sizes()) mutable_parameter_block_sizes()->push_back(size);
  }
  bool Evaluate(double const* const* x, double* residuals, double** jacobians) const override {
    const Factor& factor = *bound_.factor;
    const std::size_t slots = factor.slot_sizes().size();
    factor.evaluate({x, slots}, residuals, jacobians ? raw_.data() : nullptr);
    bound_.noise.whiten(residuals, factor.rows());
    if (!jacobians) return true;
    for (std::size_t s = 0; s < slots; ++s) {
      if (jacobians[s]) std::fill_n(jacobians[s], factor.rows() * factor.slot_sizes()[s], 0.0);
    }
    const auto pattern = factor.pattern();
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      double* block = jacobians[pattern[i].slot];
      if (block) block[pattern[i].row * factor.slot_sizes()[pattern[i].slot] + pattern[i].column] = raw_[i];
    }
    for (std::size_t s = 0; s < slots; ++s) {
      if (jacobians[s]) bound_.noise.whiten(jacobians[s], factor.rows(), factor.slot_sizes()[s]);
    }
    return true;
  }

 private:
  const BoundFactor& bound_;
  mutable std::vector<double> raw_;  // one thread
};

/// Notes when the cost is low enough.
class Watch final : public ::ceres::IterationCallback {
 public:
  Watch(double start, double near, SmoothingRun& run) : start_(start), near_(near), run_(run) {}
  ::ceres::CallbackReturnType operator()(const ::ceres::IterationSummary& summary) override {
    if (run_.near_seconds == 0 && summary.cost <= near_) run_.near_seconds = cpu_seconds() - start_;
    return ::ceres::SOLVER_CONTINUE;
  }

 private:
  double start_, near_;
  SmoothingRun& run_;
};

}  // namespace

SmoothingRun ceres(const Graph& graph, Values& values, double near) {
  SmoothingRun run;
  const double start = cpu_seconds();
  ::ceres::Problem problem;
  for (const BoundFactor& bound : graph.factors()) {
    std::vector<double*> blocks;
    for (const Key& key : bound.keys) blocks.push_back(values.at(key).data());
    problem.AddResidualBlock(new FactorCost(bound), nullptr, blocks);
  }
  for (int i = 0; i < values.count(); ++i) {
    if (graph.known().contains(values.key(i)) && problem.HasParameterBlock(values.data(i)))
      problem.SetParameterBlockConstant(values.data(i));
  }
  ::ceres::Solver::Options options;
  options.linear_solver_type = ::ceres::SPARSE_NORMAL_CHOLESKY;
  options.sparse_linear_algebra_library_type = ::ceres::SUITE_SPARSE;
  options.num_threads = 1;
  options.max_num_iterations = 200;
  options.function_tolerance = 1e-10;
  options.gradient_tolerance = 1e-12;
  options.parameter_tolerance = 1e-12;
  options.logging_type = ::ceres::SILENT;
  Watch watch(start, near, run);
  options.callbacks.push_back(&watch);
  ::ceres::Solver::Summary summary;
  ::ceres::Solve(options, &problem, &summary);
  run.seconds = cpu_seconds() - start;
  run.iterations = static_cast<int>(summary.iterations.size()) - 1;
  run.cost = summary.final_cost;
  run.converged = summary.termination_type == ::ceres::CONVERGENCE;
  return run;
}

}  // namespace kinegraph::bench
