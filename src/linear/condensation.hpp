#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kinegraph/base/sparse.hpp"

namespace kinegraph::linear {

/// Eliminates hard rows: given A δ = −r with fewer rows than columns, writes every solution as
///
///     δ = p + N s,      s = δ on the free columns
///
/// by a sparse LU of A on columns that threshold pivoting chose. The choice and the fill are found once, by choose();
/// factor() and solve() then replay a fixed list of operations for new values and allocate nothing. That is "slice
/// first" of the design: what is left for the elimination in time are the few free columns s.
///
/// A pivot that falls below 0.05 of its value when chosen (or grows 20-fold) makes the choice stale; the owner then
/// calls choose() again. At a singular position no choice helps: a pivot below ε times the largest entry of its row is
/// not divided by, its row is passed over and its column keeps the value it has.
class Condensation {
 public:
  /// `pattern`: the places of the values, in the order in which they will be given. An entry with a negative column
  /// is ignored (it belongs to a known variable).
  Condensation(int rows, int columns, std::vector<Entry> pattern);

  /// Another pattern of the same size. Resets the choice.
  void set_pattern(std::span<const Entry> pattern);

  /// Rows that follow from others are left out of the elimination (they hold by themselves). Resets the choice.
  void exclude_rows(const std::vector<int>& rows);

  /// Chooses pivots for these values. `preference` (one number per column, 1 by default) scales a column's entries when
  /// they compete to be a pivot: small for columns that would rather be free, 0 for those that must be.
  void choose(const double* values, std::span<const double> preference = {});

  /// In which order rows are pivoted: definitions (x = …) cost no fill and come first; weak rows, which may come to
  /// depend on each other, are next, and the only ones that relax() touches.
  enum class RowClass : char { definition, weak, other };
  void set_classes(std::vector<RowClass> classes);  ///< Resets the choice.
  /// ε for weak rows; it is kRounding for all others.
  void relax(double epsilon) { relaxation_ = epsilon; }
  static constexpr double kRounding = 1e-10;

  /// LU of the chosen pivots. False if the choice is stale for these values.
  bool factor(const double* values);

  /// Solves L U X = B in place, `width` right-hand sides per row, row-major. On entry row i of B belongs to row
  /// pivot_rows()[i]; on return to column pivot_columns()[i].
  void solve(double* x, int width) const;

  int rows() const { return rows_; }
  int columns() const { return columns_; }
  int rank() const { return static_cast<int>(pivot_row_.size()); }
  int free_count() const { return columns_ - rank(); }
  std::span<const int> pivot_rows() const { return pivot_row_; }
  std::span<const int> pivot_columns() const { return pivot_column_; }
  std::span<const int> free_columns() const { return free_column_; }
  std::span<const Entry> pattern() const { return pattern_; }

  /// The entries of A in free columns: (row in pivot order, index of the free column, place in values).
  struct FreeEntry {
    int row, column, value;
  };
  std::span<const FreeEntry> free_entries() const { return free_entry_; }

  /// A row of A that the last factor() passed over for want of a pivot; −1 if there was none.
  int passed_over() const { return passed_over_; }
  double smallest_pivot() const { return smallest_pivot_; }  ///< of the last factor(), relative to its row
  long operations() const { return static_cast<long>(target_.size()); }

 private:
  void eliminate(const double* values, std::span<const double> preference);
  void compile();
  double epsilon_of(int row) const { return class_[row] == RowClass::weak ? relaxation_ : kRounding; }
  template <int Width>
  void substitute(double* x, int width) const;

  struct WorkEntry {
    int column;
    double value;
  };
  struct Update {  // row `row` −= (its entry at `multiplier`) × pivot row; `count` targets start at `first`
    int row, multiplier, first;
  };
  struct PivotRow {
    int diagonal, upper_end;       // places in lu_: diagonal, then the U part up to upper_end
    int update_begin, update_end;  // rows below that hold this pivot's column
    int source;                    // row of A
  };

  int rows_, columns_;
  std::vector<Entry> pattern_;
  std::vector<char> excluded_;
  std::vector<RowClass> class_;

  // the choice
  std::vector<int> pivot_row_, pivot_column_, free_column_;
  std::vector<double> reference_, row_scale_;
  std::vector<FreeEntry> free_entry_;

  // the compiled factorisation
  std::vector<double> lu_, inverse_;
  std::vector<int> scatter_place_, scatter_value_;
  std::vector<PivotRow> pivots_;
  std::vector<Update> updates_;
  std::vector<int> target_;
  std::vector<int> upper_row_;  // for each place in lu_: the pivot whose column it is
  int passed_over_ = -1;
  double smallest_pivot_ = 0, relaxation_ = kRounding;

  // work space of choose(), kept so that choosing again does not allocate
  std::vector<std::vector<WorkEntry>> work_;
  std::vector<std::vector<int>> column_rows_;
  std::vector<int> column_count_, pivot_of_column_, pivot_of_row_, place_, waiting_;
  std::vector<double> accumulator_;
  std::vector<char> mark_;
  std::vector<std::pair<int, int>> heap_;
};

}  // namespace kinegraph::linear
