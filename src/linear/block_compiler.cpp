#include <algorithm>
#include <set>
#include <stdexcept>

#include "kinegraph/linear/block_writer.hpp"

// Eliminates symbolically and writes down the operations that do it numerically.
//
// Column x with pivot row p, which reads ±x + Σ Bₖ xₖ = b (after multiplication with the inverse of a dense pivot):
//
//     every other row r that holds x with the block A:    Cₖ ← Cₖ ∓ A Bₖ,    b_r ← b_r ∓ A b
//     back-substitution:                                  x = ±(b − Σ Bₖ xₖ)
//
// Products with I and with selections are no products: they are another view of the same numbers where possible, and
// copies elsewhere. Signs are kept in the symbols. A column without such a pivot, and a group of several columns, is
// eliminated by a dense front of all rows that hold it; the rows that are left form a new row block.
namespace kinegraph::linear {
namespace {

constexpr int kLargest = 65535;  // rows of a block: what BlockOp can hold

/// Rows that are left, and where their numbers came from.
struct Row {
  int size = 0;
  bool used = false;
  std::map<int, BlockValue> blocks;
  BlockValue right_side;
  std::set<int> gathered;    // by a front that has left this row; empty: a row of the structure
  std::set<Measured> scale;  // blocks that tell how large its numbers have been

  void add_scale(const BlockValue& v) {
    if (!v.exact()) scale.insert({v.offset, v.rows, v.columns, false});
  }
};

class Compiler {
 public:
  Compiler(const BlockStructure& structure, const BlockLayout& layout, bool trust)
      : structure_(structure), writer_(layout), trust_(trust) {
    for (std::size_t r = 0; r < structure.row_size.size(); ++r) {
      Row row;
      row.size = structure.row_size[r];
      row.right_side = layout.right_sides[r];
      rows_.push_back(std::move(row));
    }
    holders_.resize(structure.column_size.size());
    for (const auto& [place, value] : layout.entries) {
      set(place.first, place.second, value);
      rows_[place.first].add_scale(value);
      original_.insert(place);
    }
  }

  BlockProgram compile(const std::vector<std::vector<int>>& order) {
    for (const auto& group : order) {
      program_.missing_column = std::max(program_.missing_column, eliminate(group));
      if (program_.missing_column >= 0) break;
      program_.step_end.push_back(static_cast<int>(program_.steps.size()));
      ++step_;
    }
    if (program_.missing_column < 0) {
      gather_last_front();
      substitute_back();
    }
    writer_.write_zeros();
    program_.storage_size = writer_.layout.size + 16;
    fuse_operations(program_);
    return std::move(program_);
  }

 private:
  // ---- symbols

  void set(int row, int column, const BlockValue& value) {
    rows_[row].blocks[column] = value;
    holders_[column].insert(row);
    program_.history[{row, column}].push_back({started_ ? step_ + 1 : 0, true, value});
    if (started_ && !original_.contains({row, column}) && filled_.insert({row, column}).second) ++program_.fill;
  }
  void remove(int row, int column) {
    rows_[row].blocks.erase(column);
    holders_[column].erase(row);
    program_.history[{row, column}].push_back({step_ + 1, false, {}});
  }
  void use_up(int row) {
    rows_[row].used = true;
    for (const auto& [column, value] : rows_[row].blocks) {
      holders_[column].erase(row);
      program_.history[{row, column}].push_back({step_ + 1, false, {}});
    }
  }

  std::vector<int> slots_of(const Row& row) {
    std::vector<int> result;
    for (const Measured& block : row.scale) result.push_back(writer_.slot(block));
    return result;
  }

  // ---- elimination

  /// Returns a column for which there are not enough rows, or −1.
  int eliminate(const std::vector<int>& group) {
    started_ = true;
    writer_.list = &program_.steps;
    if (group.size() == 1) {
      const int column = group[0], row = structure_.pivot_row[column];
      if (row >= 0 && !rows_[row].used && rows_[row].blocks.contains(column)) {
        const BlockValue& pivot = rows_[row].blocks.at(column);
        if (pivot.form == BlockForm::identity || (trust_ && pivot.filled)) {
          eliminate_with(row, column);
          return -1;
        }
      }
    }
    return eliminate_front(group);
  }

