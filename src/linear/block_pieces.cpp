#include <algorithm>
#include <queue>
#include <utility>

#include "kinegraph/linear/block_program.hpp"

// Which operations can run side by side. Who needs whom is read off the numbers that operations read and write. The
// operations form a tree: one that needs a single branch continues it, one that needs several joins them. The tree is
// cut near its root; what is cut off are the pieces. The heaviest branch is opened as long as that promises to help.
namespace kinegraph::linear {
namespace {

// In flops, of which there are some ten per nanosecond. A thread that is called needs some microseconds to come.
constexpr long kSmallest = 50000;     // pieces are at least this large, on average
constexpr long kWorthwhile = 100000;  // what has to be saved
constexpr long kTiny = 500;           // branches below stay with the operation that joins them
constexpr long kDispatch = 50;        // what any operation takes
constexpr int kProcessors = 8;        // a cut is made for so many, however many there are: the same everywhere
constexpr int kMostPieces = 16;

/// Part of the storage: columns of numbers.
struct Area {
  int offset, stride, rows, columns;
};

Area block(int offset, int rows, int columns) { return {offset, block_stride(rows), rows, columns}; }
Area area(const FrontPiece& p) { return {p.block, p.stride, p.rows, p.columns}; }

/// What one operation touches, and what it costs.
class Footprint {
 public:
  explicit Footprint(const BlockProgram& program) : program_(program) {}

  void measure(const BlockOp& op) {
    const int m = op.rows, k = op.inner, n = op.columns;
    flops += kDispatch;
    switch (op.kind) {
      case OpKind::add:
      case OpKind::add_1:
      case OpKind::add_6:
        sum(op, block(op.left, m, n), static_cast<long>(m) * n);
        break;
      case OpKind::pick_rows:
      case OpKind::pick_row_6:
        sum(op, block(op.left, k, n), static_cast<long>(m) * n);
        break;
      case OpKind::invert:
      case OpKind::invert_1:
        reads.push_back(block(op.left, m, m));
        read_slots(op.extra);
        writes.push_back(block(op.target, m, 2 * m));
        flops += 2L * m * m * m;
        break;
      case OpKind::max_abs:
      case OpKind::max_abs_66:
      case OpKind::max_diagonal:
        reads.push_back(block(op.left, m, n));
        writes.push_back(block(op.target, 1, 1));
        flops += static_cast<long>(m) * n;
        break;
      case OpKind::front:
        measure_front(program_.fronts[op.extra]);
        break;
      case OpKind::front_solve:
        measure_solve(program_.fronts[op.extra]);
        break;
      default:
        reads.push_back(block(op.right, k, n));
        sum(op, block(op.left, m, k), 2L * m * k * n);
    }
  }

  void clear() {
    reads.clear();
    writes.clear();
    flops = 0;
  }

  std::vector<Area> reads, writes;
  long flops = 0;

 private:
  void sum(const BlockOp& op, const Area& left, long count) {
    reads.push_back(left);
    reads.push_back(block(op.base, op.rows, op.columns));
    writes.push_back(block(op.target, op.rows, op.columns));
    flops += count;
  }
  void read_slots(int table) {
    for (int i = 1; i <= program_.index[table]; ++i) reads.push_back(block(program_.index[table + i], 1, 1));
  }
  void add(std::vector<Area>& list, int begin, int end) {
    for (int i = begin; i < end; ++i) list.push_back(area(program_.pieces[i]));
  }
  void measure_front(const FrontShape& front) {
    const int width = front.pivots + front.others + 1;
    add(reads, front.gather_begin, front.gather_end);
    int table = front.row_scales + 1;
    for (int b = 0; b < front.row_blocks; ++b) {
      read_slots(table);
      table += 2 + program_.index[table];
    }
    writes.push_back({front.work, front.stride, front.rows, width});
    writes.push_back({front.scale, front.rows, front.rows, 2});
    add(writes, front.pass_begin, front.pass_end);
    if (front.pass_scale >= 0) writes.push_back(block(front.pass_scale, 1, 1));
    for (long j = 0; j < front.pivots; ++j) flops += 2 * (front.rows - j - 1) * (width - j - 1);
  }
  void measure_solve(const FrontShape& front) {
    const int width = front.pivots + front.others;
    add(reads, front.known_begin, front.known_end);
    reads.push_back({front.work, front.stride, front.rows, width + 1});
    writes.push_back({front.work + width * front.stride, front.stride, front.rows, 1});
    add(writes, front.solution_begin, front.solution_end);
    flops += 2L * front.pivots * (front.others + front.pivots / 2 + 1);
  }

