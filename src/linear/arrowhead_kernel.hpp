#pragma once

// The small dense work of Arrowhead, on rows of numbers whose counts of rows and columns are multiples of 4. Plain data
// and no library code: compiled for several processors, see block_kernel.hpp.
namespace kinegraph::linear {

/// target ± left · right: `rows` × `columns`, both multiples of 4; any number of inner terms.
struct PanelProduct {
  double* target = nullptr;
  int target_stride = 0;  ///< from row to row
  const double* left = nullptr;
  int left_row = 0, left_inner = 0;  ///< from row to row of the result, and from term to term
  const double* right = nullptr;
  int right_stride = 0;  ///< from term to term
  int rows = 0, columns = 0, inner = 0;
  bool subtract = false;
  bool upper = false;  ///< of a symmetric result: only the 4×4 blocks on and above the diagonal
};

/// U of the Cholesky factor of [A B]: A's upper triangle, `pivots` wide, becomes U, and B becomes U⁻ᵀ B. In place.
struct PanelFactor {
  double* panel = nullptr;  ///< rows × columns; the rows beyond the pivots are zero
  int stride = 0, rows = 0, columns = 0, pivots = 0;
  const double* scale = nullptr;  ///< per pivot: what it was before anything was eliminated
  double tolerance = 0;           ///< a pivot must keep more than this share of it
  // Results
  int worst = -1;  ///< the pivot that kept the smallest share, or the first that kept too little
  double share = 1;
};

struct ArrowheadKernel {
  void (*multiply)(const PanelProduct& product);
  /// False if a pivot kept too little. U's diagonal is left as its reciprocals, and its lower triangle as zeros.
  bool (*factor)(PanelFactor& panel);
  /// y = A x for `rows` rows (a multiple of 4) of `columns` numbers (a multiple of 4)
  void (*apply)(const double* A, int stride, int rows, int columns, const double* x, double* y);
  /// X ← U⁻¹ X for U of factor(), X of rows × columns (multiples of 4)
  void (*solve)(const double* U, int stride, int rows, double* X, int columns);
};

ArrowheadKernel arrowhead_kernel_plain();
#if defined(__x86_64__)
ArrowheadKernel arrowhead_kernel_avx2();
ArrowheadKernel arrowhead_kernel_avx512();
#endif

/// The best of them for this processor.
const ArrowheadKernel& arrowhead_kernel();

}  // namespace kinegraph::linear
