#pragma once

#include <memory>
#include <string>
#include <vector>

namespace kinegraph::linear {

/// The structure of a square (or rank-deficient but consistent) linear system A x = b in blocks. Row blocks are
/// equations, column blocks unknowns.
struct BlockStructure {
  /// What is known of an entry before its numbers are. Only `dense` forms have numbers of their own in the storage.
  enum class Form {
    dense,               ///< any numbers
    adjoint,             ///< dense 6×6, stored in full, known to be [R 0; E R]
    adjoint_transposed,  ///< dense 6×6, stored in full, known to be [Rᵀ Eᵀ; 0 Rᵀ]
    identity,            ///< I
    minus_identity,      ///< −I
    select_columns,      ///< column k is sign · e(index[k])
    select_rows          ///< row k is sign · e(index[k])ᵀ
  };
  struct Entry {
    int row = 0, column = 0;
    Form form = Form::dense;
    std::vector<int> index;  ///< of a selection
    double sign = 1;         ///< 1 or −1: the entry is this times its numbers
  };

  std::vector<int> row_size, column_size;
  std::vector<Entry> entries;  ///< at most one per (row, column)
  /// Per column: the row block that is solved for it when it is there, of the same size (−1: none). A row block is
  /// the pivot of one column at most. The entry may be structurally zero at first and fill in.
  std::vector<int> pivot_row;
  /// Per column: 0, eliminated in the given order. 1 and 2: possibly undetermined; these are left to the last front,
  /// which finds its rank and gives the least norm: first of those with 1, then, within what is left, of those with 2.
  std::vector<int> level;
};

/// The symbolic elimination of a structure: made once per topology and order, compiled to a flat list of dense block
/// operations. See block_compiler.cpp for the rule of elimination.
class BlockPlan {
 public:
  /// `order`: groups of columns of level 0, all of them, each once. A group of several columns is one front.
  /// Throws std::invalid_argument if structure or order are not sound (a fault of the caller, not of the user).
  BlockPlan(const BlockStructure& structure, const std::vector<std::vector<int>>& order);
  ~BlockPlan();
  BlockPlan(BlockPlan&&) noexcept;

  // Where numbers go: offsets into BlockElimination::storage(). Blocks are column-major.
  int entry(int row, int column) const;  ///< offset, −1 if the entry has no numbers of its own or is not there
  static int stride(int rows);           ///< from column to column: 1, 2, 4, or a multiple of 8
  int right_side(int row) const;
  int solution(int column) const;

  int steps() const;         ///< of the order, groups
  int storage_size() const;  ///< doubles
  long flops() const;        ///< of elimination and back-substitution, from the list of operations
  int fill() const;          ///< blocks that were structurally zero and are not after the elimination
  int pieces() const;        ///< parts of the elimination that can run side by side; 1: there are none. Large systems
                             ///< with large disjoint subtrees have some; it depends on structure and order alone
  const BlockStructure& structure() const;

 private:
  friend class BlockElimination;
  struct Implementation;
  std::unique_ptr<const Implementation> implementation_;
};

/// The numbers of one elimination. Allocates when it is made, never after; but where the plan has pieces, the library
/// that runs them side by side keeps its own tasks.
class BlockElimination {
 public:
  explicit BlockElimination(std::shared_ptr<const BlockPlan> plan);
  ~BlockElimination();
  BlockElimination(BlockElimination&&) noexcept;

  /// 64-byte aligned, zero when it is made. The caller writes entries with numbers and right sides; a run leaves them
  /// as they are, so what does not change need not be written again. Rows that pad a block may hold anything.
  double* storage();
  const double* storage() const;

  struct Outcome {
    bool ok = true;
    int column = -1;         ///< not ok: the column block whose pivot vanished
    int rank = 0, size = 0;  ///< of the last front: rank < size means that `size − rank` directions had to be chosen
    double inconsistency = 0;  ///< of the last front: largest residual of a redundant row, relative to its terms
    int worst_row = -1;        ///< the row block of that residual
  };
  /// Eliminates and substitutes back; the answers stand at solution(column).
  Outcome run();

  /// Whether pieces of the plan run side by side (they do if nothing is said). The numbers are the same to the last
  /// bit, whatever this says and however many threads there are.
  void set_parallel(bool parallel);

  /// Eliminates only the first `steps` groups. Then block() shows what is left.
  Outcome run_until(int steps);
  /// The present numbers of (row, column), row-major; empty if structurally zero or if the row has been used up. Row
  /// blocks that a front has left are counted on behind those of the structure, in the order in which they were made.
  std::vector<double> block(int row, int column) const;

 private:
  std::shared_ptr<const BlockPlan> plan_;
  struct Workspace;
  std::unique_ptr<Workspace> workspace_;
};

}  // namespace kinegraph::linear
