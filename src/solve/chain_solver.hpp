#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kinegraph/graph/chain.hpp"
#include "kinegraph/linear/condensation.hpp"
#include "kinegraph/solve/unrolled.hpp"

namespace kinegraph {

struct ChainOptions {
  int max_iterations = 25;
  double residual = 1e-13;  ///< a hard row holds when it is below this share of its terms
  double step = 1e-8;       ///< relative change of a variable below which its square is rounding
};

struct ChainOutcome {
  bool converged = false;
  int iterations = 0;
  double residual = 0;        ///< largest hard residual, relative to the terms of its row
  double step = 0;            ///< largest relative change in the last iteration
  int worst_row = 0;          ///< the hard row with that residual: ≥ 0 of a knot, −1 − r of an interval
  double worst_residual = 0;  ///< absolute
};

/// Gauss-Newton on a chain: hard rows of every knot and interval hold exactly, soft rows are least squares.
///
/// Slice first, then time. The hard rows of knot k leave the few free columns sₖ (linear::Condensation):
///
///     δxₖ = pₖ + Nₖ sₖ,   and over an interval   δy = y₀ + Y sₖ + Y' sₖ₊₁
///
/// so that a soft row of the interval becomes e + E sₖ + F sₖ₊₁, and the normal equations are block tridiagonal in s:
/// one Cholesky factorisation back in time, one substitution forward. A knot whose values moved by less than
/// ChainOptions::step keeps its linearisation: in a long window only the newest knot is worked on.
///
/// With many degrees of freedom the blocks in s are no longer small; the window is then solved as one sparse system
/// (Unrolled).
///
/// Knot 0 is frozen: it is the known past. Knots live in a ring, so that advance() moves a window along a trajectory of
/// any length in constant memory. After the first window nothing allocates.
class ChainSolver {
 public:
  /// `capacity`: the most knots held at once, the frozen one included.
  ChainSolver(std::shared_ptr<const Chain> chain, int capacity, ChainOptions options = {});

  /// How willing each unknown number of a knot is to be eliminated (see Condensation::choose); by variable.
  void set_preference(int variable, int component, double weight);
  /// Hard rows of a knot (counted over its equality factors) that follow from the others.
  void exclude_rows(const std::vector<int>& rows, const std::vector<int>& middle_rows = {});
  /// Looks at the patterns of the factors again (they may have changed, not grown) and forgets the pivots.
  void restructure();

  int knots() const { return count_; }
  double* knot(int k) { return row_of(values_, slot(k), chain_->knot_size()); }
  const double* knot(int k) const { return const_cast<ChainSolver*>(this)->knot(k); }
  /// The middle of the interval from knot k to k+1.
  double* middle(int k) { return row_of(middles_, slot(k), chain_->middle_size()); }

  /// Adds a knot at the end, its unknowns extrapolated from the knots before; the oldest is dropped when full (the next
  /// becomes the frozen past). Known values are copied from the last knot: the caller sets them.
  void advance();
  void reset() { count_ = 0, base_ = 0, history_ = 0; }
  /// The values that the extrapolation uses: i = 0 is the knot (middle) before the last advance(), 1 the one before.
  int past() const { return history_; }
  double* past_knot(int i) { return past_.data() + static_cast<std::size_t>(i) * chain_->knot_size(); }
  double* past_middle(int i) { return past_middle_.data() + static_cast<std::size_t>(i) * chain_->middle_size(); }
  /// Forget the extrapolation's past and every linearisation (after values were changed by hand).
  void touch();

  /// The newest knot and its interval are next to a singular position: pivots of constraints below `epsilon` (of their
  /// row) are passed over, and what they would decide stays as extrapolated.
  void relax(double epsilon);
  ChainOutcome solve();

  int repivots() const { return repivots_; }
  int free_count() const { return free_; }
  double smallest_pivot() const { return knot_hard_.smallest_pivot(); }
  std::span<const int> free_columns() const { return knot_hard_.free_columns(); }
  int unknowns() const { return static_cast<int>(place_.size()); }  ///< per knot
  std::string hard_row_name(int row) const;

