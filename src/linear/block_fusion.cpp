#include <algorithm>
#include <map>

#include "kinegraph/linear/block_program.hpp"

// Most operations take a dozen cycles. What some of them can share (the load of a matrix, a sum that stays in a
// register, the jump to the next operation) is a good part of that. Blocks are never changed in place, so an operation
// may be done later than the list says, as long as nobody reads its result before.
namespace kinegraph::linear {
namespace {

bool is_product_666(OpKind kind) { return kind == OpKind::multiply_666 || kind == OpKind::multiply_666_adjoint; }

/// Who reads the result of an operation of the forward list.
class Readers {
 public:
  static constexpr int kOutside = 1 << 30;  // the back-substitution, or a front

  explicit Readers(const BlockProgram& program) {
    for (const BlockOp& op : program.steps) blocks_[op.target];
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
      const BlockOp& op = program.steps[i];
      for (const int block : {op.base, op.left, op.right}) add(block, static_cast<int>(i));
    }
    for (const BlockOp& op : program.backward) {
      for (const int block : {op.base, op.left, op.right}) add(block, kOutside);
    }
    for (const FrontPiece& piece : program.pieces) add(piece.block, kOutside);
    for (const FrontPiece& piece : program.last.pieces) add(piece.block, kOutside);
  }

  bool only(int target, int reader) const {
    const Span& span = blocks_.at(target);
    return span.first == reader && span.last == reader;
  }

