#include "kinegraph/linear/block_writer.hpp"

#include <algorithm>

namespace kinegraph::linear {
namespace {

bool consecutive(const std::vector<int>& index) {
  for (std::size_t i = 1; i < index.size(); ++i) {
    if (index[i] != index[i - 1] + 1) return false;
  }
  return !index.empty();
}

BlockValue part(const BlockValue& block, int offset, int rows, int columns) {
  return {BlockForm::dense, rows, columns, block.offset + offset, block.sign, {}, true};
}

OpKind product_kind(int m, int k, int n, BlockForm right) {
  if (m == 6 && k == 6 && n == 6) {
    return right == BlockForm::adjoint ? OpKind::multiply_666_adjoint : OpKind::multiply_666;
  }
  if (m == 6 && k == 6 && n == 1) return OpKind::multiply_661;
  if (m == 1 && k == 6 && n == 6) return OpKind::multiply_166;
  if (m == 1 && k == 6 && n == 1) return OpKind::multiply_161;
  if (m == 1 && k == 1 && n == 6) return OpKind::multiply_116;
  if (m == 6 && k == 1 && n == 6) return OpKind::multiply_616;
  if (m == 6 && k == 1 && n == 1) return OpKind::multiply_611;
  if (m == 1 && k == 1 && n == 1) return OpKind::multiply_111;
  return OpKind::multiply;
}

}  // namespace

int BlockWriter::zeros(int rows, int columns) {
  zeros_ = std::max(zeros_, block_stride(rows) * columns);
  return kZeros;
}

void BlockWriter::write_zeros() {
  const int at = layout.allocate(8, (zeros_ + 7) / 8 + 1);
  for (auto* operations : {&program.steps, &program.backward}) {
    for (BlockOp& op : *operations) {
      if (op.base == kZeros) op.base = at;
      if (op.left == kZeros) op.left = at;
    }
  }
}

BlockValue BlockWriter::numbers(const BlockValue& v) {
  if (!v.exact()) return v;
  auto [place, made] = constants_.try_emplace({v.form, v.rows, v.columns, v.index}, -1);
  if (made) {
    place->second = layout.allocate(v.rows, v.columns);
    const int count = v.form == BlockForm::select_rows ? v.rows : v.columns;
    for (int k = 0; k < count; ++k) {
      const int other = v.form == BlockForm::identity ? k : v.index[k];
      const int row = v.form == BlockForm::select_rows ? k : other;
      const int column = v.form == BlockForm::select_rows ? other : k;
      program.constants.emplace_back(place->second + column * block_stride(v.rows) + row, 1.0);
    }
  }
  return {BlockForm::dense, v.rows, v.columns, place->second, v.sign, {}, true};
}

BlockOp& BlockWriter::emit(OpKind kind, int rows, int inner, int columns) {
  BlockOp op;
  op.kind = kind;
  op.rows = static_cast<std::uint16_t>(rows);
  op.inner = static_cast<std::uint16_t>(inner);
  op.columns = static_cast<std::uint16_t>(columns);
  list->push_back(op);
  return list->back();
}

void BlockWriter::emit_add(int target, int base, int left, int rows, int columns, double sign) {
  const OpKind kind = rows == 1 && columns == 1   ? OpKind::add_1
                      : rows == 6 && columns == 1 ? OpKind::add_6
                                                  : OpKind::add;
  BlockOp& op = emit(kind, rows, 0, columns);
  op.target = target, op.base = base, op.left = left, op.subtract = sign < 0;
  program.flops += static_cast<long>(rows) * columns;
}

void BlockWriter::emit_product(int target, int base, const BlockValue& a, const BlockValue& b, double sign) {
  BlockOp& op = emit(product_kind(a.rows, a.columns, b.columns, b.form), a.rows, a.columns, b.columns);
  op.target = target, op.base = base, op.left = a.offset, op.right = b.offset, op.subtract = sign < 0;
  program.flops += 2L * a.rows * a.columns * b.columns;
}

void BlockWriter::emit_pick(int target, int base, const BlockValue& b, const std::vector<int>& index, double sign) {
  const int m = static_cast<int>(index.size());
  const bool one = m == 1 && b.rows == 6 && b.columns == 6;
  BlockOp& op = emit(one ? OpKind::pick_row_6 : OpKind::pick_rows, m, b.rows, b.columns);
  op.target = target, op.base = base, op.left = b.offset, op.subtract = sign < 0;
  if (one) {
    op.extra = index[0];
  } else {
    op.extra = static_cast<int>(program.index.size());
    program.index.insert(program.index.end(), index.begin(), index.end());
  }
  program.flops += static_cast<long>(m) * b.columns;
}

bool BlockWriter::view(const BlockValue& a, const BlockValue& b, BlockValue& result) {
  if (a.form == BlockForm::identity) {
    result = b;
  } else if (b.form == BlockForm::identity) {
    result = a;
  } else if (b.form == BlockForm::select_columns && !a.exact() && consecutive(b.index)) {
    result = part(a, b.index[0] * block_stride(a.rows), a.rows, b.columns);
  } else if (a.form == BlockForm::select_rows && !b.exact() && b.columns == 1 && consecutive(a.index)) {
    result = part(b, a.index[0], a.rows, 1);
  } else {
    return false;
  }
  result.sign = a.sign * b.sign;
  result.filled = true;
  return true;
}

BlockValue BlockWriter::update(const BlockValue* base, const BlockValue& a, const BlockValue& b, double sign) {
  BlockValue seen;
  const bool is_view = view(a, b, seen);
  if (is_view && base == nullptr) {
    seen.sign *= sign;
    return seen;
  }
  const int m = a.rows, n = b.columns;
  const double product_sign = sign * a.sign * b.sign;
  BlockValue result{BlockForm::dense, m, n, layout.allocate(m, n), product_sign, {}, true};
  int from = zeros(m, n);
  double relative = 1;
  if (base != nullptr) {
    const BlockValue start = numbers(*base);
    from = start.offset;
    result.sign = start.sign;
    relative = product_sign * start.sign;
  }
  if (is_view) {
    emit_add(result.offset, from, numbers(seen).offset, m, n, relative);
  } else if (b.form == BlockForm::select_columns && !a.exact()) {
    const int lead = block_stride(m);
    for (int j = 0; j < n; ++j) {
      emit_add(result.offset + j * lead, from == kZeros ? from : from + j * lead, a.offset + b.index[j] * lead, m, 1,
               relative);
    }
  } else if (a.form == BlockForm::select_rows && !b.exact()) {
    emit_pick(result.offset, from, b, a.index, relative);
  } else {
    emit_product(result.offset, from, numbers(a), numbers(b), relative);
  }
  return result;
}

int BlockWriter::slot(const Measured& block) {
  auto [place, made] = slots_.try_emplace(block, -1);
  if (made) {
    const auto [offset, rows, columns, diagonal] = block;
    place->second = layout.allocate(1, 1);
    BlockOp& op = emit(diagonal                    ? OpKind::max_diagonal
                       : rows == 6 && columns == 6 ? OpKind::max_abs_66
                                                   : OpKind::max_abs,
                       rows, 0, columns);
    op.target = place->second, op.left = offset;
  }
  return place->second;
}

int BlockWriter::table(const std::vector<int>& entries) {
  const int at = static_cast<int>(program.index.size());
  program.index.push_back(static_cast<int>(entries.size()));
  program.index.insert(program.index.end(), entries.begin(), entries.end());
  return at;
}

}  // namespace kinegraph::linear
