#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cmath>
#include <new>

#include "kinegraph/linear/block_plan_implementation.hpp"
#include "kinegraph/linear/last_front.hpp"

namespace kinegraph::linear {
namespace {

constexpr double kTrusted = 1e-9;    // of its scale: a smaller pivot block is not trusted
constexpr double kVanished = 1e-13;  // of its scale: a smaller pivot is round-off
constexpr double kTerms = 1e-6;      // residuals are not measured against terms below this share of the largest

/// One program with what it needs to run.
struct Runner {
  explicit Runner(const BlockProgram& p, bool last_resort) : program(&p), history(p.last.rows.size()) {
    const std::size_t pieces = std::max(p.forward_pieces.size(), p.backward_pieces.size()) - 1;
    failed.resize(pieces);
    tables = {p.index.data(), p.fronts.data(), p.pieces.data(), last_resort ? kVanished : kTrusted};
    if (p.last.empty()) return;
    std::vector<int> rows, columns;
    int primary = 0;
    for (const auto& row : p.last.rows) rows.push_back(row.size);
    for (const auto& column : p.last.columns) {
      columns.push_back(column.size);
      if (column.level == 1) primary += column.size;
    }
    last = std::make_unique<LastFront>(std::move(rows), std::move(columns), primary, p.last.singles);
    for (const FrontPiece& piece : p.last.pieces) {
      for (int j = 0; j < piece.columns; ++j) {
        for (int r = 0; r < piece.rows; ++r) {
          gather.push_back(
              {(piece.column + j) * p.last.row_count + piece.row + r, piece.block + j * piece.stride + r, piece.sign});
        }
      }
    }
  }

  const BlockProgram* program;
  BlockTables tables;
  struct Copy {
    int to, from;
    double sign;
  };
  std::vector<Copy> gather;  // into the last front
  std::vector<double> history;
  std::vector<int> failed;  // per piece: the column, or −1
  std::unique_ptr<LastFront> last;
};

/// res += a x and sum += |a x|. Six rows are those of twists and wrenches.
void add_product(const double* __restrict a, double x, int rows, double* __restrict res, double* __restrict sum) {
  const auto add = [=](int count) {
    for (int r = 0; r < count; ++r) {
      const double term = a[r] * x;
      res[r] += term;
      sum[r] += std::abs(term);
    }
  };
  rows == 6 ? add(6) : add(rows);
}

struct Free {
  void operator()(double* p) const { ::operator delete[](p, std::align_val_t(64)); }
};

}  // namespace

struct BlockElimination::Workspace {
  explicit Workspace(const BlockPlan& plan);

  void write_constants(const Runner& runner);
  int perform(Runner& runner, const std::vector<BlockOp>& list, const std::vector<int>& pieces);
  int perform_pieces(Runner& runner, const BlockOp* list, const std::vector<int>& pieces);
  int perform(Runner& runner, const BlockOp* begin, const BlockOp* end) const;
  void begin(Runner& runner, Outcome& outcome);
  void last_front(Runner& runner, Outcome& outcome);
  void measure(const Runner& runner, Outcome& outcome);
  void add_residual(int row, double* residual, double* terms) const;