  void eliminate_with(int pivot_row, int column) {
    Row& p = rows_[pivot_row];
    const BlockValue pivot = p.blocks.at(column);
    remove(pivot_row, column);
    double sign = pivot.sign;
    if (pivot.form != BlockForm::identity) {
      normalise(p, pivot, column);
      sign = 1;
    }
    const std::vector<int> targets(holders_[column].begin(), holders_[column].end());
    for (const int r : targets) {
      const BlockValue a = rows_[r].blocks.at(column);
      remove(r, column);
      for (const auto& [k, b] : p.blocks) {
        const auto old = rows_[r].blocks.find(k);
        set(r, k, writer_.update(old == rows_[r].blocks.end() ? nullptr : &old->second, a, b, -sign));
        if (a.exact()) rows_[r].add_scale(b);
      }
      rows_[r].right_side = writer_.update(&rows_[r].right_side, a, p.right_side, -sign);
    }
    solves_.push_back({column, pivot_row, sign, -1, p.blocks});
    use_up(pivot_row);
  }

  /// Multiplies the row with the inverse of its pivot.
  void normalise(Row& p, const BlockValue& pivot, int column) {
    program_.trusts_pivots = true;
    std::vector<int> scales;
    for (Measured block : p.scale) {  // in this place, 6×6 blocks are inertias
      block.diagonal = block.rows == 6 && block.columns == 6;
      scales.push_back(writer_.slot(block));
    }
    if (scales.empty()) scales = {writer_.slot({pivot.offset, pivot.rows, pivot.columns, false})};
    const int d = p.size;
    const int list = writer_.table(scales);
    const int target = writer_.layout.allocate(d, 2 * d);  // with room for a copy
    BlockOp& op = writer_.emit(d == 1 ? OpKind::invert_1 : OpKind::invert, d, d, d);
    op.target = target, op.left = pivot.offset, op.extra = list, op.column = column;
    op.subtract = pivot.sign < 0;
    program_.flops += 2L * d * d * d;
    const BlockValue inverse{BlockForm::dense, d, d, target, 1, {}, true};
    for (auto& [k, b] : p.blocks) b = writer_.update(nullptr, inverse, b, 1);
    p.right_side = writer_.update(nullptr, inverse, p.right_side, 1);
  }

  int eliminate_front(const std::vector<int>& group) {
    std::set<int> gathered;
    for (const int column : group) gathered.insert(holders_[column].begin(), holders_[column].end());
    std::map<int, int> place;  // of a column block in the front
    FrontShape front;
    for (const int column : group) {
      place[column] = front.pivots;
      front.pivots += structure_.column_size[column];
      if (holders_[column].empty()) return column;
    }
    int width = front.pivots;
    for (const int r : gathered) {
      front.rows += rows_[r].size;
      for (const auto& [k, b] : rows_[r].blocks) {
        if (place.try_emplace(k, width).second) width += structure_.column_size[k];
      }
    }
    if (front.rows < front.pivots) return group.back();
    front.others = width - front.pivots;
    const bool passes = front.rows > front.pivots;
    if (passes) rows_.emplace_back();
    const int made = passes ? static_cast<int>(rows_.size()) - 1 : -1;
    fill_front(front, gathered, place, made);
    for (const int r : gathered) use_up(r);
    if (passes) pass_on(front, place, made, group);
    finish_front(front, place, group);
    return -1;
  }

  FrontPiece piece(const BlockValue& value, int row, int column) {
    const BlockValue v = writer_.numbers(value);
    return {v.offset, block_stride(v.rows), v.rows, v.columns, row, column, v.sign};
  }

  void fill_front(FrontShape& front, const std::set<int>& gathered, const std::map<int, int>& place, int made) {
    front.stride = block_stride(front.rows);
    front.gather_begin = static_cast<int>(program_.pieces.size());
    std::vector<int> scales;
    int at = 0;
    for (const int r : gathered) {
      const Row& row = rows_[r];
      for (const auto& [k, b] : row.blocks) program_.pieces.push_back(piece(b, at, place.at(k)));
      program_.pieces.push_back(piece(row.right_side, at, front.pivots + front.others));
      const std::vector<int> slots = slots_of(row);
      scales.push_back(row.size);
      scales.push_back(static_cast<int>(slots.size()));
      scales.insert(scales.end(), slots.begin(), slots.end());
      at += row.size;
    }
    front.gather_end = static_cast<int>(program_.pieces.size());
    front.row_blocks = static_cast<int>(gathered.size());
    front.row_scales = static_cast<int>(program_.index.size());
    program_.index.insert(program_.index.end(), scales.begin(), scales.end());
    if (made < 0) return;
    front.pass_scale = writer_.layout.allocate(1, 1);
    rows_[made].scale = {{front.pass_scale, 1, 1, false}};
    rows_[made].gathered = gathered;
  }

