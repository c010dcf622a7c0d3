#include "kinegraph/codegen/emit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "kinegraph/codegen/emit_math.hpp"

namespace kinegraph::codegen {
namespace {

constexpr int kDeepest = 6;  // operations in one statement, one inside the other
/// Statements of a program that takes compilers long, and of the functions it is cut into: registers are assigned in
/// more than linear time (g++, derivatives of a humanoid's forward dynamics with a batch: 50 s instead of 60).
constexpr int kHuge = 8000, kBlockOfHuge = 600;
constexpr int kLargestAngle = 32;  // operations of an angle whose sine is taken before all else

/// Statements of a program in the order in which they were traced, body by body: what the elimination makes it soon
/// uses, which leaves compilers less to spill than depth-first orders do (measured: 15 % less time).
class Writer {
 public:
  Writer(const Program& program, const EmitOptions& options)
      : program_(program),
        graph_(*program.graph),
        options_(options),
        name_(identifier(options.name)),
        uses_(graph_.uses(program.results())),
        depth_(graph_.size(), 0) {}

  std::string header() {
    collect_angles();
    schedule();
    cut();
    std::string text = top();
    text += "#pragma once\n\n#include <cmath>\n#include <cstdint>\n#include <cstring>\n\n";
    text += kGeneratedMath;
    text += "\nnamespace kinegraph_generated {\n";
    if (any_late_) text += kLateSines;
    for (std::size_t b = 0; b < blocks_.size(); ++b) text += block(static_cast<int>(b));
    text += whole();
    text += "}  // namespace kinegraph_generated\n\n";
    text += entry();
    return text;
  }

 private:
  const char* real() const { return options_.single ? "float" : "double"; }

  /// Sines whose angle is more than a few operations of the inputs: they are taken where they are needed.
  bool is_late(int node) const {
    const ExpressionGraph::Node& n = graph_.node(node);
    return (n.operation == Operation::sine || n.operation == Operation::cosine) && size_[n.a.node()] > kLargestAngle;
  }
  /// size_: operations that lead from the inputs to each value, written out; more than counts where there are others
  /// than sums and products.
  void measure() {
    size_.assign(graph_.size(), 0);
    for (int i = 1; i < graph_.size(); ++i) {
      const ExpressionGraph::Node& n = graph_.node(i);
      if (n.operation == Operation::constant || n.operation == Operation::input) continue;
      const bool plain =
          n.operation == Operation::add || n.operation == Operation::subtract || n.operation == Operation::multiply;
      size_[i] = plain ? std::min(kLargestAngle + 1, 1 + size_[n.a.node()] + size_[n.b.node()]) : kLargestAngle + 1;
    }
  }

  void collect_angles() {
    measure();
    const std::vector<bool> needed = graph_.needed(program_.results());
    for (int i = 1; i < graph_.size(); ++i) any_late_ = any_late_ || (needed[i] && is_late(i));
    for (int i = 1; i < graph_.size(); ++i) {
      const Operation o = graph_.node(i).operation;
      if (!needed[i] || (o != Operation::sine && o != Operation::cosine) || is_late(i)) continue;
      angle_number_.emplace(graph_.node(i).a.node(), static_cast<int>(angle_number_.size()));
    }
    angles_.resize(angle_number_.size());
    for (const auto& [node, number] : angle_number_) angles_[number] = node;
    for (std::size_t a = 0; a < program_.inputs.size(); ++a) {
      const auto& values = program_.inputs[a].values;
      for (std::size_t k = 0; k < values.size(); ++k) {
        input_text_[values[k].node()] = fmt::format("{}_{}", program_.inputs[a].name, k);
        input_load_[values[k].node()] =
            fmt::format("  Number {0}_{1};\n  take({0}, {1}, {0}_{1});\n", program_.inputs[a].name, k);
      }
    }
  }

  bool is_leaf(int node) const {
    const Operation o = graph_.node(node).operation;
    return o == Operation::constant || o == Operation::input ||
           ((o == Operation::sine || o == Operation::cosine) && !is_late(node));
  }

