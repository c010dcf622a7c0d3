#include <algorithm>
#include <map>

#include "kinegraph/codegen/program.hpp"

namespace kinegraph::codegen {
namespace {

/// Writes a program anew into another graph. Sums are flattened where nobody else uses their parts, and terms with the
/// same constant factor gathered:   c x + c y + … = c (x + y) + …
///
/// Newton and Euler's equations then come out in the entries of α^ + ω^², which offsets, first moments and products of
/// inertia share.
class Rewriter {
 public:
  explicit Rewriter(const Program& from)
      : from_(from),
        old_(*from.graph),
        uses_(old_.uses(from.results())),
        made_(old_.size(), false),
        copy_(old_.size()) {
    to_ = from;
    to_.graph = std::make_shared<ExpressionGraph>();
  }

  Program run() {
    for (Array& array : to_.inputs) {
      for (Signed& s : array.values) s = put(s.node(), input(s));
    }
    const std::vector<bool> needed = old_.needed(from_.results());
    for (int i = 1; i < old_.size(); ++i) {
      if (needed[i] && !made_[i] && !inside_a_sum(i)) put(i, rewrite(i));
    }
    for (Array& array : to_.outputs) {
      for (Signed& s : array.values) s = of(s);
    }
    to_.pivot = of(from_.pivot);
    return std::move(to_);
  }

 private:
  struct Term {
    Signed x;
    double factor;
  };

  ExpressionGraph& graph() { return *to_.graph; }

  Signed input(Signed s) {
    ExpressionGraph::Samples samples;
    for (int k = 0; k < ExpressionGraph::kSamples; ++k) samples[k] = old_.sample(s, k);
    return graph().input(samples);
  }
  Signed put(int node, Signed copy) {
    made_[node] = true;
    return copy_[node] = copy;
  }
  Signed of(Signed s) {
    if (s.node() == 0) return s;
    if (!made_[s.node()]) put(s.node(), rewrite(s.node()));
    return s.negative() ? -copy_[s.node()] : copy_[s.node()];
  }
  bool is_sum(int node) const {
    const Operation o = old_.node(node).operation;
    return o == Operation::add || o == Operation::subtract;
  }
  /// Made only where a larger sum does not swallow it: that is known when the larger sum is made, later.
  bool inside_a_sum(int node) const { return uses_[node] == 1; }

  void flatten(Signed s, double factor, std::vector<Term>& terms) {
    const ExpressionGraph::Node& n = old_.node(s.node());
    const double signed_factor = s.negative() ? -factor : factor;
    const bool own = uses_[s.node()] == 1;
    if (own && is_sum(s.node())) {
      flatten(n.a, signed_factor, terms);
      flatten(n.operation == Operation::add ? n.b : -n.b, signed_factor, terms);
    } else if (n.operation == Operation::multiply && old_.is_constant(n.a) && own) {
      terms.push_back({of(n.b), signed_factor * old_.value(n.a)});
    } else {
      terms.push_back({of(s.negative() ? -s : s), signed_factor});
    }
  }

  Signed rewrite(int node) {
    const ExpressionGraph::Node& n = old_.node(node);
    if (!is_sum(node)) return graph().apply(n, of(n.a), of(n.b));
    std::vector<Term> terms;
    flatten(n.a, 1, terms);
    flatten(n.operation == Operation::add ? n.b : -n.b, 1, terms);
    return sum(std::move(terms));
  }

  /// Terms of one factor together, in the order of their nodes; then the groups in the order of their first term.
  Signed sum(std::vector<Term> terms) {
    std::map<double, std::vector<Signed>> groups;
    std::vector<double> order;
    for (const Term& t : terms) {
      const double size = std::abs(t.factor);
      if (!groups.contains(size)) order.push_back(size);
      groups[size].push_back(t.factor < 0 ? -t.x : t.x);
    }
    Signed total;
    for (const double factor : order) {
      std::vector<Signed>& group = groups[factor];
      if (factor != 1)
        std::stable_sort(group.begin(), group.end(), [](Signed a, Signed b) { return a.node() < b.node(); });
      Signed part;
      for (const Signed s : group) part = graph().add(part, s);
      total = graph().add(total, graph().multiply(graph().constant(factor), part));
    }
    return total;
  }

  const Program& from_;
  const ExpressionGraph& old_;
  std::vector<int> uses_;
  std::vector<bool> made_;
  std::vector<Signed> copy_;
  Program to_;
};

}  // namespace

Program simplified(const Program& program) {
  Program best = program;
  for (int round = 0; round < 3; ++round) {
    Program next = Rewriter(best).run();
    if (next.cost().flops() >= best.cost().flops()) break;
    best = std::move(next);
  }
  return best;
}

}  // namespace kinegraph::codegen
