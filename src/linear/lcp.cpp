#include "kinegraph/linear/lcp.hpp"

#include <algorithm>
#include <cmath>

namespace kinegraph::linear {
namespace {

// All in balanced units, where the entries of M, q and the tableau are of order one.
constexpr double kAnswer = 1e-10;  // |min(w, z)| of an answer
constexpr double kLarge = 1e4;     // and what it is measured by: the largest z, within 1 and this
constexpr double kPivot = 1e-11;   // what is too small to pivot on, and its share of the column that is
constexpr double kPivotShare = 1e-14;
constexpr double kTie = 1e-12;  // ratios this close are equal
constexpr double kSingular = 1e-13;
constexpr int kGuesses = 4;  // bases tried before pivoting: the last one and corrections of it

}  // namespace

void Lemke::allocate(int n) {
  if (n_ == n && m_.rows() == n) return;
  n_ = n, known_ = false;
  in_.assign(n, 0);
  active_.reserve(n);
  m_.resize(n, n), factor_.resize(n, n), tableau_.resize(n, n + 2);
  for (Eigen::VectorXd* v : {&d_, &q_, &z_, &w_, &right_, &left_, &cover_}) v->resize(n);
  swaps_.resize(n), basic_.resize(n), nonbasic_.resize(n + 1), place_.resize(2 * n + 1);
  ties_.reserve(n);
}

// D M D with the largest entry of every row and column near 1 (a few sweeps of Ruiz's scaling, one D for rows and
// columns so that complementary pairs stay together). Powers of two: no rounding.
void Lemke::rescale(const Matrix& m, const Vector& q) {
  d_.setOnes();
  for (int sweep = 0; sweep < 3; ++sweep) {
    for (int i = 0; i < n_; ++i) {
      double largest = 0;
      for (int j = 0; j < n_; ++j) largest = std::max(largest, std::max(std::abs(m(i, j)), std::abs(m(j, i))) * d_[j]);
      right_[i] = largest > 0 ? std::sqrt(d_[i] / largest) : d_[i];
    }
    d_ = right_;
  }
  for (int i = 0; i < n_; ++i) d_[i] = std::exp2(std::round(std::log2(d_[i])));
  for (int j = 0; j < n_; ++j) {
    for (int i = 0; i < n_; ++i) m_(i, j) = d_[i] * m(i, j) * d_[j];
  }
  scale_ = 0;
  for (int i = 0; i < n_; ++i) scale_ = std::max(scale_, std::abs(d_[i] * q[i]));
  scale_ = scale_ > 0 ? std::exp2(std::round(std::log2(scale_))) : 1;
  for (int i = 0; i < n_; ++i) q_[i] = d_[i] * q[i] / scale_;
}

void Lemke::guess(const std::vector<char>& basis) {
  allocate(static_cast<int>(basis.size()));
  in_ = basis;
  known_ = true;
}

bool Lemke::solve(const Matrix& m, const Vector& q, Eigen::VectorXd& z) {
  allocate(static_cast<int>(q.size()));
  z.setZero(n_);
  pivots_ = 0, ray_ = false;
  if (!m.allFinite() || !q.allFinite()) return known_ = false;
  if (n_ == 0) return true;
  rescale(m, q);

  bool found = known_ && settle(kGuesses);
  if (!found) std::fill(in_.begin(), in_.end(), 0);
  if (!found && q_.minCoeff() >= -10 * kTie) found = settle(1);  // nothing pushes, but for rounding
  // A second covering vector: where rounding spoilt the first path, or the first one's ray proves nothing.
  for (int attempt = 0; attempt < 2 && !found; ++attempt) found = pivot_from_scratch(attempt) && settle(kGuesses);
  known_ = found;
  if (!found) return false;
  for (int i = 0; i < n_; ++i) z[i] = std::max(0.0, z_[i]) * d_[i] * scale_;
  return true;
}

// The answer of the basis at hand. Where signs are wrong the basis is corrected at those places and tried again (a
// Newton step on min(w, z) = 0), which near the answer is enough.
bool Lemke::settle(int rounds) {
  for (int round = 0; round < rounds; ++round) {
    if (!factor()) return false;
    for (std::size_t a = 0; a < active_.size(); ++a) right_[a] = -q_[active_[a]];
    z_.setZero();
    solve_basis(right_.data(), left_.data());
    for (std::size_t a = 0; a < active_.size(); ++a) z_[active_[a]] = left_[a];
    w_.noalias() = m_ * z_;
    w_ += q_;
    // One step of iterative refinement: w in the basis is what is left over.
    for (std::size_t a = 0; a < active_.size(); ++a) right_[a] = -w_[active_[a]];
    solve_basis(right_.data(), left_.data());
    for (std::size_t a = 0; a < active_.size(); ++a) z_[active_[a]] += left_[a];
    w_.noalias() = m_ * z_;
    w_ += q_;
    const double size = judge();
    if (residual_ <= kAnswer) return true;
    for (int i = 0; i < n_; ++i) {
      if (in_[i] ? z_[i] < -kAnswer * size : w_[i] < -kAnswer * size) in_[i] = !in_[i];
    }
  }
  return false;
}

// Sets the residual and the distance to a switch; returns what they are measured by.
double Lemke::judge() {
  const double size = std::clamp(z_.lpNorm<Eigen::Infinity>(), 1.0, kLarge);
  double worst = 0, distance = INFINITY;
  for (int i = 0; i < n_; ++i) {
    const double low = std::min(z_[i], w_[i]);
    worst = low == low ? std::max(worst, std::abs(low)) : INFINITY;
    distance = std::min(distance, std::max(z_[i], w_[i]));
  }
  residual_ = worst / size;
  distance_ = std::max(0.0, distance / size);
  return size;
}

// M_αα = P L U, partial pivoting, in place.
bool Lemke::factor() {
  active_.clear();
  for (int i = 0; i < n_; ++i) {
    if (in_[i]) active_.push_back(i);
  }
  const int n = static_cast<int>(active_.size());
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) factor_(i, j) = m_(active_[i], active_[j]);
  }
  for (int k = 0; k < n; ++k) {
    int best = k;
    for (int i = k + 1; i < n; ++i) {
      if (std::abs(factor_(i, k)) > std::abs(factor_(best, k))) best = i;
    }
    swaps_[k] = best;
    if (!(std::abs(factor_(best, k)) > kSingular)) return false;
    if (best != k) factor_.row(k).head(n).swap(factor_.row(best).head(n));
    for (int i = k + 1; i < n; ++i) {
      const double f = factor_(i, k) /= factor_(k, k);
      if (f == 0) continue;
      for (int j = k + 1; j < n; ++j) factor_(i, j) -= f * factor_(k, j);
    }
  }
  return true;
}

