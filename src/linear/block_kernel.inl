// The interpreter of block operations. Included by block_kernel*.cpp, which are compiled for different processors; all
// but the one function that they name is local. KINEGRAPH_WIDTH: doubles per vector register.

#include "kinegraph/linear/block_pivots.inl"

namespace kinegraph::linear {
namespace {

constexpr int code(OpKind kind, int subtract = 0) { return 4 * static_cast<int>(kind) + subtract; }

#define KINEGRAPH_VARIANT(name, bits, ...)       \
  case code(OpKind::name, bits): {               \
    constexpr bool kSubtract = (bits & 1) != 0;  \
    constexpr bool kSubtract2 = (bits & 2) != 0; \
    static_cast<void>(kSubtract2);               \
    __VA_ARGS__;                                 \
    break;                                       \
  }
#define KINEGRAPH_SINGLE(name, ...)       \
  KINEGRAPH_VARIANT(name, 0, __VA_ARGS__) \
  KINEGRAPH_VARIANT(name, 1, __VA_ARGS__)
#define KINEGRAPH_FUSED(name, ...)        \
  KINEGRAPH_SINGLE(name, __VA_ARGS__)     \
  KINEGRAPH_VARIANT(name, 2, __VA_ARGS__) \
  KINEGRAPH_VARIANT(name, 3, __VA_ARGS__)

int run(const BlockOp* op, const BlockOp* last, const BlockTables& tables, double* storage, int* failed) {
  Column recent = Column::zero();  // what the last product with a column has given
  for (; op != last; ++op) {
    double* target = storage + op->target;
    const double* base = storage + op->base;
    const double* left = storage + op->left;
    const double* right = storage + op->right;
    const BlockOp* next = op + 1;
    switch (code(op->kind, op->subtract)) {
      KINEGRAPH_SINGLE(multiply, multiply<kSubtract>(*op, storage))
      KINEGRAPH_SINGLE(multiply_666, multiply_666<kSubtract, false>(target, base, left, right))
      KINEGRAPH_SINGLE(multiply_666_adjoint, multiply_666<kSubtract, true>(target, base, left, right))
      KINEGRAPH_SINGLE(multiply_661, recent = multiply_661<kSubtract>(target, base, left, right))
      KINEGRAPH_SINGLE(multiply_661_recent, recent = multiply_661<kSubtract>(target, base, left, recent))
      KINEGRAPH_SINGLE(multiply_166, multiply_166<kSubtract>(target, base, left, right))
      KINEGRAPH_SINGLE(multiply_161, multiply_161<kSubtract>(target, base, left, right))
      KINEGRAPH_SINGLE(multiply_116, multiply_116<kSubtract>(target, base, *left, right))
      KINEGRAPH_SINGLE(multiply_616, multiply_616<kSubtract>(target, base, left, right))
      KINEGRAPH_SINGLE(multiply_611, multiply_611<kSubtract>(target, base, left, *right))
      KINEGRAPH_SINGLE(multiply_111, *target = plus<kSubtract>(*base, *left * *right))
      KINEGRAPH_SINGLE(add, add<kSubtract>(*op, storage))
      KINEGRAPH_SINGLE(add_1, *target = plus<kSubtract>(*base, *left))
      KINEGRAPH_SINGLE(add_6, add_6<kSubtract>(target, base, left))
      KINEGRAPH_SINGLE(pick_rows, pick_rows<kSubtract>(*op, tables.index + op->extra, storage))
      KINEGRAPH_SINGLE(pick_row_6, pick_row_6<kSubtract>(target, base, left + op->extra))
      KINEGRAPH_FUSED(multiply_667, ++op;
                      multiply_667<kSubtract, kSubtract2, false>(target, base, left, right, storage + next->target,
                                                                 storage + next->base, storage + next->right))
      KINEGRAPH_FUSED(multiply_667_adjoint, ++op;
                      multiply_667<kSubtract, kSubtract2, true>(target, base, left, right, storage + next->target,
                                                                storage + next->base, storage + next->right))
      KINEGRAPH_FUSED(update_667, update_667<kSubtract, kSubtract2, false>(op, storage); op += 3)
      KINEGRAPH_FUSED(update_667_adjoint, update_667<kSubtract, kSubtract2, true>(op, storage); op += 3)
      KINEGRAPH_FUSED(multiply_167, ++op; multiply_166<kSubtract>(target, base, left, right); multiply_161<kSubtract2>(
                          storage + next->target, storage + next->base, left, storage + next->right))
      KINEGRAPH_FUSED(multiply_617, ++op; multiply_616<kSubtract>(target, base, left, right); multiply_611<kSubtract2>(
                          storage + next->target, storage + next->base, left, storage[next->right]))
      KINEGRAPH_FUSED(pick_row_7, pick_row_6<kSubtract>(target, base, left + op->extra); ++op;
                      storage[next->target] = plus<kSubtract2>(storage[next->base], storage[next->left]))
      KINEGRAPH_FUSED(chain_661_661, ++op; recent = chain_661_661<kSubtract, kSubtract2>(
                                               target, base, left, right, storage + next->left, storage + next->right))
      KINEGRAPH_FUSED(chain_661_661_recent, ++op; recent = chain_661_661<kSubtract, kSubtract2>(
                                                      target, base, left, right, storage + next->left, recent))
      KINEGRAPH_FUSED(solve_joint, recent = solve_joint<kSubtract, kSubtract2>(
                                       op, storage, op->extra ? recent : Column::load(right));
                      op += 2)
      case code(OpKind::eliminate_joint):
        if (!eliminate_joint(op, tables.tolerance, storage)) return *failed = op[5].column, 1;
        op += 7;
        break;
      case code(OpKind::normalise_7):
      case code(OpKind::normalise_7, 1): {
        double inverse;
        if (!reciprocal(*op, tables, storage, inverse)) return *failed = op->column, 1;
        multiply_116<false>(storage + next->target, storage + next->base, inverse, storage + next->right);
        ++next;
        storage[next->target] = inverse * storage[next->right];
        op += 2;
        break;
      }
      case code(OpKind::invert):
      case code(OpKind::invert, 1):
        if (!invert(*op, tables.tolerance, tables.index + op->extra, storage)) return *failed = op->column, 1;
        break;
      case code(OpKind::invert_1):
      case code(OpKind::invert_1, 1): {
        double inverse;
        if (!reciprocal(*op, tables, storage, inverse)) return *failed = op->column, 1;
        break;
      }
      case code(OpKind::max_diagonal):
        *target = max_diagonal(left);
        break;
      case code(OpKind::max_abs_66):
        *target = max_abs_66(left);
        break;
      case code(OpKind::max_abs):
        *target = max_abs(*op, storage);
        break;
      case code(OpKind::front):
        if (!run_front(tables.fronts[op->extra], tables, storage, failed)) return 1;
        break;
      case code(OpKind::front_solve):
        solve_front(tables.fronts[op->extra], tables.pieces, storage);
        break;
      default:
        __builtin_unreachable();
    }
  }
  return 0;
}

}  // namespace

int KINEGRAPH_KERNEL(const BlockOp* first, const BlockOp* last, const BlockTables& tables, double* storage,
                     int* failed) {
  return run(first, last, tables, storage, failed);
}

}  // namespace kinegraph::linear