  const BlockProgram& program_;
};

/// A unit is an operation, or several that were fused already. Edges go from one to a later one that needs it.
struct Units {
  std::vector<int> begin;  // in the list, with its end
  std::vector<long> weight;
  std::vector<std::pair<int, int>> edges;
  bool rewrites = false;  // numbers that somebody else has read before: not a tree

  int size() const { return static_cast<int>(weight.size()); }
};

Units find_units(const std::vector<BlockOp>& list, const BlockProgram& program) {
  Units units;
  std::vector<int> writer(program.storage_size, -1);
  std::vector<char> read(program.storage_size, 0);  // since it was written
  const auto each = [](const std::vector<Area>& areas, auto visit) {
    for (const Area& a : areas) {
      for (int j = 0; j < a.columns; ++j) {
        for (int r = 0; r < a.rows; ++r) visit(a.offset + j * a.stride + r);
      }
    }
  };
  Footprint touched(program);
  std::vector<int> needs;
  for (std::size_t at = 0; at < list.size();) {
    const int unit = units.size(), count = records(list[at].kind);
    touched.clear();
    needs.clear();
    for (int i = 0; i < count; ++i) touched.measure(list[at + i]);
    const auto need = [&](int i) {
      if (writer[i] >= 0 && (needs.empty() || needs.back() != writer[i])) needs.push_back(writer[i]);
    };
    each(touched.writes, [&](int i) {
      units.rewrites = units.rewrites || read[i];
      need(i);
    });
    each(touched.reads, [&](int i) {
      need(i);
      read[i] = 1;
    });
    each(touched.writes, [&](int i) {
      writer[i] = unit;
      read[i] = 0;
    });
    std::sort(needs.begin(), needs.end());
    needs.erase(std::unique(needs.begin(), needs.end()), needs.end());
    for (const int other : needs) units.edges.emplace_back(other, unit);
    units.begin.push_back(static_cast<int>(at));
    units.weight.push_back(touched.flops);
    at += count;
  }
  units.begin.push_back(static_cast<int>(list.size()));
  return units;
}

/// The same seen from the end: who is needed comes after who needs it.
void reverse(Units& units) {
  for (auto& [from, to] : units.edges) {
    const int first = units.size() - 1 - to;
    to = units.size() - 1 - from;
    from = first;
  }
  std::reverse(units.weight.begin(), units.weight.end());
}

/// Branches of the tree of units. A branch comes after those that it joins.
struct Branches {
  struct Branch {
    long own = 0, total = 0;
    int parent = -1;
    std::vector<int> joined;
  };
  std::vector<Branch> branch;
  std::vector<int> of;  // per unit

  explicit Branches(Units& units) : of(units.size()) {
    std::sort(units.edges.begin(), units.edges.end(),
              [](const auto& a, const auto& b) { return std::pair(a.second, a.first) < std::pair(b.second, b.first); });
    auto edge = units.edges.begin();
    std::vector<int> needs;
    for (int unit = 0; unit < units.size(); ++unit) {
      needs.clear();
      for (; edge != units.edges.end() && edge->second == unit; ++edge) needs.push_back(last(of[edge->first]));
      std::sort(needs.begin(), needs.end());
      needs.erase(std::unique(needs.begin(), needs.end()), needs.end());
      if (needs.size() != 1) add(needs);
      of[unit] = needs.size() == 1 ? needs[0] : static_cast<int>(branch.size()) - 1;
      branch[of[unit]].own += units.weight[unit];
    }
    for (Branch& b : branch) {
      b.total = b.own;
      for (const int j : b.joined) b.total += branch[j].total;
    }
  }