  const BlockPlan::Implementation& plan;
  BlockKernel kernel = block_kernel();
  std::unique_ptr<double[], Free> storage;
  Runner main;
  std::unique_ptr<Runner> careful;
  Runner* present = &main;  // whose numbers stand in the storage
  int steps = 0;
  bool parallel = true;
  std::vector<std::vector<std::pair<int, const BlockValue*>>> equations;  // per row: columns and entries
  struct RowResidual {
    int row;
    double open, terms;
  };
  std::vector<RowResidual> looked_at;
  std::vector<double> residual, terms;
};

BlockElimination::Workspace::Workspace(const BlockPlan& owner)
    : plan(*owner.implementation_),
      storage(new (std::align_val_t(64)) double[owner.storage_size()]()),
      main(plan.main, !plan.careful) {
  if (plan.careful) careful = std::make_unique<Runner>(*plan.careful, true);
  write_constants(main);
  if (main.last == nullptr) return;
  equations.resize(plan.structure.row_size.size());
  int largest = 0;
  for (const auto& [place, value] : plan.layout.entries) equations[place.first].emplace_back(place.second, &value);
  for (const int size : plan.structure.row_size) largest = std::max(largest, size);
  residual.resize(largest);
  terms.resize(largest);
  const auto sources = [](const BlockProgram& program) {
    std::size_t count = 0;
    for (const auto& row : program.last.rows) count += row.sources.size();
    return count;
  };
  looked_at.resize(std::max(sources(plan.main), plan.careful ? sources(*plan.careful) : 0));
}

/// The programs share what lies behind the inputs, so the constants are written whenever another one runs.
void BlockElimination::Workspace::write_constants(const Runner& runner) {
  const int size = std::max(plan.main.storage_size, plan.careful ? plan.careful->storage_size : 0);
  std::fill(storage.get() + plan.layout.size, storage.get() + size, 0.0);
  for (const auto& [at, number] : runner.program->constants) storage[at] = number;
}

void BlockElimination::Workspace::begin(Runner& runner, Outcome& outcome) {
  if (present != &runner) {
    write_constants(runner);
    present = &runner;
  }
  outcome = {};
}

// All of these return the column whose pivot vanished, or −1.

int BlockElimination::Workspace::perform(Runner& runner, const BlockOp* first, const BlockOp* last) const {
  int column = -1;
  return kernel(first, last, runner.tables, storage.get(), &column) == 0 ? -1 : column;
}

int BlockElimination::Workspace::perform(Runner& runner, const std::vector<BlockOp>& list,
                                         const std::vector<int>& pieces) {
  const BlockOp* begin = list.data();
  int column = perform(runner, begin, begin + pieces.front());
  if (column < 0 && pieces.size() > 1) column = perform_pieces(runner, begin, pieces);
  if (column < 0) column = perform(runner, begin + pieces.back(), begin + list.size());
  return column;
}

/// If several fail, the first counts, whoever came first.
int BlockElimination::Workspace::perform_pieces(Runner& runner, const BlockOp* list, const std::vector<int>& pieces) {
  const int count = static_cast<int>(pieces.size()) - 1;
  const auto one = [&](int p) { runner.failed[p] = perform(runner, list + pieces[p], list + pieces[p + 1]); };
  if (parallel) {
    // isolated: while it waits, this thread must not take up other work of the caller's, which may want this object
    tbb::this_task_arena::isolate([&] { tbb::parallel_for(0, count, one, tbb::simple_partitioner()); });
  } else {
    for (int p = 0; p < count; ++p) one(p);
  }
  for (int p = 0; p < count; ++p) {
    if (runner.failed[p] >= 0) return runner.failed[p];
  }
  return -1;
}

void BlockElimination::Workspace::last_front(Runner& runner, Outcome& outcome) {
  const LastFrontShape& shape = runner.program->last;
  LastFront& front = *runner.last;
  double* matrix = front.matrix();
  std::fill_n(matrix, shape.row_count * (shape.column_count + 1), 0.0);
  for (const Runner::Copy& copy : runner.gather) matrix[copy.to] = copy.sign * storage[copy.from];
  for (std::size_t b = 0; b < shape.rows.size(); ++b) {
    runner.history[b] = 0;
    for (const int slot : shape.rows[b].scales) runner.history[b] = std::max(runner.history[b], storage[slot]);
  }
  front.solve(runner.history.data());
  outcome.rank = front.rank();
  outcome.size = shape.column_count;
  const double* x = front.solution();
  for (const auto& column : shape.columns) {
    std::copy_n(x, column.size, storage.get() + plan.layout.solutions[column.block]);
    x += column.size;
  }
}

/// Σ A x − b of a row of the structure, and the sum of the magnitudes.
void BlockElimination::Workspace::add_residual(int row, double* __restrict res, double* __restrict sum) const {
  const int size = plan.structure.row_size[row];
  const double* b = storage.get() + plan.layout.right_sides[row].offset;
  for (int r = 0; r < size; ++r) {
    res[r] = -b[r];
    sum[r] = std::abs(b[r]);
  }
  const auto add = [&](int r, double term) {
    res[r] += term;
    sum[r] += std::abs(term);
  };
  for (const auto& [column, v] : equations[row]) {
    const double* x = storage.get() + plan.layout.solutions[column];
    for (int k = 0; k < v->columns; ++k) {
      if (v->form == BlockForm::identity) {
        add(k, v->sign * x[k]);
      } else if (v->form == BlockForm::select_columns) {
        add(v->index[k], v->sign * x[k]);
      } else if (!v->exact()) {
        add_product(storage.get() + v->offset + k * block_stride(size), v->sign * x[k], size, res, sum);
      }
    }
    if (v->form != BlockForm::select_rows) continue;
    for (int r = 0; r < size; ++r) add(r, v->sign * x[v->index[r]]);
  }
}

/// Redundant rows must hold by themselves. All other rows do, so only those of the last front are looked at.
void BlockElimination::Workspace::measure(const Runner& runner, Outcome& outcome) {
  const LastFrontShape& shape = runner.program->last;
  if (shape.row_count == outcome.rank) return;
  double largest = 0;
  std::size_t k = 0;
  for (const auto& front_row : shape.rows) {
    for (const int row : front_row.sources) {
      add_residual(row, residual.data(), terms.data());
      double open = 0, all = 0;
      for (int r = 0; r < plan.structure.row_size[row]; ++r) {
        open = std::max(open, std::abs(residual[r]));
        all = std::max(all, terms[r]);
      }
      largest = std::max(largest, all);
      looked_at[k++] = {row, open, all};
    }
  }
  for (std::size_t i = 0; i < k; ++i) {
    const double scale = std::max(looked_at[i].terms, kTerms * largest);
    const double share = scale > 0 ? looked_at[i].open / scale : 0;
    if (share > outcome.inconsistency) {
      outcome.inconsistency = share;
      outcome.worst_row = looked_at[i].row;
    }
  }
}

BlockElimination::BlockElimination(std::shared_ptr<const BlockPlan> plan)
    : plan_(std::move(plan)), workspace_(std::make_unique<Workspace>(*plan_)) {}
BlockElimination::~BlockElimination() = default;
BlockElimination::BlockElimination(BlockElimination&&) noexcept = default;

double* BlockElimination::storage() { return workspace_->storage.get(); }
const double* BlockElimination::storage() const { return workspace_->storage.get(); }

void BlockElimination::set_parallel(bool parallel) { workspace_->parallel = parallel; }

BlockElimination::Outcome BlockElimination::run() {
  Workspace& w = *workspace_;
  Outcome outcome;
  const auto attempt = [&](Runner& runner) {
    const BlockProgram& program = *runner.program;
    if (program.missing_column >= 0) {
      outcome = {};
      outcome.ok = false;
      outcome.column = program.missing_column;
      return false;
    }
    w.begin(runner, outcome);
    outcome.column = w.perform(runner, program.forward, program.forward_pieces);
    return outcome.ok = outcome.column < 0;
  };
  if (!attempt(w.main) && (w.careful == nullptr || !attempt(*w.careful))) return outcome;
  w.steps = w.plan.steps;
  Runner& runner = *w.present;
  if (runner.last != nullptr) w.last_front(runner, outcome);
  w.perform(runner, runner.program->backward, runner.program->backward_pieces);
  if (runner.last != nullptr) w.measure(runner, outcome);
  return outcome;
}

BlockElimination::Outcome BlockElimination::run_until(int steps) {
  Workspace& w = *workspace_;
  Outcome outcome;
  const auto attempt = [&](Runner& runner) {
    const auto& end = runner.program->step_end;
    if (steps > static_cast<int>(end.size())) {
      outcome = {};
      outcome.ok = false;
      outcome.column = runner.program->missing_column;
      return false;
    }
    w.begin(runner, outcome);
    const BlockOp* list = runner.program->steps.data();
    outcome.column = w.perform(runner, list, list + (steps == 0 ? 0 : end[steps - 1]));
    return outcome.ok = outcome.column < 0;
  };
  if (!attempt(w.main) && w.careful != nullptr) attempt(*w.careful);
  w.steps = steps;
  return outcome;
}

std::vector<double> BlockElimination::block(int row, int column) const {
  const Workspace& w = *workspace_;
  const auto& history = w.present->program->history;
  const auto found = history.find({row, column});
  if (found == history.end()) return {};
  const BlockProgram::Version* version = nullptr;
  for (const auto& v : found->second) {
    if (v.step <= w.steps) version = &v;
  }
  if (version == nullptr || !version->present) return {};
  const BlockValue& v = version->value;
  std::vector<double> result(static_cast<std::size_t>(v.rows) * v.columns, 0.0);
  for (int r = 0; r < v.rows; ++r) {
    for (int c = 0; c < v.columns; ++c) {
      double x = 0;
      if (v.form == BlockForm::identity) {
        x = r == c;
      } else if (v.form == BlockForm::select_columns) {
        x = v.index[c] == r;
      } else if (v.form == BlockForm::select_rows) {
        x = v.index[r] == c;
      } else {
        x = storage()[v.offset + c * block_stride(v.rows) + r];
      }
      result[static_cast<std::size_t>(r) * v.columns + c] = v.sign * x;
    }
  }
  return result;
}

}  // namespace kinegraph::linear
