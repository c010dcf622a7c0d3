#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <unordered_map>
#include <vector>

namespace kinegraph::codegen {

enum class Operation : unsigned char {
  constant,
  input,
  add,
  subtract,
  multiply,
  divide,
  sine,
  cosine,
  root,
  tanh,
  absolute,
  minimum
};

/// A node of an expression graph, or its negative: signs live on the edges, so that −x costs nothing.
class Signed {
 public:
  constexpr Signed() = default;
  constexpr Signed(int node, bool negative) : code_(2 * node + (negative ? 1 : 0)) {}
  constexpr int node() const { return code_ >> 1; }
  constexpr bool negative() const { return (code_ & 1) != 0; }
  constexpr Signed operator-() const { return Signed(node(), !negative()); }
  constexpr bool operator==(const Signed&) const = default;

 private:
  int code_ = 0;  // 0: node 0, the number zero
};

/// Expressions over doubles, each kept once.
///
/// Every node carries its value at a few random inputs, in extended precision. Two nodes whose values agree (up to
/// sign) at all of them are the same function: so are x y and y x, the two halves of a symmetric matrix, s² + c² and 1.
/// That a product of different functions agrees by chance at four random inputs to thirteen digits does not happen. An
/// expression that is the same number everywhere becomes a constant, one that vanishes against its terms becomes 0.
///
/// Samples after the random ones say nothing of what is the same: they stand where the loops of a mechanism are closed,
/// the last one at its start, and tell what vanishes there (see place()).
class ExpressionGraph {
 public:
  static constexpr int kRandom = 4, kClosed = 3, kSamples = kRandom + kClosed;
  using Samples = std::array<long double, kSamples>;
  struct Node {
    Operation operation = Operation::constant;
    Signed a, b;       ///< add: a + b, subtract: a − b, …; of constants and inputs none
    double value = 0;  ///< of a constant
    int input = -1;    ///< number of an input
  };

  ExpressionGraph();

  /// One that is not finite is 0, and the graph is good for nothing: finite().
  Signed constant(double value);
  /// A new input; `low` and `high` bound the random values it is tried at.
  Signed input(double low = -1, double high = 1);
  /// Inputs that are tried at given values: the components of a unit quaternion.
  Signed input(const Samples& samples);
  /// An input's value in sample k of those where loops are closed (else a random one), before anything is made of it.
  void place(Signed input, int k, double value) { samples_[input.node()][kRandom + k] = value; }

  Signed add(Signed a, Signed b);
  Signed subtract(Signed a, Signed b) { return add(a, -b); }
  Signed multiply(Signed a, Signed b);
  Signed divide(Signed a, Signed b);
  Signed sine(Signed a);
  Signed cosine(Signed a);
  Signed root(Signed a);  ///< of what is not negative
  Signed tanh(Signed a);
  Signed absolute(Signed a);
  Signed minimum(Signed a, Signed b);

  /// What a node of another graph does, to operands of this one. Not an input.
  Signed apply(const Node& node, Signed a, Signed b);

  static constexpr Signed zero() { return {}; }
  Signed one() { return constant(1); }
  bool is_zero(Signed a) const { return a.node() == 0; }
  bool is_constant(Signed a) const { return nodes_[a.node()].operation == Operation::constant; }
  bool is_unit(Signed a) const { return is_constant(a) && nodes_[a.node()].value == 1; }
  double value(Signed a) const { return a.negative() ? -nodes_[a.node()].value : nodes_[a.node()].value; }
  long double sample(Signed a, int k) const { return a.negative() ? -samples_[a.node()][k] : samples_[a.node()][k]; }

  bool finite() const { return finite_; }  ///< every constant that was asked for was finite

  int size() const { return static_cast<int>(nodes_.size()); }
  int inputs() const { return inputs_; }
  const Node& node(int i) const { return nodes_[i]; }

  /// Which nodes the given ones need, themselves included.
  std::vector<bool> needed(const std::vector<Signed>& outputs) const;
  /// How often the needed ones use each node, outputs counted.
  std::vector<int> uses(const std::vector<Signed>& outputs) const;

 private:
  Signed intern(const Node& node, const Samples& samples);
  Signed find(const Samples& samples) const;  ///< zero() if none
  Signed remember(const Node& node, const Samples& samples);
  Samples random(double low, double high);

  std::vector<Node> nodes_;
  std::vector<Samples> samples_;
  std::unordered_multimap<std::uint64_t, int> by_value_;
  std::mt19937_64 generator_{1};
  int inputs_ = 0;
  bool finite_ = true;
};

/// What a straight-line program costs.
struct OperationCount {
  int additions = 0, multiplications = 0, divisions = 0, sines = 0, others = 0;  ///< sines: pairs of sine and cosine
  int flops() const { return additions + multiplications + divisions; }
};
OperationCount count(const ExpressionGraph& graph, const std::vector<Signed>& outputs);

}  // namespace kinegraph::codegen