  /// What leads to the results past the sines that are taken before all else, whose angles no block computes.
  std::vector<bool> needed_in_blocks() const {
    std::vector<bool> needed(graph_.size(), false);
    for (const Signed s : program_.results()) needed[s.node()] = true;
    for (int i = graph_.size() - 1; i > 0; --i) {
      if (needed[i] && !is_leaf(i)) needed[graph_.node(i).a.node()] = needed[graph_.node(i).b.node()] = true;
    }
    return needed;
  }

  /// Values that only one other uses are written inside it.
  void schedule() {
    std::vector<Signed> results = program_.results();
    for (const Signed s : results) {
      if (!is_leaf(s.node())) stay_.push_back(s.node());
    }
    std::sort(stay_.begin(), stay_.end());
    const std::vector<bool> needed = needed_in_blocks();
    for (int i = 1; i < graph_.size(); ++i) {
      if (!needed[i] || is_leaf(i)) continue;
      const ExpressionGraph::Node& n = graph_.node(i);
      depth_[i] =
          1 + std::max(inside(n.a.node()) ? depth_[n.a.node()] : 0, inside(n.b.node()) ? depth_[n.b.node()] : 0);
    }
    for (int i = 1; i < graph_.size(); ++i) {
      if (needed[i] && !is_leaf(i) && !inside(i)) statements_.push_back(i);
    }
  }
  bool is_result(int node) const { return std::binary_search(stay_.begin(), stay_.end(), node); }
  /// Made by a call, not by an operator.
  bool is_call(int node) const {
    const Operation o = graph_.node(node).operation;
    return o == Operation::root || o == Operation::tanh || o == Operation::absolute || o == Operation::minimum ||
           is_late(node);
  }
  bool inside(int node) const {
    return !is_leaf(node) && !is_call(node) && uses_[node] == 1 && !is_result(node) && depth_[node] > 0 &&
           depth_[node] < kDeepest;
  }

  /// Into blocks; a value that another block needs lies in the work space.
  void cut() {
    const int count = static_cast<int>(statements_.size());
    const int most = count > kHuge ? std::min(options_.block, kBlockOfHuge) : options_.block;
    const int blocks = std::max(1, (count + most - 1) / most);
    const int size = std::max(1, (count + blocks - 1) / blocks);
    for (int k = 0; k < count; k += size) {
      blocks_.emplace_back(statements_.begin() + k, statements_.begin() + std::min(count, k + size));
    }
    if (blocks_.empty()) blocks_.emplace_back();
    std::vector<int> block_of(graph_.size(), -1);
    local_.assign(graph_.size(), 0);
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      int number = 0;
      for (const int node : blocks_[b]) block_of[node] = static_cast<int>(b), local_[node] = number++;
    }
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      for (const int node : blocks_[b]) claim(node, static_cast<int>(b), block_of, true);
    }
    const int last = static_cast<int>(blocks_.size());
    for (const Signed s : program_.results()) {
      if (block_of[s.node()] >= 0 && block_of[s.node()] != last - 1) keep(s.node());
    }
  }
  void claim(int node, int b, const std::vector<int>& block_of, bool top) {
    if (!top && block_of[node] >= 0) {
      if (block_of[node] != b) keep(node);
      return;
    }
    if (is_leaf(node)) return;
    claim(graph_.node(node).a.node(), b, block_of, false);
    claim(graph_.node(node).b.node(), b, block_of, false);
  }
  void keep(int node) { work_.emplace(node, static_cast<int>(work_.size())); }

  std::string number(double value) const {
    // as few digits as tell it from all others
    std::string text = options_.single ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return options_.single ? text + "f" : text;
  }

  std::string name_of(int node) const {
    if (const auto kept = work_.find(node); kept != work_.end()) return fmt::format("w[{}]", kept->second);
    return fmt::format("x{}", local_[node]);
  }

  /// `tight`: as an operand of a product, or after a minus.
  std::string text(int node, bool tight) const {
    const ExpressionGraph::Node& n = graph_.node(node);
    if (is_late(node)) return name_of(node);
    switch (n.operation) {
      case Operation::constant:
        return number(n.value);
      case Operation::input:
        return input_text_.at(node);
      case Operation::sine:
        return fmt::format("s[{}]", angle_number_.at(n.a.node()));
      case Operation::cosine:
        return fmt::format("c[{}]", angle_number_.at(n.a.node()));
      default:
        break;
    }
    if (!inside(node)) return name_of(node);
    const std::string inner = expression(node);
    return tight ? "(" + inner + ")" : inner;
  }

