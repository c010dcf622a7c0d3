#pragma once

#include "kinegraph/solve/covariance.hpp"
#include "kinegraph/solve/marginal_prior.hpp"
#include "kinegraph/solve/optimizer.hpp"

namespace kinegraph {

struct FixedLagOptions {
  int lag = 10;  ///< steps that stay variable before the newest; older ones are marginalised
  OptimizerOptions optimizer;

  std::vector<Diagnostic> check() const;
};

/// A fixed-lag smoother for estimation: a window over the newest steps, and a prior in square-root form for all that
/// was before. Variables of a negative step are timeless (calibrations, parameters) and never leave. Memory does not
/// grow.
///
/// (For simulation the past is frozen instead: a marginal prior treats the integrator as process noise and forgets the
/// state. See ChainSolver.)
class FixedLag {
 public:
  explicit FixedLag(FixedLagOptions options = {}) : options_(std::move(options)) {}

  /// Takes in new factors (and what they know), with first values for variables not seen before; solves the window;
  /// then marginalises what is older than the newest step − lag. Fails on options, keys or sizes that do not fit,
  /// naming them, and then leaves the smoother as it was.
  Result<Report> update(const Graph& factors, const Values& initial);

  const Graph& graph() const { return graph_; }     ///< of the window, the priors included
  const Values& values() const { return values_; }  ///< of the window
  int newest() const { return newest_; }            ///< step; −1 before the first
  Result<Eigen::MatrixXd> covariance(const Key& key) const;

 private:
  Result<Report> absorb(Graph graph, Values values, int newest);

  FixedLagOptions options_;
  Graph graph_;
  Values values_;
  int newest_ = -1;
};

}  // namespace kinegraph
