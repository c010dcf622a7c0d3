#include "kinegraph/linear/time_chain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kinegraph::linear {
namespace {

// Turns two rows so that row[0] is 0; `count` numbers each, the first included.
inline void rotate(double* top, double* row, int count) {
  const double a = top[0], b = row[0];
  const double length = std::sqrt(a * a + b * b);
  row[0] = 0;
  if (length == 0) return;  // both are below 1e-160
  const double c = a / length, s = b / length;
  top[0] = length;
  for (int i = 1; i < count; ++i) {
    const double u = top[i], v = row[i];
    top[i] = c * u + s * v;
    row[i] = c * v - s * u;
  }
}

// A row of n numbers from column `first` on, and its right-hand side, goes into a packed triangle. Returns the square
// of what is left.
double fold(int n, double* triangle, double* row, int first = 0) {
  for (int j = 0; j < n; triangle += n - j + 1, ++j) {
    if (j >= first && row[j] != 0) rotate(triangle, row + j, n - j + 1);
  }
  return row[n] * row[n];
}

constexpr double kUnitRoundOff = 4 * std::numeric_limits<double>::epsilon();

}  // namespace

void TimeChain::reset(int unknowns, int knots, int capacity) {
  const std::size_t n = unknowns, triangle = n * (n + 1) / 2 + n;
  n_ = unknowns;
  capacity_ = std::max({knots, capacity, 1});
  own_at_ = 0;
  arrival_at_ = own_at_ + triangle;
  link_at_ = arrival_at_ + triangle;
  solved_at_ = link_at_ + n * (2 * n + 1);
  solution_at_ = solved_at_ + triangle + n * n;
  rest_at_ = solution_at_ + n;  // of the rows of the knot alone, and of its elimination
  slab_size_ = rest_at_ + 2;
  data_.assign(slab_size_ * capacity_, 0.0);
  work_.resize(n * (2 * n + 1) + triangle);
  norm_.resize(n);
  order_.resize(knots);
  order_.reserve(capacity_);
  free_.clear();
  free_.reserve(capacity_);
  for (int k = 0; k < knots; ++k) order_[k] = k;
  for (int k = capacity_ - 1; k >= knots; --k) free_.push_back(k);
  clean_ = 0;
  report_ = {};
  direction_.setZero(n_);
  for (auto* m : {&inverse_, &gain_, &P_, &next_, &cross_}) m->setZero(n_, n_);
}

void TimeChain::clear_prior() {
  std::fill_n(slab(0) + arrival_at_, link_at_ - arrival_at_, 0.0);
  stale(0);
}

void TimeChain::add_prior(const double* row, double rhs) {
  std::copy_n(row, n_, work_.data());
  work_[n_] = rhs;
  fold(n_, slab(0) + arrival_at_, work_.data());
  stale(0);
}

void TimeChain::clear(int k) {
  double* s = slab(k);
  std::fill_n(s + own_at_, arrival_at_ - own_at_, 0.0);
  s[rest_at_] = 0;
  stale(k);
}

void TimeChain::add(int k, const double* row, double rhs) {
  std::copy_n(row, n_, work_.data());
  work_[n_] = rhs;
  add_in_place(k, work_.data());
}

void TimeChain::add_in_place(int k, double* row) {
  double* s = slab(k);
  s[rest_at_] += fold(n_, s + own_at_, row);
  stale(k);
}

double* TimeChain::link(int k) {
  stale(k);
  return slab(k) + link_at_;
}

void TimeChain::push_back() { insert(knots()); }

void TimeChain::insert(int k) {
  if (free_.empty()) {  // beyond the capacity: grows
    data_.resize(slab_size_ * ++capacity_);
    free_.push_back(capacity_ - 1);
  }
  order_.insert(order_.begin() + k, free_.back());
  free_.pop_back();
  std::fill_n(slab(k), slab_size_, 0.0);
  stale(std::max(k - 1, 0));
}

void TimeChain::pop_back() {
  free_.push_back(order_.back());
  order_.pop_back();
  stale(std::max(knots() - 1, 0));
}

void TimeChain::marginalise_first() {
  if (clean_ < 1 || damping_ != 0) eliminate_knot(0, 0);
  free_.push_back(order_.front());
  order_.erase(order_.begin());
  clean_ = std::max(clean_ - 1, 0);
}