  std::string expression(int node) const {
    const ExpressionGraph::Node& n = graph_.node(node);
    const auto of = [&](Signed s, bool tight) {
      return fmt::format("{}{}", s.negative() ? "-" : "", text(s.node(), tight || s.negative()));
    };
    const auto sum = [&](int operand) {
      const Operation o = graph_.node(operand).operation;
      return o == Operation::add || o == Operation::subtract;
    };
    switch (n.operation) {
      case Operation::add:
        return of(n.a, false) + " + " + of(n.b, sum(n.b.node()));
      case Operation::subtract:
        return of(n.a, false) + " - " + of(n.b, sum(n.b.node()));
      case Operation::multiply:
        return of(n.a, sum(n.a.node())) + " * " + of(n.b, true);
      case Operation::divide:
        return of(n.a, sum(n.a.node())) + " / " + of(n.b, true);
      default:
        return text(node, false);
    }
  }
  std::string constant_or(Signed s) const {
    const std::string inner = fmt::format("{}{}", s.negative() ? "-" : "", text(s.node(), s.negative()));
    return graph_.is_constant(s) ? fmt::format("Number{{}} + {}", inner) : inner;
  }

  std::string arguments(const char* type, bool names) const {
    std::string list;
    for (const Array& array : program_.inputs) {
      list += names ? fmt::format("const {}* {}, ", type, array.name) : array.name + ", ";
    }
    for (const Array& array : program_.outputs) {
      list += names ? fmt::format("{}* {}, ", type, array.name) : array.name + ", ";
    }
    return list;
  }

  /// Numbers of the inputs that these nodes, and what is written inside them, read.
  std::string loads(const std::vector<int>& nodes) const {
    std::set<int> seen, inputs;
    std::vector<int> left = nodes;
    while (!left.empty()) {
      const int node = left.back();
      left.pop_back();
      if (!seen.insert(node).second) continue;
      const ExpressionGraph::Node& n = graph_.node(node);
      if (n.operation == Operation::input) inputs.insert(node);
      if (is_leaf(node)) continue;
      for (const int operand : {n.a.node(), n.b.node()}) {
        if (is_leaf(operand) || inside(operand)) left.push_back(operand);
      }
    }
    std::string text;
    for (const int node : inputs) text += input_load_.at(node);
    return text;
  }
  std::vector<int> angle_inputs() const {
    std::vector<Signed> angles;
    for (const int node : angles_) angles.emplace_back(node, false);
    const std::vector<bool> needed = graph_.needed(angles);
    std::vector<int> inputs;
    for (int i = 1; i < graph_.size(); ++i) {
      if (needed[i] && graph_.node(i).operation == Operation::input) inputs.push_back(i);
    }
    return inputs;
  }

  std::string unused() const {
    std::string line = "  ";
    for (const Array& array : program_.inputs) line += fmt::format("(void){}; ", array.name);
    return line + "(void)s; (void)c; (void)w;\n";
  }

  /// A part of the program: reads inputs, sines, cosines and the work space, writes the work space. Several parts are
  /// compiled apart: in one function they would take compilers minutes. A single one stands inside the function that
  /// has the arrays of vectors.
  std::string block(int b) const {
    std::string inputs;
    for (const Array& array : program_.inputs) inputs += fmt::format("const Real<Number>* {}, ", array.name);
    const bool last = b + 1 == static_cast<int>(blocks_.size());
    std::string out;
    if (last) {
      for (const Array& array : program_.outputs) out += fmt::format(", Real<Number>* {}", array.name);
      out += ", Number& pivot";
    }
    std::string body = fmt::format(
        "template <class Number>\nKINEGRAPH_GENERATED_{} inline void {}_block{}({}const Number* s, const Number* c, "
        "Number* w{}) {{\n",
        blocks_.size() > 1 ? "APART" : "INSIDE", name_, b, inputs, out);
    std::vector<int> read = blocks_[b];
    for (const Signed s : program_.results()) {
      if (last) read.push_back(s.node());
    }
    body += unused();
    if (blocks_.size() > 1) body += "  Number home[1];\n  align_stack(home);\n";
    body += loads(read);
    for (const int node : blocks_[b]) body += statement(node);
    if (last) body += results();
    for (const Array& array : program_.outputs) {
      if (last && array.values.empty()) body += fmt::format("  (void){};\n", array.name);
    }
    return body + "}\n";
  }

