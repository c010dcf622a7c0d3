#pragma once

#include <string>
#include <vector>

#include "kinegraph/base/result.hpp"
#include "kinegraph/solve/linearize.hpp"

namespace kinegraph {

/// Why an optimiser stopped.
enum class Status {
  small_step,      ///< converged: the unknowns no longer move
  small_gradient,  ///< converged: nothing pulls
  small_change,    ///< converged: the cost no longer falls
  max_iterations,
  singular,     ///< some unknown is not determined; named in `message`
  infeasible,   ///< the hard rows cannot be brought nearer to zero from here
  diverged,     ///< no step lowers the cost, and yet something pulls
  not_finite,   ///< a residual or a derivative is not a number; named in `message`
  interrupted,  ///< Progress said stop
};

const char* name(Status);

struct WorstFactor {
  std::string name;
  double cost = 0;  ///< ½ ρ(‖W r‖²)
};

/// What an optimiser did.
struct Report {
  Status status = Status::max_iterations;
  std::string message;  ///< one sentence, for people: always there, also on success
  int iterations = 0;
  double cost_before = 0, cost_after = 0;
  double hard_before = 0, hard_after = 0;  ///< largest |residual| of a hard row
  std::string hard_worst;                  ///< the row that has it, "" without hard rows
  std::vector<WorstFactor> worst;          ///< the costliest factors, worst first
  int unknowns = 0, hard_rows = 0, cost_rows = 0;

  bool converged() const { return status <= Status::small_change; }
  Failure failure() const;  ///< no_answer (or interrupted) with the message; for what did not converge
  std::string to_string() const;
};

/// Fills in the part of a report that describes a point: costs, worst hard row, worst factors.
void describe_point(const Linearization& linearization, const Eigen::VectorXd& hard, double cost, Report& report);

}  // namespace kinegraph
