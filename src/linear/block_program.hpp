#pragma once

#include <map>
#include <utility>
#include <vector>

#include "kinegraph/linear/block_kernel.hpp"
#include "kinegraph/linear/block_plan.hpp"
#include "kinegraph/linear/last_front.hpp"

// The compiled elimination of a block structure, and how it is made. Used by block_plan.cpp and block_elimination.cpp.
namespace kinegraph::linear {

using BlockForm = BlockStructure::Form;

/// A block as the compiler sees it: what is known of its form, and where its numbers are. `sign` applies to all forms.
struct BlockValue {
  BlockForm form = BlockForm::dense;  ///< never minus_identity
  int rows = 0, columns = 0;
  int offset = -1;
  double sign = 1;
  std::vector<int> index;
  bool filled = false;  ///< made or changed by the elimination

  bool exact() const { return form >= BlockForm::identity; }
};

/// Where inputs and solutions stand: the same for all programs of a plan.
struct BlockLayout {
  std::map<std::pair<int, int>, BlockValue> entries;
  std::vector<BlockValue> right_sides;
  std::vector<int> solutions;
  int size = 0;  ///< doubles taken so far

  explicit BlockLayout(const BlockStructure& structure);
  int allocate(int rows, int columns);
};

/// What is left for the last front: its rows and columns, and where they are.
struct LastFrontShape {
  struct Row {
    int size = 0;
    std::vector<int> scales;   ///< slots
    std::vector<int> sources;  ///< rows of the structure that came into it
  };
  struct Column {
    int block = 0, size = 0, level = 0;
  };
  std::vector<Row> rows;
  std::vector<Column> columns;     ///< level 1 first
  std::vector<FrontPiece> pieces;  ///< right side in the column behind the last
  std::vector<LastFront::Single> singles;
  int row_count = 0, column_count = 0;

  bool empty() const { return row_count == 0 && column_count == 0; }
};

struct BlockProgram {
  std::vector<BlockOp> forward, backward;  ///< for whole runs: fused
  /// Where pieces of these lists begin that do not depend on each other, and the end of the last. What stands before
  /// the first is done before them, what stands behind the last after them. A single number: no pieces.
  std::vector<int> forward_pieces = {0}, backward_pieces = {0};
  std::vector<BlockOp> steps;  ///< the forward operations one by one, in the order of the steps
  std::vector<int> step_end;   ///< per group of the order: where its operations end in `steps`
  std::vector<FrontShape> fronts;
  std::vector<FrontPiece> pieces;
  std::vector<int> index;
  LastFrontShape last;
  std::vector<std::pair<int, double>> constants;  ///< numbers that stand in the storage from the start
  int storage_size = 0;
  long flops = 0;
  int fill = 0;
  bool trusts_pivots = false;  ///< some pivot blocks were taken as they came, without a choice of rows
  int missing_column = -1;     ///< a column for which there are too few rows; the system is singular

  /// The block (row, column) as it is after so many steps; not there: structurally zero, or the row has been used.
  struct Version {
    int step;
    bool present;
    BlockValue value;
  };
  std::map<std::pair<int, int>, std::vector<Version>> history;
};

/// Puts parts of a list that do not depend on each other side by side, where that is worth while, and returns their
/// bounds. `pieces_first`: what is left stands behind them, otherwise before. Depends on the list alone, not on how
/// many threads there are.
std::vector<int> split_into_pieces(std::vector<BlockOp>& list, const BlockProgram& program, bool pieces_first);

/// Fills in `forward` from `steps`, splits both lists into pieces, and fuses what is within one.
void fuse_operations(BlockProgram& program);

/// `trust`: dense pivot blocks that the elimination has filled in are inverted as they are. Otherwise only ±I is, and
/// every other column chooses among all rows that hold it.
BlockProgram compile_blocks(const BlockStructure& structure, const std::vector<std::vector<int>>& order,
                            const BlockLayout& layout, bool trust);

}  // namespace kinegraph::linear
