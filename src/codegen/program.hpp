#pragma once

#include <Eigen/Core>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kinegraph/build/screw_problem.hpp"
#include "kinegraph/codegen/expression.hpp"

namespace kinegraph::codegen {

/// An array of numbers that a generated function reads or writes.
struct Array {
  std::string name;                 ///< of the argument: an identifier of ours, never one of a file
  std::string meaning;              ///< one line
  std::vector<std::string> labels;  ///< what each number is, as the model names it; may be fewer than the numbers
  std::vector<Signed> values;
};

/// A straight-line program: expressions of its inputs.
struct Program {
  std::shared_ptr<ExpressionGraph> graph;
  std::string purpose;  ///< one line: "inverse dynamics: τ of (q, v, θ̈)"
  std::vector<Array> inputs, outputs;
  Signed pivot;          ///< the smallest relative pivot; a constant where every one is
  int undetermined = 0;  ///< unknowns that nothing determines: wrenches across the plane of a loop

  std::vector<Signed> results() const;  ///< all outputs and the pivot
  OperationCount cost() const { return count(*graph, results()); }
  /// Fails where a constant is too large for a double (`single`: for a float): there is nothing to compute with.
  Result<std::monostate> check_constants(bool single = false) const;
};

enum class Problem { inverse, forward, hybrid, mass_matrix, kinematics };

struct TraceOptions {
  bool joint_forces = true;  ///< damping, friction and springs of the joints act
  bool derivatives = false;  ///< of the outputs by q (along the freedoms), by v and by what is given
  /// Positions with all loops closed, ExpressionGraph::kClosed of them, the start last (closed_positions()): pivots
  /// must keep away from zero there, and what vanishes at all of them is left out. None without loops.
  std::vector<Eigen::VectorXd> closed = {};
  /// Asked often while an order is traced, with the expressions there are so far; false: the trace is interrupted.
  std::function<bool(int expressions)> goes_on = {};
};

/// Dynamics in what is given (the mass matrix: nothing given), eliminated in an order of the problem's unknowns as
/// build::screw_order() makes it. Where all accelerations are known every order is the same program.
Result<Program> trace_dynamics(const build::ScrewProblem& problem, Problem kind, const build::ScrewOrder& order,
                               const TraceOptions& options);

/// Poses of all links.
Program trace_kinematics(std::shared_ptr<const screw::Tree> tree);

/// The same results for fewer operations: terms of sums with a common constant factor are gathered.
Program simplified(const Program& program);

/// ∂(outputs)/∂(direction): `seeds` are the derivatives of the inputs, in their order.
std::vector<Signed> differentiate(ExpressionGraph& graph, const std::vector<Signed>& outputs,
                                  const std::vector<Signed>& seeds);

/// The program run with numbers: one vector per output, then the pivot alone.
std::vector<std::vector<double>> evaluate(const Program& program, const std::vector<const double*>& inputs);

}  // namespace kinegraph::codegen
