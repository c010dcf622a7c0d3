#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "kinegraph/graph/graph.hpp"
#include "kinegraph/linear/ordering.hpp"
#include "kinegraph/linear/sparse_rows.hpp"
#include "kinegraph/linear/symmetric.hpp"

namespace kinegraph {

/// A graph's costs and hard rows at a point.
struct Evaluation {
  double cost = 0;      ///< ½ Σ ρ(‖W r‖²) over the cost factors
  int bad_factor = -1;  ///< the first with a residual or a derivative that is not finite …
  int bad_row = -1;     ///< … and its row

  bool finite() const { return bad_factor < 0; }
};

/// The symmetric system of a graph, assembled in place:
///
///     K = [ H  Jᵀ ]     H = Σ ρ' (W E)ᵀ (W E)   Gauss-Newton matrix of the costs, E a factor's Jacobian
///         [ J  0  ]     J: the hard rows
///
/// Where each product of two Jacobian entries goes is found once, when the object is made; pointers of the factors'
/// slots are resolved into the buffer of `values`. After that nothing allocates: evaluate() and linearize() run
/// straight lists. Jacobians that are constant are evaluated once, and where the loss is plain their part of K is
/// summed once. Graph and values must outlive it, and no variable or factor may be added meanwhile.
class Linearization {
 public:
  static Result<Linearization> make(const Graph& graph, Values& values);

  /// Residuals at the present values; `hard` takes the hard rows.
  Evaluation evaluate(Eigen::VectorXd& hard);
  /// The same, and K and the gradient of the cost.
  Evaluation linearize(Eigen::VectorXd& hard);

  const Graph& graph() const { return *graph_; }
  Values& values() const { return *values_; }
  const Structure& structure() const { return structure_; }
  int unknowns() const { return structure_.unknowns; }
  int hard_rows() const { return structure_.hard_rows; }

  const linear::SymmetricPattern& pattern() const { return pattern_; }
  std::span<const int> diagonal() const { return diagonal_; }  ///< per row of K: where its diagonal entry stands
  std::span<const double> matrix() const { return matrix_; }   ///< K by pattern
  const Eigen::VectorXd& gradient() const { return gradient_; }
  double factor_cost(int factor) const { return factor_cost_[factor]; }  ///< of the last evaluation
  /// J's entries, in no special order: row, column, and where they stand in matrix().
  struct HardEntry {
    int row, column, place;
  };
  std::span<const HardEntry> hard_entries() const { return hard_entries_; }
  /// The equations of one role as rows of A δ = −residual, at the last linearisation: costs are whitened and weighted
  /// by √ρ', so that H = AᵀA. Columns as in K.
  struct Rows {
    linear::SparseRows matrix;
    std::vector<double> residual;
  };
  Rows rows(Role role) const;
  /// For COLAMD: per equation the rows of K that it touches.
  linear::RowStructure row_structure() const;

  std::string hard_row_name(int row) const;
  std::string column_name(int column) const;            ///< "q3", or "q3[1]" where the variable has several
  std::string describe_fault(const Evaluation&) const;  ///< "distance P1-P2 (q3): the residual is not finite"

 private:
  // W E has `entries` (row after row), each the sum of some values of E times entries of W: `moves`. Products of two
  // entries of a row go to matrix_[pairs[…]], in the order of a loop over entries a and b ≤ a.
  struct Term {
    const BoundFactor* bound;
    int factor, rows;
    int first_row;  // among the hard rows, or in residual_
    int slots, raw, raw_size;
    int entries, entries_end, moves, moves_end, pairs;
    bool hard, constant, summed;  // summed: its part of K is in constant_
  };
  struct Move {
    int entry, raw;
    double weight;
  };
  struct WhiteEntry {
    int row, column;
  };

  Linearization() = default;
  void add_term(int factor, std::vector<Entry>& places);
  void add_entries(Term& term);
  bool evaluate_term(const Term& term, bool jacobian, double* residual, Evaluation& result);
  bool add_cost(const Term& term, double squares, Evaluation& result);
  void whiten_jacobian(const Term& term);
  void add_products(const Term& term, double weight, std::vector<double>& matrix) const;
  void prepare_constants();

  const Graph* graph_ = nullptr;
  Values* values_ = nullptr;
  Structure structure_;
  linear::SymmetricPattern pattern_;
  std::vector<int> diagonal_;
  std::vector<Term> terms_;
  std::vector<const double*> slots_;
  std::vector<double> residual_, raw_, white_, weight_;  // weight_: √ρ' per term
  std::vector<WhiteEntry> entries_;
  std::vector<Move> moves_;
  std::vector<int> pairs_;
  std::vector<HardEntry> hard_entries_;
  std::vector<double> matrix_, constant_, factor_cost_;
  Eigen::VectorXd gradient_, hard_;
  bool constants_ready_ = false;
};

}  // namespace kinegraph
