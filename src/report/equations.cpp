#include "kinegraph/report/equations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "kinegraph/report/equation_rows.hpp"
#include "kinegraph/report/label.hpp"

namespace kinegraph::report {
namespace {

using What = build::ScrewProblem::What;
using Equation = build::ScrewProblem::Equation;

constexpr std::size_t kLongest = 60;  // symbols in a product: beyond, nobody reads it

class Writer {
 public:
  Writer(const build::ScrewProblem& problem, const Skeleton& skeleton)
      : problem_(problem), skeleton_(skeleton), rows_(equation_rows(problem, skeleton, spelling_)) {
    for (std::size_t f = 0; f < problem.factors.size(); ++f) {
      own_row_[{problem.factors[f].equation, problem.factors[f].owner}] = static_cast<int>(f);
    }
  }

  Result<std::string> run(const build::ScrewOrder& order) {
    for (const std::vector<int>& group : order) {
      if (group.size() == 1) {
        if (!solve_in_own_row(group.front())) depend(group);
      } else if (!solve_mass_matrix(group)) {
        depend(group);
      }
      if (too_long_) {
        return Failure::no_answer(
            "the equations of this order grow too long to be read: take another ordering, or a smaller model");
      }
    }
    return text(order);
  }

 private:
  std::string name(int v) const { return variable_name(problem_.variables[v]); }
  static Product symbol(const std::string& name) { return {1, {{name}}}; }

  /// The name for a sum that multiplies a variable, or for the constants of a row.
  std::string hint(int v) const {
    const auto& variable = problem_.variables[v];
    const char* letter = variable.what == What::twist_acceleration ? "I" : variable.what == What::wrench ? "Y" : "U";
    return letter + label(variable).index;
  }
  std::string constant_hint(const EquationRow& row) const {
    const auto& left = problem_.variables[row.left];
    const char* letter = left.what == What::torque ? "h" : left.what == What::wrench ? "p" : "k";
    return letter + label(left).index;
  }

  EquationRow* own_row(int v) {
    const auto& variable = problem_.variables[v];
    Equation equation = Equation::torque;
    if (variable.what == What::twist_acceleration) equation = Equation::acceleration;
    if (variable.what == What::wrench) equation = Equation::wrench;
    const auto found = own_row_.find({equation, variable.owner});
    return found == own_row_.end() ? nullptr : &rows_[found->second];
  }

  bool in_mixed_row(int v) const {
    return std::any_of(rows_.begin(), rows_.end(),
                       [&](const EquationRow& r) { return !r.used && r.mixed && r.terms.contains(v); });
  }

  /// Solves for a variable in its own equation and puts the answer into all others.
  bool solve_in_own_row(int v) {
    EquationRow* row = own_row(v);
    if (row == nullptr || row->used || row->mixed || in_mixed_row(v)) return false;
    const bool as_acceleration = problem_.variables[v].what == What::acceleration;
    if (row->terms.contains(v) != as_acceleration) return false;
    if (as_acceleration && !problem_.variables[row->left].known) return false;
    if (!as_acceleration && row->left != v) return false;
    row->used = true;

    std::map<int, Product> coefficients;
    for (const auto& [y, sum] : row->terms) {
      if (y != v) coefficients[y] = namer_.simplify(sum, hint(y));
    }
    Sum constants = row->constants;
    Line line{name(v), "", v};
    if (as_acceleration) {
      const std::string k = label(problem_.variables[v]).index;
      const Symbol d = namer_.define(row->terms[v], "D" + k);
      // τ = D θ̈ + …   ⇒   θ̈ = D⁻¹ (τ − …)
      Sum inner{symbol(name(row->left))};
      for (auto& [y, product] : coefficients) {
        product.sign = -product.sign;
        inner.push_back(times(product, symbol(name(y))));
        product = times({1, {{d.name, false, true}}}, product);
      }
      constants = constants.empty() ? Sum{} : Sum{namer_.simplify(constants, constant_hint(*row))};
      for (Product& p : constants) p.sign = -p.sign;
      inner.insert(inner.end(), constants.begin(), constants.end());
      line.inner = inner;
      line.divisor = d.name;
      constants.insert(constants.begin(), symbol(name(row->left)));
      constants = times({1, {{d.name, false, true}}}, constants);
    } else {
      const bool direct = constants.size() <= 2 && std::all_of(constants.begin(), constants.end(),
                                                               [&](const Product& p) { return p.symbols.size() <= 2; });
      if (!direct || holders(v) > 0) {
        if (constants.size() > 1 && holders(v) > 0) constants = {namer_.simplify(constants, constant_hint(*row))};
      }
      for (const auto& [y, product] : in_reading_order(coefficients)) {
        line.inner.push_back(times(product, symbol(name(y))));
      }
      const bool first = problem_.variables[v].what == What::twist_acceleration && !problem_.variables[v].known;
      line.inner.insert(first && coefficients_are_accelerations(coefficients) ? line.inner.begin() : line.inner.end(),
                        constants.begin(), constants.end());
    }
    substitute(v, coefficients, constants);
    lines_.push_back(std::move(line));
    return true;
  }

