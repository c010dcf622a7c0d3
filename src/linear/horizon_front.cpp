#include "kinegraph/linear/horizon_front.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "kinegraph/linear/arrowhead_kernel.hpp"

namespace kinegraph::linear {
namespace {

constexpr int kBlock = 8;            // pivots applied together to what is right of them
constexpr double kRounding = 1e-13;  // a column below this share of its row's scale is nothing

// Compiled once more for processors with wide registers; without fused products, so that the bits are the same.
// Sanitizers are not there yet when the better one is chosen.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__) && \
    !defined(__SANITIZE_ADDRESS__)
#define KINEGRAPH_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define KINEGRAPH_WIDE
#endif

/// w[i] −= Σₖ l[k][i] y[k] for i < rows; column k of l starts at l + k stride, y[k] at y + k y_stride.
KINEGRAPH_WIDE void subtract(double* __restrict w, int rows, const double* __restrict l, int stride, const double* y,
                             int y_stride, int count) {
  int k = 0;
  for (; k + 4 <= count; k += 4, l += 4 * std::ptrdiff_t{stride}, y += 4 * std::ptrdiff_t{y_stride}) {
    const double y0 = y[0], y1 = y[y_stride], y2 = y[2 * std::ptrdiff_t{y_stride}],
                 y3 = y[3 * std::ptrdiff_t{y_stride}];
    const double *l1 = l + stride, *l2 = l1 + stride, *l3 = l2 + stride;
    for (int i = 0; i < rows; ++i) w[i] -= (l[i] * y0 + l1[i] * y1) + (l2[i] * y2 + l3[i] * y3);
  }
  for (; k < count; ++k, l += stride, y += y_stride) {
    const double y0 = *y;
    for (int i = 0; i < rows; ++i) w[i] -= l[i] * y0;
  }
}

/// The largest |w[i]|, first ≤ i < end.
KINEGRAPH_WIDE double largest(const double* w, int first, int end) {
  typedef double Four __attribute__((vector_size(32)));
  typedef long long Bits __attribute__((vector_size(32)));
  const Bits no_sign = Bits{} + 0x7fffffffffffffff;
  Four most[2] = {};
  int i = first;
  for (; i + 8 <= end; i += 8) {
    for (int k = 0; k < 2; ++k) {
      Four x;
      std::memcpy(&x, w + i + 4 * k, sizeof x);
      x = (Four)((Bits)x & no_sign);
      most[k] = x > most[k] ? x : most[k];
    }
  }
  double all = 0;
  for (int k = 0; k < 8; ++k) all = std::max(all, most[k / 4][k % 4]);
  for (; i < end; ++i) all = std::max(all, std::abs(w[i]));
  return all;
}

#undef KINEGRAPH_WIDE

}  // namespace

int HorizonPivoting::eliminate(HorizonFront& front, HorizonInertia& inertia) {
  f_ = &front;
  inertia_ = &inertia;
  const std::size_t n = static_cast<std::size_t>(front.size) + 4;
  if (w1_.size() < n) {
    for (auto* w : {&w1_, &w2_}) w->resize(n + n / 4);
  }
  if (y_.size() < static_cast<std::size_t>(front.stride) * (kBlock + 1)) {
    y_.resize(static_cast<std::size_t>(front.stride) * (kBlock + 1) * 5 / 4);
  }
  at_ = block_ = 0;
  end_ = front.candidates;
  forced_ = false;
  int since = 0;  // pivots when the rejected ones were last looked at
  while (at_ < front.candidates) {
    if (at_ >= end_) {  // a pair may have taken one that was rejected: then it is past the end
      if (at_ == since) {
        if (!front.last) break;
        forced_ = true;
      }
      since = at_;
      end_ = front.candidates;
    }
    if (!step()) exchange(at_, --end_);
    if (at_ - block_ >= kBlock) flush();
  }
  flush();
  return at_;
}

/// Column c as it is now, rows from at_ on, into w (by row).
void HorizonPivoting::load(int c, double* w) const {
  const std::ptrdiff_t stride = f_->stride;
  for (int i = at_; i < c; ++i) w[i] = f_->a[i * stride + c];
  std::copy(f_->a + c * stride + c, f_->a + c * stride + f_->size, w + c);
  subtract(w + at_, f_->size - at_, f_->a + block_ * stride + at_, f_->stride, y_.data() + c, f_->stride, at_ - block_);
}

/// Tries the candidate at at_: alone, its strongest partner alone, both as a pair.
bool HorizonPivoting::step() {
  const int n = f_->size, j = at_;
  double *w1 = w1_.data(), *w2 = w2_.data();
  load(j, w1);
  const double among = largest(w1, j + 1, f_->candidates);
  const double all = std::max(among, largest(w1, f_->candidates, n));
  const double size = std::abs(w1[j]), nothing = kRounding * f_->scale[f_->id[j]];
  if (!std::isfinite(size) || !std::isfinite(all)) {
    inertia_->finite = false;
    std::fill(w1 + j, w1 + n, 0.0);
    accept_single(w1);
    return true;
  }
  if (size > nothing && size >= f_->threshold * all) {
    accept_single(w1);
    return true;
  }
  if (among > nothing) {
    int r = j + 1;  // the strongest partner
    while (std::abs(w1[r]) != among) ++r;
    load(r, w2);
    const auto outside = [&](const double* w) { return std::max(largest(w, j + 1, r), largest(w, r + 1, n)); };
    const double m1 = outside(w1), m2 = outside(w2);
    const double other = std::abs(w2[r]);
    const double determinant = std::abs(w1[j] * w2[r] - among * among);
    const bool invertible = determinant > 1e-10 * (size * other + among * among);
    const bool pair = (other * m1 + among * m2) * f_->threshold <= determinant &&
                      (among * m1 + size * m2) * f_->threshold <= determinant && invertible;
    const bool single = other > kRounding * f_->scale[f_->id[r]] && other >= f_->threshold * std::max(m2, among);
    if ((pair && !(single && other >= among)) || (forced_ && !single && invertible)) {
      exchange(j + 1, r);
      std::swap(w1[j + 1], w1[r]);
      std::swap(w2[j + 1], w2[r]);
      accept_pair(w1, w2);
      return true;
    }
    if (single || (forced_ && other > size)) {
      exchange(j, r);
      std::swap(w2[j], w2[r]);
      accept_single(w2);
      return true;
    }
  }
  if (!forced_) return false;
  if (std::max(size, all) <= nothing) std::fill(w1 + j, w1 + n, 0.0);
  accept_single(w1);  // D = 0 where there is nothing
  return true;
}

void HorizonPivoting::accept_single(const double* w) {
  const int n = f_->size, j = at_;
  const double d = w[j];
  double* l = f_->a + static_cast<std::ptrdiff_t>(j) * f_->stride;
  double* y = y_.data() + static_cast<std::ptrdiff_t>(j - block_) * f_->stride;
  f_->diagonal[j] = d;
  f_->off[j] = 0;
  const double inverse = d == 0 ? 0 : 1 / d;
  l[j] = 1;
  for (int i = j + 1; i < n; ++i) l[i] = w[i] * inverse, y[i] = w[i];
  if (d == 0) std::fill(y + j + 1, y + n, 0.0);
  (d > 0 ? inertia_->positive : d < 0 ? inertia_->negative : inertia_->zero) += 1;
  ++at_;
}

/// [l l'] = [w w'] D⁻¹,  D = [p q; q r]
void HorizonPivoting::accept_pair(const double* w1, const double* w2) {
  const int n = f_->size, j = at_;
  const double p = w1[j], q = w1[j + 1], r = w2[j + 1], determinant = p * r - q * q;
  double* l1 = f_->a + static_cast<std::ptrdiff_t>(j) * f_->stride;
  double* l2 = l1 + f_->stride;
  double* y1 = y_.data() + static_cast<std::ptrdiff_t>(j - block_) * f_->stride;
  double* y2 = y1 + f_->stride;
  f_->diagonal[j] = p, f_->diagonal[j + 1] = r;
  f_->off[j] = q, f_->off[j + 1] = 0;
  const double pi = p / determinant, qi = q / determinant, ri = r / determinant;
  l1[j] = l2[j + 1] = 1;
  l1[j + 1] = 0;
  for (int i = j + 2; i < n; ++i) {
    const double x = w1[i], y = w2[i];
    l1[i] = ri * x - qi * y;
    l2[i] = pi * y - qi * x;
    y1[i] = x, y2[i] = y;
  }
  if (determinant < 0) {
    ++inertia_->positive, ++inertia_->negative;
  } else {
    (p > 0 ? inertia_->positive : inertia_->negative) += 2;
  }
  at_ += 2;
}

/// Exchanges unknowns i ≤ j (≥ at_), in what is left of the matrix and in the rows of L and y already there.
void HorizonPivoting::exchange(int i, int j) {
  if (i == j) return;
  const std::ptrdiff_t stride = f_->stride;
  double* a = f_->a;
  std::swap(f_->id[i], f_->id[j]);
  for (int k = 0; k < at_; ++k) std::swap(a[k * stride + i], a[k * stride + j]);
  for (int k = 0; k < at_ - block_; ++k) std::swap(y_[k * stride + i], y_[k * stride + j]);
  for (int k = at_; k < i; ++k) std::swap(a[k * stride + i], a[k * stride + j]);
  std::swap(a[i * stride + i], a[j * stride + j]);
  for (int k = i + 1; k < j; ++k) std::swap(a[i * stride + k], a[k * stride + j]);
  for (int k = j + 1; k < f_->size; ++k) std::swap(a[i * stride + k], a[j * stride + k]);
}

/// All that is right of the block: A −= L (D Lᵀ). Column-major lower is row-major upper, as the kernel wants it.
void HorizonPivoting::flush() {
  const int count = at_ - block_, left = (f_->size - at_ + 3) / 4 * 4;
  if (count > 0 && left > 0) {
    PanelProduct p;
    p.target = f_->a + static_cast<std::ptrdiff_t>(at_) * f_->stride + at_;
    p.target_stride = f_->stride;
    p.left = y_.data() + at_;
    p.left_row = 1, p.left_inner = f_->stride;
    p.right = f_->a + static_cast<std::ptrdiff_t>(block_) * f_->stride + at_;
    p.right_stride = f_->stride;
    p.rows = p.columns = left;
    p.inner = count;
    p.subtract = p.upper = true;
    arrowhead_kernel().multiply(p);
  }
  block_ = at_;
}

}  // namespace kinegraph::linear