 private:
  void add(const std::vector<int>& joined) {
    const int made = static_cast<int>(branch.size());
    branch.push_back({0, 0, -1, joined});
    shortcut_.push_back(made);
    for (const int j : joined) branch[j].parent = shortcut_[j] = made;
  }
  /// The branch that a branch has grown into so far.
  int last(int b) {
    while (shortcut_[b] != b) b = shortcut_[b] = shortcut_[shortcut_[b]];
    return b;
  }
  std::vector<int> shortcut_;
};

/// Which branches are opened: their own units are the rest.
std::vector<char> choose_opened(const Branches& tree) {
  std::priority_queue<std::pair<long, int>> closed;  // the heaviest first
  long total = 0;
  const auto put = [&](int b) { closed.emplace(tree.branch[b].total, b); };
  for (int b = 0; b < static_cast<int>(tree.branch.size()); ++b) {
    if (tree.branch[b].parent >= 0) continue;
    put(b);
    total += tree.branch[b].total;
  }
  long rest = 0, best = total;
  std::vector<int> opened;
  std::size_t count = 0;  // of them, at the best
  while (!closed.empty() && rest < best) {
    const auto [heaviest, b] = closed.top();
    const long time = rest + std::max(heaviest, (total - rest) / kProcessors);
    if (time < best) {
      best = time;
      count = opened.size();
    }
    if (heaviest < kSmallest) break;
    closed.pop();
    rest += tree.branch[b].own;
    opened.push_back(b);
    for (const int j : tree.branch[b].joined) put(j);
  }
  if (total - best < std::max(kWorthwhile, total / 4)) return {};
  std::vector<char> result(tree.branch.size(), 0);
  for (std::size_t i = 0; i < count; ++i) result[opened[i]] = 1;
  return result;
}

/// Per branch the piece that it belongs to, −1 for the rest. Returns how many pieces there are.
int assign_pieces(const Branches& tree, const std::vector<char>& opened, std::vector<int>& piece) {
  std::vector<std::pair<long, int>> tops;  // by weight, the heaviest first
  long total = 0;
  for (int b = 0; b < static_cast<int>(tree.branch.size()); ++b) {
    const auto& branch = tree.branch[b];
    if (opened[b] || (branch.parent >= 0 && (!opened[branch.parent] || branch.total < kTiny))) continue;
    tops.emplace_back(-branch.total, b);
    total += branch.total;
  }
  std::sort(tops.begin(), tops.end());
  const long count = std::min({total / kSmallest, static_cast<long>(tops.size()), static_cast<long>(kMostPieces)});
  if (count < 2) return 0;
  piece.assign(tree.branch.size(), -1);
  std::vector<long> load(count, 0);
  for (const auto& [weight, b] : tops) {
    const auto lightest = std::min_element(load.begin(), load.end());
    *lightest -= weight;
    piece[b] = static_cast<int>(lightest - load.begin());
  }
  for (int b = static_cast<int>(tree.branch.size()) - 1; b >= 0; --b) {
    const int parent = tree.branch[b].parent;
    if (parent >= 0 && piece[parent] >= 0) piece[b] = piece[parent];
  }
  return static_cast<int>(count);
}

}  // namespace

std::vector<int> split_into_pieces(std::vector<BlockOp>& list, const BlockProgram& program, bool pieces_first) {
  if (program.flops < kWorthwhile) return {0};
  Units units = find_units(list, program);
  if (units.rewrites) return {0};
  if (!pieces_first) reverse(units);
  const Branches tree(units);
  const std::vector<char> opened = choose_opened(tree);
  std::vector<int> piece;
  const int count = opened.empty() ? 0 : assign_pieces(tree, opened, piece);
  if (count == 0) return {0};

  std::vector<std::vector<BlockOp>> parts(count + 1);  // the last is the rest
  for (int i = 0; i < units.size(); ++i) {
    const int b = tree.of[pieces_first ? i : units.size() - 1 - i];
    auto& part = parts[piece[b] < 0 ? count : piece[b]];
    part.insert(part.end(), list.begin() + units.begin[i], list.begin() + units.begin[i + 1]);
  }
  list.clear();
  std::vector<int> bounds;
  const auto append = [&](const std::vector<BlockOp>& part) { list.insert(list.end(), part.begin(), part.end()); };
  if (!pieces_first) append(parts[count]);
  for (int p = 0; p < count; ++p) {
    bounds.push_back(static_cast<int>(list.size()));
    append(parts[p]);
  }
  bounds.push_back(static_cast<int>(list.size()));
  if (pieces_first) append(parts[count]);
  return bounds;
}

}  // namespace kinegraph::linear
