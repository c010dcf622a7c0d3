#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <span>
#include <vector>

#include "kinegraph/base/result.hpp"
#include "kinegraph/linear/ordering.hpp"
#include "kinegraph/linear/symmetric.hpp"

namespace kinegraph::linear {

// P K Pᵀ = L D Lᵀ of a sparse symmetric, in general indefinite matrix; D has 1×1 and 2×2 blocks.
//
// Use:  auto plan = Plan::make(pattern, values, {.ordering = OrderingMethod::amd});   once per structure
//       Elimination elimination(*plan);
//       if (elimination.factor(values).stale) { plan->refresh(values); elimination.factor(values); }
//       elimination.solve(rhs);                                                        in place
//
// factor() and solve() allocate nothing (but for the first factor() after a refresh()). Derivations: plan.cpp,
// elimination.cpp.

struct PlanOptions {
  OrderingMethod ordering = OrderingMethod::amd;
  std::vector<int> user_order;  ///< with OrderingMethod::user: every row of K once, first eliminated first
  RowStructure rows;            ///< for COLAMD: the rows of the least-squares matrix, columns = rows of K; may be empty
  double pivot_threshold = 0.1;  ///< no entry of L may exceed 1/threshold (scaled) when the pivots are chosen
};

/// What an elimination costs, known from the plan alone.
struct EliminationCost {
  double flops = 0;       ///< multiplications and additions of one factor()
  std::int64_t fill = 0;  ///< numbers stored for L and D, zeros of the dense fronts included
  int fronts = 0;         ///< dense blocks that are eliminated one after another (cliques of the clique tree)
  int largest_front = 0;  ///< rows of the largest one
  int pairs = 0;          ///< 2×2 pivots
  int delayed = 0;        ///< pivots that had to wait for a later front than the ordering had proposed
};

/// A clique of the elimination: `pivots` unknowns eliminated together, given `size − pivots` later ones.
struct Front {
  int first_pivot = 0;  ///< position in the elimination order
  int pivots = 0;
  int size = 0;          ///< rows of the dense front: pivots, then border
  int parent = -1;       ///< front into which the border passes, −1 at a root
  int first_child = -1;  ///< children form a list
  int next_sibling = -1;
  std::int64_t rows = 0;      ///< its `size` positions start here in Plan::front_rows()
  std::int64_t relative = 0;  ///< where border row b lies in the parent, in Plan::relative()
  std::int64_t panel = 0;     ///< its size × pivots panel of L (column-major) starts here in the factor
  std::int64_t schur = 0;     ///< its border × border update starts here in the work space

  int border() const { return size - pivots; }
};

/// How a pivot position takes part in D.
enum class PivotKind : unsigned char { single, pair_first, pair_second };

struct ProposedFront;
struct Pivoting;

/// The symbolic elimination of a structure, with pivots chosen on representative values. Immutable but for refresh().
class Plan {
 public:
  /// Fails (bad_input) when the pattern is malformed, the numbers of values or the user's order do not fit it.
  static Result<Plan> make(SymmetricPattern pattern, std::span<const double> values, PlanOptions options = {});

  /// Chooses the pivots again, on new values: matching, ordering and all. Eliminations of this plan follow by
  /// themselves.
  void refresh(std::span<const double> values);

  int size() const { return pattern_.size(); }
  const SymmetricPattern& pattern() const { return pattern_; }
  const EliminationCost& cost() const { return cost_; }
  std::span<const int> order() const { return order_; }        ///< order()[k]: row of K eliminated in step k
  std::span<const int> position() const { return position_; }  ///< its inverse

