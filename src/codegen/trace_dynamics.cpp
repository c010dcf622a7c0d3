#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "kinegraph/codegen/arrange.hpp"
#include "kinegraph/codegen/program.hpp"

namespace kinegraph::codegen {
namespace {

using build::Given;
using build::ScrewProblem;
using What = ScrewProblem::What;

/// A unit quaternion at each of the random inputs, another one at every call.
std::array<ExpressionGraph::Samples, 4> random_quaternions(std::mt19937_64& generator) {
  std::normal_distribution<double> normal;
  std::array<ExpressionGraph::Samples, 4> q;
  for (int k = 0; k < ExpressionGraph::kRandom; ++k) {
    long double square = 0;
    for (auto& component : q) component[k] = normal(generator), square += component[k] * component[k];
    for (auto& component : q) component[k] /= std::sqrt(square);
  }
  for (auto& component : q) {
    for (int k = ExpressionGraph::kRandom; k < ExpressionGraph::kSamples; ++k) {
      component[k] = component[k % ExpressionGraph::kRandom];
    }
  }
  return q;
}

class Tracer {
 public:
  Tracer(const ScrewProblem& problem, Problem kind, const TraceOptions& options)
      : problem_(problem), tree_(*problem.tree), kind_(kind), options_(options) {
    program_.graph = std::make_shared<ExpressionGraph>();
  }

  Result<Program> run(const build::ScrewOrder& order) {
    make_inputs();
    SymbolicElimination elimination;
    if (kind_ == Problem::mass_matrix) elimination.keep_to_own_rows();
    if (options_.goes_on) elimination.ask([this] { return options_.goes_on(graph().size()); });
    const ScrewRows rows(problem_, inputs_, elimination);
    eliminate_in_order(problem_, rows, order, kind_ == Problem::mass_matrix, elimination);
    if (elimination.stopped()) return Failure::interrupted();
    program_.undetermined = elimination.undetermined();
    if (kind_ == Problem::mass_matrix) {
      add_mass_matrix(rows, elimination);
    } else {
      add_answers(rows, elimination);
    }
    if (elimination.depends_on_undetermined()) {
      return Failure::no_answer(
          "no straight-line code: some torques or accelerations are not determined (more motors than freedoms in a "
          "loop, "
          "or a joint that moves nothing with inertia); inverse and hybrid say which");
    }
    set_pivot(elimination);
    if (auto fine = program_.check_constants(); !fine) return fine.failure();
    return std::move(program_);
  }

 private:
  ExpressionGraph& graph() { return *program_.graph; }

  void make_inputs() {
    Array q{"q", "positions", tree_.position_names(), {}};
    const int n = tree_.freedoms();
    q.values.resize(tree_.stored());
    std::mt19937_64 generator(7);
    for (const screw::Coordinate& c : tree_.coordinates()) {
      const bool quaternion = c.stored > c.freedoms;
      const auto turned = random_quaternions(generator);
      for (int k = 0; k < c.stored; ++k) {
        Signed& input = q.values[c.q + k];
        input = quaternion && k < 4 ? graph().input(turned[k]) : graph().input(-3, 3);
        for (std::size_t s = 0; s < options_.closed.size(); ++s) {
          graph().place(input, static_cast<int>(s), options_.closed[s][c.q + k]);
        }
      }
    }
    inputs_.q = scalars(q.values);
    program_.inputs.push_back(std::move(q));
    inputs_.v.assign(n, Scalar(0));
    inputs_.a.assign(n, Scalar(0));
    inputs_.tau.assign(n, Scalar(0));
    inputs_.joint_forces = options_.joint_forces;
    if (kind_ == Problem::mass_matrix) {
      inputs_.joint_forces = inputs_.loops = false;
      return;
    }
    Array v{"v", "velocities", tree_.velocity_names(), {}};
    for (int k = 0; k < n; ++k) v.values.push_back(graph().input());
    inputs_.v = scalars(v.values);
    program_.inputs.push_back(std::move(v));
    add_known();
  }