  std::string statement(int node) const {
    const bool kept = work_.contains(node);
    const std::string name = name_of(node);
    if (!is_call(node)) return fmt::format("  {}{} = {};\n", kept ? "" : "Number ", name, expression(node));
    const ExpressionGraph::Node& n = graph_.node(node);
    std::string call = kept ? "" : fmt::format("  Number {};\n", name);
    if (n.operation == Operation::minimum) {
      call += fmt::format("  take_least<Number>({}, {}, {});\n", constant_or(n.a), constant_or(n.b), name);
    } else {
      const char* const function = n.operation == Operation::root     ? "take_root"
                                   : n.operation == Operation::tanh   ? "take_tanh"
                                   : n.operation == Operation::sine   ? "take_sine"
                                   : n.operation == Operation::cosine ? "take_cosine"
                                                                      : "take_size";
      call += fmt::format("  {}<Number>({}, {});\n", function, constant_or(n.a), name);
    }
    return call;
  }

  std::string results() const {
    std::string body;
    for (const Array& array : program_.outputs) {
      for (std::size_t k = 0; k < array.values.size(); ++k) {
        body += fmt::format("  put({}, {}, {});\n", constant_or(array.values[k]), array.name, k);
      }
    }
    body += fmt::format("  pivot = {};\n", constant_or(program_.pivot));
    return graph_.is_constant(program_.pivot) ? body : body + "  check_pivot(pivot);\n";
  }

  std::string whole() const {
    const int count = static_cast<int>(angles_.size()), padded = (count + 3) / 4 * 4;
    std::string body = fmt::format("template <class Number>\ninline void {}_all({}Number& pivot) {{\n", name_,
                                   arguments("Real<Number>", true));
    body += fmt::format("  Number w[{}], s[{}], c[{}];\n", std::max<std::size_t>(1, work_.size()), std::max(1, padded),
                        std::max(1, padded));
    body += "  align_stack(w);\n";
    if (count > 0) {
      body += loads(angle_inputs());
      body += fmt::format("  constexpr int many = sizeof(Number) == sizeof({}) ? {} : {};\n", real(), padded, count);
      body += "  const Number angles[many] = {";
      for (int k = 0; k < count; ++k) body += fmt::format("{}{}", k ? ", " : "", angle_text(angles_[k]));
      body += "};\n";
      body += "  typename Bits<Number>::Type above{};\n  sines<many>(angles, s, c, above);\n";
    }
    std::string inputs;
    for (const Array& array : program_.inputs) inputs += array.name + ", ";
    for (std::size_t b = 0; b + 1 < blocks_.size(); ++b)
      body += fmt::format("  {}_block{}<Number>({}s, c, w);\n", name_, b, inputs);
    std::string out;
    for (const Array& array : program_.outputs) out += ", " + array.name;
    body += fmt::format("  {}_block{}<Number>({}s, c, w{}, pivot);\n", name_, blocks_.size() - 1, inputs, out);
    if (count > 0) body += "  check_angles(above, pivot);\n";
    return body + "}\n";
  }

  /// An angle is an input, or a constant times it and more: never a sine.
  std::string angle_text(int node) const {
    const ExpressionGraph::Node& n = graph_.node(node);
    const auto of = [&](Signed s) { return std::string(s.negative() ? "-" : "") + angle_text(s.node()); };
    switch (n.operation) {
      case Operation::constant:
        return number(n.value);
      case Operation::input:
        return input_text_.at(node);
      case Operation::add:
        return fmt::format("({} + {})", of(n.a), of(n.b));
      case Operation::subtract:
        return fmt::format("({} - {})", of(n.a), of(n.b));
      default:
        return fmt::format("({} * {})", of(n.a), of(n.b));
    }
  }

