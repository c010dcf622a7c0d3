#include "kinegraph/codegen/expression.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

namespace kinegraph::codegen {
namespace {

// Numbers of a file have errors of 1e-16; identities between them hold to that, times what cancels.
constexpr long double kEqual = 1e-13L;
constexpr long double kVanishing = 1e-13L;
constexpr int kDroppedBits = 14;  // of the mantissa, in the key of a value

std::uint64_t key_of(long double value) {
  return std::bit_cast<std::uint64_t>(static_cast<double>(std::fabs(value))) >> kDroppedBits;
}

bool agree(const ExpressionGraph::Samples& x, const ExpressionGraph::Samples& y, long double sign) {
  for (int k = 0; k < ExpressionGraph::kRandom; ++k) {
    if (!(std::fabs(x[k] - sign * y[k]) <= kEqual * std::fabs(x[k]))) return false;
  }
  return true;
}

}  // namespace

ExpressionGraph::ExpressionGraph() {
  nodes_.push_back({});
  samples_.push_back({});
}

ExpressionGraph::Samples ExpressionGraph::random(double low, double high) {
  std::uniform_real_distribution<double> uniform(low, high);
  Samples s;
  for (int k = 0; k < kSamples; ++k) s[k] = k < kRandom ? uniform(generator_) : s[k % kRandom];
  return s;
}

Signed ExpressionGraph::find(const Samples& samples) const {
  const std::uint64_t key = key_of(samples[0]);
  for (const std::uint64_t k : {key, key - 1, key + 1}) {
    const auto [first, last] = by_value_.equal_range(k);
    for (auto i = first; i != last; ++i) {
      if (agree(samples, samples_[i->second], 1)) return {i->second, false};
      if (agree(samples, samples_[i->second], -1)) return {i->second, true};
    }
  }
  return zero();
}

Signed ExpressionGraph::remember(const Node& node, const Samples& samples) {
  nodes_.push_back(node);
  samples_.push_back(samples);
  by_value_.emplace(key_of(samples[0]), size() - 1);
  return {size() - 1, false};
}

Signed ExpressionGraph::intern(const Node& node, const Samples& samples) {
  if (const Signed known = find(samples); !is_zero(known)) return known;
  Samples same;
  same.fill(samples[0]);
  if (agree(samples, same, 1)) return constant(static_cast<double>(samples[0]));
  return remember(node, samples);
}

Signed ExpressionGraph::constant(double value) {
  finite_ = finite_ && std::isfinite(value);
  if (value == 0 || !std::isfinite(value)) return zero();
  Samples s;
  s.fill(std::fabs(value));
  const Signed known = find(s);
  if (!is_zero(known) && is_constant(known)) return value < 0 ? -known : known;
  Node node;
  node.value = std::fabs(value);
  const Signed made = remember(node, s);
  return value < 0 ? -made : made;
}

Signed ExpressionGraph::input(double low, double high) { return input(random(low, high)); }

Signed ExpressionGraph::input(const Samples& samples) {
  Node node;
  node.operation = Operation::input;
  node.input = inputs_++;
  return remember(node, samples);
}

Signed ExpressionGraph::add(Signed a, Signed b) {
  if (is_zero(a)) return b;
  if (is_zero(b)) return a;
  if (a == -b) return zero();
  if (is_constant(a) && is_constant(b)) return constant(value(a) + value(b));
  Samples s;
  bool vanishes = true;
  for (int k = 0; k < kSamples; ++k) {
    const long double x = sample(a, k), y = sample(b, k);
    s[k] = x + y;
    if (k < kRandom) vanishes = vanishes && std::fabs(s[k]) <= kVanishing * (std::fabs(x) + std::fabs(y));
  }
  if (vanishes) return zero();
  // −a − b = −(a + b), −a + b = b − a
  if (a.negative()) {
    if (b.negative()) return -add(-a, -b);
    std::swap(a, b);
  }
  Node node;
  node.operation = b.negative() ? Operation::subtract : Operation::add;
  node.a = a;
  node.b = b.negative() ? -b : b;
  return intern(node, s);
}

Signed ExpressionGraph::multiply(Signed a, Signed b) {
  if (is_zero(a) || is_zero(b)) return zero();
  if (a.negative() != b.negative()) return -multiply(a.negative() ? -a : a, b.negative() ? -b : b);
  if (a.negative()) return multiply(-a, -b);
  if (is_unit(a)) return b;
  if (is_unit(b)) return a;
  if (is_constant(b)) std::swap(a, b);
  if (is_constant(a)) {
    const Node& other = nodes_[b.node()];
    if (is_constant(b)) return constant(value(a) * value(b));
    // c (d x) = (c d) x
    if (other.operation == Operation::multiply && is_constant(other.a)) {
      return multiply(constant(value(a) * value(other.a)), other.b);
    }
  }
  Samples s;
  for (int k = 0; k < kSamples; ++k) s[k] = sample(a, k) * sample(b, k);
  Node node;
  node.operation = Operation::multiply;
  node.a = a;
  node.b = b;
  return intern(node, s);
}

Signed ExpressionGraph::divide(Signed a, Signed b) {
  if (is_zero(a)) return zero();
  if (is_constant(b)) return multiply(a, constant(1 / value(b)));
  if (a.negative() != b.negative()) return -divide(a.negative() ? -a : a, b.negative() ? -b : b);
  if (a.negative()) return divide(-a, -b);
  Samples s;
  for (int k = 0; k < kSamples; ++k) s[k] = sample(a, k) / sample(b, k);
  Node node;
  node.operation = Operation::divide;
  node.a = a;
  node.b = b;
  return intern(node, s);
}

Signed ExpressionGraph::sine(Signed a) {
  if (is_constant(a)) return constant(std::sin(value(a)));
  if (a.negative()) return -sine(-a);
  Samples s;
  for (int k = 0; k < kSamples; ++k) s[k] = std::sin(sample(a, k));
  Node node;
  node.operation = Operation::sine;
  node.a = a;
  return intern(node, s);
}

Signed ExpressionGraph::cosine(Signed a) {
  if (is_constant(a)) return constant(std::cos(value(a)));
  if (a.negative()) a = -a;
  Samples s;
  for (int k = 0; k < kSamples; ++k) s[k] = std::cos(sample(a, k));
  Node node;
  node.operation = Operation::cosine;
  node.a = a;
  return intern(node, s);
}

Signed ExpressionGraph::root(Signed a) {
  if (is_constant(a)) return constant(std::sqrt(value(a)));
  Samples s;
  for (int k = 0; k < kSamples; ++k) s[k] = std::sqrt(std::fabs(sample(a, k)));
  Node node;
  node.operation = Operation::root;
  node.a = a;
  return intern(node, s);
}

// The hyperbolic tangent saturates and the next two are not analytic: their values would tell little, so they are tried
// at values of their own, as inputs are.
Signed ExpressionGraph::tanh(Signed a) {
  if (is_constant(a)) return constant(std::tanh(value(a)));
  if (a.negative()) return -tanh(-a);
  for (int i = 0; i < size(); ++i) {
    if (nodes_[i].operation == Operation::tanh && nodes_[i].a == a) return {i, false};
  }
  Node node;
  node.operation = Operation::tanh;
  node.a = a;
  return remember(node, random(-1, 1));
}

Signed ExpressionGraph::absolute(Signed a) {
  if (a.negative()) a = -a;
  if (is_constant(a)) return a;
  Node node;
  node.operation = Operation::absolute;
  node.a = a;
  return remember(node, random(0, 1));
}

Signed ExpressionGraph::minimum(Signed a, Signed b) {
  if (is_constant(a) && is_constant(b)) return constant(std::min(value(a), value(b)));
  Node node;
  node.operation = Operation::minimum;
  node.a = a;
  node.b = b;
  return remember(node, random(0, 1));
}

Signed ExpressionGraph::apply(const Node& node, Signed a, Signed b) {
  switch (node.operation) {
    case Operation::constant:
      return constant(node.value);
    case Operation::add:
      return add(a, b);
    case Operation::subtract:
      return subtract(a, b);
    case Operation::multiply:
      return multiply(a, b);
    case Operation::divide:
      return divide(a, b);
    case Operation::sine:
      return sine(a);
    case Operation::cosine:
      return cosine(a);
    case Operation::root:
      return root(a);
    case Operation::tanh:
      return tanh(a);
    case Operation::absolute:
      return absolute(a);
    case Operation::minimum:
      return minimum(a, b);
    case Operation::input:
      break;
  }
  return zero();
}

std::vector<bool> ExpressionGraph::needed(const std::vector<Signed>& outputs) const {
  std::vector<bool> is(nodes_.size(), false);
  for (const Signed s : outputs) is[s.node()] = true;
  for (int i = size() - 1; i > 0; --i) {
    if (is[i]) is[nodes_[i].a.node()] = is[nodes_[i].b.node()] = true;
  }
  return is;
}

std::vector<int> ExpressionGraph::uses(const std::vector<Signed>& outputs) const {
  const std::vector<bool> is = needed(outputs);
  std::vector<int> count(nodes_.size(), 0);
  for (const Signed s : outputs) ++count[s.node()];
  for (int i = 1; i < size(); ++i) {
    if (is[i]) ++count[nodes_[i].a.node()], ++count[nodes_[i].b.node()];
  }
  return count;
}

OperationCount count(const ExpressionGraph& graph, const std::vector<Signed>& outputs) {
  const std::vector<bool> needed = graph.needed(outputs);
  OperationCount sum;
  std::set<int> angles;
  for (int i = 1; i < graph.size(); ++i) {
    if (!needed[i]) continue;
    switch (graph.node(i).operation) {
      case Operation::add:
      case Operation::subtract:
        ++sum.additions;
        break;
      case Operation::multiply:
        ++sum.multiplications;
        break;
      case Operation::divide:
        ++sum.divisions;
        break;
      case Operation::sine:
      case Operation::cosine:
        angles.insert(graph.node(i).a.node());
        break;
      case Operation::root:
      case Operation::tanh:
      case Operation::absolute:
      case Operation::minimum:
        ++sum.others;
        break;
      default:
        break;
    }
  }
  sum.sines = static_cast<int>(angles.size());
  return sum;
}

}  // namespace kinegraph::codegen
