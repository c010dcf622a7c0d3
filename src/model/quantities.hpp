#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kinegraph/expr/expression.hpp"
#include "kinegraph/model/source.hpp"

namespace kinegraph {

/// All named numbers of a model file ("L", "P1.x", "body0.mass") and the formulas between them. They may stand in any
/// order: evaluate() finds one, or names the cycle. Faults are added to the diagnostics; what depends on a faulty
/// number is silently not a number itself, so one mistake is reported once.
class Quantities {
 public:
  using Function = std::function<double(std::span<const double>)>;

  /// `settings`: values given by the user, which replace those of the file.
  Quantities(const Settings& settings, std::vector<Diagnostic>& diagnostics)
      : settings_(settings), diagnostics_(diagnostics) {}

  struct Spec {
    std::string name;
    int scope = -1;                  ///< whose local names the formula may use
    bool settable = true;            ///< by the user
    std::string_view quantity = {};  ///< "length": units of others are refused; empty: any
  };

  // Each returns the index of the new quantity. The value is written to the target by evaluate(); the target must stay
  // where it is until then.
  int formula(Spec spec, const Text& text, double* target);
  int number(Spec spec, double value, double* target);
  int computed(Spec spec, std::vector<int> inputs, Function function, double* target);
  int law(Spec spec, const Text& text, Law* target, bool with_derivatives = false);
  int faulty(Spec spec);  ///< given in the file, but unreadable

  void alias(const std::string& name, int quantity) { global_.emplace(name, quantity); }
  void local(int scope, const std::string& name, int quantity) { local_.emplace(std::pair(scope, name), quantity); }

  void evaluate();

  bool settable(const std::string& name) const;
  std::vector<std::string> settable_names() const;
  Settings settable_values() const;  ///< after evaluate(); laws have none

 private:
  enum class State : char { fresh, active, done, failed };
  struct Quantity {
    Spec spec;
    const Text* text = nullptr;
    Function function;
    std::vector<int> inputs;
    std::shared_ptr<Expression> expression;
    double* target = nullptr;
    Law* law = nullptr;
    bool with_derivatives = false;
    double value = 0;
    State state = State::fresh;
  };

  int add(Quantity quantity);
  void parse(Quantity& quantity);
  void resolve(Quantity& quantity);
  int find(const std::string& name, int scope) const;
  void warn_of_unit(const Quantity& quantity);
  void visit(int root);
  void compute(Quantity& quantity);
  void finish_law(Quantity& quantity, const std::vector<double>& inputs);
  void report_cycle(std::vector<int> cycle);
  void error(const Location& where, std::string message);
  std::vector<std::string> names_in_reach(int scope) const;

  const Settings& settings_;
  std::vector<Diagnostic>& diagnostics_;
  std::vector<Quantity> all_;
  std::unordered_map<std::string, int> global_;
  std::map<std::pair<int, std::string>, int> local_;
};

/// What kind of quantity is given by a key that means the same in all elements: "stiffness", "force" of "x" of a load;
/// empty where that depends on more.
std::string_view quantity_of(std::string_view key);

}  // namespace kinegraph