  std::string top() const {
    const OperationCount cost = program_.cost();
    std::string text = fmt::format("// {}, of the model {}.\n", program_.purpose, comment_text(options_.model));
    text += fmt::format(
        "// Written by kinegraph codegen{}: {} additions, {} multiplications, {} divisions, {} sines and cosines.\n",
        options_.ordering.empty() ? "" : ", ordering " + comment_text(options_.ordering), cost.additions,
        cost.multiplications, cost.divisions, cost.sines);
    text += "// SI units. Needs C++17 and nothing else; no branches, no allocation.\n//\n";
    text += fmt::format("//     {} {}({});\n//\n", real(), name_, declaration());
    for (const Array& array : program_.inputs) text += describe(array, "");
    for (const Array& array : program_.outputs) text += describe(array, ", written");
    text +=
        "// Returns the smallest pivot of the elimination over its typical size: near 0 the position is singular and "
        "the\n"
        "// numbers are not to be trusted; 0 also where angles are too large for their sines.\n";
    if (options_.lanes > 0) {
      text +=
          fmt::format("// {}_batch does the same for {} states at once: number k of state s stands at [{} * k + s].\n",
                      name_, options_.lanes, options_.lanes);
    }
    return text + "\n";
  }
  std::string declaration() const {
    std::string list = arguments(real(), true);
    return list.substr(0, list.size() - 2);
  }
  std::string describe(const Array& array, const char* more) const {
    std::string text = fmt::format("// {}: {} numbers{}: {}\n", array.name, array.values.size(), more, array.meaning);
    std::string line = "//    ";
    const std::size_t each = array.labels.empty() ? 1 : array.values.size() / array.labels.size();
    for (std::size_t k = 0; k < array.labels.size(); ++k) {
      const std::string item = fmt::format(" [{}] {}", k * each, comment_text(array.labels[k]));
      if (line.size() + item.size() > 116) text += line + "\n", line = "//    ";
      line += item;
    }
    return array.labels.empty() ? text : text + line + "\n";
  }

  std::string entry() const {
    std::string text = fmt::format("inline {} {}({}) {{\n  {} pivot;\n", real(), name_, declaration(), real());
    text += fmt::format("  kinegraph_generated::{}_all<{}>({}pivot);\n  return pivot;\n}}\n", name_, real(),
                        arguments("", false));
    return options_.lanes == 0 ? text : text + batch_entry();
  }
  std::string batch_entry() const {
    const std::string vector = fmt::format("{}{}", options_.single ? "Float" : "Double", options_.lanes);
    std::string text = fmt::format("\n#ifdef __GNUC__\ninline {} {}_batch({}) {{\n", real(), name_, declaration());
    text += fmt::format("  using Lanes = kinegraph_generated::{};\n", vector);
    text +=
        fmt::format("  Lanes pivot;\n  kinegraph_generated::{}_all<Lanes>({}pivot);\n", name_, arguments("", false));
    text += fmt::format("  {} least[{}];\n  std::memcpy(least, &pivot, sizeof least);\n", real(), options_.lanes);
    for (int half = options_.lanes / 2; half > 0; half /= 2) {
      for (int i = 0; i < half; ++i)
        text += fmt::format("  least[{0}] = least[{1}] < least[{0}] ? least[{1}] : least[{0}];\n", i, i + half);
    }
    return text + "  return least[0];\n}\n#endif\n";
  }

  const Program& program_;
  const ExpressionGraph& graph_;
  EmitOptions options_;
  std::string name_;
  std::vector<int> uses_, depth_, size_, local_;  // local: the number of a value in its block
  bool any_late_ = false;
  std::vector<int> stay_, statements_, angles_;
  std::vector<std::vector<int>> blocks_;
  std::map<int, int> work_, angle_number_;
  std::map<int, std::string> input_text_, input_load_;
};

}  // namespace

std::string emit_header(const Program& program, const EmitOptions& options) {
  return Writer(program, options).header();
}

}  // namespace kinegraph::codegen