// The length of every column of the rows that touch knot k, as they came in: what a pivot is measured by.
void TimeChain::column_norms(int k) {
  const int n = n_, width = 2 * n + 1;
  std::fill(norm_.begin(), norm_.end(), 0.0);
  const double* s = slab(k);
  const auto triangle = [&](const double* row) {
    for (int i = 0; i < n; row += n - i + 1, ++i) {
      for (int j = i; j < n; ++j) norm_[j] += row[j - i] * row[j - i];
    }
  };
  const auto square = [&](const double* rows) {
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) norm_[j] += rows[i * width + j] * rows[i * width + j];
    }
  };
  triangle(s + own_at_);
  if (k == 0) triangle(s + arrival_at_);
  if (k > 0) square(slab(k - 1) + link_at_ + n);
  if (k + 1 < knots()) square(s + link_at_);
  for (double& x : norm_) x = std::sqrt(x);
}

void TimeChain::eliminate_knot(int k, double damping) {
  const int n = n_, width = 2 * n + 1;
  double *s = slab(k), *dense = work_.data(), *triangle = work_.data() + n * width;
  std::copy_n(s + arrival_at_, link_at_ - arrival_at_, triangle);
  double rest = 0;
  const double* own = s + own_at_;
  for (int i = 0; i < n; own += n - i + 1, ++i) {
    std::copy_n(own, n - i + 1, dense + i);
    rest += fold(n, triangle, dense, i);
  }
  column_norms(k);
  if (damping > 0) {
    for (int i = 0; i < n; ++i) {
      std::fill_n(dense, n + 1, 0.0);
      dense[i] = std::sqrt(damping) * norm_[i];
      rest += fold(n, triangle, dense, i);
    }
  }
  double* top = s + solved_at_;
  for (int i = 0; i < n; ++i) {
    std::copy_n(triangle, n - i, top);
    std::fill_n(top + n - i, n, 0.0);
    top[2 * n - i] = triangle[n - i];
    triangle += n - i + 1;
    top += 2 * n - i + 1;
  }
  if (k + 1 < knots()) {
    double* arrival = slab(k + 1) + arrival_at_;
    std::fill_n(arrival, link_at_ - arrival_at_, 0.0);
    std::copy_n(s + link_at_, n * width, dense);
    for (int r = 0; r < n; ++r) {
      double* row = dense + r * width;
      top = s + solved_at_;
      for (int i = 0; i < n; top += 2 * n - i + 1, ++i) {
        if (row[i] != 0) rotate(top, row + i, 2 * n - i + 1);
      }
      rest += fold(n, arrival, row + n);
    }
  }
  s[rest_at_ + 1] = rest;
  note_undetermined(k);
}

// A pivot that is rounding beside its column says nothing: its row is dropped. Rounding grows with the root of the
// length of the chain.
void TimeChain::note_undetermined(int k) {
  const double tolerance = kUnitRoundOff * (8 + std::sqrt(static_cast<double>(knots())));
  double* row = slab(k) + solved_at_;
  for (int i = 0; i < n_; row += 2 * n_ - i + 1, ++i) {
    if (std::abs(row[0]) <= tolerance * norm_[i]) row[0] = 0;
  }
}

void TimeChain::eliminate(double damping) {
  if (damping != damping_) stale(0);
  damping_ = damping;
  for (int k = clean_; k < knots(); ++k) eliminate_knot(k, damping);
  clean_ = knots();
}

const TimeChainReport& TimeChain::solve(double damping) {
  eliminate(damping);
  substitute();
  return report_;
}

