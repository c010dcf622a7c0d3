#include "kinegraph/build/screw_problem.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kinegraph/base/names.hpp"
#include "kinegraph/linear/ordering.hpp"

namespace kinegraph::build {
namespace {

using What = ScrewProblem::What;
using Equation = ScrewProblem::Equation;

/// Writes down variables and factors, with their incidence.
class Writer {
 public:
  Writer(std::shared_ptr<const screw::Tree> tree, const std::vector<Given>& given, bool planar_loops)
      : planar_loops_(planar_loops) {
    problem_.tree = std::move(tree);
    problem_.given = given;
  }

  ScrewProblem run() {
    variables();
    factors();
    return std::move(problem_);
  }

 private:
  const screw::Tree& tree() const { return *problem_.tree; }
  int bodies() const { return static_cast<int>(tree().bodies().size()); }
  int loops() const { return static_cast<int>(tree().loops().size()); }

  void add(What what, int owner, int size, bool known, int level, const std::string& name, const std::string& label) {
    problem_.variables.push_back({what, owner, size, known, level, name, label});
  }

  void variables() {
    add(What::twist_acceleration, -1, 6, true, 0, "V0", "base");
    for (int i = 0; i < bodies(); ++i) {
      add(What::twist_acceleration, i, 6, false, 0, fmt::format("V{}", i + 1), tree().bodies()[i].name);
    }
    for (int i = 0; i < bodies() + loops(); ++i) {
      const int coordinate = i < bodies() ? tree().bodies()[i].joint.coordinate : -1;
      const std::string label = i >= bodies()     ? tree().loops()[i - bodies()].name
                                : coordinate >= 0 ? tree().coordinates()[coordinate].name
                                                  : tree().bodies()[i].name;
      add(What::wrench, i, 6, false, i < bodies() ? 0 : 2, fmt::format("F{}", i + 1), label);
    }
    const auto& coordinates = tree().coordinates();
    for (int c = 0; c < static_cast<int>(coordinates.size()); ++c) {
      const Given given = problem_.given[c];
      const bool open = given == Given::neither;
      const bool torque = given == Given::torque || given == Given::both;
      const bool acceleration = given == Given::acceleration || given == Given::both;
      add(What::acceleration, c, coordinates[c].freedoms, acceleration, coordinates[c].loop >= 0 || open ? 2 : 0,
          fmt::format("a{}", c + 1), coordinates[c].name);
      add(What::torque, c, coordinates[c].freedoms, torque, coordinates[c].in_loop || open ? 1 : 0,
          fmt::format("t{}", c + 1), coordinates[c].name);
    }
  }

  void factor(Equation equation, int owner, int rows, std::vector<int> variables, const std::string& name) {
    std::sort(variables.begin(), variables.end());
    variables.erase(std::unique(variables.begin(), variables.end()), variables.end());
    problem_.factors.push_back({equation, owner, rows, std::move(variables), name});
  }

  void factors() {
    for (int i = 0; i < bodies(); ++i) acceleration_factor(i);
    for (int i = 0; i < bodies(); ++i) wrench_factor(i);
    for (int c = 0; c < static_cast<int>(tree().coordinates().size()); ++c) torque_factor(c);
    for (int l = 0; l < loops(); ++l) loop_factor(l);
    for (int l = 0; l < loops() && planar_loops_; ++l) planar_factor(l);
  }

  void acceleration_factor(int i) {
    const screw::Body& body = tree().bodies()[i];
    std::vector<int> v{problem_.find(What::twist_acceleration, i),
                       problem_.find(What::twist_acceleration, body.parent)};
    if (body.joint.coordinate >= 0) v.push_back(problem_.find(What::acceleration, body.joint.coordinate));
    factor(Equation::acceleration, i, 6, std::move(v), "acceleration " + body.name);
  }

  void wrench_factor(int i) {
    const screw::Body& body = tree().bodies()[i];
    std::vector<int> v{problem_.find(What::wrench, i), problem_.find(What::twist_acceleration, i)};
    for (const int child : body.children) v.push_back(problem_.find(What::wrench, child));
    for (int l = 0; l < loops(); ++l) {
      const screw::Loop& loop = tree().loops()[l];
      if (loop.a == i || loop.b == i) v.push_back(problem_.find(What::wrench, bodies() + l));
    }
    factor(Equation::wrench, i, 6, std::move(v), "wrench " + body.name);
  }

