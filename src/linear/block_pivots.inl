// How large numbers are, and what divides by them: inverses of blocks, rows of joints, fronts. See block_kernel.inl.

#include "kinegraph/linear/block_products.inl"

namespace kinegraph::linear {
namespace {

KINEGRAPH_INLINE double magnitude(double x) { return __builtin_fabs(x); }
KINEGRAPH_INLINE double larger(double a, double b) { return a > b ? a : b; }

/// |x| without its sign bits.
template <int N>
KINEGRAPH_INLINE typename VectorOf<N>::Type magnitudes(typename VectorOf<N>::Type x) {
  typedef long long Bits __attribute__((vector_size(N * 8)));
  return reinterpret_cast<typename VectorOf<N>::Type>(reinterpret_cast<Bits>(x) & 0x7fffffffffffffffLL);
}

// As an instruction where there is one: a ? b : c of vectors is not always seen to be that.
KINEGRAPH_INLINE V2 larger_of(V2 a, V2 b) {
#if defined(__SSE2__)
  return _mm_max_pd(a, b);
#else
  return a > b ? a : b;
#endif
}
#if defined(__AVX__)
KINEGRAPH_INLINE V4 larger_of(V4 a, V4 b) { return _mm256_max_pd(a, b); }
#endif

KINEGRAPH_INLINE double largest_of(V2 x) { return larger(x[0], x[1]); }

/// The largest |number| of a 6×6 block, without what pads it.
KINEGRAPH_INLINE double max_abs_66(const double* left) {
#if KINEGRAPH_WIDTH >= 4
  const auto a = [&](int j) { return magnitudes<4>(at<4>(left + j * kLead)); };
  const auto b = [&](int j) { return magnitudes<2>(at<2>(left + j * kLead + 4)); };
  const V4 x = larger_of(larger_of(larger_of(a(0), a(1)), larger_of(a(2), a(3))), larger_of(a(4), a(5)));
  const V2 y = larger_of(larger_of(larger_of(b(0), b(1)), larger_of(b(2), b(3))), larger_of(b(4), b(5)));
  const V2 low = __builtin_shufflevector(x, x, 0, 1), high = __builtin_shufflevector(x, x, 2, 3);
  return largest_of(larger_of(larger_of(low, high), y));
#else
  V2 x{}, y{}, z{};
#pragma GCC unroll 6
  for (int j = 0; j < 6; ++j) {
    x = larger_of(magnitudes<2>(at<2>(left + j * kLead)), x);
    y = larger_of(magnitudes<2>(at<2>(left + j * kLead + 2)), y);
    z = larger_of(magnitudes<2>(at<2>(left + j * kLead + 4)), z);
  }
  return largest_of(larger_of(larger_of(x, y), z));
#endif
}

KINEGRAPH_INLINE double max_diagonal(const double* left) {
  const auto d = [&](int k) { return magnitude(left[k * (kLead + 1)]); };
  return larger(larger(larger(d(0), d(1)), larger(d(2), d(3))), larger(d(4), d(5)));
}

double max_abs(const BlockOp& op, const double* storage) {
  const int lead = block_stride(op.rows);
  const double* left = storage + op.left;
  double largest = 0;
  for (int j = 0; j < op.columns; ++j) {
    for (int r = 0; r < op.rows; ++r) largest = larger(largest, magnitude(left[j * lead + r]));
  }
  return largest;
}

/// The largest of the slots that a table names: how many, then which.
KINEGRAPH_INLINE double scale_of(const int* slots, const double* storage) {
  double scale = 0;
  for (int i = 1; i <= slots[0]; ++i) scale = larger(scale, storage[slots[i]]);
  return scale;
}

/// Gauss-Jordan with row pivoting. `target` and the matrix behind it (a copy of what is inverted) have d columns.
bool invert(const BlockOp& op, double tolerance, const int* slots, double* storage) {
  const int d = op.rows, lead = block_stride(d);
  double* inverse = storage + op.target;
  double* a = inverse + d * lead;
  double scale = scale_of(slots, storage);
  for (int j = 0; j < d; ++j) {
    for (int r = 0; r < d; ++r) {
      a[j * lead + r] = storage[op.left + j * lead + r];
      inverse[j * lead + r] = r != j ? 0 : op.subtract ? -1 : 1;
    }
  }
  for (int j = 0; j < d; ++j) {
    int best = j;
    for (int r = j + 1; r < d; ++r) {
      if (magnitude(a[j * lead + r]) > magnitude(a[j * lead + best])) best = r;
    }
    if (!(magnitude(a[j * lead + best]) > tolerance * scale)) return false;
    const double reciprocal = 1 / a[j * lead + best];
    for (int k = 0; k < d; ++k) {
      double* columns[2] = {a + k * lead, inverse + k * lead};
      for (double* column : columns) {
        const double x = column[best];
        column[best] = column[j];
        column[j] = x * reciprocal;
      }
    }
    for (int r = 0; r < d; ++r) {
      if (r == j) continue;
      const double f = a[j * lead + r];
      for (int k = 0; k < d; ++k) {
        a[k * lead + r] -= f * a[k * lead + j];
        inverse[k * lead + r] -= f * inverse[k * lead + j];
      }
    }
  }
  return true;
}

/// Fails if the pivot has vanished.
KINEGRAPH_INLINE bool reciprocal(const BlockOp& op, const BlockTables& tables, double* storage, double& result) {
  const double pivot = storage[op.left];
  if (!(magnitude(pivot) > tables.tolerance * scale_of(tables.index + op.extra, storage))) return false;
  result = (op.subtract & 1 ? -1 : 1) / pivot;
  storage[op.target] = result;
  return true;
}

/// The row of a joint with one freedom, from the block G of its body: picked, multiplied with X and with the body's
/// right side, and divided by its pivot. The numbers in between are stored nevertheless: others may read them.
KINEGRAPH_INLINE bool eliminate_joint(const BlockOp* op, double tolerance, double* storage) {
  const BlockOp &pick = op[0], &side = op[1], &row = op[2], &dot = op[3], &scale = op[4], &invert = op[5],
                &scaled_row = op[6], &scaled_side = op[7];
  const double* g = storage + pick.left + pick.extra;
  const double pivot = g[(invert.left - pick.target) * kLead];
  const double largest = max_diagonal(storage + scale.left);
  if (!(magnitude(pivot) > tolerance * largest)) return false;
  const double inverse = (invert.subtract ? -1 : 1) / pivot;
  const RowOfSix picked = {V2{g[0], g[kLead]}, V2{g[2 * kLead], g[3 * kLead]}, V2{g[4 * kLead], g[5 * kLead]}};
  const Multiplier a = Multiplier::from(picked);
  const double b = storage[side.left];
  const double first = side.subtract ? storage[side.base] - b : storage[side.base] + b;
  const V2 s = a.dot(storage + dot.right);
  const double second = dot.subtract ? first - (s[0] + s[1]) : first + (s[0] + s[1]);
  const RowOfSix product = times_66(a, storage + row.right);
  picked.store(storage + pick.target);
  storage[side.target] = first;
  product.store(storage + row.target);
  storage[dot.target] = second;
  storage[scale.target] = largest;
  storage[invert.target] = inverse;
  const RowOfSix result = {product.a * inverse, product.b * inverse, product.c * inverse};
  result.store(storage + scaled_row.target);
  storage[scaled_side.target] = second * inverse;
  return true;
}

void gather(const FrontShape& front, const FrontPiece* pieces, double* storage) {
  const int columns = front.pivots + front.others + 1;
  double* work = storage + front.work;
  for (int i = 0; i < columns * front.stride; ++i) work[i] = 0;
  for (const FrontPiece* p = pieces + front.gather_begin; p != pieces + front.gather_end; ++p) {
    for (int j = 0; j < p->columns; ++j) {
      double* to = work + (p->column + j) * front.stride + p->row;
      const double* from = storage + p->block + j * p->stride;
      for (int r = 0; r < p->rows; ++r) to[r] = p->sign * from[r];
    }
  }
}

/// Per row: 1 / its largest entry, and how large its numbers have been.
void measure_rows(const FrontShape& front, const int* index, double* storage) {
  const double* work = storage + front.work;
  double* weight = storage + front.scale;
  double* scale = weight + front.rows;
  for (int r = 0; r < front.rows; ++r) weight[r] = 0;
  for (int j = 0; j < front.pivots + front.others; ++j) {
    const double* column = work + j * front.stride;
    for (int r = 0; r < front.rows; ++r) weight[r] = larger(weight[r], magnitude(column[r]));
  }
  const int* list = index + front.row_scales;
  int row = 0;
  double largest = 0;
  for (int b = 0; b < front.row_blocks; ++b) {
    const int count = list[0];
    double s = scale_of(list + 1, storage);
    largest = larger(largest, s);
    for (int r = row; r < row + count; ++r) s = larger(s, weight[r]);
    for (int r = row; r < row + count; ++r) {
      scale[r] = s;
      weight[r] = weight[r] > 0 ? 1 / weight[r] : 0;
    }
    row += count;
    list += 2 + list[1];
  }
  if (front.pass_scale >= 0) storage[front.pass_scale] = largest;
}

/// LU with row pivoting on rows that are weighted to a largest entry of 1. Returns the column that has no pivot, or −1.
int eliminate(const FrontShape& front, double tolerance, double* storage) {
  const int m = front.rows, columns = front.pivots + front.others + 1, lead = front.stride;
  double* work = storage + front.work;
  double* weight = storage + front.scale;
  double* scale = weight + m;
  for (int j = 0; j < front.pivots; ++j) {
    double* pivots = work + j * lead;
    int best = -1;
    double best_size = 0;
    for (int r = j; r < m; ++r) {
      const double size = magnitude(pivots[r]) * weight[r];
      if (size > best_size && magnitude(pivots[r]) > tolerance * scale[r]) {
        best = r;
        best_size = size;
      }
    }
    if (best < 0) return j;
    if (best != j) {
      for (int k = 0; k < columns + 0; ++k) {
        const double x = work[k * lead + j];
        work[k * lead + j] = work[k * lead + best];
        work[k * lead + best] = x;
      }
      double x = weight[j];
      weight[j] = weight[best];
      weight[best] = x;
      x = scale[j];
      scale[j] = scale[best];
      scale[best] = x;
    }
    const double reciprocal = 1 / pivots[j];
    for (int r = j + 1; r < m; ++r) pivots[r] *= reciprocal;
    for (int k = j + 1; k < columns; ++k) {
      double* column = work + k * lead;
      const double f = column[j];
      if (f == 0) continue;
      for (int r = j + 1; r < m; ++r) column[r] -= pivots[r] * f;
    }
  }
  return -1;
}

void pass_on(const FrontShape& front, const FrontPiece* pieces, double* storage) {
  for (const FrontPiece* p = pieces + front.pass_begin; p != pieces + front.pass_end; ++p) {
    for (int j = 0; j < p->columns; ++j) {
      const double* from = storage + front.work + (p->column + j) * front.stride + p->row;
      for (int r = 0; r < p->rows; ++r) storage[p->block + j * p->stride + r] = from[r];
    }
  }
}

void solve_front(const FrontShape& front, const FrontPiece* pieces, double* storage) {
  const int d = front.pivots, lead = front.stride;
  double* work = storage + front.work;
  double* x = work + (d + front.others) * lead;
  for (const FrontPiece* p = pieces + front.known_begin; p != pieces + front.known_end; ++p) {
    for (int j = 0; j < p->rows; ++j) {
      const double f = storage[p->block + j];
      const double* column = work + (p->column + j) * lead;
      for (int r = 0; r < d; ++r) x[r] -= column[r] * f;
    }
  }
  for (int j = d - 1; j >= 0; --j) {
    x[j] /= work[j * lead + j];
    for (int r = 0; r < j; ++r) x[r] -= work[j * lead + r] * x[j];
  }
  for (const FrontPiece* p = pieces + front.solution_begin; p != pieces + front.solution_end; ++p) {
    for (int r = 0; r < p->rows; ++r) storage[p->block + r] = x[p->row + r];
  }
}

bool run_front(const FrontShape& front, const BlockTables& tables, double* storage, int* failed) {
  gather(front, tables.pieces, storage);
  measure_rows(front, tables.index, storage);
  const int column = eliminate(front, tables.tolerance, storage);
  if (column >= 0) {
    *failed = tables.index[front.column_names + column];
    return false;
  }
  pass_on(front, tables.pieces, storage);
  return true;
}

}  // namespace
}  // namespace kinegraph::linear