  /// What the front leaves: one row block over the other columns.
  void pass_on(FrontShape& front, const std::map<int, int>& place, int made, const std::vector<int>& group) {
    const int size = front.rows - front.pivots;
    if (size > kLargest) throw std::invalid_argument("block plan: this order needs a front that is too large");
    Row& row = rows_[made];
    row.size = size;
    front.pass_begin = static_cast<int>(program_.pieces.size());
    const auto leave = [&](int columns, int column) {
      const BlockValue value{BlockForm::dense, size, columns, writer_.layout.allocate(size, columns), 1, {}, true};
      program_.pieces.push_back({value.offset, block_stride(size), size, columns, front.pivots, column, 1});
      return value;
    };
    for (const auto& [k, column] : place) {
      if (std::find(group.begin(), group.end(), k) != group.end()) continue;
      set(made, k, leave(structure_.column_size[k], column));
    }
    row.right_side = leave(1, front.pivots + front.others);
    front.pass_end = static_cast<int>(program_.pieces.size());
  }

  void finish_front(FrontShape& front, const std::map<int, int>& place, const std::vector<int>& group) {
    const auto in_group = [&](int k) { return std::find(group.begin(), group.end(), k) != group.end(); };
    front.known_begin = static_cast<int>(program_.pieces.size());
    for (const auto& [k, column] : place) {
      if (!in_group(k))
        program_.pieces.push_back({writer_.layout.solutions[k], 1, structure_.column_size[k], 1, 0, column, 1});
    }
    front.known_end = front.solution_begin = static_cast<int>(program_.pieces.size());
    front.column_names = static_cast<int>(program_.index.size());
    for (const int k : group) {
      const int size = structure_.column_size[k];
      program_.pieces.push_back({writer_.layout.solutions[k], 1, size, 1, place.at(k), 0, 1});
      program_.index.insert(program_.index.end(), size, k);
    }
    front.solution_end = static_cast<int>(program_.pieces.size());
    const int width = front.pivots + front.others + 1;
    front.work = writer_.layout.allocate(front.rows, width);
    front.scale = writer_.layout.allocate(front.rows, 2);
    for (long j = 0; j < front.pivots; ++j) program_.flops += 2 * (front.rows - j - 1) * (width - j - 1);
    program_.flops += 2L * front.pivots * (front.others + front.pivots / 2 + 1);
    const int f = static_cast<int>(program_.fronts.size());
    program_.fronts.push_back(front);
    writer_.emit(OpKind::front, 0, 0, 0).extra = f;
    solves_.push_back({-1, -1, 1, f, {}});
  }

  // ---- the end

  void gather_last_front() {
    writer_.list = &program_.steps;
    LastFrontShape& last = program_.last;
    std::map<int, int> place;
    for (const int level : {1, 2}) {
      for (std::size_t k = 0; k < structure_.column_size.size(); ++k) {
        if (structure_.level[k] != level) continue;
        place[static_cast<int>(k)] = last.column_count;
        last.columns.push_back({static_cast<int>(k), structure_.column_size[k], level});
        last.column_count += structure_.column_size[k];
      }
    }
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      const Row& row = rows_[r];
      if (row.used) continue;
      for (const auto& [k, b] : row.blocks) last.pieces.push_back(piece(b, last.row_count, place.at(k)));
      last.pieces.push_back(piece(row.right_side, last.row_count, last.column_count));
      last.rows.push_back({row.size, slots_of(row), sources(static_cast<int>(r))});
      last.row_count += row.size;
    }
    find_singles(place);
  }