  void torque_factor(int c) {
    const screw::Coordinate& coordinate = tree().coordinates()[c];
    std::vector<int> v{problem_.find(What::torque, c)};
    for (const JointDynamics& d : coordinate.dynamics) {
      if (d.armature != 0) v.push_back(problem_.find(What::acceleration, c));
    }
    for (int i = 0; i < bodies(); ++i) {
      if (tree().bodies()[i].joint.coordinate == c) v.push_back(problem_.find(What::wrench, i));
    }
    for (int l = 0; l < loops(); ++l) {
      if (tree().loops()[l].via.coordinate == c) v.push_back(problem_.find(What::wrench, bodies() + l));
    }
    factor(Equation::torque, c, coordinate.freedoms, std::move(v), "torque " + coordinate.name);
  }

  void loop_factor(int l) {
    const screw::Loop& loop = tree().loops()[l];
    std::vector<int> v{problem_.find(What::twist_acceleration, loop.a),
                       problem_.find(What::twist_acceleration, loop.b)};
    if (loop.via.coordinate >= 0) v.push_back(problem_.find(What::acceleration, loop.via.coordinate));
    factor(Equation::loop_acceleration, l, 6, std::move(v), "closure " + loop.name);
  }

  void planar_factor(int l) {
    const screw::Loop& loop = tree().loops()[l];
    if (loop.via.type != JointType::revolute && loop.via.type != JointType::continuous) return;
    factor(Equation::planar, l, 3, {problem_.find(What::wrench, bodies() + l)}, "planar " + loop.name);
  }

  ScrewProblem problem_;
  bool planar_loops_;
};

/// The unknowns of a problem that are ordered freely, and the last group.
struct Unknowns {
  std::vector<int> free, last;
  explicit Unknowns(const ScrewProblem& problem) {
    for (const int v : problem.unknown()) (problem.variables[v].level == 0 ? free : last).push_back(v);
  }
};

class Orderer {
 public:
  explicit Orderer(const ScrewProblem& problem) : problem_(problem), unknowns_(problem) {}

  /// τₙ … τ₁, F₁ … Fₙ, V̇ₙ … V̇₁, and accelerations that are not known in one group (then it is CRBA).
  void wrenches_first() {
    torques();
    for (int i = 0; i < bodies(); ++i) put(What::wrench, i);
    for (int i = bodies() - 1; i >= 0; --i) put(What::twist_acceleration, i);
    std::vector<int> group;
    for (int c = 0; c < coordinates(); ++c) {
      const int v = problem_.find(What::acceleration, c);
      if (is_free(v)) group.push_back(v);
    }
    if (!group.empty()) order_.push_back(std::move(group));
  }

  /// τₙ … τ₁, then (Fᵢ, V̇ᵢ, θ̈ᵢ) for i = n … 1. An acceleration that several joints share waits for the last of them.
  void body_by_body() {
    torques();
    std::vector<int> last(coordinates(), -1);
    for (int i = bodies() - 1; i >= 0; --i) {
      const int c = problem_.tree->bodies()[i].joint.coordinate;
      if (c >= 0) last[c] = i;
    }
    for (int i = bodies() - 1; i >= 0; --i) {
      put(What::wrench, i);
      put(What::twist_acceleration, i);
      const int c = problem_.tree->bodies()[i].joint.coordinate;
      if (c >= 0 && last[c] == i) put(What::acceleration, c);
    }
  }

  /// By an ordering of the columns of the block matrix.
  void by_structure(const std::string& name) {
    std::vector<int> number(problem_.variables.size(), -1);
    for (std::size_t k = 0; k < unknowns_.free.size(); ++k) number[unknowns_.free[k]] = static_cast<int>(k);
    linear::RowStructure rows;
    for (const ScrewProblem::Factor& factor : problem_.factors) {
      std::vector<int> columns;
      for (const int v : factor.variables) {
        if (number[v] >= 0) columns.push_back(number[v]);
      }
      rows.add(columns);
    }
    const int n = static_cast<int>(unknowns_.free.size());
    std::vector<int> weight;
    for (const int v : unknowns_.free) weight.push_back(problem_.variables[v].size);
    const std::vector<int> order = name == "colamd" ? linear::colamd_order(rows, n)
                                   : name == "amd"  ? linear::amd_order(linear::column_graph(rows, n))
                                                    : linear::metis_order(linear::column_graph(rows, n), weight);
    for (const int k : order) order_.push_back({unknowns_.free[k]});
  }

  void as_listed() {
    for (const int v : unknowns_.free) order_.push_back({v});
  }