  // The layout, for those who walk the factor. Positions count along the elimination order.
  std::span<const Front> fronts() const { return fronts_; }  ///< children before parents
  std::span<const int> front_rows() const { return front_rows_; }
  std::span<const int> front_rows(const Front& f) const { return front_rows().subspan(f.rows, f.size); }
  std::span<const int> relative() const { return relative_; }
  std::span<const std::int64_t> target() const { return target_; }  ///< per entry of the pattern: place in the factor
  std::span<const PivotKind> pivot() const { return pivot_; }       ///< per position
  std::span<const double> chosen() const { return chosen_; }        ///< per position: pivot's size when chosen
  std::span<const double> scale() const { return scale_; }          ///< per position: S K S has entries near 1
  std::span<const int> front_of() const { return front_of_; }       ///< per position: front that eliminates it
  std::int64_t factor_size() const { return factor_size_; }
  std::int64_t work_size() const { return work_size_; }
  double pivot_threshold() const { return options_.pivot_threshold; }
  bool definite() const { return definite_; }  ///< no hard rows, and positive definite when the pivots were chosen
  int version() const { return version_; }

 private:
  Plan() = default;
  void choose(std::span<const double> values);
  void lay_out_order(const Pivoting& pivoting, std::span<const double> scale);
  void lay_out_fronts(std::span<const ProposedFront> proposed, const Pivoting& pivoting);
  void lay_out_entries();

  SymmetricPattern pattern_;
  PlanOptions options_;
  EliminationCost cost_;
  std::vector<int> order_, position_, front_of_;
  std::vector<Front> fronts_;
  std::vector<int> front_rows_, relative_;
  std::vector<std::int64_t> target_;
  std::vector<PivotKind> pivot_;
  std::vector<double> chosen_, scale_;
  std::int64_t factor_size_ = 0, work_size_ = 0;
  bool definite_ = false;
  int version_ = 0;
};

/// Added to K before it is factored: + variable on variables' diagonals, − hard on those of hard rows. Solutions are
/// refined against K itself, so this steadies the pivots without moving the answer.
struct Regularisation {
  double variable = 0, hard = 0;
};

struct FactorReport {
  bool finite = true;                        ///< false: K held an infinity or a NaN
  int positive = 0, negative = 0, zero = 0;  ///< inertia of K. Zero pivots were replaced by small ones
  bool stale = false;                        ///< a pivot fell below 0.05 of its size when chosen: refresh the plan
  int worst_row = -1;                        ///< the row of K whose pivot fell most …
  double worst_ratio = 1;                    ///< … and to what share of its size when chosen
};

struct SolveReport {
  int refinements = 0;
  double backward_error = 0;  ///< maxᵢ |b − K x|ᵢ / (|K| |x| + |b|)ᵢ of the answer, against the unregularised K
};

/// The numeric elimination. The plan must outlive it and stay at its address.
class Elimination {
 public:
  explicit Elimination(const Plan& plan);

  FactorReport factor(std::span<const double> values, Regularisation regularisation = {});
  /// Solves K x = b; x replaces b. Refines at most `refinements` times, and stops when the residual is at round-off.
  SolveReport solve(Eigen::Ref<Eigen::VectorXd> rhs, int refinements = 2);

  const Plan& plan() const { return *plan_; }
  const FactorReport& report() const { return report_; }
  /// Largest entry that ever stood in a pivot column over the largest of K, both scaled. Walks the whole factor.
  double growth() const;

  // The factor, for those who walk it (marginals): L's panels, and D by position (off: coupling of a pair, at its
  // first).
  std::span<const double> panels() const { return factor_; }
  std::span<const double> diagonal() const { return diagonal_; }
  std::span<const double> off() const { return off_; }

 private:
  class Monitor;
  void allocate();
  void assemble(Regularisation regularisation);
  void eliminate(const Front& front);
  void add_child(const Front& front, const Front& child, double* panel, double* update) const;
  void substitute(double* x);
  void forward(const Front& front, double* x);
  void backward(const Front& front, double* x);
  double residual();

  const Plan* plan_;
  int version_ = -1;
  FactorReport report_;
  std::vector<double> values_, factor_, work_, diagonal_, off_;
  std::vector<double> b_, x_, r_, bound_, step_, gather_;
};

}  // namespace kinegraph::linear