  bool coefficients_are_accelerations(const std::map<int, Product>& coefficients) const {
    return std::all_of(coefficients.begin(), coefficients.end(),
                       [&](const auto& c) { return problem_.variables[c.first].what == What::acceleration; });
  }

  /// Wrenches, then twist accelerations, then accelerations of joints.
  std::vector<std::pair<int, Product>> in_reading_order(const std::map<int, Product>& terms) const {
    std::vector<std::pair<int, Product>> list(terms.begin(), terms.end());
    const auto rank = [&](int v) { return problem_.variables[v].what == What::wrench ? 0 : 1; };
    std::stable_sort(list.begin(), list.end(),
                     [&](const auto& a, const auto& b) { return rank(a.first) < rank(b.first); });
    return list;
  }

  int holders(int v) const {
    return static_cast<int>(std::count_if(rows_.begin(), rows_.end(),
                                          [&](const EquationRow& r) { return !r.used && r.terms.contains(v); }));
  }

  void substitute(int v, const std::map<int, Product>& coefficients, const Sum& constants) {
    for (EquationRow& row : rows_) {
      if (row.used || !row.terms.contains(v)) continue;
      const Product k = namer_.simplify(row.terms[v], hint(v));
      row.terms.erase(v);
      for (const auto& [y, product] : coefficients) row.terms[y].push_back(times(k, product));
      for (const Product& p : constants) row.constants.push_back(times(k, p));
      too_long_ |= k.symbols.size() > kLongest;
    }
  }

  /// All accelerations that are left, at once:   M θ̈ = τ − h
  bool solve_mass_matrix(const std::vector<int>& group) {
    for (const int v : group) {
      if (problem_.variables[v].what != What::acceleration || in_mixed_row(v)) return false;
      const EquationRow* row = own_row(v);
      if (row == nullptr || row->used || row->mixed || !problem_.variables[row->left].known) return false;
      for (const auto& term : row->terms) {
        if (std::find(group.begin(), group.end(), term.first) == group.end()) return false;
      }
    }
    std::string unknowns, torques;
    for (std::size_t i = 0; i < group.size(); ++i) {
      EquationRow& row = *own_row(group[i]);
      const std::string k = label(problem_.variables[group[i]]).index;
      for (std::size_t j = i; j < group.size(); ++j) {
        if (const auto found = row.terms.find(group[j]); found != row.terms.end()) {
          const std::string l = label(problem_.variables[group[j]]).index;
          namer_.define({namer_.simplify(found->second, "I" + l)}, fmt::format("M{},{}", k, l));
        }
      }
      const Sum constants = row.constants.empty() ? Sum{} : Sum{namer_.simplify(row.constants, "h" + k)};
      unknowns += (unknowns.empty() ? "" : " ") + name(group[i]);
      torques += (torques.empty() ? "" : ", ") + name(row.left);
      for (const Product& p : constants) torques += " − " + report::text(p, {});
      row.used = true;
    }
    Line line{fmt::format("({})", unknowns), fmt::format("M⁻¹ ({})", torques), group.front()};
    lines_.push_back(std::move(line));
    return true;
  }

  /// Only says what a group depends on, and what it is solved from.
  void depend(const std::vector<int>& group) {
    std::string names, equations;
    std::set<int> others;
    int numbers = 0, size = 0;
    for (const int v : group) {
      names += (names.empty() ? "" : " ") + name(v);
      size += problem_.variables[v].size;
    }
    const auto in_group = [&](int v) { return std::find(group.begin(), group.end(), v) != group.end(); };
    for (EquationRow& row : rows_) {
      const bool left = row.left >= 0 && !problem_.variables[row.left].known && !row.mixed;
      const bool holds = std::any_of(group.begin(), group.end(),
                                     [&](int v) { return row.terms.contains(v) || (left && row.left == v); });
      if (row.used || !holds) continue;
      row.used = true;
      numbers += row.numbers;
      equations += (equations.empty() ? "" : ", ") + row.name;
      for (const auto& term : row.terms) others.insert(term.first);
      if (left) others.insert(row.left);
    }
    std::erase_if(others, in_group);
    std::string parents;
    for (const int v : others) parents += (parents.empty() ? "" : ", ") + name(v);
    const std::string left_side = group.size() > 1 ? "(" + names + ")" : names;
    Line line{left_side, fmt::format("f({})", parents), group.front()};
    line.remark = fmt::format("from {} ({} rows{})", equations, numbers,
                              numbers > size ? fmt::format(", {} remain", numbers - size) : "");
    if (numbers < size) line.remark += "; of least norm";
    lines_.push_back(std::move(line));
    if (numbers > size && !others.empty()) {
      EquationRow rest;
      rest.name = fmt::format("rows left by {}", names);
      rest.numbers = numbers - size;
      rest.mixed = true;
      for (const int v : others) rest.terms[v] = {};
      rows_.push_back(std::move(rest));
    }
  }

