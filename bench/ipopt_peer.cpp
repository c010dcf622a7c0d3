#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <coin/IpIpoptApplication.hpp>
#include <coin/IpSolveStatistics.hpp>
#include <coin/IpTNLP.hpp>

#include "bench/clock.hpp"
#include "bench/plan_peer.hpp"
#include "kinegraph/solve/horizon_problem.hpp"

namespace kinegraph::bench {
namespace {

using Ipopt::Index;
using Ipopt::Number;

/// A graph as IPOPT asks for it:   min f(x)   with   c(x) = 0,   g(x) ≥ 0
/// x: the displacement from where the search starts, along the columns of the graph's structure.
class GraphProgram final : public Ipopt::TNLP {
 public:
  GraphProgram(const build::PlanProblem& problem, PlanRun& run) : run_(run), graph_(problem.graph) {
    problem_ = require(HorizonProblem::make(problem.graph, problem.values), "structure");
    start_.assign(problem.values.buffer().begin(), problem.values.buffer().end());
    const Structure& s = problem_->structure();
    equality_.setZero(s.hard_rows);
    inequality_.setZero(s.inequality_rows);
    for (int f = 0; f < graph_.size(); ++f) {
      if (graph_[f].role == Role::cost || s.row[f] < 0) continue;
      for (const JacobianEntry& e : graph_[f].factor->pattern()) {
        const int column = s.variable[problem.values.find(graph_[f].keys[e.slot])];
        jacobian_.push_back({first_row(f) + e.row, column < 0 ? -1 : column + e.column});
      }
    }
    for (std::size_t i = 0; i < problem_->plan().entry().size(); ++i) {
      const auto& e = problem_->plan().entry()[i];
      const int row = std::max(e.row, e.column), column = std::min(e.row, e.column);
      if (row < s.unknowns) hessian_.push_back({row, column, static_cast<int>(i)});
    }
  }

  bool get_nlp_info(Index& n, Index& m, Index& jacobian, Index& hessian, IndexStyleEnum& style) override {
    n = problem_->unknowns();
    m = problem_->hard_rows() + problem_->inequality_rows();
    jacobian =
        static_cast<Index>(std::count_if(jacobian_.begin(), jacobian_.end(), [](auto& e) { return e.column >= 0; }));
    hessian = static_cast<Index>(hessian_.size());
    style = C_STYLE;
    return true;
  }
  bool get_bounds_info(Index n, Number* low, Number* high, Index m, Number* row_low, Number* row_high) override {
    std::fill_n(low, n, -1e20);
    std::fill_n(high, n, 1e20);
    std::fill_n(row_low, m, 0.0);
    std::fill_n(row_high, problem_->hard_rows(), 0.0);
    std::fill_n(row_high + problem_->hard_rows(), problem_->inequality_rows(), 1e20);
    return true;
  }
  bool get_starting_point(Index n, bool, Number* x, bool, Number*, Number*, Index, bool, Number*) override {
    std::fill_n(x, n, 0.0);
    return true;
  }
  bool eval_f(Index n, const Number* x, bool, Number& f) override {
    at(n, x);
    problem_->evaluate(point_);
    f = point_.cost;
    return point_.finite();
  }
  bool eval_grad_f(Index n, const Number* x, bool, Number* gradient) override {
    at(n, x);
    problem_->linearize(point_);
    std::copy_n(problem_->gradient().data(), n, gradient);
    return point_.finite();
  }
  bool eval_g(Index n, const Number* x, bool, Index, Number* g) override {
    at(n, x);
    problem_->evaluate(point_);
    std::copy(point_.equality.begin(), point_.equality.end(), g);
    std::copy(point_.inequality.begin(), point_.inequality.end(), g + problem_->hard_rows());
    return point_.finite();
  }
  bool eval_jac_g(Index n, const Number* x, bool, Index, Index, Index* rows, Index* columns, Number* values) override {
    if (!values) {
      for (const Place& e : jacobian_) {
        if (e.column >= 0) *rows++ = e.row, *columns++ = e.column;
      }
      return true;
    }
    at(n, x);
    const Structure& s = problem_->structure();
    std::size_t entry = 0;
    for (int f = 0; f < graph_.size(); ++f) {
      if (graph_[f].role == Role::cost || s.row[f] < 0) continue;
      const Factor& factor = *graph_[f].factor;
      slots_.clear();
      for (const Key& key : graph_[f].keys) slots_.push_back(problem_->values().at(key).data());
      residual_.resize(factor.rows());
      raw_.resize(factor.pattern().size());
      factor.evaluate(slots_, residual_.data(), raw_.data());
      for (const double value : raw_) {
        if (jacobian_[entry++].column >= 0) *values++ = value;
      }
    }
    return true;
  }
  bool eval_h(Index n, const Number* x, bool, Number factor, Index, const Number* lambda, bool, Index, Index* rows,
              Index* columns, Number* values) override {
    if (!values) {
      for (const Entry& e : hessian_) *rows++ = e.row, *columns++ = e.column;
      return true;
    }
    at(n, x);
    problem_->set_cost_weight(factor);
    problem_->linearize(point_);
    const int hard = problem_->hard_rows(), more = problem_->inequality_rows();
    const Eigen::VectorXd y = Eigen::Map<const Eigen::VectorXd>(lambda, hard);
    const Eigen::VectorXd z = -Eigen::Map<const Eigen::VectorXd>(lambda + hard, more);
    problem_->assemble(y, z, Eigen::VectorXd::Zero(more), matrix_);
    problem_->set_cost_weight(1);
    for (const Entry& e : hessian_) *values++ = matrix_[e.from];
    return true;
  }
  void finalize_solution(Ipopt::SolverReturn status, Index n, const Number* x, const Number*, const Number*, Index,
                         const Number*, const Number*, Number f, const Ipopt::IpoptData*,
                         Ipopt::IpoptCalculatedQuantities*) override {
    at(n, x);
    problem_->evaluate(point_);
    run_.cost = f;
    run_.violation = point_.equality.size() > 0 ? point_.equality.lpNorm<Eigen::Infinity>() : 0;
    if (point_.inequality.size() > 0) run_.violation = std::max(run_.violation, -point_.inequality.minCoeff());
    run_.converged = status == Ipopt::SUCCESS || status == Ipopt::STOP_AT_ACCEPTABLE_POINT;
  }

