#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

namespace kinegraph::linear {

/// What one solution of a TimeChain found.
struct TimeChainReport {
  bool finite = true;    ///< false: something that went in was infinite or NaN
  double rest = 0;       ///< Σ squares of what no choice of the unknowns can remove: twice the cost at the minimum
  double step = 0;       ///< Σ squares of what the unknowns removed: twice the fall of the cost from δ = 0, exactly
  int undetermined = 0;  ///< directions that no row sees
  int knot = -1;         ///< of the first of them; see TimeChain::undetermined_direction()
};

/// Least squares on a chain of small dense blocks, in square-root form: knots δ₀ … δ_K of n unknowns each,
///
///     a prior on the first, rows of single knots  h δₖ = e,  and n rows per link  E δₖ + F δₖ₊₁ = e
///
/// all whitened. Elimination goes forward in time by plane rotations:
///
///     [ R̂ₖ  0 | d̂ ]      [ Rₖ  Sₖ   | dₖ   ]
///     [ E   F | e ]  →   [ 0   Âₖ₊₁ | âₖ₊₁ ]      Âₖ₊₁: what the past says of knot k+1 ("arrival")
///
/// Nothing is squared. Rotations (not reflections): a row keeps its own scale, so that links a million times stiffer
/// than the readings leave what the readings said intact. An elimination is kept as far as nothing changed before it:
/// with new knots at the end only the end is worked on.
///
/// Nothing allocates as long as the capacity suffices.
class TimeChain {
 public:
  /// `knots` knots without any rows.
  void reset(int unknowns, int knots, int capacity = 0);

  int unknowns() const { return n_; }
  int knots() const { return static_cast<int>(order_.size()); }
  int capacity() const { return capacity_; }

  // ---- rows
  // After touch(0), clear(), add_in_place() and link() may be called for different knots at the same time.
  void touch(int k) { stale(k); }  ///< the rows of knot k, or from it on, will change
  void clear_prior();
  void add_prior(const double* row, double rhs);  ///< row: n numbers, on knot 0
  void clear(int k);                              ///< forgets the rows of knot k alone
  void add(int k, const double* row, double rhs);
  void add_in_place(int k, double* row);  ///< row: n numbers and the right-hand side; overwritten
  /// The rows from knot k to k+1, n times [E F | e] (2n + 1 numbers each): to be written in full.
  double* link(int k);

  // ---- the chain
  void push_back();
  void insert(int k);        ///< a knot without rows before knot k; the links k−1 and k are then to be written
  void pop_back();           ///< forgets the newest knot and all that ties to it
  void marginalise_first();  ///< what knot 0 says of knot 1 becomes the prior of knot 1, which is then knot 0

  // ---- the solution
  /// With `damping` λ > 0, rows √λ ‖column‖ δ = 0 for every unknown.
  const TimeChainReport& solve(double damping = 0);
  void eliminate(double damping = 0);  ///< the forward half only
  const TimeChainReport& report() const { return report_; }
  const double* solution(int k) const { return slab(k) + solution_at_; }
  void forget_solution(int k) { std::fill_n(slab(k) + solution_at_, n_, 0.0); }  ///< δₖ = 0, until the next solve()
  /// A change of knot report().knot that no row sees, 1 in its largest number.
  const Eigen::VectorXd& undetermined_direction() const { return direction_; }

  /// Σ log |Rᵢᵢ| = ½ log det of the information matrix.
  double log_determinant() const;
  /// Of the newest knot, after eliminate(). False if it is not determined.
  bool last_covariance(Eigen::MatrixXd& P);
  /// Calls visit(k, Pₖ, C) from the newest knot down to `first`, with C = cov(δₖ, δₖ₊₁) (empty for the newest).
  using Visit = std::function<void(int k, const Eigen::MatrixXd& P, const Eigen::MatrixXd& C)>;
  bool covariances(const Visit& visit, int first = 0);

 private:
  double* slab(int k) { return data_.data() + static_cast<std::size_t>(order_[k]) * slab_size_; }
  const double* slab(int k) const { return const_cast<TimeChain*>(this)->slab(k); }
  void stale(int k) {
    if (k < clean_) clean_ = k;
  }
  void eliminate_knot(int k, double damping);
  void column_norms(int k);
  void note_undetermined(int k);
  void substitute();
  void find_direction();
  bool invert(int k);  // inverse_ = Rₖ⁻¹

  int n_ = 0, capacity_ = 0, clean_ = 0;
  double damping_ = 0;
  std::size_t slab_size_ = 0;
  // Places in a slab. Triangles are packed by rows with their right-hand sides: row i has n − i + 1 numbers; those of
  // the solved part n − i of R, n of S, and d.
  std::size_t own_at_ = 0, arrival_at_ = 0, link_at_ = 0, solved_at_ = 0, solution_at_ = 0, rest_at_ = 0;
  std::vector<int> order_, free_;  // knot → slab
  std::vector<double> data_, work_, norm_;
  TimeChainReport report_;
  Eigen::VectorXd direction_;
  Eigen::MatrixXd inverse_, gain_, P_, next_, cross_;
};

}  // namespace kinegraph::linear
