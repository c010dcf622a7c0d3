#include "kinegraph/codegen/generate.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kinegraph/base/names.hpp"
#include "kinegraph/codegen/closed_positions.hpp"
#include "kinegraph/codegen/derivatives.hpp"
#include "kinegraph/codegen/search.hpp"

namespace kinegraph::codegen {
namespace {

using build::Given;
using build::ScrewProblem;
using What = ScrewProblem::What;

bool all_accelerations_known(const ScrewProblem& problem) {
  return std::all_of(problem.variables.begin(), problem.variables.end(),
                     [](const auto& v) { return v.what != What::acceleration || v.known; });
}

std::string names_of(const ScrewProblem& problem, const build::ScrewOrder& order) {
  std::string text;
  for (const auto& group : order) {
    for (const int v : group) text += (text.empty() ? "" : " ") + problem.variables[v].name;
  }
  return text;
}

Result<Candidate> trace_order(const ScrewProblem& problem, const Request& request, Generated& generated) {
  const bool nothing_to_order = all_accelerations_known(problem) && problem.tree->loops().empty();
  if (request.ordering == "best" && !nothing_to_order && request.problem != Problem::mass_matrix) {
    return best_order(problem, request, generated.tried, generated.searched);
  }
  const bool own = request.ordering != "best";
  const std::string name = own ? request.ordering : request.problem == Problem::mass_matrix ? "crba" : "rnea";
  const Result<build::ScrewOrder> order = build::screw_order(problem, name, request.custom);
  if (!order) return order.failure();
  Result<Program> program = trace_checked(problem, request, *order);
  if (!program) return program.failure();
  generated.searched = 1;
  generated.tried.push_back({name, program->cost().flops()});
  return Candidate{name, *order, std::move(*program), generated.tried.back().flops};
}

/// ∂/∂q, ∂/∂v and by what is given, simplified.
Result<Program> differentiated(const std::shared_ptr<const screw::Tree>& tree, const Request& request,
                               const Program& program) {
  if (request.problem != Problem::forward || !tree->loops().empty()) {
    return simplified(with_derivatives(program, *tree));
  }
  Request inverse;
  inverse.given.assign(tree->coordinates().size(), Given::acceleration);
  inverse.options = request.options;
  inverse.progress = request.progress;
  const Result<Generated> rates = generate(tree, inverse);
  if (!rates) return rates.failure();
  return simplified(with_derivatives(program, rates->program, *tree));
}

}  // namespace

Result<Generated> generate(const std::shared_ptr<const screw::Tree>& tree, const Request& request) {
  Generated generated;
  if (request.problem == Problem::kinematics) {
    generated.program = trace_kinematics(tree);
    if (auto fine = generated.program.check_constants(); !fine) return fine.failure();
    return generated;
  }
  std::vector<Given> given = request.given;
  if (given.empty()) {
    given = request.problem == Problem::inverse ? build::given_inverse(*tree) : build::given_forward(*tree);
  }
  const ScrewProblem problem = build::screw_problem(tree, given);
  for (std::size_t c = 0; c < given.size(); ++c) {
    if (given[c] == Given::torque || given[c] == Given::acceleration) continue;
    return Failure::bad_input(fmt::format("joint {}: either its torque or its acceleration must be given",
                                          quote(tree->coordinates()[c].name)));
  }
  Request own = request;
  if (request.progress) own.options.goes_on = [&](int) { return request.progress(0); };
  own.options.closed = closed_positions(*tree, ExpressionGraph::kClosed);
  Result<Candidate> best = trace_order(problem, own, generated);
  if (!best) return best.failure();
  generated.ordering = best->name;
  generated.order = names_of(problem, best->order);
  generated.program = std::move(best->program);
  generated.without_derivatives = generated.program.cost().flops();
  if (request.options.derivatives && request.problem != Problem::mass_matrix) {
    Result<Program> program = differentiated(tree, request, generated.program);
    if (!program) return program.failure();
    generated.program = std::move(*program);
  }
  if (auto fine = generated.program.check_constants(); !fine) return fine.failure();
  return generated;
}

}  // namespace kinegraph::codegen