  /// What is given of each freedom: its acceleration or its torque.
  void add_known() {
    const bool inverse = kind_ == Problem::inverse, forward = kind_ == Problem::forward;
    Array known{inverse   ? "a"
                : forward ? "tau"
                          : "known",
                inverse   ? "accelerations"
                : forward ? "torques"
                          : "of each freedom its acceleration or its torque, whichever is given",
                {},
                {}};
    for (const screw::Coordinate& c : tree_.coordinates()) {
      const Given given = problem_.given[&c - tree_.coordinates().data()];
      for (int k = 0; k < c.freedoms; ++k) {
        const bool torque = given == Given::torque;
        known.labels.push_back((torque ? tree_.torque_names() : tree_.acceleration_names())[c.v + k]);
        known.values.push_back(graph().input());
        (torque ? inputs_.tau : inputs_.a)[c.v + k] = Scalar(graph(), known.values.back());
      }
    }
    program_.inputs.push_back(std::move(known));
  }

  std::vector<Scalar> scalars(const std::vector<Signed>& values) {
    std::vector<Scalar> list;
    for (const Signed s : values) list.emplace_back(graph(), s);
    return list;
  }

  void add_answers(const ScrewRows& rows, SymbolicElimination& elimination) {
    const bool inverse = kind_ == Problem::inverse, forward = kind_ == Problem::forward;
    Array answer{"out",
                 inverse   ? "torques (of a joint whose torque is given: its acceleration)"
                 : forward ? "accelerations"
                           : "of each freedom the other one: its torque or its acceleration",
                 {},
                 {}};
    for (std::size_t c = 0; c < tree_.coordinates().size(); ++c) {
      const screw::Coordinate& coordinate = tree_.coordinates()[c];
      const bool torque = problem_.given[c] != Given::torque;
      const int variable = problem_.find(torque ? What::torque : What::acceleration, static_cast<int>(c));
      for (int k = 0; k < coordinate.freedoms; ++k) {
        answer.labels.push_back((torque ? tree_.torque_names() : tree_.acceleration_names())[coordinate.v + k]);
        answer.values.push_back(elimination.solution(rows.unknowns(variable)[k]).in(graph()));
      }
    }
    program_.outputs.push_back(std::move(answer));
    program_.purpose = inverse   ? "inverse dynamics: torques from positions, velocities and accelerations"
                       : forward ? "forward dynamics: accelerations from positions, velocities and torques"
                                 : "hybrid dynamics: of each joint its torque or its acceleration from the other one";
  }

  /// What is left of each torque's equation is M θ̈ + h − τ = 0.
  void add_mass_matrix(const ScrewRows& rows, SymbolicElimination& elimination) {
    const int n = tree_.tree_freedoms();
    std::vector<int> unknowns(n);
    for (std::size_t c = 0; c < tree_.coordinates().size(); ++c) {
      const screw::Coordinate& coordinate = tree_.coordinates()[c];
      if (coordinate.loop >= 0) continue;
      const auto& list = rows.unknowns(problem_.find(What::acceleration, static_cast<int>(c)));
      std::copy(list.begin(), list.end(), unknowns.begin() + coordinate.v);
    }
    Array matrix{
        "out", fmt::format("the mass matrix, row by row, {} x {}, of the joints in the order of v", n, n), {}, {}};
    for (const int r : unknowns) {
      const auto& terms = elimination.row_form(elimination.row_of(r)).terms;
      for (const int c : unknowns) {
        matrix.values.push_back((terms.contains(c) ? terms.at(c) : Scalar(0)).in(graph()));
      }
    }
    program_.outputs.push_back(std::move(matrix));
    program_.purpose = "mass matrix from positions";
  }

