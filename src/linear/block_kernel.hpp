#pragma once

#include <cstdint>

// What the compiler of block plans writes and the kernels read: plain data, no library code. The kernels are compiled
// several times for different processors, and an inline function of a library that got compiled there could be the
// one that the linker keeps for everybody.
namespace kinegraph::linear {

/// From column to column of a block: a power of two up to 8, then a multiple of 8.
constexpr int block_stride(int rows) { return rows <= 2 ? rows : rows <= 4 ? 4 : (rows + 7) / 8 * 8; }

/// Blocks are never changed in place (but for sums of a back-substitution): an operation reads `base` and writes
/// `target`, so that the caller's numbers survive. A sum that starts from nothing starts from a block of zeros. Rows
/// beyond a block's own may hold anything.
enum class OpKind : std::uint8_t {
  // target = base ± left · right; the names are rows, inner size and columns
  multiply,
  multiply_666,
  multiply_666_adjoint,  ///< right is [R 0; E R]
  multiply_661,
  multiply_661_recent,  ///< right is what the last product with a column has given
  multiply_166,
  multiply_161,
  multiply_116,
  multiply_616,
  multiply_611,
  multiply_111,
  // target = base ± left
  add,
  add_1,
  add_6,
  // target = base ± (rows of left that the table names)
  pick_rows,
  pick_row_6,  ///< one row of a block of six rows and columns; `extra` is the row
  // target = ± reciprocal or inverse of left; fails if it vanishes against the scales in the table
  invert,
  invert_1,
  max_abs,  ///< target = largest |number| of left
  max_abs_66,
  max_diagonal,  ///< of 6×6: all that is needed where the block is an inertia, or nearly so
  front,         ///< gather, eliminate and pass on: `extra` is the front
  front_solve,   ///< back-substitution of a front
  // An operation with those that follow it in the list, where they share numbers: see block_fusion.cpp.
  multiply_667,          ///< multiply_666 and multiply_661 with the same left
  multiply_667_adjoint,  ///< multiply_666_adjoint and multiply_661 with the same left
  update_667,            ///< multiply_667, then multiply_616 and multiply_611 to the same targets
  update_667_adjoint,    ///< the same with multiply_667_adjoint
  multiply_167,          ///< multiply_166 and multiply_161 with the same left
  multiply_617,          ///< multiply_616 and multiply_611 with the same left
  pick_row_7,            ///< pick_row_6 and add_1
  eliminate_joint,       ///< pick_row_6, add_1, multiply_166, multiply_161, max_diagonal, invert_1, multiply_116,
                         ///< multiply_111
  normalise_7,           ///< invert_1, then multiply_116 and multiply_111 with the result
  chain_661_661,         ///< two products added to one target
  chain_661_661_recent,  ///< the same; right of the second is what the last product with a column has given
  solve_joint,           ///< multiply_161, multiply_661 and multiply_611: `extra` is 1 if right is recent, `inner` is
                         ///< the first one's `subtract`, `subtract` has those of the others
};

/// How many operations of the list are done by one of this kind.
constexpr int records(OpKind kind) {
  switch (kind) {
    case OpKind::update_667:
    case OpKind::update_667_adjoint:
      return 4;
    case OpKind::eliminate_joint:
      return 8;
    case OpKind::normalise_7:
    case OpKind::solve_joint:
      return 3;
    default:
      return kind < OpKind::multiply_667 ? 1 : 2;
  }
}

struct BlockOp {
  OpKind kind = OpKind::multiply;
  std::uint8_t subtract = 0;  ///< bit 1: of the operation that is fused to this one
  std::uint16_t rows = 0, inner = 0, columns = 0;
  int target = 0, base = 0, left = 0, right = 0;
  int extra = 0;   ///< see the kinds; for tables: where in BlockTables::index
  int column = 0;  ///< whom to name when it fails
};

/// A block and its place in the matrix of a front.
struct FrontPiece {
  int block = 0, stride = 0, rows = 0, columns = 0;
  int row = 0, column = 0;
  double sign = 1;
};

/// All rows that hold the columns of a group, as one dense matrix: `rows` × (pivots + others + right side).
struct FrontShape {
  int rows = 0, pivots = 0, others = 0;
  int work = 0;  ///< the matrix, column-major, from column to column `stride`
  int stride = 0;
  int scale = 0;                             ///< per row, two numbers
  int gather_begin = 0, gather_end = 0;      ///< pieces that come in …
  int pass_begin = 0, pass_end = 0;          ///< … go out as the new row block …
  int known_begin = 0, known_end = 0;        ///< … the solution's blocks of other columns …
  int solution_begin = 0, solution_end = 0;  ///< … and of its own
  int row_scales = 0;  ///< in BlockTables::index: for each piece of rows its count, how many slots, and the slots
  int row_blocks = 0;
  int pass_scale = -1;   ///< the slot of the new row block: the largest of all these
  int column_names = 0;  ///< in BlockTables::index: per pivot the column block it belongs to
};

struct BlockTables {
  const int* index = nullptr;
  const FrontShape* fronts = nullptr;
  const FrontPiece* pieces = nullptr;
  double tolerance = 0;  ///< a pivot below this share of its row's scale has vanished
};

/// Runs operations until one fails. Returns the number of column blocks that failed (0 or 1); `failed` names it.
using BlockKernel = int (*)(const BlockOp* first, const BlockOp* last, const BlockTables& tables, double* storage,
                            int* failed);

int run_block_operations(const BlockOp* first, const BlockOp* last, const BlockTables& tables, double* storage,
                         int* failed);
#if defined(__x86_64__)
int run_block_operations_avx2(const BlockOp* first, const BlockOp* last, const BlockTables& tables, double* storage,
                              int* failed);
int run_block_operations_avx512(const BlockOp* first, const BlockOp* last, const BlockTables& tables, double* storage,
                                int* failed);
#endif

/// The best of them for this processor.
BlockKernel block_kernel();

}  // namespace kinegraph::linear
