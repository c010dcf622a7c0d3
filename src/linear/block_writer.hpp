#pragma once

#include <compare>
#include <map>
#include <tuple>
#include <vector>

#include "kinegraph/linear/block_program.hpp"

namespace kinegraph::linear {

/// A block that tells how large numbers are.
struct Measured {
  int offset, rows, columns;
  bool diagonal;  ///< which holds the largest of them
  auto operator<=>(const Measured&) const = default;
};

/// Writes down operations on blocks: those that the compiler asks for, with their numbers' places.
class BlockWriter {
 public:
  explicit BlockWriter(const BlockLayout& layout) : layout(layout) {}
  BlockWriter(const BlockWriter&) = delete;

  BlockLayout layout;
  BlockProgram program;
  std::vector<BlockOp>* list = &program.steps;  ///< what is written to

  /// base + sign · a · b; without a base: sign · a · b.
  BlockValue update(const BlockValue* base, const BlockValue& a, const BlockValue& b, double sign);
  /// a · b if that is only another view of numbers that are there, or exact.
  static bool view(const BlockValue& a, const BlockValue& b, BlockValue& result);
  /// An exact form with numbers: constants, written once.
  BlockValue numbers(const BlockValue& v);
  /// A block of zeros that is large enough: its size is known in the end only, so it is found by a mark.
  int zeros(int rows, int columns);
  void write_zeros();
  /// Where the largest |number| of a block will stand.
  int slot(const Measured& block);
  int table(const std::vector<int>& entries);

  BlockOp& emit(OpKind kind, int rows, int inner, int columns);
  /// target = base ± left; all of one size. `sign` is that of left relative to base.
  void emit_add(int target, int base, int left, int rows, int columns, double sign);
  void emit_product(int target, int base, const BlockValue& a, const BlockValue& b, double sign);

 private:
  static constexpr int kZeros = -2;

  void emit_pick(int target, int base, const BlockValue& b, const std::vector<int>& index, double sign);

  std::map<std::tuple<BlockForm, int, int, std::vector<int>>, int> constants_;
  std::map<Measured, int> slots_;
  int zeros_ = 0;
};

}  // namespace kinegraph::linear
