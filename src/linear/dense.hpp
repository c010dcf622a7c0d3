#pragma once

#include <cmath>

/// Small dense kernels on row-major arrays, with sizes known only at run time: for blocks of a few rows they are faster
/// than a call into a general library, and they allocate nothing.
namespace kinegraph::linear {

/// Lower Cholesky factor in place (the strict upper triangle is left alone). False if a pivot is not positive.
inline bool cholesky(double* a, int n) {
  for (int j = 0; j < n; ++j) {
    double d = a[j * n + j];
    for (int k = 0; k < j; ++k) d -= a[j * n + k] * a[j * n + k];
    if (!(d > 0)) return false;
    d = std::sqrt(d);
    a[j * n + j] = d;
    const double inverse = 1 / d;
    for (int i = j + 1; i < n; ++i) {
      double s = a[i * n + j];
      for (int k = 0; k < j; ++k) s -= a[i * n + k] * a[j * n + k];
      a[i * n + j] = s * inverse;
    }
  }
  return true;
}

/// B ← L⁻¹ B for a lower triangular n×n L and n×w B.
inline void solve_lower(const double* l, int n, double* b, int w) {
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < i; ++k) {
      for (int j = 0; j < w; ++j) b[i * w + j] -= l[i * n + k] * b[k * w + j];
    }
    const double inverse = 1 / l[i * n + i];
    for (int j = 0; j < w; ++j) b[i * w + j] *= inverse;
  }
}

/// b ← L⁻ᵀ b.
inline void solve_lower_transposed(const double* l, int n, double* b) {
  for (int i = n - 1; i >= 0; --i) {
    for (int k = i + 1; k < n; ++k) b[i] -= l[k * n + i] * b[k];
    b[i] /= l[i * n + i];
  }
}

/// C += s Aᵀ B for an r×m A and an r×n B.
inline void add_transposed_product(const double* a, const double* b, int r, int m, int n, double s, double* c) {
  for (int k = 0; k < r; ++k) {
    for (int i = 0; i < m; ++i) {
      const double f = s * a[k * m + i];
      for (int j = 0; j < n; ++j) c[i * n + j] += f * b[k * n + j];
    }
  }
}

}  // namespace kinegraph::linear
