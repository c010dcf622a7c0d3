#pragma once

#include <functional>
#include <map>
#include <set>
#include <vector>

#include "kinegraph/codegen/scalar.hpp"

namespace kinegraph::codegen {

/// Σ cⱼ xⱼ + known
struct LinearForm {
  std::map<int, Scalar> terms;
  Scalar known;

  LinearForm() = default;
  LinearForm(const Scalar& value) : known(value) {}
  static LinearForm of(int unknown) {
    LinearForm f;
    f.terms.emplace(unknown, Scalar(1));
    return f;
  }
  void add(const LinearForm& other, const Scalar& factor);
  bool is_known() const { return terms.empty(); }
  /// Nothing but one unknown, or its negative.
  bool is_alias() const;
};

/// Linear equations whose coefficients are expressions, solved by elimination, one scalar unknown after the other.
///
///     pivot row   p x + Σ cⱼ xⱼ + k = 0    →    x = −(Σ cⱼ xⱼ + k) / p, put into every other row that holds x
///
/// A pivot that is ±1 costs nothing and is preferred; another one must keep away from zero at all sampled inputs.
class SymbolicElimination {
 public:
  int unknown();
  /// form = 0. `unknown`: the one that this row is meant to determine; −1: none.
  int row(LinearForm form, int unknown = -1);
  /// A new unknown with x = form, unless the form is known or an alias: then that.
  LinearForm define(const LinearForm& form, std::vector<int>& defined);

  /// Asked before each change of a row; once it says no, pivots change nothing any more, and nothing that follows is of
  /// use (stopped()).
  void ask(std::function<bool()> goes_on) { asked_ = std::move(goes_on); }
  bool stopped() const { return stopped_; }

  /// Pivots only in the row that is meant for an unknown, where that holds it: what is left in a row is then its own.
  void keep_to_own_rows() { own_rows_only_ = true; }
  /// False where no row that is left can determine it: it may be tried again later.
  bool eliminate(int unknown);
  /// Those that a row alone determines by ±1; the others are left.
  void eliminate_if_alone(const std::vector<int>& unknowns);
  /// All, whichever is best next. Those that nothing determines are zero: no result may depend on them
  /// (undetermined()).
  void eliminate_last(std::vector<int> unknowns);

  /// After all: the value of an unknown, those that nothing determines taken as zero.
  Scalar solution(int unknown);

  int row_of(int unknown) const { return matched_[unknown]; }
  const LinearForm& row_form(int row) const { return rows_[row]; }
  const std::vector<Scalar>& pivots() const { return pivots_; }  ///< those that are not constants
  bool done(int unknown) const { return solved_by_[unknown] >= 0; }
  int undetermined() const { return undetermined_; }
  /// A solution that was asked for does so where loops are closed.
  bool depends_on_undetermined() const { return depends_on_undetermined_; }

 private:
  static constexpr int kFree = 1 << 30;  // solved_by_: nothing determines it, it is zero

  void pivot(int unknown, int row);
  bool goes_on();
  /// The value of an unknown in terms of those that nothing determines.
  const LinearForm& in_free(int unknown);
  int choose(int unknown) const;

  std::vector<LinearForm> rows_;
  std::vector<bool> used_;                // per row: it is a pivot row
  std::vector<std::set<int>> holding_;    // per unknown: rows that hold it and are not used
  std::vector<int> matched_, solved_by_;  // per unknown: a row, −1: none
  std::vector<LinearForm> solution_;      // in those that nothing determines
  std::vector<bool> has_solution_;
  std::vector<Scalar> pivots_;
  int undetermined_ = 0;
  bool own_rows_only_ = false, depends_on_undetermined_ = false, stopped_ = false;
  std::function<bool()> asked_;
};

/// How far an expression keeps away from zero: the least of its sampled sizes over the largest. Constants: 1. One that
/// vanishes wherever loops are closed: 0.
double steadiness(const Scalar& x);

}  // namespace kinegraph::codegen
