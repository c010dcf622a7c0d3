// Equations of a mechanism that is moved by hand: a step of Newton with the least change,
//
//     δ = −Jᵀ (J Jᵀ + μ 1)⁻¹ r
//
// which also copes with more equations than needed. J by differences: the mechanisms are small.

type Residual = (x: Float64Array, r: Float64Array) => void;

/** Solves A y = b in place for a symmetric positive definite A (n × n, row by row); false: it is not. */
function cholesky(a: Float64Array, b: Float64Array, n: number): boolean {
  for (let j = 0; j < n; ++j) {
    for (let i = j; i < n; ++i) {
      let sum = a[i * n + j];
      for (let k = 0; k < j; ++k) sum -= a[i * n + k] * a[j * n + k];
      if (i > j) a[i * n + j] = sum / a[j * n + j];
      else if (sum <= 0) return false;
      else a[j * n + j] = Math.sqrt(sum);
    }
  }
  for (let i = 0; i < n; ++i) {
    for (let k = 0; k < i; ++k) b[i] -= a[i * n + k] * b[k];
    b[i] /= a[i * n + i];
  }
  for (let i = n - 1; i >= 0; --i) {
    for (let k = i + 1; k < n; ++k) b[i] -= a[k * n + i] * b[k];
    b[i] /= a[i * n + i];
  }
  return true;
}

/** Brings r(x) to zero by changing x[free]; false, and x as it was, where that does not converge. */
export function solve(x: Float64Array, free: number[], rows: number, residual: Residual, tolerance: number): boolean {
  const before = Float64Array.from(x), r = new Float64Array(rows), moved = new Float64Array(rows), n = free.length;
  const J = new Float64Array(rows * n);
  for (let pass = 0; pass < 25; ++pass) {
    residual(x, r);
    const size = Math.max(...r.map(Math.abs), 0);
    if (size < tolerance) return true;
    if (!Number.isFinite(size) || size > 1e6) break;
    let trace = 0;
    free.forEach((at, j) => {
      const value = x[at], step = 1e-7 * Math.max(1, Math.abs(value));
      x[at] = value + step;
      residual(x, moved);
      x[at] = value;
      for (let i = 0; i < rows; ++i) {
        const d = (moved[i] - r[i]) / step;
        J[i * n + j] = d;
        trace += d * d;
      }
    });
    const A = new Float64Array(rows * rows), y = Float64Array.from(r);
    for (let i = 0; i < rows; ++i) {
      for (let k = 0; k <= i; ++k) {
        let sum = i === k ? 1e-11 * trace + 1e-300 : 0;
        for (let j = 0; j < n; ++j) sum += J[i * n + j] * J[k * n + j];
        A[i * rows + k] = A[k * rows + i] = sum;
      }
    }
    if (!cholesky(A, y, rows)) break;
    for (let j = 0; j < n; ++j) for (let i = 0; i < rows; ++i) x[free[j]] -= J[i * n + j] * y[i];
  }
  x.set(before);
  return false;
}