  Result<ScrewOrder> custom(const std::vector<std::string>& names) {
    std::vector<std::string> valid;
    for (const int v : problem_.unknown()) valid.push_back(problem_.variables[v].name);
    std::vector<bool> named(problem_.variables.size(), false);
    std::vector<Diagnostic> faults;
    const auto fault = [&](std::string text) { faults.push_back({Severity::error, {}, "order: " + std::move(text)}); };
    for (const std::string& name : names) {
      const int v = problem_.find(name);
      if (v < 0 || problem_.variables[v].known) {
        fault(fmt::format("{} {}{}", quote(name), v < 0 ? "is no variable" : "is known, not an unknown",
                          did_you_mean(name, valid)));
      } else if (named[v]) {
        fault(fmt::format("{} is named twice", quote(name)));
      } else {
        named[v] = true;
        if (is_free(v)) order_.push_back({v});
      }
    }
    for (const int v : unknowns_.free) {
      if (!named[v]) fault(fmt::format("{} is missing", quote(problem_.variables[v].name)));
    }
    if (!faults.empty()) return Failure{Failure::Kind::bad_input, std::move(faults)};
    return finish();
  }

  ScrewOrder finish() {
    if (!unknowns_.last.empty()) order_.push_back(unknowns_.last);
    return std::move(order_);
  }

 private:
  int bodies() const { return static_cast<int>(problem_.tree->bodies().size()); }
  int coordinates() const { return static_cast<int>(problem_.tree->coordinates().size()); }
  bool is_free(int v) const { return !problem_.variables[v].known && problem_.variables[v].level == 0; }
  void put(What what, int owner) {
    if (const int v = problem_.find(what, owner); is_free(v)) order_.push_back({v});
  }
  void torques() {
    for (int c = coordinates() - 1; c >= 0; --c) put(What::torque, c);
  }

  const ScrewProblem& problem_;
  Unknowns unknowns_;
  ScrewOrder order_;
};

}  // namespace

int ScrewProblem::find(What what, int owner) const {
  const int bodies = static_cast<int>(tree->bodies().size()), loops = static_cast<int>(tree->loops().size());
  switch (what) {
    case What::twist_acceleration:
      return 1 + owner;
    case What::wrench:
      return 1 + bodies + owner;
    case What::acceleration:
      return 1 + 2 * bodies + loops + 2 * owner;
    case What::torque:
      return 2 + 2 * bodies + loops + 2 * owner;
  }
  return -1;
}

int ScrewProblem::find(const std::string& name) const {
  const auto found =
      std::find_if(variables.begin(), variables.end(), [&](const Variable& v) { return v.name == name; });
  return found == variables.end() ? -1 : static_cast<int>(found - variables.begin());
}

std::vector<int> ScrewProblem::unknown() const {
  std::vector<int> list;
  for (std::size_t v = 0; v < variables.size(); ++v) {
    if (!variables[v].known) list.push_back(static_cast<int>(v));
  }
  return list;
}

std::vector<Given> given_inverse(const screw::Tree& tree) {
  std::vector<Given> given;
  for (const screw::Coordinate& c : tree.coordinates()) {
    given.push_back(c.passive && c.joint >= 0 ? Given::torque : Given::acceleration);
  }
  return given;
}

std::vector<Given> given_forward(const screw::Tree& tree) {
  return std::vector<Given>(tree.coordinates().size(), Given::torque);
}

ScrewProblem screw_problem(std::shared_ptr<const screw::Tree> tree, const std::vector<Given>& given,
                           bool planar_loops) {
  return Writer(std::move(tree), given, planar_loops).run();
}

const std::vector<std::string>& screw_order_names() {
  static const std::vector<std::string> names{"rnea", "crba", "aba", "colamd", "amd", "metis", "natural", "custom"};
  return names;
}

Result<ScrewOrder> screw_order(const ScrewProblem& problem, const std::string& name,
                               const std::vector<std::string>& custom) {
  Orderer orderer(problem);
  if (name == "rnea" || name == "crba") {
    orderer.wrenches_first();
  } else if (name == "aba") {
    orderer.body_by_body();
  } else if (name == "colamd" || name == "amd" || name == "metis") {
    orderer.by_structure(name);
  } else if (name == "natural") {
    orderer.as_listed();
  } else if (name == "custom") {
    return orderer.custom(custom);
  } else {
    return Failure::bad_input(
        fmt::format("unknown ordering {}{}", quote(name), did_you_mean(name, screw_order_names())));
  }
  return orderer.finish();
}

}  // namespace kinegraph::build
