#include "kinegraph/codegen/program.hpp"

namespace kinegraph::codegen {

/// Forward, node by node: a node that the direction does not move has the derivative 0 and costs nothing.
std::vector<Signed> differentiate(ExpressionGraph& graph, const std::vector<Signed>& outputs,
                                  const std::vector<Signed>& seeds) {
  const std::vector<bool> needed = graph.needed(outputs);
  const int size = graph.size();
  std::vector<Signed> change(size);
  const auto of = [&](Signed s) { return s.negative() ? -change[s.node()] : change[s.node()]; };
  for (int i = 1; i < size; ++i) {
    if (!needed[i]) continue;
    const ExpressionGraph::Node n = graph.node(i);
    const Signed self(i, false), a = of(n.a), b = of(n.b);
    switch (n.operation) {
      case Operation::input:
        change[i] = seeds[n.input];
        break;
      case Operation::add:
        change[i] = graph.add(a, b);
        break;
      case Operation::subtract:
        change[i] = graph.subtract(a, b);
        break;
      case Operation::multiply:
        change[i] = graph.add(graph.multiply(a, n.b), graph.multiply(n.a, b));
        break;
      case Operation::divide:  // (a' − (a / b) b') / b
        change[i] = graph.divide(graph.subtract(a, graph.multiply(self, b)), n.b);
        break;
      case Operation::sine:
        change[i] = graph.multiply(graph.cosine(n.a), a);
        break;
      case Operation::cosine:
        change[i] = -graph.multiply(graph.sine(n.a), a);
        break;
      case Operation::root:  // a' / (2 √a)
        change[i] = graph.divide(graph.multiply(graph.constant(0.5), a), self);
        break;
      case Operation::tanh:  // 1 − tanh²
        change[i] = graph.multiply(graph.subtract(graph.one(), graph.multiply(self, self)), a);
        break;
      case Operation::constant:
      case Operation::absolute:
      case Operation::minimum:
        break;
    }
  }
  std::vector<Signed> answer;
  for (const Signed s : outputs) answer.push_back(of(s));
  return answer;
}

}  // namespace kinegraph::codegen
