#include "kinegraph/linear/front_kernel.hpp"

#include <algorithm>

namespace kinegraph::linear {

// Dense LDLᵀ of the first p of m columns, in blocks of columns: within a block each pivot updates the block's later
// columns at once; when the block is done, all columns to its right are updated in one sweep,
//
//     a(i, j) ← a(i, j) − Σₖ L(i, k) y(k),      y = D L(j, ·)ᵀ        (k in the block)
//
// four k at a time, which is where the time goes and what vectorises.
namespace {

constexpr int kPanel = 32;

/// a[i] −= Σₖ l[k][i] y[k] for i < rows; column k of l starts at l + k stride.
inline void update_column(double* __restrict a, int rows, const double* __restrict l, int stride, const double* y,
                          int count) {
  int k = 0;
  for (; k + 4 <= count; k += 4) {
    const double y0 = y[k], y1 = y[k + 1], y2 = y[k + 2], y3 = y[k + 3];
    const double *l0 = l + std::ptrdiff_t{k} * stride, *l1 = l0 + stride, *l2 = l1 + stride, *l3 = l2 + stride;
    for (int i = 0; i < rows; ++i) a[i] -= (l0[i] * y0 + l1[i] * y1) + (l2[i] * y2 + l3[i] * y3);
  }
  for (; k + 2 <= count; k += 2) {
    const double y0 = y[k], y1 = y[k + 1];
    const double *l0 = l + std::ptrdiff_t{k} * stride, *l1 = l0 + stride;
    for (int i = 0; i < rows; ++i) a[i] -= l0[i] * y0 + l1[i] * y1;
  }
  for (; k < count; ++k) {
    const double y0 = y[k];
    const double* l0 = l + std::ptrdiff_t{k} * stride;
    for (int i = 0; i < rows; ++i) a[i] -= l0[i] * y0;
  }
}

class FrontElimination {
 public:
  FrontElimination(const FrontMemory& f, std::span<const PivotKind> kinds, PivotMonitor& monitor)
      : f_(f), kinds_(kinds), monitor_(monitor) {}

  void run() {
    for (int from = 0; from < f_.pivots;) {
      int to = std::min(from + kPanel, f_.pivots);
      if (to < f_.pivots && kinds_[to] == PivotKind::pair_second) ++to;
      for (int k = from; k < to;) k += kinds_[k] == PivotKind::single ? single(k, to) : pair(k, to);
      for (int j = to; j < f_.pivots; ++j) update(column(j) + j, j, from, to);
      for (int j = f_.pivots; j < f_.size; ++j) {
        const int b = j - f_.pivots;
        update(f_.update + std::ptrdiff_t{b} * (f_.size - f_.pivots) + b, j, from, to);
      }
      from = to;
    }
  }

 private:
  double* column(int k) const { return f_.panel + std::ptrdiff_t{k} * f_.size; }

  int single(int k, int to) {
    double* a = column(k);
    double d = a[k];
    monitor_.single(k, d);
    f_.diagonal[k] = d;
    f_.off[k] = 0;
    const double inverse = 1 / d;
    a[k] = 1;
    for (int i = k + 1; i < f_.size; ++i) a[i] *= inverse;
    for (int j = k + 1; j < to; ++j) {
      const double y = d * a[j];
      update_column(column(j) + j, f_.size - j, a + j, f_.size, &y, 1);
    }
    return 1;
  }

  /// (x, y) ← D⁻¹ (x, y) for each row of the two columns.
  int pair(int k, int to) {
    double *a = column(k), *b = column(k + 1);
    double p = a[k], q = a[k + 1], r = b[k + 1];
    monitor_.pair(k, p, q, r);
    f_.diagonal[k] = p;
    f_.diagonal[k + 1] = r;
    f_.off[k] = q;
    f_.off[k + 1] = 0;
    const double inverse = 1 / (p * r - q * q), pi = p * inverse, qi = q * inverse, ri = r * inverse;
    a[k] = b[k + 1] = 1;
    a[k + 1] = 0;
    for (int i = k + 2; i < f_.size; ++i) {
      const double x = a[i], y = b[i];
      a[i] = ri * x - qi * y;
      b[i] = pi * y - qi * x;
    }
    for (int j = k + 2; j < to; ++j) {
      const double y[2] = {p * a[j] + q * b[j], q * a[j] + r * b[j]};
      update_column(column(j) + j, f_.size - j, a + j, f_.size, y, 2);
    }
    return 2;
  }

  void update(double* target, int j, int from, int to) const {
    double y[kPanel + 1];
    for (int k = from; k < to; ++k) {
      const double l = column(k)[j];
      y[k - from] = f_.diagonal[k] * l;
      if (kinds_[k] == PivotKind::pair_first) y[k - from] += f_.off[k] * column(k + 1)[j];
      if (kinds_[k] == PivotKind::pair_second) y[k - from] += f_.off[k - 1] * column(k - 1)[j];
    }
    update_column(target, f_.size - j, column(from) + j, f_.size, y, to - from);
  }

  const FrontMemory& f_;
  std::span<const PivotKind> kinds_;
  PivotMonitor& monitor_;
};

}  // namespace

void eliminate_front(const FrontMemory& front, std::span<const PivotKind> kinds, PivotMonitor& monitor) {
  FrontElimination(front, kinds, monitor).run();
}

}  // namespace kinegraph::linear
