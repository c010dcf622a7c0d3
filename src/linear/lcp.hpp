#pragma once

#include <Eigen/Core>
#include <Eigen/LU>
#include <vector>

namespace kinegraph::linear {

/// The linear complementarity problem
///
///     w = M z + q,    w ≥ 0,  z ≥ 0,  zᵀw = 0
///
/// by the complementary pivots of Lemke's method with the lexicographic ratio test, which cannot cycle (R. W. Cottle,
/// J.-S. Pang, R. E. Stone, The Linear Complementarity Problem, 1992, algorithms 4.4.5 and 4.9.3). M need be neither
/// symmetric nor definite; a solution is found whenever M is copositive-plus and one exists, which covers regularised
/// contacts with friction (002, eq. 2.24).
///
/// The workspace is kept: nothing is allocated after the first problem of a size. So is the set of positive z: the
/// next problem tries it first, which in a simulation is mostly right and costs one small factorisation.
class Lemke {
 public:
  using Matrix = Eigen::Ref<const Eigen::MatrixXd>;
  using Vector = Eigen::Ref<const Eigen::VectorXd>;

  /// False where the pivots end on a ray (for a copositive-plus M: there is no solution), where M or q is not finite,
  /// and where rounding leaves no answer with |min(w, z)| ≤ 1e-10 of the problem's scale. Then z is 0.
  bool solve(const Matrix& m, const Vector& q, Eigen::VectorXd& z);

  /// The next problem starts from nothing.
  void forget() { known_ = false; }
  /// The next problem of this size tries this set first.
  void guess(const std::vector<char>& basis);

  int pivots() const { return pivots_; }                  ///< of the last problem; 0 if the guess was right
  bool ended_on_ray() const { return ray_; }              ///< why the last problem has no answer
  const std::vector<char>& basis() const { return in_; }  ///< 1 where z may be positive and w is 0
  double residual() const { return residual_; }           ///< max |min(w, z)| over the scale

  /// The smallest of max(w, z) over the scale: how far the answer is from changing its basis. Where it is 0 there is
  /// no derivative.
  double distance_to_switch() const { return distance_; }

  /// The derivative of the last answer, for several directions at once. In: columns of dM z + dq; out: columns of dz,
  ///
  ///     M_αα dz_α = −(dM z + dq)_α,    dz = 0 outside the basis α
  ///
  /// Valid as long as the basis stays: away from switches.
  void differentiate(Eigen::Ref<Eigen::MatrixXd> directions) const;
  /// The same for one direction given by dM and dq; z is the last answer.
  void differentiate(const Matrix& dm, const Vector& dq, const Eigen::VectorXd& z, Eigen::VectorXd& dz) const;

 private:
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  void allocate(int n);
  void rescale(const Matrix& m, const Vector& q);
  bool settle(int rounds);
  bool factor();
  void solve_basis(const double* right, double* left) const;
  double judge();
  bool pivot_from_scratch(int attempt);
  void start_tableau(int attempt);
  void pivot(int row, int column);
  int first_row() const;
  int leaving_row(int column);
  void read_basis();

  int n_ = 0;
  bool known_ = false, ray_ = false;
  int pivots_ = 0;
  double residual_ = 0, distance_ = 0;
  std::vector<char> in_;
  std::vector<int> active_;  // the numbers of the basis

  // The problem in balanced units: D M D, D q/s; z = s D z', w = s D⁻¹ w'.
  RowMajor m_;
  Eigen::VectorXd d_, q_, z_, w_;
  double scale_ = 1;

  RowMajor factor_;  // of M_αα, row permutation in swaps_
  std::vector<int> swaps_;
  mutable Eigen::VectorXd right_, left_;

  RowMajor tableau_;  // n × (n + 2): basic = last column + Σ column × nonbasic
  Eigen::VectorXd cover_;
  std::vector<int> basic_, nonbasic_, place_;  // w_i = i, z_i = n + i, z_0 = 2 n; place ≥ 0: row, < 0: ~column
  std::vector<int> ties_;
};

/// With free variables:
///
///     [A C] [u]   [a]   [0]
///     [D B] [z] + [b] = [w],    w ≥ 0,  z ≥ 0,  zᵀw = 0
///
/// A is eliminated (it need not be symmetric), the rest is Lemke's (002, eq. 2.27).
class MixedLcp {
 public:
  using Matrix = Lemke::Matrix;
  using Vector = Lemke::Vector;

  /// False where A is singular or the complementarity problem has no answer.
  bool solve(const Matrix& a, const Matrix& c, const Matrix& d, const Matrix& b, const Vector& free_constant,
             const Vector& constant, Eigen::VectorXd& u, Eigen::VectorXd& z);

  /// The derivative of the last answer along one direction. In: dA u + dC z + da and dD u + dB z + db; out: du and dz.
  /// Valid away from switches of the basis.
  void differentiate(const Vector& free_change, const Vector& change, Eigen::VectorXd& du, Eigen::VectorXd& dz) const;

  Lemke& complementary() { return lemke_; }
  const Lemke& complementary() const { return lemke_; }

 private:
  Eigen::PartialPivLU<Eigen::MatrixXd> factor_;
  Eigen::MatrixXd inverse_c_, d_, schur_;  // A⁻¹ C, D, B − D A⁻¹ C
  Eigen::VectorXd inverse_a_, constant_;   // A⁻¹ a, b − D A⁻¹ a
  mutable Eigen::VectorXd free_;
  Lemke lemke_;
};

}  // namespace kinegraph::linear