 private:
  struct Span {
    int first = kOutside + 1, last = -1;
  };
  /// A read may start within a block. Blocks that no operation writes are taken for the one before them: that can only
  /// add readers.
  void add(int block, int reader) {
    auto found = blocks_.upper_bound(block);
    if (found == blocks_.begin()) return;
    Span& span = (--found)->second;
    span.first = std::min(span.first, reader);
    span.last = std::max(span.last, reader);
  }
  std::map<int, Span> blocks_;
};

/// C ← C ± A B, and later, without anybody looking at it in between, C ← C ± u r: puts the first off until then. Both
/// come with their right sides, in pairs.
std::vector<BlockOp> postpone_products(const BlockProgram& program) {
  const std::vector<BlockOp>& list = program.steps;
  const Readers readers(program);
  std::map<int, int> product_of;  // by target: where the product is
  std::vector<int> moved(list.size(), -1);
  std::vector<char> taken(list.size(), 0);
  for (std::size_t i = 0; i + 1 < list.size(); ++i) {
    const BlockOp &op = list[i], &side = list[i + 1];
    if (is_product_666(op.kind) && side.kind == OpKind::multiply_661 && side.left == op.left &&
        side.subtract == op.subtract) {
      product_of[op.target] = static_cast<int>(i);
    }
    if (op.kind != OpKind::multiply_616 || side.kind != OpKind::multiply_611 || side.left != op.left ||
        side.subtract != op.subtract) {
      continue;
    }
    const auto found = product_of.find(op.base);
    if (found == product_of.end() || list[found->second + 1].target != side.base) continue;
    const int at = static_cast<int>(i);
    if (!readers.only(op.base, at) || !readers.only(side.base, at + 1)) continue;
    moved[i] = found->second;
    taken[found->second] = taken[found->second + 1] = 1;
  }
  std::vector<BlockOp> result;
  result.reserve(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (taken[i]) continue;
    if (moved[i] < 0) {
      result.push_back(list[i]);
      continue;
    }
    result.insert(result.end(), list.begin() + moved[i], list.begin() + moved[i] + 2);
    result.insert(result.end(), list.begin() + i, list.begin() + i + 2);
    BlockOp& first = result[result.size() - 4];
    first.kind = first.kind == OpKind::multiply_666 ? OpKind::update_667 : OpKind::update_667_adjoint;
    first.subtract = static_cast<std::uint8_t>(first.subtract + 2 * list[i].subtract);
    ++i;
  }
  return result;
}

/// The kind of an operation that does the work of both, or that of the first if there is none.
OpKind joined(const BlockOp& a, const BlockOp& b) {
  const auto are = [&](OpKind first, OpKind second) { return a.kind == first && b.kind == second; };
  if (a.left == b.left && b.right != a.target && b.base != a.target) {
    if (are(OpKind::multiply_666, OpKind::multiply_661)) return OpKind::multiply_667;
    if (are(OpKind::multiply_666_adjoint, OpKind::multiply_661)) return OpKind::multiply_667_adjoint;
    if (are(OpKind::multiply_166, OpKind::multiply_161)) return OpKind::multiply_167;
    if (are(OpKind::multiply_616, OpKind::multiply_611)) return OpKind::multiply_617;
  }
  if (are(OpKind::pick_row_6, OpKind::add_1)) return OpKind::pick_row_7;
  if (b.base == a.target && b.target == a.target && b.right != a.target) {
    if (are(OpKind::multiply_661, OpKind::multiply_661)) return OpKind::chain_661_661;
  }
  return a.kind;
}

/// invert_1 and the two products with it that normalise a row and its right side.
bool normalises(const BlockOp* op, const BlockOp* end) {
  return end - op >= 3 && op[0].kind == OpKind::invert_1 && op[1].kind == OpKind::multiply_116 &&
         op[2].kind == OpKind::multiply_111 && op[1].left == op[0].target && op[2].left == op[0].target &&
         !op[1].subtract && !op[2].subtract;
}

/// The whole row of a joint with one freedom.
bool eliminates_joint(const BlockOp* op, const BlockOp* end, const std::vector<int>& index) {
  constexpr OpKind kPattern[] = {OpKind::pick_row_6,   OpKind::add_1,    OpKind::multiply_166, OpKind::multiply_161,
                                 OpKind::max_diagonal, OpKind::invert_1, OpKind::multiply_116, OpKind::multiply_111};
  if (end - op < 8) return false;
  for (int i = 0; i < 8; ++i) {
    const bool sign_allowed = op[i].kind == OpKind::add_1 || op[i].kind == OpKind::multiply_161 || i == 5;
    if (op[i].kind != kPattern[i] || (op[i].subtract && !sign_allowed)) return false;
  }
  const int pivot = op[5].left - op[0].target;
  return pivot >= 0 && pivot < 6 && op[2].left == op[0].target && op[3].left == op[0].target &&
         op[3].base == op[1].target && index[op[5].extra] == 1 && index[op[5].extra + 1] == op[4].target &&
         op[6].left == op[5].target && op[6].right == op[2].target && op[7].left == op[5].target &&
         op[7].right == op[3].target;
}

/// x from y, then a body's column from y and x.
bool solves_joint(const BlockOp* op, const BlockOp* end) {
  return end - op >= 3 && op[0].kind == OpKind::multiply_161 && op[1].kind == OpKind::multiply_661 &&
         op[2].kind == OpKind::multiply_611 && op[1].right == op[0].right && op[2].right == op[0].target &&
         op[2].base == op[1].target && op[2].target == op[1].target;
}

void join_neighbours(BlockOp* begin, BlockOp* end, const std::vector<int>& index) {
  for (BlockOp* op = begin; op < end; op += records(op->kind)) {
    if (eliminates_joint(op, end, index)) {
      op->kind = OpKind::eliminate_joint;
    } else if (normalises(op, end)) {
      op->kind = OpKind::normalise_7;
    } else if (solves_joint(op, end)) {
      op->kind = OpKind::solve_joint;
      op->inner = op->subtract;
      op->subtract = static_cast<std::uint8_t>(op[1].subtract + 2 * op[2].subtract);
    } else if (end - op >= 2) {
      const OpKind kind = joined(op[0], op[1]);
      if (kind == op->kind) continue;
      op->kind = kind;
      op->subtract = static_cast<std::uint8_t>(op[0].subtract + 2 * op[1].subtract);
    }
  }
}

/// A product with a column that the last such product has given need not wait until it is read back.
void keep_recent(BlockOp* begin, BlockOp* end) {
  int recent = -1;
  for (BlockOp* at = begin; at < end; at += records(at->kind)) {
    BlockOp& op = *at;
    const BlockOp& final = at[records(op.kind) - 1];
    if (op.kind == OpKind::multiply_661) {
      if (op.right == recent) op.kind = OpKind::multiply_661_recent;
      recent = final.target;
    } else if (op.kind == OpKind::chain_661_661) {
      if (final.right == recent) op.kind = OpKind::chain_661_661_recent;
      recent = final.target;
    } else if (op.kind == OpKind::solve_joint) {
      op.extra = op.right == recent;
      recent = final.target;
    } else if (op.target == recent) {
      recent = -1;
    }
  }
}

/// Pieces may run at the same time: nothing is shared across their bounds.
template <class Function>
void for_each_part(std::vector<BlockOp>& list, const std::vector<int>& pieces, const Function& function) {
  int begin = 0;
  for (const int bound : pieces) {
    function(list.data() + begin, list.data() + bound);
    begin = bound;
  }
  function(list.data() + begin, list.data() + list.size());
}

/// Unknowns that no other needs are solved for last: the others are a chain, in which each waits for the one before.
std::vector<BlockOp> put_leaves_last(const std::vector<BlockOp>& list) {
  std::map<int, bool> read;  // by target: somebody else reads it
  for (const BlockOp& op : list) read[op.target];
  bool movable = true;
  for (const BlockOp& op : list) {
    movable = movable && op.kind != OpKind::front_solve;
    for (const int block : {op.base, op.left, op.right}) {
      auto found = read.upper_bound(block);
      if (found == read.begin()) continue;
      --found;
      if (found->first != op.target) found->second = true;
    }
  }
  std::vector<BlockOp> result = list;
  if (movable) std::stable_partition(result.begin(), result.end(), [&](const BlockOp& op) { return read[op.target]; });
  return result;
}

}  // namespace

void fuse_operations(BlockProgram& program) {
  program.forward = postpone_products(program);
  program.forward_pieces = split_into_pieces(program.forward, program, true);
  for_each_part(program.forward, program.forward_pieces,
                [&](BlockOp* begin, BlockOp* end) { join_neighbours(begin, end, program.index); });
  program.backward = put_leaves_last(program.backward);
  program.backward_pieces = split_into_pieces(program.backward, program, false);
  for_each_part(program.backward, program.backward_pieces, [&](BlockOp* begin, BlockOp* end) {
    join_neighbours(begin, end, program.index);
    keep_recent(begin, end);
  });
}

}  // namespace kinegraph::linear
