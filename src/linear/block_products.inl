// Products and sums of blocks, and several of them at once. See block_kernel.inl.

#include "kinegraph/linear/block_registers.inl"

namespace kinegraph::linear {
namespace {

/// target = base ± left · right, all 6×6. With Adjoint, right's upper right quarter is zero.
template <bool Subtract, bool Adjoint>
KINEGRAPH_INLINE void multiply_666(double* target, const double* base, const double* left, const double* right) {
  Column a[6];
#pragma GCC unroll 6
  for (int k = 0; k < 6; ++k) a[k] = Column::load(left + k * kLead);
#pragma GCC unroll 6
  for (int j = 0; j < 6; ++j) {
    Column sum = Column::load(base + j * kLead);
#pragma GCC unroll 6
    for (int k = Adjoint && j >= 3 ? 3 : 0; k < 6; ++k) sum.add_product<Subtract>(a[k], right[j * kLead + k]);
    sum.store(target + j * kLead);
  }
}

/// The same, and target2 = base2 ± left · right2 for a single column.
template <bool Subtract, bool Subtract2, bool Adjoint>
KINEGRAPH_INLINE void multiply_667(double* target, const double* base, const double* left, const double* right,
                                   double* target2, const double* base2, const double* right2) {
  Column a[6];
#pragma GCC unroll 6
  for (int k = 0; k < 6; ++k) a[k] = Column::load(left + k * kLead);
  Column side = Column::load(base2);
#pragma GCC unroll 6
  for (int k = 0; k < 6; ++k) side.add_product<Subtract2>(a[k], right2[k]);
  side.store(target2);
#pragma GCC unroll 6
  for (int j = 0; j < 6; ++j) {
    Column sum = Column::load(base + j * kLead);
#pragma GCC unroll 6
    for (int k = Adjoint && j >= 3 ? 3 : 0; k < 6; ++k) sum.add_product<Subtract>(a[k], right[j * kLead + k]);
    sum.store(target + j * kLead);
  }
}

/// target = base ± left · right ± column · row, and the same for a right side.
template <bool Subtract, bool Subtract2, bool Adjoint>
KINEGRAPH_INLINE void update_667(const BlockOp* op, double* storage) {
  const double* left = storage + op->left;
  const double* right = storage + op->right;
  const double* base = storage + op->base;
  const double* side_right = storage + op[1].right;
  const double* row = storage + op[2].right;
  double* target = storage + op[2].target;
  Column a[6];
#pragma GCC unroll 6
  for (int k = 0; k < 6; ++k) a[k] = Column::load(left + k * kLead);
  const Column u = Column::load(storage + op[2].left);
#pragma GCC unroll 6
  for (int j = 0; j < 6; ++j) {
    Column sum = Column::load(base + j * kLead);
#pragma GCC unroll 6
    for (int k = Adjoint && j >= 3 ? 3 : 0; k < 6; ++k) sum.add_product<Subtract>(a[k], right[j * kLead + k]);
    sum.add_product<Subtract2>(u, row[j]);
    sum.store(target + j * kLead);
  }
  Column side = Column::load(storage + op[1].base);
#pragma GCC unroll 6
  for (int k = 0; k < 6; ++k) side.add_product<Subtract>(a[k], side_right[k]);
  side.add_product<Subtract2>(u, storage[op[3].right]);
  side.store(storage + op[3].target);
}

template <bool Subtract>
KINEGRAPH_INLINE void add_products(Column& even, Column& odd, const double* left, const double* right) {
#pragma GCC unroll 3
  for (int k = 0; k < 6; k += 2) {
    even.add_product<Subtract>(Column::load(left + k * kLead), right[k]);
    odd.add_product<Subtract>(Column::load(left + (k + 1) * kLead), right[k + 1]);
  }
}

/// The same with a right side that is still in a register.
template <bool Subtract>
KINEGRAPH_INLINE void add_products(Column& even, Column& odd, const double* left, const Column& right) {
  even.add_product<Subtract, 0>(Column::load(left), right);
  odd.add_product<Subtract, 1>(Column::load(left + kLead), right);
  even.add_product<Subtract, 2>(Column::load(left + 2 * kLead), right);
  odd.add_product<Subtract, 3>(Column::load(left + 3 * kLead), right);
  even.add_product<Subtract, 4>(Column::load(left + 4 * kLead), right);
  odd.add_product<Subtract, 5>(Column::load(left + 5 * kLead), right);
}

/// Right: where it is, or a Column.
template <bool Subtract, class Right>
KINEGRAPH_INLINE Column multiply_661(double* target, const double* base, const double* left, const Right& right) {
  Column even = Column::load(base), odd = Column::zero();
  add_products<Subtract>(even, odd, left, right);
  even.add(odd);
  even.store(target);
  return even;
}

/// target = base ± left · right ± left2 · right2
template <bool Subtract, bool Subtract2, class Right2>
KINEGRAPH_INLINE Column chain_661_661(double* target, const double* base, const double* left, const double* right,
                                      const double* left2, const Right2& right2) {
  Column even = Column::load(base), odd = Column::zero();
  add_products<Subtract>(even, odd, left, right);
  add_products<Subtract2>(even, odd, left2, right2);
  even.add(odd);
  even.store(target);
  return even;
}

KINEGRAPH_INLINE RowOfSix times_66(const Multiplier& a, const double* right) {
  const auto pair = [&](int j) {
    const V2 s = a.dot(right + j * kLead), t = a.dot(right + (j + 1) * kLead);
    return __builtin_shufflevector(s, t, 0, 2) + __builtin_shufflevector(s, t, 1, 3);
  };
  return {pair(0), pair(2), pair(4)};
}

template <bool Subtract>
KINEGRAPH_INLINE void multiply_166(double* target, const double* base, const double* left, const double* right) {
  const RowOfSix product = times_66(Multiplier::load(left), right);
  RowOfSix sum = RowOfSix::load(base);
  sum.accumulate<Subtract>(product.a, product.b, product.c);
  sum.store(target);
}

template <bool Subtract>
KINEGRAPH_INLINE void multiply_161(double* target, const double* base, const double* left, const double* right) {
  const V2 s = Multiplier::load(left).dot(right);
  *target = plus<Subtract>(*base, s[0] + s[1]);
}

/// A joint and the body behind it, given y: x = base ± row · y, then target = base ± left · y ± column · x.
template <bool Subtract, bool Subtract2>
KINEGRAPH_INLINE Column solve_joint(const BlockOp* op, double* storage, const Column& y) {
  Column even = Column::load(storage + op[1].base), odd = Column::zero();
  add_products<Subtract>(even, odd, storage + op[1].left, y);
  even.add(odd);
  const V2 s = Multiplier::load(storage + op->left).dot(y);
  const double product = s[0] + s[1];
  const double x = op->inner ? storage[op->base] - product : storage[op->base] + product;
  storage[op->target] = x;
  even.add_product<Subtract2>(Column::load(storage + op[2].left), x);
  even.store(storage + op[2].target);
  return even;
}

template <bool Subtract>
KINEGRAPH_INLINE void multiply_116(double* target, const double* base, double left, const double* right) {
  const RowOfSix x = RowOfSix::load(right);
  RowOfSix sum = RowOfSix::load(base);
  sum.accumulate<Subtract>(x.a * left, x.b * left, x.c * left);
  sum.store(target);
}

template <bool Subtract>
KINEGRAPH_INLINE void multiply_616(double* target, const double* base, const double* left, const double* right) {
  const Column a = Column::load(left);
#pragma GCC unroll 6
  for (int j = 0; j < 6; ++j) {
    Column sum = Column::load(base + j * kLead);
    sum.add_product<Subtract>(a, right[j]);
    sum.store(target + j * kLead);
  }
}

template <bool Subtract>
KINEGRAPH_INLINE void multiply_611(double* target, const double* base, const double* left, double right) {
  Column sum = Column::load(base);
  sum.add_product<Subtract>(Column::load(left), right);
  sum.store(target);
}

template <bool Subtract>
void multiply(const BlockOp& op, double* storage) {
  const int m = op.rows, n = op.columns, lead = block_stride(m), right_lead = block_stride(op.inner);
  for (int j = 0; j < n; ++j) {
    double* target = storage + op.target + j * lead;
    const double* base = storage + op.base + j * lead;
    const double* right = storage + op.right + j * right_lead;
    const double* left = storage + op.left;
    if (m == 1) {
      double sum = 0;
      for (int k = 0; k < op.inner; ++k) sum += left[k] * right[k];
      *target = plus<Subtract>(*base, sum);
      continue;
    }
    for (int r = 0; r < m; ++r) target[r] = base[r];
    for (int k = 0; k < op.inner; ++k) {
      const double f = right[k];
      for (int r = 0; r < m; ++r) target[r] = plus<Subtract>(target[r], left[k * lead + r] * f);
    }
  }
}

template <bool Subtract>
KINEGRAPH_INLINE void add(const BlockOp& op, double* storage) {
  const int count = block_stride(op.rows) * op.columns;
  double* target = storage + op.target;
  const double* base = storage + op.base;
  const double* left = storage + op.left;
  for (int i = 0; i < count; ++i) target[i] = plus<Subtract>(base[i], left[i]);
}

template <bool Subtract>
KINEGRAPH_INLINE void add_6(double* target, const double* base, const double* left) {
  Column sum = Column::load(base);
  sum.accumulate<Subtract>(Column::load(left));
  sum.store(target);
}

template <bool Subtract>
void pick_rows(const BlockOp& op, const int* index, double* storage) {
  const int lead = block_stride(op.rows), left_lead = block_stride(op.inner);
  for (int j = 0; j < op.columns; ++j) {
    for (int r = 0; r < op.rows; ++r) {
      const int i = j * lead + r;
      storage[op.target + i] = plus<Subtract>(storage[op.base + i], storage[op.left + j * left_lead + index[r]]);
    }
  }
}

template <bool Subtract>
KINEGRAPH_INLINE void pick_row_6(double* target, const double* base, const double* left) {
  RowOfSix sum = RowOfSix::load(base);
  sum.accumulate<Subtract>(V2{left[0], left[kLead]}, V2{left[2 * kLead], left[3 * kLead]},
                           V2{left[4 * kLead], left[5 * kLead]});
  sum.store(target);
}

}  // namespace
}  // namespace kinegraph::linear