void Lemke::solve_basis(const double* right, double* left) const {
  const int n = static_cast<int>(active_.size());
  std::copy(right, right + n, left);
  for (int k = 0; k < n; ++k) std::swap(left[k], left[swaps_[k]]);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < i; ++j) left[i] -= factor_(i, j) * left[j];
  }
  for (int i = n - 1; i >= 0; --i) {
    for (int j = i + 1; j < n; ++j) left[i] -= factor_(i, j) * left[j];
    left[i] /= factor_(i, i);
  }
}

// w = q + M z + c z₀: the covering vector c > 0 makes z₀ large enough a feasible start.
void Lemke::start_tableau(int attempt) {
  for (int i = 0; i < n_; ++i) {
    cover_[i] = attempt == 0 ? 1.0 : 1 + 0.75 * std::sin(1.0 + i);
    basic_[i] = i, place_[i] = i;
    nonbasic_[i] = n_ + i, place_[n_ + i] = ~i;
  }
  nonbasic_[n_] = 2 * n_, place_[2 * n_] = ~n_;
  tableau_.leftCols(n_) = m_;
  tableau_.col(n_) = cover_;
  tableau_.col(n_ + 1) = q_;
}

// From w ≥ 0 to a basis without z₀, always entering the complement of what has left. False on a ray.
bool Lemke::pivot_from_scratch(int attempt) {
  start_tableau(attempt);
  ray_ = false;
  const int most = 1000 + 50 * n_;
  int row = first_row(), column = n_;
  for (int step = 0; step < most; ++step) {
    const int left = basic_[row];
    pivot(row, column);
    ++pivots_;
    if (left == 2 * n_) {
      read_basis();
      return true;
    }
    column = ~place_[left < n_ ? left + n_ : left - n_];
    row = leaving_row(column);
    if (row < 0) {
      ray_ = true;
      return false;
    }
  }
  return false;
}

// The row that z₀ leaves lexicographically positive: the smallest q/c; of equal ones the last, as rows of the identity
// decrease.
int Lemke::first_row() const {
  int best = 0;
  const double least = q_.cwiseQuotient(cover_).minCoeff();
  for (int i = 0; i < n_; ++i) {
    if (q_[i] / cover_[i] <= least + kTie) best = i;
  }
  return best;
}

