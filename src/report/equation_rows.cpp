#include "kinegraph/report/equation_rows.hpp"

#include <fmt/format.h>

#include "kinegraph/report/label.hpp"

namespace kinegraph::report {
namespace {

using What = build::ScrewProblem::What;
using Equation = build::ScrewProblem::Equation;

class RowMaker {
 public:
  RowMaker(const build::ScrewProblem& problem, const Skeleton& skeleton, Spelling& spelling)
      : problem_(problem), skeleton_(skeleton), spelling_(spelling) {
    for (std::size_t v = 0; v < problem.variables.size(); ++v) {
      const auto& variable = problem.variables[v];
      index_[{variable.what, variable.owner}] = static_cast<int>(v);
    }
  }

  EquationRow make_row(const build::ScrewProblem::Factor& factor) {
    EquationRow row;
    row.name = factor.name;
    row.numbers = factor.rows;
    const int i = factor.owner;
    switch (factor.equation) {
      case Equation::acceleration:
        make_acceleration(row, i);
        break;
      case Equation::wrench:
        make_wrench(row, i);
        break;
      case Equation::torque:
        make_torque(row, i);
        break;
      case Equation::loop_acceleration:
        make_closure(row, i);
        break;
      case Equation::planar:
        row.mixed = true;
        for (const int v : factor.variables) {
          if (!problem_.variables[v].known) row.terms[v] = {};
        }
    }
    return row;
  }

 private:
  int variable(What what, int owner) const { return index_.at({what, owner}); }
  static Product symbol(const std::string& name, bool transposed = false) { return {1, {{name, transposed}}}; }
  /// The number of a body, or of what its joint or loop is called by: 0 is the ground.
  static std::string number(int owner) { return std::to_string(owner + 1); }

  void add(EquationRow& row, const Product& coefficient, int v) {
    if (problem_.variables[v].known) {
      row.constants.push_back(times(coefficient, symbol(variable_name(problem_.variables[v]))));
    } else {
      row.terms[v].push_back(coefficient);
    }
  }

  // V̇ᵢ = Xᵢ V̇ₚ + Aᵢ θ̈ᵢ + cᵢ   (001, eq. 5)
  void make_acceleration(EquationRow& row, int i) {
    const std::string k = number(i);
    row.left = variable(What::twist_acceleration, i);
    spelling_["X" + k] = fmt::format("Ad(T{},{})", k, number(skeleton_.parent[i]));
    add(row, symbol("X" + k), variable(What::twist_acceleration, skeleton_.parent[i]));
    if (skeleton_.coordinate[i] >= 0) {
      add(row, symbol("A" + k), variable(What::acceleration, skeleton_.coordinate[i]));
      const std::string rate = number(skeleton_.coordinate[i]);
      spelling_["c" + k] = fmt::format("[ad V{0}] A{0} v{1}", k, rate);
      row.constants.push_back(symbol("c" + k));
    }
  }

  // Fᵢ = Σ X꜀ᵀ F꜀ + Gᵢ V̇ᵢ + bᵢ   (001, eq. 6)
  void make_wrench(EquationRow& row, int i) {
    const std::string k = number(i);
    row.left = variable(What::wrench, i);
    const auto children = skeleton_.children()[i];
    for (const int c : children) add(row, symbol("X" + number(c), true), variable(What::wrench, c));
    for (int l = 0; l < static_cast<int>(skeleton_.loops.size()); ++l) {
      const int owner = skeleton_.bodies() + l;
      const auto& loop = skeleton_.loops[l];
      Product y = symbol(fmt::format("Y{}{}", number(owner), loop.a == i ? "a" : "b"), true);
      y.sign = loop.a == i ? 1 : -1;
      if (loop.a == i || loop.b == i) add(row, y, variable(What::wrench, owner));
    }
    add(row, symbol("G" + k), variable(What::twist_acceleration, i));
    row.constants.push_back(symbol("b" + k));
    spelling_["b" + k] = fmt::format("−[ad V{0}]ᵀ G{0} V{0} − w{0}", k);
  }

  // τ꜀ = Σ Aᵢᵀ Fᵢ + r꜀ θ̈꜀ + d꜀   (001, eq. 7)
  void make_torque(EquationRow& row, int c) {
    row.left = variable(What::torque, c);
    for (int i = 0; i < skeleton_.bodies(); ++i) {
      if (skeleton_.coordinate[i] == c) add(row, symbol("A" + number(i), true), variable(What::wrench, i));
    }
    for (int l = 0; l < static_cast<int>(skeleton_.loops.size()); ++l) {
      const int owner = skeleton_.bodies() + l;
      if (skeleton_.loops[l].coordinate == c)
        add(row, symbol("A" + number(owner), true), variable(What::wrench, owner));
    }
    if (skeleton_.armature[c]) add(row, symbol("r" + number(c)), variable(What::acceleration, c));
    if (skeleton_.friction[c]) row.constants.push_back(symbol("d" + number(c)));
  }

  // 0 = Y_b V̇_b − Y_a V̇_a − A θ̈ − c
  void make_closure(EquationRow& row, int l) {
    const auto& loop = skeleton_.loops[l];
    const std::string k = number(skeleton_.bodies() + l);
    const auto minus = [](Product p) { return Product{-p.sign, std::move(p.symbols)}; };
    add(row, symbol("Y" + k + "b"), variable(What::twist_acceleration, loop.b));
    add(row, minus(symbol("Y" + k + "a")), variable(What::twist_acceleration, loop.a));
    if (loop.coordinate >= 0) add(row, minus(symbol("A" + k)), variable(What::acceleration, loop.coordinate));
    row.constants.push_back(minus(symbol("c" + k)));
  }

  const build::ScrewProblem& problem_;
  const Skeleton& skeleton_;
  Spelling& spelling_;
  std::map<std::pair<What, int>, int> index_;
};

}  // namespace

std::string variable_name(const build::ScrewProblem::Variable& variable) {
  const Label l = label(variable);
  return variable.what == What::acceleration ? "a" + l.index : l.text();
}

std::vector<EquationRow> equation_rows(const build::ScrewProblem& problem, const Skeleton& skeleton,
                                       Spelling& spelling) {
  RowMaker maker(problem, skeleton, spelling);
  std::vector<EquationRow> rows;
  for (const auto& factor : problem.factors) rows.push_back(maker.make_row(factor));
  return rows;
}

}  // namespace kinegraph::report
