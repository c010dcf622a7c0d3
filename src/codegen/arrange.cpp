#include "kinegraph/codegen/arrange.hpp"

#include <algorithm>

namespace kinegraph::codegen {
namespace {

using build::ScrewProblem;
using What = ScrewProblem::What;

class Arranger {
 public:
  Arranger(const ScrewProblem& problem, const ScrewRows& rows, SymbolicElimination& elimination)
      : problem_(problem),
        rows_(rows),
        elimination_(elimination),
        bodies_(static_cast<int>(problem.tree->bodies().size())),
        chain_done_(bodies_, false) {}

  /// All accelerations known: τ, then wrenches from the ground outward, then accelerations inward, each in terms of
  /// what comes later. Nothing is ever put into another row: back-substitution is the algorithm of Newton and Euler.
  void substitute_only() {
    for (int c = coordinates() - 1; c >= 0; --c) eliminate(problem_.find(What::torque, c));
    for (int i = 0; i < bodies_; ++i) {
      const auto& stages = rows_.stages(i);
      for (auto s = stages.rbegin(); s != stages.rend(); ++s) eliminate(s->wrench);
      eliminate(problem_.find(What::wrench, i));
    }
    for (int i = bodies_ - 1; i >= 0; --i) {
      eliminate(problem_.find(What::twist_acceleration, i));
      for (const auto& stage : rows_.stages(i)) eliminate(stage.acceleration);
    }
  }

  void in_order(const std::vector<int>& sequence) {
    eliminate(rows_.loop_unknowns());
    for (std::size_t k = 0; k < sequence.size();) {
      std::size_t end = k + 1;
      const int body = body_of(sequence[k]);
      while (end < sequence.size() && body >= 0 && body_of(sequence[end]) == body) ++end;
      together(std::vector<int>(sequence.begin() + static_cast<long>(k), sequence.begin() + static_cast<long>(end)),
               body);
      k = end;
    }
  }

  void finish(bool keep_accelerations) {
    std::vector<int> left;
    for (int i = bodies_ - 1; i >= 0; --i) chain(i);
    for (const int v : problem_.unknown()) {
      if (keep_accelerations && problem_.variables[v].what == What::acceleration) continue;
      for (const int x : rows_.unknowns(v)) {
        if (!elimination_.done(x)) left.push_back(x);
      }
    }
    elimination_.eliminate_last(left);
  }

 private:
  int coordinates() const { return static_cast<int>(problem_.tree->coordinates().size()); }

  void eliminate(const std::vector<int>& unknowns) {
    for (const int x : unknowns) elimination_.eliminate(x);
  }
  void eliminate(int variable) { eliminate(rows_.unknowns(variable)); }

  /// Of an acceleration that several joints share: the one that comes last on the way to the ground. Torques: none.
  int body_of(int variable) const {
    const ScrewProblem::Variable& v = problem_.variables[variable];
    if (v.what == What::twist_acceleration) return v.owner;
    if (v.what == What::wrench) return v.owner < bodies_ ? v.owner : -1;
    if (v.what == What::torque) return -1;
    for (int i = 0; i < bodies_; ++i) {
      if (problem_.tree->bodies()[i].joint.coordinate == v.owner) return i;
    }
    return -1;
  }

  void together(const std::vector<int>& variables, int body) {
    std::vector<int> wrench, twist, acceleration;
    for (const int v : variables) {
      const What what = problem_.variables[v].what;
      if (what == What::torque || body < 0) eliminate(v);
      if (what == What::wrench) wrench = rows_.unknowns(v);
      if (what == What::twist_acceleration) twist = rows_.unknowns(v);
      if (what == What::acceleration) acceleration = rows_.unknowns(v);
    }
    elimination_.eliminate_if_alone(wrench);
    eliminate(twist);
    // what the equation of the torque still holds of the wrench, so that θ̈ finds its inertia there
    for (const int a : acceleration) {
      if (elimination_.row_of(a) < 0) continue;
      const auto terms = elimination_.row_form(elimination_.row_of(a)).terms;
      for (const int x : wrench) {
        if (terms.contains(x)) elimination_.eliminate(x);
      }
    }
    eliminate(acceleration);
    eliminate(wrench);
    if (body >= 0) chain_if_ready(body);
  }

  void chain_if_ready(int body) {
    const auto gone = [&](What what) {
      const auto& list = rows_.unknowns(problem_.find(what, body));
      return std::all_of(list.begin(), list.end(), [&](int x) { return elimination_.done(x); });
    };
    if (gone(What::wrench) && gone(What::twist_acceleration)) chain(body);
  }

  /// From the child to the parent, on both sides at each step: what is symmetric stays so.
  void chain(int body) {
    if (chain_done_[body]) return;
    chain_done_[body] = true;
    for (const auto& stage : rows_.stages(body)) {
      eliminate(stage.wrench);
      eliminate(stage.acceleration);
    }
  }

  const ScrewProblem& problem_;
  const ScrewRows& rows_;
  SymbolicElimination& elimination_;
  int bodies_;
  std::vector<bool> chain_done_;
};

}  // namespace

void eliminate_in_order(const ScrewProblem& problem, const ScrewRows& rows, const build::ScrewOrder& order,
                        bool keep_accelerations, SymbolicElimination& elimination) {
  Arranger arranger(problem, rows, elimination);
  const bool all_known = std::all_of(problem.variables.begin(), problem.variables.end(),
                                     [](const auto& v) { return v.what != What::acceleration || v.known; });
  if (all_known && problem.tree->loops().empty()) {
    arranger.substitute_only();
  } else {
    std::vector<int> sequence;
    for (const std::vector<int>& group : order) {
      // a group of accelerations from the leaves to the ground: so branches stay apart
      for (auto i = group.rbegin(); i != group.rend(); ++i) {
        const int v = *i;
        const ScrewProblem::Variable& variable = problem.variables[v];
        if (variable.level > 0 || variable.known) continue;
        if (keep_accelerations && variable.what == What::acceleration) continue;
        sequence.push_back(v);
      }
    }
    arranger.in_order(sequence);
  }
  arranger.finish(keep_accelerations);
}

}  // namespace kinegraph::codegen