// δₖ = Rₖ⁻¹ (dₖ − Sₖ δₖ₊₁), from the newest knot back. Undetermined numbers stay where they are.
void TimeChain::substitute() {
  const int n = n_;
  report_ = {};
  double check = 0;
  for (int k = knots() - 1; k >= 0; --k) {
    double *s = slab(k), *x = s + solution_at_;
    const double *next = k + 1 < knots() ? slab(k + 1) + solution_at_ : nullptr, *row = x;
    for (int i = n - 1; i >= 0; --i) {
      row -= 2 * n - i + 1;
      double sum = row[2 * n - i];
      if (row[0] == 0) {
        x[i] = 0;
        ++report_.undetermined;
        report_.knot = k;
        continue;
      }
      report_.step += sum * sum;
      for (int j = i + 1; j < n; ++j) sum -= row[j - i] * x[j];
      if (next) {
        for (int j = 0; j < n; ++j) sum -= row[n - i + j] * next[j];
      }
      x[i] = sum / row[0];
      check += x[i];
    }
    report_.rest += s[rest_at_] + s[rest_at_ + 1];
  }
  report_.finite = std::isfinite(check) && std::isfinite(report_.rest);
  if (report_.undetermined > 0) find_direction();
}

// R v = 0 with v = 1 at the first undetermined number of the knot, then scaled.
void TimeChain::find_direction() {
  const double* rows = slab(report_.knot) + solved_at_;
  const auto row = [&](int i) { return rows + i * (2 * n_ + 1) - i * (i - 1) / 2; };
  int free = 0;
  while (*row(free) != 0) ++free;
  direction_.setZero();
  direction_[free] = 1;
  for (int i = free - 1; i >= 0; --i) {
    double sum = 0;
    for (int j = i + 1; j <= free; ++j) sum -= row(i)[j - i] * direction_[j];
    direction_[i] = sum / *row(i);
  }
  int largest = 0;
  direction_.cwiseAbs().maxCoeff(&largest);
  direction_ /= direction_[largest];
}

double TimeChain::log_determinant() const {
  double sum = 0;
  for (int k = 0; k < knots(); ++k) {
    const double* row = slab(k) + solved_at_;
    for (int i = 0; i < n_; row += 2 * n_ - i + 1, ++i) sum += std::log(std::abs(row[0]));
  }
  return sum;
}

bool TimeChain::invert(int k) {
  const int n = n_;
  inverse_.setZero();
  const double* row = slab(k) + solution_at_;
  for (int i = n - 1; i >= 0; --i) {
    row -= 2 * n - i + 1;
    if (row[0] == 0) return false;
    inverse_(i, i) = 1 / row[0];
    for (int j = i + 1; j < n; ++j) {
      double sum = 0;
      for (int l = i + 1; l <= j; ++l) sum += row[l - i] * inverse_(l, j);
      inverse_(i, j) = -sum / row[0];
    }
  }
  return true;
}

bool TimeChain::last_covariance(Eigen::MatrixXd& P) {
  if (!invert(knots() - 1)) return false;
  P.resize(n_, n_);
  for (int i = 0; i < n_; ++i) {
    for (int j = i; j < n_; ++j) {
      double sum = 0;
      for (int l = j; l < n_; ++l) sum += inverse_(i, l) * inverse_(j, l);
      P(i, j) = P(j, i) = sum;
    }
  }
  return true;
}

// From δₖ = Rₖ⁻¹ (dₖ − Sₖ δₖ₊₁), with J = −Rₖ⁻¹ Sₖ:   Pₖ = Rₖ⁻¹ Rₖ⁻ᵀ + J Pₖ₊₁ Jᵀ,   cov(δₖ, δₖ₊₁) = J Pₖ₊₁.
// Only sums of positive terms.
bool TimeChain::covariances(const Visit& visit, int first) {
  const int n = n_, last = knots() - 1;
  if (!last_covariance(P_)) return false;
  static const Eigen::MatrixXd none;
  visit(last, P_, none);
  for (int k = last - 1; k >= first; --k) {
    if (!invert(k)) return false;
    const double* row = slab(k) + solved_at_;
    for (int i = 0; i < n; row += 2 * n - i + 1, ++i) {
      for (int j = 0; j < n; ++j) next_(i, j) = -row[n - i + j];
    }
    gain_.noalias() = inverse_.lazyProduct(next_);
    cross_.noalias() = gain_.lazyProduct(P_);
    P_.noalias() = cross_.lazyProduct(gain_.transpose());
    P_.noalias() += inverse_.lazyProduct(inverse_.transpose());
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < i; ++j) P_(i, j) = P_(j, i) = 0.5 * (P_(i, j) + P_(j, i));
    }
    visit(k, P_, cross_);
  }
  return true;
}

}  // namespace kinegraph::linear
