#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace kinegraph::linear {

/// The unknown whose pivot kept the smallest share of its diagonal when all before it had been eliminated.
struct ArrowheadPivot {
  int knot = -1, unknown = -1;
  double share = 1;  ///< 1: independent of all before it; 0: no row tells it apart from them
};

/// Least squares over a time axis with common parameters: knots δ₀ … δ_K of n unknowns each and a border χ of p,
///
///     min ½ Σ ‖r + J₀ δₖ + J₁ δₖ₊₁ + J₂ δₖ₊₂ + J_χ χ‖²
///
/// by normal equations, H = JᵀJ a block band of three knots with a border, g = Jᵀr. Knots are eliminated forward in
/// time (Cholesky, H + α D = Uᵀ U with D = diag H), the border last:
///
///     S = C + α diag C − Bᵀ (H + α D)⁻¹ B        S χ = −s        s = g_χ − Bᵀ (H + α D)⁻¹ g
///
/// The caller solves that for χ, with bounds if there are any, and substitute() gives the δₖ that belong to it.
///
/// Use:  a.reset(n, knots, p); then per iteration: a.clear(); a.add_rows(…)…; a.eliminate(α); χ from schur() and
///       reduced_gradient(); a.substitute(χ); a.step(k)… . eliminate() may be repeated with another α.
///
/// Time and memory are linear in the knots. After reset() nothing allocates (but for the first border response and
/// covariances). One thread; the bits depend on the order of the calls and the processor's kernels only.
class Arrowhead {
 public:
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using KnotVector = Eigen::Map<const Eigen::VectorXd>;
  using KnotMatrix = Eigen::Map<const RowMajor, 0, Eigen::OuterStride<>>;

  /// `knots` (K + 1) knots without rows. Memory is kept.
  void reset(int unknowns, int knots, int parameters);
  void clear();  ///< forgets all rows

  int unknowns() const { return n_; }
  int knots() const { return knots_; }
  int parameters() const { return p_; }

  // ---- rows
  /// `rows` rows on the knots k … k + width − 1 (< knots()), width 1, 2 or 3: `states` rows × (width · n), `border`
  /// rows × p (nullptr: zeros), both row by row, and the residuals. Whitened. Groups of columns that are zero in all
  /// these rows cost nothing.
  void add_rows(int k, const double* states, const double* border, const double* residual, int rows, int width = 3);
  /// Adds ½ χᵀ H χ + gᵀ χ + ½ cost, as priors of the parameters are.
  void add_border(const Eigen::MatrixXd& H, const Eigen::VectorXd& g, double cost = 0);
  double cost() const;                         ///< Σ r²
  Eigen::MatrixXd border_information() const;  ///< C
  Eigen::VectorXd border_gradient() const;     ///< g_χ
  Eigen::VectorXd gradient(int k) const;       ///< of knot k: Jᵀr

  // ---- the solution
  /// With α = damping ≥ 0. False if a pivot is not positive, or a number is not finite: see worst_pivot().
  bool eliminate(double damping = 0);
  /// After eliminate(): the smallest pivot; after it failed: the one that failed.
  const ArrowheadPivot& worst_pivot() const { return pivot_; }
  const Eigen::MatrixXd& schur() const { return schur_; }                        ///< S
  const Eigen::VectorXd& reduced_gradient() const { return reduced_gradient_; }  ///< s
  /// The steps of all knots for a step of the border. Of p = 0: an empty vector.
  void substitute(const Eigen::VectorXd& border_step);
  KnotVector step(int k) const { return {step_.data() + static_cast<std::size_t>(k) * wide_, n_}; }
  /// By how much cost() would fall if the rows were linear, for the last steps (without the damping's share).
  double predicted_fall() const { return predicted_fall_; }
  /// After a failed eliminate(): a change of the knots up to worst_pivot().knot that no row sees (given χ), 1 at the
  /// failed unknown, is put in step(k).
  void find_undetermined_direction();

  // ---- for covariances; α of the last eliminate(), which should be 0
  /// Computes X = (H + α D)⁻¹ B of all knots, so that δₖ = −Xₖ χ + …
  void find_border_response();
  KnotMatrix border_response(int k) const;  ///< Xₖ, n × p
  /// score += (J_χ − Σ Jᵢ Xₖ₊ᵢ)ᵀ r: what these rows say of the parameters, states eliminated. Arguments of add_rows().
  void add_score(int k, const double* states, const double* border, const double* residual, int rows, int width,
                 Eigen::VectorXd& score) const;
  /// S += Eᵀ E with E = J_χ − Σ Jᵢ Xₖ₊ᵢ: over all rows that is S again, undamped, but as a sum of squares. schur() is a
  /// difference, and where rows between knots are ρ times stiffer than readings it loses 2 log₁₀ ρ digits; here an
  /// error of X counts only squared. For covariances.
  void add_information(int k, const double* states, const double* border, int rows, int width,
                       Eigen::MatrixXd& S) const;
  /// Calls visit(k, Pₖ) from the last knot down to `first` with the covariance of δₖ,
  /// Pₖ = (H⁻¹)ₖₖ + Xₖ P_χ Xₖᵀ, for P_χ of the border (p × p; empty: parameters known exactly).
  using Visit = std::function<void(int k, const Eigen::MatrixXd& P)>;
  void covariances(const Eigen::MatrixXd& border_covariance, const Visit& visit, int first = 0);
  /// X ← (H + α D)⁻¹ X for right-hand sides of all knots, one column each: n rows per knot.
  void solve(Eigen::Ref<RowMajor> X) const;

 private:
  double* slab(std::vector<double>& data, int k) const { return data.data() + static_cast<std::size_t>(k) * slab_; }
  const double* slab(const std::vector<double>& data, int k) const {
    return data.data() + static_cast<std::size_t>(k) * slab_;
  }
  void open(int k);
  void pack(const double* states, const double* border, const double* residual, int rows, int width);
  void find_runs(int rows, int width);
  void add_packed(int k, int rows, int width);
  void find_diagonal();
  bool eliminate_knot(int k);
  void finish_border();
  void substitute_knot(int k, bool border);

  int n_ = 0, knots_ = 0, p_ = 0;
  int wide_ = 0;         // n, up to a multiple of 4
  int border_wide_ = 0;  // p + 1, up to a multiple of 4: parameters and the right-hand side
  int stride_ = 0;       // of a slab's row: knots k, k + 1, k + 2, border
  std::size_t slab_ = 0;
  double damping_ = 0, predicted_fall_ = 0;
  bool diagonal_known_ = false, response_known_ = false;
  std::vector<double> information_, factor_;  // a slab per knot: H, and U
  std::vector<char> empty_;                   // a slab that holds nothing is not even zeroed
  std::vector<double> border_;                // [C g; gᵀ Σr²], upper triangle of border_wide_ × border_wide_
  std::vector<double> reduced_;               // the same, knots eliminated
  std::vector<double> diagonal_, scale_;      // D per knot and unknown; of one knot H + α D
  std::vector<double> rows_, x_, y_, step_, response_;
  struct Run {
    int begin, end;  // columns
  };
  std::vector<Run> runs_;  // columns of rows_ that are not zero
  ArrowheadPivot pivot_;
  Eigen::MatrixXd schur_;
  Eigen::VectorXd reduced_gradient_;
};

}  // namespace kinegraph::linear