  struct Line {
    std::string left, right;  ///< `right` if it is known as text
    int variable = -1;
    Sum inner = {};
    std::string divisor = {}, remark = {};
  };

  std::string right_side(const Line& line, const Spelling& spelling) const {
    if (!line.right.empty()) return line.right;
    if (!line.divisor.empty()) return fmt::format("{}⁻¹ ({})", line.divisor, report::text(line.inner, spelling));
    // A joint of one freedom: Fᵀ A, as it is usually written.
    if (problem_.variables[line.variable].what == What::torque && problem_.variables[line.variable].size == 1 &&
        line.inner.size() == 1 && line.inner[0].symbols.size() == 2) {
      return fmt::format("{}ᵀ {}", line.inner[0].symbols[1].name, line.inner[0].symbols[0].name);
    }
    return report::text(line.inner, spelling);
  }

  std::string meaning(const Namer::Definition& definition) const {
    const bool inverse = std::any_of(definition.sum.begin(), definition.sum.end(), [](const Product& p) {
      return std::any_of(p.symbols.begin(), p.symbols.end(), [](const Symbol& s) { return s.inverted; });
    });
    const std::string number = definition.name.substr(1, definition.name.find('\'') - 1);
    switch (definition.name.front()) {
      case 'I':
        return fmt::format("{} inertia of body {}", inverse ? "articulated" : "composite", number);
      case 'D':
        return fmt::format("inertia felt by joint {}", number);
      case 'M':
        return "entry of the mass matrix";
      default:
        return "";
    }
  }

  std::string text(const build::ScrewOrder& order) const {
    const bool brief = !namer_.definitions().empty();
    const Spelling spelling = brief ? Spelling{} : spelling_;
    std::string out = "Elimination order:";
    for (const auto& group : order) {
      std::string names;
      for (const int v : group) names += (names.empty() ? "" : " ") + name(v);
      out += group.size() > 1 ? " (" + names + ")" : " " + names;
    }
    out += "\n";
    if (brief) {
      out += "\nComputed by the elimination, in its order:\n";
      for (const auto& d : namer_.definitions()) {
        std::string line = fmt::format("  {} = {}", d.name, report::text(d.sum, spelling));
        if (const std::string what = meaning(d); !what.empty()) line += fmt::format("    [{}]", what);
        out += line + "\n";
      }
    }
    out += "\nBack-substitution:\n";
    int count = 0;
    for (auto line = lines_.rbegin(); line != lines_.rend(); ++line) {
      out += fmt::format("{:>4}  {} = {}", ++count, line->left, right_side(*line, spelling));
      if (!line->remark.empty()) out += "    [" + line->remark + "]";
      out += "\n";
    }
    return out + legend(brief);
  }

  std::string legend(bool brief) const {
    std::string out =
        "\nSymbols (i: body or joint, p: its parent, 0: the ground; angular parts first):\n"
        "  V̇i, Vi   twist acceleration and twist of body i, in its frame; V̇0 of the ground\n"
        "  Fi       wrench through joint i on body i, in its frame\n"
        "  τi, vi, ai   torque, velocity and acceleration of joint i\n"
        "  Ai       axis of joint i in body i, as a twist\n"
        "  Ad(Ti,p) takes twists from the parent's frame to that of body i\n"
        "  Gi       inertia of body i in its frame\n"
        "  wi       weight of body i and external wrenches on it (at the tip also the tool's)\n";
    if (brief) {
      out +=
          "  Xi = Ad(Ti,p),   ci = [ad Vi] Ai vi,   bi = −[ad Vi]ᵀ Gi Vi − wi\n"
          "  hi, pi, ki   constant parts of equations (7), (6), (5) that are put into others\n";
    }
    const auto any = [](const std::vector<bool>& flags) {
      return std::find(flags.begin(), flags.end(), true) != flags.end();
    };
    if (any(skeleton_.armature)) out += "  ri       inertia of the rotor at joint i\n";
    if (any(skeleton_.friction)) out += "  di       damping, friction and spring of joint i\n";
    if (!skeleton_.loops.empty()) {
      out += "  Yia, Yib take twists of the two bodies that loop joint i ties to its frame\n";
    }
    const bool open = std::any_of(lines_.begin(), lines_.end(), [](const Line& l) { return !l.remark.empty(); });
    if (open) out += "  f(…)     solved numerically from the equations named beside it\n";
    return out;
  }

  const build::ScrewProblem& problem_;
  const Skeleton& skeleton_;
  Spelling spelling_;
  std::map<std::pair<Equation, int>, int> own_row_;
  std::vector<EquationRow> rows_;
  std::vector<Line> lines_;
  Namer namer_;
  bool too_long_ = false;
};

}  // namespace

Result<std::string> equations(const build::ScrewProblem& problem, const Skeleton& skeleton,
                              const build::ScrewOrder& order) {
  return Writer(problem, skeleton).run(order);
}

}  // namespace kinegraph::report