// The lexicographic ratio test: the row (q̄_i, B⁻¹_i)/(−column_i) that is smallest, first number first. Rows of B⁻¹ are
// the columns of the nonbasic w, and unit vectors for the basic ones.
int Lemke::leaving_row(int column) {
  double largest = 1;
  for (int i = 0; i < n_; ++i) largest = std::max(largest, std::abs(tableau_(i, column)));
  const double tiny = std::max(kPivot, kPivotShare * largest);
  double least = INFINITY;
  for (int i = 0; i < n_; ++i) {
    if (const double a = -tableau_(i, column); a > tiny) {
      least = std::min(least, std::max(0.0, tableau_(i, n_ + 1)) / a);
    }
  }
  if (least == INFINITY) return -1;

  // Tied are rows that the step of the first one brings to zero as well: told by the row, not by the ratio, because
  // columns can be large.
  ties_.clear();
  for (int i = 0; i < n_; ++i) {
    const double a = -tableau_(i, column), value = std::max(0.0, tableau_(i, n_ + 1));
    if (a > tiny && value - least * a <= kTie * std::max(1.0, value)) {
      if (basic_[i] == 2 * n_) return i;  // z₀ may leave: that is the end
      ties_.push_back(i);
    }
  }
  for (int k = 0; k < n_ && ties_.size() > 1; ++k) {
    const auto entry = [&](int i) { return place_[k] < 0 ? -tableau_(i, ~place_[k]) : (place_[k] == i ? 1.0 : 0.0); };
    double low = INFINITY;
    for (const int i : ties_) low = std::min(low, entry(i) / -tableau_(i, column));
    std::erase_if(
        ties_, [&](int i) { return entry(i) + low * tableau_(i, column) > kTie * std::max(1.0, std::abs(entry(i))); });
  }
  return ties_.front();
}

// Solves the row for the entering variable and puts it into the other rows.
void Lemke::pivot(int row, int column) {
  const double inverse = 1 / tableau_(row, column);
  tableau_.row(row) *= -inverse;
  tableau_(row, column) = inverse;
  for (int i = 0; i < n_; ++i) {
    const double f = tableau_(i, column);
    if (i == row || f == 0) continue;
    tableau_(i, column) = 0;
    tableau_.row(i) += f * tableau_.row(row);
  }
  std::swap(basic_[row], nonbasic_[column]);
  place_[basic_[row]] = row;
  place_[nonbasic_[column]] = ~column;
}

void Lemke::read_basis() {
  std::fill(in_.begin(), in_.end(), 0);
  for (const int variable : basic_) {
    if (variable >= n_) in_[variable - n_] = 1;
  }
}

void Lemke::differentiate(Eigen::Ref<Eigen::MatrixXd> directions) const {
  for (Eigen::Index k = 0; k < directions.cols(); ++k) {
    auto v = directions.col(k);
    for (std::size_t a = 0; a < active_.size(); ++a) right_[a] = -d_[active_[a]] * v[active_[a]];
    solve_basis(right_.data(), left_.data());
    v.setZero();
    for (std::size_t a = 0; a < active_.size(); ++a) v[active_[a]] = d_[active_[a]] * left_[a];
  }
}

void Lemke::differentiate(const Matrix& dm, const Vector& dq, const Eigen::VectorXd& z, Eigen::VectorXd& dz) const {
  dz = dq;
  dz.noalias() += dm * z;
  differentiate(Eigen::Ref<Eigen::MatrixXd>(dz));
}

bool MixedLcp::solve(const Matrix& a, const Matrix& c, const Matrix& d, const Matrix& b, const Vector& free_constant,
                     const Vector& constant, Eigen::VectorXd& u, Eigen::VectorXd& z) {
  u.setZero(free_constant.size());
  z.setZero(constant.size());
  if (!a.allFinite()) return false;
  if (a.rows() > 0) {
    factor_.compute(a);
    const auto pivots = factor_.matrixLU().diagonal().cwiseAbs();
    if (!(pivots.minCoeff() > kSingular * pivots.maxCoeff())) return false;
  }
  d_ = d;
  schur_ = b;
  constant_ = constant;
  if (a.rows() > 0) {
    inverse_c_ = factor_.solve(c);
    inverse_a_ = factor_.solve(free_constant);
    schur_.noalias() -= d * inverse_c_;
    constant_.noalias() -= d * inverse_a_;
  } else {
    inverse_c_.resize(0, z.size());
    inverse_a_.resize(0);
  }
  if (!lemke_.solve(schur_, constant_, z)) return false;
  u = -inverse_a_;
  u.noalias() -= inverse_c_ * z;
  return true;
}

void MixedLcp::differentiate(const Vector& free_change, const Vector& change, Eigen::VectorXd& du,
                             Eigen::VectorXd& dz) const {
  dz = change;
  if (free_change.size() > 0) {
    free_ = factor_.solve(free_change);
    dz.noalias() -= d_ * free_;
  } else {
    free_.resize(0);
  }
  lemke_.differentiate(Eigen::Ref<Eigen::MatrixXd>(dz));
  du = -free_;
  du.noalias() -= inverse_c_ * dz;
}

}  // namespace kinegraph::linear