  /// The least of |pivot| / (its typical size).
  void set_pivot(const SymbolicElimination& elimination) {
    Scalar least(1);
    bool first = true;
    for (const Scalar& p : elimination.pivots()) {
      long double typical = 0;
      for (int k = 0; k < ExpressionGraph::kRandom; ++k) typical = std::max(typical, std::abs(p.sample(k)));
      const Scalar relative = abs(p) * Scalar(static_cast<double>(1 / typical));
      least = first ? relative : Scalar(graph(), graph().minimum(least.in(graph()), relative.in(graph())));
      first = false;
    }
    program_.pivot = least.in(graph());
  }

  const ScrewProblem& problem_;
  const screw::Tree& tree_;
  Problem kind_;
  TraceOptions options_;
  Program program_;
  ScrewInputs inputs_;
};

}  // namespace

Result<Program> trace_dynamics(const ScrewProblem& problem, Problem kind, const build::ScrewOrder& order,
                               const TraceOptions& options) {
  return Tracer(problem, kind, options).run(order);
}

std::vector<Signed> Program::results() const {
  std::vector<Signed> all;
  for (const Array& array : outputs) all.insert(all.end(), array.values.begin(), array.values.end());
  all.push_back(pivot);
  return all;
}

Result<std::monostate> Program::check_constants(bool single) const {
  bool fine = graph->finite();
  const std::vector<bool> needed = graph->needed(results());
  for (int i = 1; single && i < graph->size(); ++i) {
    const bool constant = needed[i] && graph->node(i).operation == Operation::constant;
    if (constant && !(std::abs(graph->node(i).value) <= std::numeric_limits<float>::max())) fine = false;
  }
  if (fine) return std::monostate{};
  return Failure::no_answer(
      fmt::format("no straight-line code: lengths, masses or inertias of the model are so large or so small that "
                  "products or quotients of them are no finite numbers{}",
                  single ? " of single precision" : ""));
}

std::vector<std::vector<double>> evaluate(const Program& program, const std::vector<const double*>& inputs) {
  const ExpressionGraph& graph = *program.graph;
  std::vector<double> value(graph.size(), 0.0);
  for (std::size_t a = 0; a < program.inputs.size(); ++a) {
    for (std::size_t k = 0; k < program.inputs[a].values.size(); ++k) {
      value[program.inputs[a].values[k].node()] = inputs[a][k];
    }
  }
  const auto of = [&](Signed s) { return s.negative() ? -value[s.node()] : value[s.node()]; };
  const std::vector<bool> needed = graph.needed(program.results());
  for (int i = 1; i < graph.size(); ++i) {
    if (!needed[i]) continue;
    const ExpressionGraph::Node& n = graph.node(i);
    const double a = of(n.a), b = of(n.b);
    switch (n.operation) {
      case Operation::constant:
        value[i] = n.value;
        break;
      case Operation::input:
        break;
      case Operation::add:
        value[i] = a + b;
        break;
      case Operation::subtract:
        value[i] = a - b;
        break;
      case Operation::multiply:
        value[i] = a * b;
        break;
      case Operation::divide:
        value[i] = a / b;
        break;
      case Operation::sine:
        value[i] = std::sin(a);
        break;
      case Operation::cosine:
        value[i] = std::cos(a);
        break;
      case Operation::root:
        value[i] = std::sqrt(a);
        break;
      case Operation::tanh:
        value[i] = std::tanh(a);
        break;
      case Operation::absolute:
        value[i] = std::abs(a);
        break;
      case Operation::minimum:
        value[i] = a < b ? a : b <= a ? b : 0;
        break;
    }
  }
  std::vector<std::vector<double>> answer;
  for (const Array& array : program.outputs) {
    answer.emplace_back();
    for (const Signed s : array.values) answer.back().push_back(of(s));
  }
  const double pivot = of(program.pivot);
  answer.push_back({pivot > 0 ? pivot : 0});  // one that is not a number tells nothing
  return answer;
}

}  // namespace kinegraph::codegen
