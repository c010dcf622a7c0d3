#include "kinegraph/codegen/derivatives.hpp"

#include <fmt/format.h>

namespace kinegraph::codegen {
namespace {

/// Derivatives of q along freedom k:   q̇ = ½ q ⊗ (0, e_k) of a quaternion, ṗ = R e_k of the position behind it
void seed_position(ExpressionGraph& graph, const std::vector<Signed>& q, const screw::Coordinate& c, int k,
                   std::vector<Signed>& seeds) {
  const auto seed = [&](int at, Signed value) { seeds[graph.node(q[c.q + at].node()).input] = value; };
  if (c.stored == c.freedoms) {
    seed(k, graph.one());
    return;
  }
  const Signed w = q[c.q], x = q[c.q + 1], y = q[c.q + 2], z = q[c.q + 3];
  if (k < 3) {
    const Signed table[3][4] = {{-x, w, z, -y}, {-y, -z, w, x}, {-z, y, -x, w}};
    for (int i = 0; i < 4; ++i) seed(i, graph.multiply(graph.constant(0.5), table[k][i]));
    return;
  }
  // columns of R: 1 + 2 w v^ + 2 v^ v^
  const Signed v[3] = {x, y, z};
  const int column = k - 3;
  for (int r = 0; r < 3; ++r) {
    Signed entry = graph.multiply(v[r], v[column]);
    if (r == column) {
      // w² + v_r² − ½
      entry = graph.subtract(graph.add(graph.multiply(w, w), entry), graph.constant(0.5));
    } else {
      const int other = 3 - r - column;
      const Signed turn = graph.multiply(w, v[other]);
      entry = (r + 1) % 3 == column ? graph.subtract(entry, turn) : graph.add(entry, turn);
    }
    seed(4 + r, graph.multiply(graph.constant(2), entry));
  }
}

const Array& named(const std::vector<Array>& list, const std::string& name) {
  for (const Array& a : list) {
    if (a.name == name) return a;
  }
  return list.front();
}

/// Columns of a Jacobian, written row by row.
Array jacobian(const std::string& name, const std::string& meaning, const std::vector<std::vector<Signed>>& columns) {
  Array array{name, meaning, {}, {}};
  const std::size_t rows = columns.empty() ? 0 : columns[0].size();
  for (std::size_t r = 0; r < rows; ++r) {
    for (const std::vector<Signed>& column : columns) array.values.push_back(column[r]);
  }
  return array;
}

class Differentiator {
 public:
  Differentiator(ExpressionGraph& graph, const std::vector<Signed>& outputs) : graph_(graph), outputs_(outputs) {}

  std::vector<std::vector<Signed>> by_position(const Array& q, const screw::Tree& tree) {
    std::vector<std::vector<Signed>> columns(tree.freedoms());
    for (const screw::Coordinate& c : tree.coordinates()) {
      for (int k = 0; k < c.freedoms; ++k) {
        std::vector<Signed> seeds(graph_.inputs());
        seed_position(graph_, q.values, c, k, seeds);
        columns[c.v + k] = differentiate(graph_, outputs_, seeds);
      }
    }
    return columns;
  }
  std::vector<std::vector<Signed>> by(const Array& input) {
    std::vector<std::vector<Signed>> columns;
    for (const Signed s : input.values) {
      std::vector<Signed> seeds(graph_.inputs());
      seeds[graph_.node(s.node()).input] = graph_.one();
      columns.push_back(differentiate(graph_, outputs_, seeds));
    }
    return columns;
  }

 private:
  ExpressionGraph& graph_;
  std::vector<Signed> outputs_;
};

/// A program's outputs, computed in another graph from other inputs.
std::vector<Array> put_into(ExpressionGraph& graph, const Program& program,
                            const std::vector<std::vector<Signed>>& inputs) {
  const ExpressionGraph& from = *program.graph;
  std::vector<Signed> copy(from.size());
  for (std::size_t a = 0; a < program.inputs.size(); ++a) {
    for (std::size_t k = 0; k < program.inputs[a].values.size(); ++k) {
      copy[program.inputs[a].values[k].node()] = inputs[a][k];
    }
  }
  const std::vector<bool> needed = from.needed(program.results());
  const auto of = [&](Signed s) { return s.negative() ? -copy[s.node()] : copy[s.node()]; };
  for (int i = 1; i < from.size(); ++i) {
    const ExpressionGraph::Node& n = from.node(i);
    if (needed[i] && n.operation != Operation::input) copy[i] = graph.apply(n, of(n.a), of(n.b));
  }
  std::vector<Array> outputs = program.outputs;
  for (Array& array : outputs) {
    for (Signed& s : array.values) s = of(s);
  }
  return outputs;
}

std::string entry_meaning(const char* by, int n) { return fmt::format("∂out/∂{}, row by row, {} x {}", by, n, n); }

}  // namespace

Program with_derivatives(const Program& program, const screw::Tree& tree) {
  Program p = program;
  Differentiator differentiator(*p.graph, p.outputs[0].values);
  const int n = tree.freedoms();
  p.outputs.push_back(
      jacobian("by_q", entry_meaning("q, along the freedoms", n), differentiator.by_position(p.inputs[0], tree)));
  p.outputs.push_back(jacobian("by_v", entry_meaning("v", n), differentiator.by(p.inputs[1])));
  p.outputs.push_back(jacobian("by_known", entry_meaning(p.inputs[2].name.c_str(), n), differentiator.by(p.inputs[2])));
  return p;
}

Program with_derivatives(const Program& forward, const Program& inverse, const screw::Tree& tree) {
  Program p = forward;
  ExpressionGraph& graph = *p.graph;
  const std::vector<Signed> a = p.outputs[0].values;
  const int n = tree.freedoms();
  const auto by_tau = Differentiator(graph, a).by(p.inputs[2]);
  const std::vector<Array> rates = put_into(graph, inverse, {p.inputs[0].values, p.inputs[1].values, a});
  const auto product = [&](const Array& of) {
    std::vector<std::vector<Signed>> columns(n, std::vector<Signed>(n));
    for (int r = 0; r < n; ++r) {
      for (int c = 0; c < n; ++c) {
        Signed sum;
        for (int k = 0; k < n; ++k) sum = graph.subtract(sum, graph.multiply(by_tau[k][r], of.values[k * n + c]));
        columns[c][r] = sum;
      }
    }
    return columns;
  };
  p.outputs.push_back(jacobian("by_q", entry_meaning("q, along the freedoms", n), product(named(rates, "by_q"))));
  p.outputs.push_back(jacobian("by_v", entry_meaning("v", n), product(named(rates, "by_v"))));
  p.outputs.push_back(jacobian("by_known", entry_meaning("tau", n), by_tau));
  return p;
}

}  // namespace kinegraph::codegen
