#include "kinegraph/linear/block_plan.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>

#include "kinegraph/linear/block_plan_implementation.hpp"

namespace kinegraph::linear {

BlockLayout::BlockLayout(const BlockStructure& structure) {
  using Form = BlockStructure::Form;
  for (const BlockStructure::Entry& e : structure.entries) {
    BlockValue v;
    v.rows = structure.row_size[e.row];
    v.columns = structure.column_size[e.column];
    v.form = e.form == Form::minus_identity ? Form::identity : e.form;
    v.sign = e.form == Form::minus_identity ? -1 : e.form == Form::identity ? 1 : e.sign;
    v.index = e.index;
    if (v.form > Form::identity && v.rows == v.columns) {  // all of them, in order?
      bool ordered = true;
      for (int i = 0; i < v.rows; ++i) ordered = ordered && v.index[i] == i;
      if (ordered) {
        v.form = Form::identity;
        v.index.clear();
      }
    }
    if (!v.exact()) v.offset = allocate(v.rows, v.columns);
    entries[{e.row, e.column}] = v;
  }
  for (const int size : structure.row_size) {
    right_sides.push_back({Form::dense, size, 1, allocate(size, 1), 1, {}, false});
  }
  for (const int size : structure.column_size) solutions.push_back(allocate(size, 1));
}

/// Vector registers read whole: blocks start at multiples of 8, those of up to four numbers at a multiple of their
/// size.
int BlockLayout::allocate(int rows, int columns) {
  int count = block_stride(rows) * columns;
  count = count <= 2 ? count : count <= 4 ? 4 : (count + 7) / 8 * 8;
  const int align = std::min(count, 8);
  const int at = (size + align - 1) / align * align;
  size = at + count;
  return at;
}

namespace {

void require(bool condition, const char* what) {
  if (!condition) throw std::invalid_argument(std::string("block plan: ") + what);
}

void check_entry(const BlockStructure& s, const BlockStructure::Entry& e) {
  using Form = BlockStructure::Form;
  require(e.row >= 0 && e.row < static_cast<int>(s.row_size.size()), "an entry's row is out of range");
  require(e.column >= 0 && e.column < static_cast<int>(s.column_size.size()), "an entry's column is out of range");
  const int rows = s.row_size[e.row], columns = s.column_size[e.column];
  if (e.form == Form::adjoint || e.form == Form::adjoint_transposed) {
    require(rows == 6 && columns == 6, "an adjoint is 6×6");
  }
  if (e.form == Form::identity || e.form == Form::minus_identity) require(rows == columns, "an identity is square");
  if (e.form != Form::select_columns && e.form != Form::select_rows) return;
  const bool by_rows = e.form == Form::select_rows;
  require(static_cast<int>(e.index.size()) == (by_rows ? rows : columns),
          "a selection has one index per row or column");
  require(e.sign == 1 || e.sign == -1, "the sign of an entry is 1 or −1");
  for (const int i : e.index)
    require(i >= 0 && i < (by_rows ? columns : rows), "an index of a selection is out of range");
}

void check(const BlockStructure& s, const std::vector<std::vector<int>>& order) {
  const int rows = static_cast<int>(s.row_size.size()), columns = static_cast<int>(s.column_size.size());
  require(static_cast<int>(s.pivot_row.size()) == columns, "one pivot row per column is needed");
  require(static_cast<int>(s.level.size()) == columns, "one level per column is needed");
  for (const int size : s.row_size) require(size > 0 && size <= 65535, "a row block is empty or too large");
  for (const int size : s.column_size) require(size > 0 && size <= 65535, "a column block is empty or too large");
  std::set<std::pair<int, int>> seen;
  for (const BlockStructure::Entry& e : s.entries) {
    check_entry(s, e);
    require(seen.insert({e.row, e.column}).second, "two entries stand in one place");
  }
  std::vector<char> taken(rows, 0), ordered(columns, 0);
  for (int c = 0; c < columns; ++c) {
    require(s.level[c] >= 0 && s.level[c] <= 2, "a level is 0, 1 or 2");
    const int r = s.pivot_row[c];
    require(r >= -1 && r < rows, "a pivot row is out of range");
    if (r < 0) continue;
    require(!taken[r], "a row is the pivot of two columns");
    require(s.row_size[r] == s.column_size[c], "a pivot is square");
    taken[r] = 1;
  }
  for (const auto& group : order) {
    require(!group.empty(), "a group of the order is empty");
    for (const int c : group) {
      require(c >= 0 && c < columns, "the order names a column that is not there");
      require(s.level[c] == 0, "the order names a column of the last front");
      require(!ordered[c], "the order names a column twice");
      ordered[c] = 1;
    }
  }
  for (int c = 0; c < columns; ++c) require(ordered[c] || s.level[c] > 0, "the order leaves out a column");
}

}  // namespace

BlockPlan::Implementation::Implementation(const BlockStructure& s, const std::vector<std::vector<int>>& order)
    : structure(s), layout(s), main(compile_blocks(s, order, layout, true)) {
  steps = static_cast<int>(order.size());
  if (main.trusts_pivots) careful = compile_blocks(s, order, layout, false);
}

BlockPlan::BlockPlan(const BlockStructure& structure, const std::vector<std::vector<int>>& order) {
  check(structure, order);
  implementation_ = std::make_unique<const Implementation>(structure, order);
}
BlockPlan::~BlockPlan() = default;
BlockPlan::BlockPlan(BlockPlan&&) noexcept = default;

int BlockPlan::entry(int row, int column) const {
  const auto found = implementation_->layout.entries.find({row, column});
  return found == implementation_->layout.entries.end() ? -1 : found->second.offset;
}
int BlockPlan::stride(int rows) { return block_stride(rows); }
int BlockPlan::right_side(int row) const { return implementation_->layout.right_sides[row].offset; }
int BlockPlan::solution(int column) const { return implementation_->layout.solutions[column]; }
int BlockPlan::steps() const { return implementation_->steps; }
int BlockPlan::storage_size() const {
  const Implementation& i = *implementation_;
  return std::max(i.main.storage_size, i.careful ? i.careful->storage_size : 0);
}
long BlockPlan::flops() const { return implementation_->main.flops; }
int BlockPlan::pieces() const {
  const BlockProgram& main = implementation_->main;
  return static_cast<int>(std::max({main.forward_pieces.size(), main.backward_pieces.size(), std::size_t{2}})) - 1;
}
int BlockPlan::fill() const { return implementation_->main.fill; }
const BlockStructure& BlockPlan::structure() const { return implementation_->structure; }

}  // namespace kinegraph::linear
