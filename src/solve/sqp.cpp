#include "kinegraph/solve/sqp.hpp"

#include "kinegraph/solve/sqp_search.hpp"

namespace kinegraph {

struct Sqp::Implementation {
  std::unique_ptr<HorizonProblem> problem;
  linear::HorizonElimination elimination;
  SqpDuals duals;

  explicit Implementation(std::unique_ptr<HorizonProblem> p) : problem(std::move(p)), elimination(problem->plan()) {}
};

Sqp::Sqp(std::unique_ptr<Implementation> implementation) : implementation_(std::move(implementation)) {}
Sqp::Sqp(Sqp&&) noexcept = default;
Sqp& Sqp::operator=(Sqp&&) noexcept = default;
Sqp::~Sqp() = default;

Result<Sqp> Sqp::make(const Graph& graph, const Values& values) {
  auto problem = HorizonProblem::make(graph, values);
  if (!problem) return std::move(problem).failure();
  return Sqp(std::make_unique<Implementation>(*std::move(problem)));
}

Result<SqpReport> Sqp::solve(Values& values, const SqpOptions& options, bool warm) {
  if (auto faults = options.check(); !faults.empty()) return Failure{Failure::Kind::bad_input, std::move(faults)};
  HorizonProblem& problem = *implementation_->problem;
  if (values.buffer().size() != problem.values().buffer().size()) {
    return Failure::bad_input("values: not those that the solver was made for");
  }
  problem.set_threads(options.threads);
  problem.set_hinges(options.hinges);
  implementation_->elimination.set_threads(options.threads);
  std::copy(values.buffer().begin(), values.buffer().end(), problem.values().buffer().begin());
  SqpReport report = SqpSearch(problem, implementation_->elimination, options, implementation_->duals).run(warm);
  std::copy(problem.values().buffer().begin(), problem.values().buffer().end(), values.buffer().begin());
  return report;
}

const SqpDuals& Sqp::duals() const { return implementation_->duals; }
void Sqp::set_duals(SqpDuals duals) { implementation_->duals = std::move(duals); }
const Structure& Sqp::structure() const { return implementation_->problem->structure(); }

Result<SqpReport> minimize(const Graph& graph, Values& values, const SqpOptions& options) {
  auto solver = Sqp::make(graph, values);
  if (!solver) return std::move(solver).failure();
  return solver->solve(values, options);
}

}  // namespace kinegraph
