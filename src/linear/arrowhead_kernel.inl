// Included by arrowhead_kernel*.cpp, which are compiled for different processors; all but the one function that they
// name is local. KINEGRAPH_WIDTH: doubles per vector register.

#include "kinegraph/linear/arrowhead_kernel.hpp"
#include "kinegraph/linear/block_registers.inl"

namespace kinegraph::linear {
namespace {

constexpr int kWidth = KINEGRAPH_WIDTH < 4 ? 2 : 4;  // of what comes in fours of columns

/// Four rows and Count vectors of Width columns of a product, summed up in registers.
template <int Width, int Count>
KINEGRAPH_INLINE void multiply_tile(const PanelProduct& p, int row, int column) {
  using V = typename VectorOf<Width>::Type;
  V sum[4][Count] = {};
  const double* left = p.left + static_cast<long>(row) * p.left_row;
  const double* right = p.right + column;
  for (int term = 0; term < p.inner; ++term) {
    V b[Count];
#pragma GCC unroll 4
    for (int c = 0; c < Count; ++c) b[c] = at<Width>(right + c * Width);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const double f = left[static_cast<long>(i) * p.left_row];
#pragma GCC unroll 4
      for (int c = 0; c < Count; ++c) sum[i][c] += b[c] * f;
    }
    left += p.left_inner, right += p.right_stride;
  }
  double* target = p.target + static_cast<long>(row) * p.target_stride + column;
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i, target += p.target_stride) {
#pragma GCC unroll 4
    for (int c = 0; c < Count; ++c) {
      V& t = at<Width>(target + c * Width);
      t = p.subtract ? t - sum[i][c] : t + sum[i][c];
    }
  }
}

void multiply(const PanelProduct& p) {
  for (int row = 0; row < p.rows; row += 4) {
    int column = p.upper ? row : 0;
#if KINEGRAPH_WIDTH == 8
    for (; column + 24 <= p.columns; column += 24) multiply_tile<8, 3>(p, row, column);
    for (; column + 16 <= p.columns; column += 16) multiply_tile<8, 2>(p, row, column);
    for (; column + 8 <= p.columns; column += 8) multiply_tile<8, 1>(p, row, column);
#elif KINEGRAPH_WIDTH == 4
    for (; column + 8 <= p.columns; column += 8) multiply_tile<4, 2>(p, row, column);
#endif
    for (; column < p.columns; column += 4) multiply_tile<kWidth, 4 / kWidth>(p, row, column);
  }
}

/// The pivots of four rows: u becomes U with reciprocals on the diagonal.
bool factor_four(PanelFactor& p, int first, double u[4][4]) {
  for (int i = 0; i < 4; ++i) {
    double inverse = 1;
    if (first + i < p.pivots) {
      const double pivot = u[i][i], scale = p.scale[first + i];
      const bool positive = pivot > p.tolerance * scale && pivot < __builtin_inf();
      if (!positive || pivot < p.share * scale) {
        p.worst = first + i;
        p.share = pivot > 0 && scale > 0 ? pivot / scale : 0;
      }
      if (!positive) return false;
      inverse = 1 / __builtin_sqrt(pivot);
    }
    for (int j = i + 1; j < 4; ++j) u[i][j] *= inverse;
    for (int k = i + 1; k < 4; ++k) {
      for (int j = k; j < 4; ++j) u[k][j] -= u[i][k] * u[i][j];
    }
    for (int j = 0; j < i; ++j) u[i][j] = 0;
    u[i][i] = inverse;
  }
  return true;
}

/// Rows of four, columns from `column` on: R ← U⁻ᵀ R.
template <int Width>
KINEGRAPH_INLINE void solve_forward(double* rows, int stride, int column, const double u[4][4]) {
  using V = typename VectorOf<Width>::Type;
  V r[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    r[i] = at<Width>(rows + static_cast<long>(i) * stride + column);
#pragma GCC unroll 4
    for (int k = 0; k < i; ++k) r[i] -= r[k] * u[k][i];
    r[i] *= u[i][i];
    at<Width>(rows + static_cast<long>(i) * stride + column) = r[i];
  }
}

// Left-looking by groups of four rows: what earlier rows take away, the group's own pivots, the rest of its rows.
bool factor(PanelFactor& p) {
  for (int first = 0; first < p.rows; first += 4) {
    double* rows = p.panel + static_cast<long>(first) * p.stride;
    if (first > 0) {
      multiply({rows + first, p.stride, p.panel + first, 1, p.stride, p.panel + first, p.stride, 4, p.columns - first,
                first, true, false});
    }
    double u[4][4];
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 4; ++j) u[i][j] = rows[static_cast<long>(i) * p.stride + first + j];
    }
    if (!factor_four(p, first, u)) return false;
    for (int i = 0; i < 4; ++i) {
      double* row = rows + static_cast<long>(i) * p.stride;
      for (int j = 0; j < first; ++j) row[j] = 0;
      for (int j = 0; j < 4; ++j) row[first + j] = u[i][j];
    }
    int column = first + 4;
#if KINEGRAPH_WIDTH == 8
    for (; column + 8 <= p.columns; column += 8) solve_forward<8>(rows, p.stride, column, u);
#endif
    for (; column < p.columns; column += kWidth) solve_forward<kWidth>(rows, p.stride, column, u);
  }
  return true;
}

void apply(const double* A, int stride, int rows, int columns, const double* x, double* y) {
  using V = typename VectorOf<kWidth>::Type;
  for (int first = 0; first < rows; first += 4) {
    const double* a = A + static_cast<long>(first) * stride;
    V sum[4] = {};
    for (int j = 0; j < columns; j += kWidth) {
      const V b = at<kWidth>(x + j);
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) sum[i] += at<kWidth>(a + static_cast<long>(i) * stride + j) * b;
    }
    for (int i = 0; i < 4; ++i) {
      double total = sum[i][0] + sum[i][1];
      for (int k = 2; k < kWidth; k += 2) total += sum[i][k] + sum[i][k + 1];
      y[first + i] = total;
    }
  }
}

void solve(const double* U, int stride, int rows, double* X, int columns) {
  using V = typename VectorOf<kWidth>::Type;
  for (int first = rows - 4; first >= 0; first -= 4) {
    const double* u = U + static_cast<long>(first) * stride + first;
    double* x = X + static_cast<long>(first) * columns;
    multiply({x, columns, u + 4, stride, 1, x + 4L * columns, columns, 4, columns, rows - first - 4, true, false});
    for (int j = 0; j < columns; j += kWidth) {
      V r[4];
#pragma GCC unroll 4
      for (int i = 3; i >= 0; --i) {
        r[i] = at<kWidth>(x + static_cast<long>(i) * columns + j);
#pragma GCC unroll 4
        for (int k = i + 1; k < 4; ++k) r[i] -= r[k] * u[static_cast<long>(i) * stride + k];
        r[i] *= u[static_cast<long>(i) * stride + i];
        at<kWidth>(x + static_cast<long>(i) * columns + j) = r[i];
      }
    }
  }
}

}  // namespace

ArrowheadKernel KINEGRAPH_KERNEL() { return {&multiply, &factor, &apply, &solve}; }

}  // namespace kinegraph::linear
