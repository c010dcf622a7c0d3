#pragma once

#include <vector>

#include "kinegraph/filter/natural_saddle_plan.hpp"
#include "kinegraph/mechanics/natural/system.hpp"

namespace kinegraph::filter {

/// The augmented system of a planar mechanism at a pose (000, eq. 5),
///
///     [ M    Φ_qᵀ ] [ d ]   [ f ]
///     [ Φ_q  0    ] [ λ ] = [ c ]
///
/// factorised without a choice of pivots: what it gives depends on the pose alone, bit by bit, and on nothing that came
/// before, as it must where many threads share the work. Two things make that safe:
///
///   - a relative coordinate θ without mass is given by its own row, g θ + Φ_p p = c, whose g never vanishes: both are
///     substituted;
///   - M + Φ_qᵀ W Φ_q in the place of M leaves d alone and changes λ by −W c. It is positive definite wherever the
///     motion is determined, so L D Lᵀ in any fixed order that has every multiplier after its coordinates finds pivots
///     > 0 for coordinates and < 0 for multipliers.
///
/// Redundant rows are left out; their multipliers are zero. Nothing allocates but the first solve() of a width.
class NaturalSaddle {
 public:
  NaturalSaddle(const natural::System& system, int relative_coordinates, const std::vector<int>& redundant);

  double* jacobian() { return phi_.data(); }  ///< to be filled by the system, for factor()
  const double* jacobian() const { return phi_.data(); }
  /// False where a part without mass may move, or what is given is not finite.
  bool factor();
  /// factor(), and solve() for one right-hand side without multipliers.
  bool factor_and_solve(double* x);
  /// X ((n + m) × width, row-major): (f, c) on entry, (d, λ) on return. Without `multipliers` the rows of λ are not
  /// good.
  void solve(double* X, int width, bool multipliers);

  /// A row was passed over by the last factorisation, for it depends on others here: a singular position.
  bool singular() const { return singular_; }
  /// What the inertia of a coordinate may be like: scales what counts as nothing.
  double typical_inertia(int coordinate) const { return inertia_[coordinate]; }
  long operations() const { return static_cast<long>(target_.size()); }
  /// How it is done, for others who do it; good as long as this object stays where it is.
  SaddlePlan plan() const;

 private:
  using Pair = SaddlePlan::Pair;
  using PairEntry = SaddlePlan::PairEntry;
  using Coupling = SaddlePlan::Coupling;
  using Fill = SaddlePlan::Fill;
  using Product = SaddlePlan::Product;
  using Column = SaddlePlan::Column;

  void find_pairs(const natural::System& system, int relative_coordinates, const std::vector<int>& redundant);
  void reduce_rows(const natural::System& system);
  void weigh(const natural::System& system);
  std::vector<int> order(const natural::System& system, std::vector<char>& adjacent) const;
  void compile(const natural::System& system);
  void reduce();
  bool eliminate(double* x);
  void load();
  bool eliminate_sparse(double* x);
  bool eliminate_dense(double* x);
  void substitute_dense(double* x, bool forward) const;
  template <class F>
  bool with_dense(const F& f) const;
  template <int Width>
  void substitute(double* X, int width, bool multipliers);
  template <int Width>
  void substitute_pairs(double* X, int width);
  template <int Width>
  void forward_substitute(double* X, int width) const;
  template <int Width>
  void back_substitute(double* X, int width) const;
  template <int Width>
  void restore_pairs(double* X, int width, bool multipliers);

  int n_, m_;
  std::vector<Pair> pairs_;
  std::vector<PairEntry> pair_entry_;
  std::vector<Coupling> couplings_;
  std::vector<char> substituted_, ordinary_;  // by coordinate, by row
  std::vector<int> left_out_;                 // rows
  std::vector<int> reduced_begin_, reduced_column_, reduced_source_;
  std::vector<Fill> fills_;
  std::vector<double> weight_, inertia_;  // by row, by coordinate

  std::vector<Column> columns_;
  std::vector<int> place_variable_, target_, scatter_;
  std::vector<Product> products_;
  std::vector<double> base_;          // M in its places
  std::vector<double> sign_, least_;  // of the pivots
  bool dense_ = false, singular_ = false;

  std::vector<double> phi_, pair_inverse_, reduced_, lower_, inverse_, shift_;
};

}  // namespace kinegraph::filter