 private:
  struct Bound {  // a factor with its slots resolved to offsets
    const Factor* factor;
    std::vector<ChainSlot> slots;
    int row = 0;  // its first row and its first Jacobian value in the group
    int entry = 0;
  };
  struct Term {  // a Jacobian value in an unknown column
    int row, column, value;
  };
  struct Group {  // the equalities (or the costs) of a knot (or a link): one residual array, one array of values
    std::vector<Bound> factors;
    std::vector<Term> from, middle, to;  // a knot's columns are `to`
    std::vector<double> residual, values;
    bool constants_done = false;

    int rows() const { return static_cast<int>(residual.size()); }
    void add(const ChainFactor& f);
  };

  int slot(int k) const {
    const int s = base_ + k;
    return s >= capacity_ ? s - capacity_ : s;
  }
  template <class T>
  static T* row_of(std::vector<T>& v, int slot, int width) {
    return v.data() + static_cast<std::size_t>(slot) * width;
  }
  void collect_terms(Group& group);
  void set_patterns();
  const double* pointer(const ChainSlot& s, int k, bool link);
  void evaluate(Group& group, int k, bool link, bool jacobian);
  bool choose_and_factor(linear::Condensation& hard, Group& group, bool& chosen);
  void choose(linear::Condensation& hard, const Group& group);
  bool linearize_knot(int k);
  bool linearize_link(int k);
  void condense_middle(int k);
  void scale_rows(const Group& group, int k, bool link, std::vector<double>& scale);
  bool solve_in_time();
  double update();
  double move(double* x, const double* delta, const std::vector<int>& place, const std::vector<int>& variable,
              std::vector<double>& typical);
  void check_residuals(ChainOutcome& outcome);
  bool passed_over_rows_hold(ChainOutcome& outcome);
  bool many_freedoms() const;
  ChainOutcome solve_unrolled();
  void extrapolate(const std::vector<double>& past, int size, const std::vector<int>& places, double* x) const;

  std::shared_ptr<const Chain> chain_;
  int capacity_, count_ = 0, base_ = 0, history_ = 0;
  ChainOptions options_;

  std::vector<int> column_, middle_column_;      // value of a knot (middle) → unknown, or −1
  std::vector<int> place_, middle_place_;        // unknown → value of a knot (middle)
  std::vector<int> variable_, middle_variable_;  // unknown → variable
  Group hard_knot_, hard_link_, soft_knot_, soft_link_;
  linear::Condensation knot_hard_{0, 0, {}}, link_hard_{0, 0, {}};
  std::vector<Noise> knot_noise_, link_noise_;
  std::vector<double> preference_, knot_scale_, link_scale_;
  std::vector<Entry> pattern_;
  std::vector<int> link_order_;  // hard row of a link → its pivot
  std::vector<char> excluded_;
  bool chosen_ = false, link_chosen_ = false;
  int free_ = 0, middle_rank_ = 0, repivots_ = 0, linearizations_ = 0;

  // per knot or link, in ring order
  std::vector<double> values_, middles_;
  std::vector<double> particular_, basis_;              // p, N
  std::vector<double> inner_particular_, inner_basis_;  // y₀, [Y Y']
  std::vector<double> soft_e_, soft_from_, soft_to_;    // e, E, F, whitened
  std::vector<double> local_e_, local_basis_;           // the same for the costs of a knot
  std::vector<double> diagonal_, coupling_, rhs_;       // the normal equations in time
  std::vector<char> dirty_, link_dirty_;
  std::vector<double> relaxed_, link_relaxed_;  // ε, see relax()

  std::vector<double> typical_, middle_typical_;  // per variable: the largest value seen
  std::vector<double> past_, past_middle_;        // the last knots, for the extrapolation
  std::vector<double> work_, delta_;
  std::vector<const double*> pointers_;
  std::unique_ptr<Unrolled> unrolled_;  // with many degrees of freedom
};

}  // namespace kinegraph
