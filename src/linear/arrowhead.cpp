#include "kinegraph/linear/arrowhead.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cassert>
#include <cmath>

#include "kinegraph/linear/arrowhead_kernel.hpp"

namespace kinegraph::linear {

// A slab is the block row of one knot, upper triangle only, row by row and padded with zeros to multiples of 4:
//
//     [ H_k,k   H_k,k+1   H_k,k+2 | B_k  g_k ]
//
// The right-hand side is a column of the border, so that what is done to B is done to g, and rows [J₀ J₁ J₂ | J_χ r]
// add their outer products to three slabs and the border's own block, which then holds Σ r² in its last place.

namespace {

constexpr int kRowsAtOnce = 32;
constexpr double kLeastShare = 1e-14;     // of its diagonal that a pivot must keep: less is round-off
constexpr double kDiagonalFloor = 1e-12;  // of the largest diagonal of the same unknown, over all knots

int padded(int n) { return (n + 3) / 4 * 4; }

}  // namespace

void Arrowhead::reset(int unknowns, int knots, int parameters) {
  assert(unknowns > 0 && knots > 0 && parameters >= 0);
  n_ = unknowns, knots_ = knots, p_ = parameters;
  wide_ = padded(n_), border_wide_ = padded(p_ + 1);
  stride_ = 3 * wide_ + border_wide_;
  slab_ = static_cast<std::size_t>(wide_) * stride_;
  information_.resize(slab_ * knots);
  factor_.resize(slab_ * knots);
  empty_.resize(knots);
  const std::size_t border = static_cast<std::size_t>(border_wide_) * border_wide_;
  border_.resize(border), reduced_.resize(border);
  diagonal_.resize(static_cast<std::size_t>(wide_) * knots);
  scale_.resize(wide_);
  rows_.resize(static_cast<std::size_t>(kRowsAtOnce) * stride_);
  x_.resize(stride_), y_.resize(2 * wide_);
  step_.assign(static_cast<std::size_t>(wide_) * (knots + 2), 0.0);  // two knots of zeros at the end
  response_known_ = false;
  runs_.reserve(stride_ / 4 + 1);
  schur_.setZero(p_, p_), reduced_gradient_.setZero(p_);
  clear();
}

void Arrowhead::clear() {
  std::fill(empty_.begin(), empty_.end(), 1);
  std::fill(border_.begin(), border_.end(), 0.0);
  diagonal_known_ = false;
}

void Arrowhead::open(int k) {
  if (!empty_[k]) return;
  std::fill_n(slab(information_, k), slab_, 0.0);
  empty_[k] = 0;
}

void Arrowhead::add_rows(int k, const double* states, const double* border, const double* residual, int rows,
                         int width) {
  assert(k >= 0 && width >= 1 && width <= 3 && k + width <= knots_);
  for (int t = 0; t < width; ++t) open(k + t);
  diagonal_known_ = false;
  for (int first = 0; first < rows; first += kRowsAtOnce) {
    const int count = std::min(kRowsAtOnce, rows - first);
    pack(states + static_cast<std::size_t>(first) * width * n_,
         border ? border + static_cast<std::size_t>(first) * p_ : nullptr, residual + first, count, width);
    find_runs(count, width);
    add_packed(k, count, width);
  }
}

void Arrowhead::pack(const double* states, const double* border, const double* residual, int rows, int width) {
  for (int row = 0; row < rows; ++row) {
    double* to = rows_.data() + static_cast<std::size_t>(row) * stride_;
    for (int t = 0; t < width; ++t, states += n_) {
      std::copy_n(states, n_, to + t * wide_);
      std::fill(to + t * wide_ + n_, to + (t + 1) * wide_, 0.0);
    }
    double* edge = to + 3 * wide_;
    if (border) {
      std::copy_n(border + static_cast<std::size_t>(row) * p_, p_, edge);
    } else {
      std::fill_n(edge, p_, 0.0);
    }
    edge[p_] = residual[row];
    std::fill(edge + p_ + 1, edge + border_wide_, 0.0);
  }
}

// Fours of columns that are not all zero, joined where they touch; none reaches from the knots into the border.
void Arrowhead::find_runs(int rows, int width) {
  runs_.clear();
  const auto holds_something = [&](int column) {
    for (int row = 0; row < rows; ++row) {
      const double* a = rows_.data() + static_cast<std::size_t>(row) * stride_ + column;
      for (int j = 0; j < 4; ++j) {
        if (a[j] != 0) return true;
      }
    }
    return false;
  };
  const auto add = [&](int begin, int end) {
    bool open = false;
    for (int column = begin; column < end; column += 4) {
      const bool some = holds_something(column);
      if (some && !open) runs_.push_back({column, column});
      if (some) runs_.back().end = column + 4;
      open = some;
    }
  };
  add(0, width * wide_);
  add(3 * wide_, stride_);
}

void Arrowhead::add_packed(int k, int rows, int width) {
  const auto multiply = arrowhead_kernel().multiply;
  const int edge = 3 * wide_;
  PanelProduct p;
  p.left_row = 1, p.left_inner = p.right_stride = stride_, p.inner = rows;
  // The block row of a part of a run, against itself and all later ones. `target` is where its column 0 would be.
  const auto add = [&](const Run& part, std::size_t own, double* target, int stride, int shift, int shift_border) {
    p.left = rows_.data() + part.begin, p.rows = part.end - part.begin, p.target_stride = stride;
    for (std::size_t other = own; other < runs_.size(); ++other) {
      const int begin = other == own ? part.begin : runs_[other].begin;
      p.right = rows_.data() + begin, p.columns = runs_[other].end - begin, p.upper = other == own;
      p.target = target + begin - (begin < edge ? shift : shift_border);
      multiply(p);
    }
  };
  for (std::size_t own = 0; own < runs_.size(); ++own) {
    const Run& run = runs_[own];
    if (run.begin >= edge) {
      add(run, own, border_.data() + static_cast<std::size_t>(run.begin - edge) * border_wide_, border_wide_, 0, edge);
      continue;
    }
    for (int t = 0; t < width; ++t) {
      const Run part{std::max(run.begin, t * wide_), std::min(run.end, (t + 1) * wide_)};
      if (part.begin >= part.end) continue;
      double* target = slab(information_, k + t) + static_cast<std::size_t>(part.begin - t * wide_) * stride_;
      add(part, own, target, stride_, t * wide_, 0);
    }
  }
}

void Arrowhead::add_border(const Eigen::MatrixXd& H, const Eigen::VectorXd& g, double cost) {
  assert(H.rows() == p_ && H.cols() == p_ && g.size() == p_);
  for (int i = 0; i < p_; ++i) {
    double* row = border_.data() + static_cast<std::size_t>(i) * border_wide_;
    for (int j = i; j < p_; ++j) row[j] += H(i, j);
    row[p_] += g[i];
  }
  border_[static_cast<std::size_t>(p_) * border_wide_ + p_] += cost;
}

double Arrowhead::cost() const { return border_[static_cast<std::size_t>(p_) * border_wide_ + p_]; }

Eigen::MatrixXd Arrowhead::border_information() const {
  const Eigen::Map<const RowMajor, 0, Eigen::OuterStride<>> C(border_.data(), p_, p_,
                                                              Eigen::OuterStride<>(border_wide_));
  return C.selfadjointView<Eigen::Upper>();
}

Eigen::VectorXd Arrowhead::border_gradient() const {
  Eigen::VectorXd g(p_);
  for (int i = 0; i < p_; ++i) g[i] = border_[static_cast<std::size_t>(i) * border_wide_ + p_];
  return g;
}

Eigen::VectorXd Arrowhead::gradient(int k) const {
  Eigen::VectorXd g = Eigen::VectorXd::Zero(n_);
  if (empty_[k]) return g;
  for (int i = 0; i < n_; ++i) g[i] = slab(information_, k)[static_cast<std::size_t>(i) * stride_ + 3 * wide_ + p_];
  return g;
}

// D = diag H, but no less than a share of the same unknown's largest at any knot: the same unknown has the same unit.
void Arrowhead::find_diagonal() {
  if (diagonal_known_) return;
  diagonal_known_ = true;
  std::fill(scale_.begin(), scale_.end(), 0.0);
  for (int k = 0; k < knots_; ++k) {
    double* diagonal = diagonal_.data() + static_cast<std::size_t>(k) * wide_;
    const double* information = slab(information_, k);
    for (int i = 0; i < n_; ++i) {
      diagonal[i] = empty_[k] ? 0 : information[static_cast<std::size_t>(i) * (stride_ + 1)];
      scale_[i] = std::max(scale_[i], diagonal[i]);
    }
  }
  for (int k = 0; k < knots_; ++k) {
    double* diagonal = diagonal_.data() + static_cast<std::size_t>(k) * wide_;
    for (int i = 0; i < n_; ++i) diagonal[i] = std::max(diagonal[i], kDiagonalFloor * scale_[i]);
  }
}

bool Arrowhead::eliminate(double damping) {
  damping_ = damping;
  response_known_ = false;
  pivot_ = {};
  find_diagonal();
  reduced_ = border_;
  for (int k = 0; k < knots_; ++k) {
    if (!eliminate_knot(k)) return false;
  }
  finish_border();
  const bool finite =
      std::all_of(reduced_.begin(), reduced_.end(), [](double number) { return std::isfinite(number); });
  if (!finite) pivot_ = {-1, -1, 0};
  return finite;
}

// The slab of knot k less what the two knots before it take away,
//
//     Wₖ = Hₖ + α Dₖ − U_k-1,kᵀ [U_k-1,k U_k-1,k+1 | U_k-1,B] − U_k-2,kᵀ [U_k-2,k | U_k-2,B],    Uₖ = Uₖₖ⁻ᵀ Wₖ
bool Arrowhead::eliminate_knot(int k) {
  const ArrowheadKernel& kernel = arrowhead_kernel();
  double* U = slab(factor_, k);
  if (empty_[k]) {
    std::fill_n(U, slab_, 0.0);
  } else {
    std::copy_n(slab(information_, k), slab_, U);
  }
  const double* diagonal = diagonal_.data() + static_cast<std::size_t>(k) * wide_;
  for (int i = 0; i < n_; ++i) {
    double& own = U[static_cast<std::size_t>(i) * (stride_ + 1)];
    scale_[i] = own += damping_ * diagonal[i];
  }
  const int edge = 3 * wide_;
  PanelProduct p;
  p.target_stride = p.left_inner = p.right_stride = stride_;
  p.left_row = 1, p.rows = wide_, p.inner = n_, p.subtract = true;
  for (int back = std::min(2, k); back >= 1; --back) {
    const double* past = slab(factor_, k - back);
    p.left = past + back * wide_;
    p.right = p.left, p.columns = (3 - back) * wide_, p.target = U, p.upper = true;
    kernel.multiply(p);
    p.right = past + edge, p.columns = border_wide_, p.target = U + edge, p.upper = false;
    kernel.multiply(p);
  }
  PanelFactor panel{U, stride_, wide_, stride_, n_, scale_.data(), kLeastShare};
  const bool positive = kernel.factor(panel);
  if (!positive || panel.share < pivot_.share) pivot_ = {k, panel.worst, panel.share};
  if (!positive) return false;
  p.left = p.right = U + edge, p.rows = p.columns = border_wide_, p.upper = true;
  p.target = reduced_.data(), p.target_stride = border_wide_;
  kernel.multiply(p);
  return true;
}

void Arrowhead::finish_border() {
  for (int i = 0; i < p_; ++i) {
    const double* row = reduced_.data() + static_cast<std::size_t>(i) * border_wide_;
    for (int j = i; j < p_; ++j) schur_(i, j) = schur_(j, i) = row[j];
    schur_(i, i) += damping_ * border_[static_cast<std::size_t>(i) * (border_wide_ + 1)];
    reduced_gradient_[i] = row[p_];
  }
}

// Uₖₖ δₖ = −(U_k,k+1 δₖ₊₁ + U_k,k+2 δₖ₊₂ + U_k,B χ + uₖ); x_ holds [δₖ δₖ₊₁ δₖ₊₂ | χ 1].
void Arrowhead::substitute_knot(int k, bool border) {
  const ArrowheadKernel& kernel = arrowhead_kernel();
  const double* U = slab(factor_, k);
  const std::size_t at = static_cast<std::size_t>(k) * wide_;
  std::copy_n(step_.data() + at + wide_, 2 * wide_, x_.data() + wide_);
  kernel.apply(U + wide_, stride_, wide_, 2 * wide_, x_.data() + wide_, y_.data());
  if (border) {
    double* y = y_.data() + wide_;
    kernel.apply(U + 3 * wide_, stride_, wide_, border_wide_, x_.data() + 3 * wide_, y);
    for (int i = 0; i < n_; ++i) {
      predicted_fall_ += y[i] * y[i];
      y_[i] += y[i];
    }
  }
  double* step = step_.data() + at;
  for (int i = n_ - 1; i >= 0; --i) {
    const double* row = U + static_cast<std::size_t>(i) * stride_;
    double sum = -y_[i];
    for (int j = i + 1; j < n_; ++j) sum -= row[j] * step[j];
    step[i] = sum * row[i];  // the diagonal holds reciprocals
  }
}

// Of the model Σ (r + J δ)², with the states the best ones for χ under damping, y = U_B χ + u:
//
//     fall = Σ y² + α Σ δᵀ D δ − 2 gᵀ χ − χᵀ C χ
void Arrowhead::substitute(const Eigen::VectorXd& border_step) {
  assert(border_step.size() == p_);
  std::fill(x_.begin(), x_.end(), 0.0);
  std::copy_n(border_step.data(), p_, x_.data() + 3 * wide_);
  x_[3 * wide_ + p_] = 1;
  predicted_fall_ = 0;
  for (int k = knots_ - 1; k >= 0; --k) {
    substitute_knot(k, true);
    const std::size_t at = static_cast<std::size_t>(k) * wide_;
    for (int i = 0; i < n_; ++i) predicted_fall_ += damping_ * diagonal_[at + i] * step_[at + i] * step_[at + i];
  }
  for (int i = 0; i < p_; ++i) {
    const double* row = border_.data() + static_cast<std::size_t>(i) * border_wide_;
    double product = row[i] * border_step[i];
    for (int j = i + 1; j < p_; ++j) product += 2 * row[j] * border_step[j];
    predicted_fall_ -= border_step[i] * (product + 2 * row[p_]);
  }
}

}  // namespace kinegraph::linear
