#pragma once

#include <functional>

#include "kinegraph/base/progress.hpp"
#include "kinegraph/identify/problem.hpp"

namespace kinegraph::identify {

/// Of normal equations. Searches that share it do not ask the system for it anew, which takes long.
using SolverMemory = std::vector<linear::Arrowhead>;

struct SolverOptions {
  int most_iterations = 30;
  double tolerance = 1e-6;        ///< parameters move less than this (of their standard deviations' order, or relative)
  bool measure = true;            ///< information and scatter at the answer are wanted
  bool absorbed = false;          ///< Problem::absorbed() too
  bool lend = false;              ///< the problems keep the rows of the answer, for Problem::expect_as() of others
  std::size_t most_kept = 30000000;  ///< numbers of rows that all problems together may keep; beyond that: none
  std::vector<bool> frozen = {};  ///< coordinates that stay as they are; empty: none
  bool blind = false;             ///< steps are taken without looking at what they bring: for how an answer would move
  SolverMemory* memory = nullptr;
  Progress progress;
  std::function<void(int iteration, double cost, const Eigen::VectorXd& x)> watch;
};

struct SolverReport {
  bool converged = false;
  int iterations = 0;
  double cost = 0, first_cost = 0;
  double seconds = 0;                 ///< of the iterations
  std::vector<double> costs;          ///< per iteration
  std::vector<Eigen::VectorXd> path;  ///< x per iteration
  std::string why_stopped;
  Eigen::MatrixXd information;  ///< Schur complement on x: states eliminated, not damped, priors not counted
  Eigen::MatrixXd scatter;   ///< Σ over blocks of time of scores' squares, states eliminated: of sandwich covariances
  Eigen::VectorXd absorbed;  ///< per channel: sum of Problem::absorbed()
  std::vector<bool> at_bound;  ///< per coordinate
  std::vector<bool> at_edge;   ///< per inequality of Parameters::inequalities()
};

/// Levenberg-Marquardt over all runs at once: states eliminated first, parameters last, bounds and possible inertias on
/// the small Schur complement. `x` and `poses` (per run) are start and answer; the problems are left as the answer has
/// them.
Result<SolverReport> solve(const Parameters& parameters, std::vector<Problem>& problems, Eigen::VectorXd& x,
                           std::vector<std::vector<double>>& poses, const SolverOptions& options);

}  // namespace kinegraph::identify