 private:
  struct Place {
    int row, column;
  };
  struct Entry {
    int row, column, from;
  };
  int first_row(int f) const {
    const Structure& s = problem_->structure();
    return s.row[f] + (graph_[f].role == Role::inequality ? s.hard_rows : 0);
  }
  void at(Index n, const Number* x) {
    std::copy(start_.begin(), start_.end(), problem_->values().buffer().begin());
    problem_->values().retract(Eigen::Map<const Eigen::VectorXd>(x, n), problem_->structure().variable);
  }

  PlanRun& run_;
  const Graph& graph_;
  std::unique_ptr<HorizonProblem> problem_;
  HorizonPoint point_;
  std::vector<double> start_, matrix_, residual_, raw_;
  std::vector<const double*> slots_;
  std::vector<Place> jacobian_;
  std::vector<Entry> hessian_;
  Eigen::VectorXd equality_, inequality_;
};

}  // namespace

PlanRun ipopt(const build::PlanProblem& problem) {
  PlanRun run;
  const double start = cpu_seconds();
  Ipopt::SmartPtr<Ipopt::IpoptApplication> application = IpoptApplicationFactory();
  application->Options()->SetIntegerValue("print_level", 0);
  application->Options()->SetStringValue("sb", "yes");
  application->Options()->SetNumericValue("tol", 1e-8);
  application->Options()->SetNumericValue("constr_viol_tol", 1e-9);
  application->Options()->SetIntegerValue("max_iter", 1000);
  application->Initialize();
  Ipopt::SmartPtr<Ipopt::TNLP> program = new GraphProgram(problem, run);
  const Ipopt::ApplicationReturnStatus status = application->OptimizeTNLP(program);
  run.seconds = cpu_seconds() - start;
  if (IsValid(application->Statistics()))
    run.iterations = static_cast<int>(application->Statistics()->IterationCount());
  if (!run.converged) run.message = fmt::format("status {}", static_cast<int>(status));
  return run;
}

}  // namespace kinegraph::bench