  /// Entries ±1 of the last front that are alone in their row, or (level 2) alone in their column.
  void find_singles(const std::map<int, int>& place) {
    LastFrontShape& last = program_.last;
    std::vector<bool> row_taken(last.row_count, false), column_taken(last.column_count, false);
    const auto take = [&](int row, int column, double sign, bool in_row) {
      if (row_taken[row] || column_taken[column]) return;
      row_taken[row] = column_taken[column] = true;
      last.singles.push_back({row, column, sign, in_row});
    };
    std::map<int, int> uses;  // per column block: rows that hold it
    int at = 0;
    for (const Row& row : rows_) {
      if (row.used) continue;
      for (const auto& [k, b] : row.blocks) ++uses[k];
      const BlockValue& b = row.blocks.empty() ? row.right_side : row.blocks.begin()->second;
      const bool picks = b.form == BlockForm::select_rows || b.form == BlockForm::identity;
      if (row.blocks.size() == 1 && picks) {
        const int column = place.at(row.blocks.begin()->first);
        for (int i = 0; i < row.size; ++i) {
          take(at + i, column + (b.form == BlockForm::identity ? i : b.index[i]), b.sign, true);
        }
      }
      at += row.size;
    }
    at = 0;
    for (const Row& row : rows_) {
      if (row.used) continue;
      for (const auto& [k, b] : row.blocks) {
        if (structure_.level[k] != 2 || uses[k] != 1) continue;
        if (b.form != BlockForm::select_columns && b.form != BlockForm::identity) continue;
        for (int i = 0; i < b.columns; ++i) {
          take(at + (b.form == BlockForm::identity ? i : b.index[i]), place.at(k) + i, b.sign, false);
        }
      }
      at += row.size;
    }
  }

  /// The rows of the structure that came into a row.
  std::vector<int> sources(int row) const {
    std::vector<int> open = {row};
    std::set<int> found;
    while (!open.empty()) {
      const int r = open.back();
      open.pop_back();
      open.insert(open.end(), rows_[r].gathered.begin(), rows_[r].gathered.end());
      if (rows_[r].gathered.empty()) found.insert(r);
    }
    return {found.begin(), found.end()};
  }

  struct Solve {
    int column, row;
    double sign;
    int front;
    std::map<int, BlockValue> blocks;
  };

  void substitute_back() {
    writer_.list = &program_.backward;
    int order = 0;
    std::vector<int> solved(structure_.column_size.size(), -1);
    for (auto s = solves_.rbegin(); s != solves_.rend(); ++s, ++order) {
      if (s->front >= 0) {
        writer_.emit(OpKind::front_solve, 0, 0, 0).extra = s->front;
        const FrontShape& front = program_.fronts[s->front];
        for (int i = 0; i < front.pivots; ++i) solved[program_.index[front.column_names + i]] = order;
        continue;
      }
      solve(*s, solved);
      solved[s->column] = order;
    }
  }

  /// x = ±(b − Σ Bₖ xₖ), first what has been known for longest.
  void solve(const Solve& s, const std::vector<int>& solved) {
    const int target = writer_.layout.solutions[s.column], rows = structure_.column_size[s.column];
    std::vector<BlockValue> views = {rows_[s.row].right_side};
    views[0].sign *= s.sign;
    std::vector<std::pair<int, int>> products;
    for (const auto& [k, b] : s.blocks) {
      BlockValue seen;
      if (writer_.view(b, solution(k), seen)) {
        seen.sign *= -s.sign;
        views.push_back(seen);
      } else {
        products.emplace_back(solved[k], k);
      }
    }
    std::sort(products.begin(), products.end());
    std::stable_sort(views.begin(), views.end(), [](const auto& a, const auto& b) { return a.sign > b.sign; });
    int base = writer_.zeros(rows, 1);
    std::size_t first = 0;
    if (views[0].sign > 0) {
      base = views[0].offset;
      first = 1;
    }
    if (views.size() == 1 && products.empty() && first == 1) {
      writer_.emit_add(target, base, writer_.zeros(rows, 1), rows, 1, 1);
    }
    for (; first < views.size(); ++first) {
      writer_.emit_add(target, base, views[first].offset, rows, 1, views[first].sign);
      base = target;
    }
    for (const auto& [order, k] : products) {
      const BlockValue b = writer_.numbers(s.blocks.at(k));
      writer_.emit_product(target, base, b, solution(k), -s.sign * b.sign);
      base = target;
    }
  }

  BlockValue solution(int column) const {
    return {BlockForm::dense, structure_.column_size[column], 1, writer_.layout.solutions[column], 1, {}, true};
  }

  const BlockStructure& structure_;
  BlockWriter writer_;
  const bool trust_;
  BlockProgram& program_ = writer_.program;
  std::vector<Row> rows_;
  std::vector<std::set<int>> holders_;  // per column: unused rows that hold it
  std::vector<Solve> solves_;
  std::set<std::pair<int, int>> original_, filled_;
  int step_ = 0;
  bool started_ = false;
};

}  // namespace

BlockProgram compile_blocks(const BlockStructure& structure, const std::vector<std::vector<int>>& order,
                            const BlockLayout& layout, bool trust) {
  return Compiler(structure, layout, trust).compile(order);
}

}  // namespace kinegraph::linear
