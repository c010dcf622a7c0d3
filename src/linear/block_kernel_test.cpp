#include "kinegraph/linear/block_kernel.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kinegraph/linear/block_program.hpp"
#include "kinegraph/linear/block_systems_test.hpp"

namespace kinegraph::linear::block_kernel_test {
namespace {

using test::BlockSystem;
using test::chain;
using test::mixed_tree;
using test::Tree;

std::vector<BlockKernel> kernels_of_this_processor() {
  std::vector<BlockKernel> result = {&run_block_operations};
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) result.push_back(&run_block_operations_avx2);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")) {
    result.push_back(&run_block_operations_avx512);
  }
#endif
  return result;
}

/// Runs a program without a last front; `fused` or step by step.
Eigen::VectorXd solve(const BlockSystem& system, const std::vector<std::vector<int>>& order, BlockKernel kernel,
                      bool fused) {
  auto plan = std::make_shared<const BlockPlan>(system.structure, order);
  BlockElimination elimination(plan);  // for its storage
  system.write(*plan, elimination);
  const BlockLayout layout(system.structure);
  const BlockProgram program = compile_blocks(system.structure, order, layout, true);
  const BlockTables tables{program.index.data(), program.fronts.data(), program.pieces.data(), 1e-9};
  const std::vector<BlockOp>& forward = fused ? program.forward : program.steps;
  int failed = -1;
  double* storage = elimination.storage();
  EXPECT_EQ(kernel(forward.data(), forward.data() + forward.size(), tables, storage, &failed), 0) << failed;
  kernel(program.backward.data(), program.backward.data() + program.backward.size(), tables, storage, &failed);
  return system.solution(*plan, elimination);
}

TEST(BlockKernel, AllKernelsGiveTheSame) {
  for (unsigned seed = 0; seed < 8; ++seed) {
    const Tree tree(seed < 2 ? chain(7) : mixed_tree(7, seed), seed);
    for (const auto& order : {tree.aba(), tree.crba(), tree.crba(false), tree.random_order(seed, 2)}) {
      const Eigen::VectorXd expected = tree.system.dense().fullPivLu().solve(tree.system.right_side());
      for (const BlockKernel kernel : kernels_of_this_processor()) {
        for (const bool fused : {false, true}) {
          const Eigen::VectorXd found = solve(tree.system, order, kernel, fused);
          EXPECT_LT((found - expected).norm(), 1e-10 * expected.norm()) << seed << " " << fused;
        }
      }
    }
  }
}

// What pads a block must not get into the numbers, whatever it is.
TEST(BlockKernel, PaddingIsNeverRead) {
  const Tree tree(chain(5), 3);
  auto plan = std::make_shared<const BlockPlan>(tree.system.structure, tree.aba());
  BlockElimination elimination(plan);
  for (std::size_t e = 0; e < tree.system.numbers.size(); ++e) {
    const auto& entry = tree.system.structure.entries[e];
    const int at = plan->entry(entry.row, entry.column);
    if (at >= 0 && tree.system.numbers[e].rows() == 6) std::fill_n(elimination.storage() + at, 48, std::nan(""));
  }
  for (const int row : tree.row_v) std::fill_n(elimination.storage() + plan->right_side(row), 8, std::nan(""));
  tree.system.write(*plan, elimination);
  ASSERT_TRUE(elimination.run().ok);
  const Eigen::VectorXd expected = tree.system.dense().fullPivLu().solve(tree.system.right_side());
  EXPECT_LT((tree.system.solution(*plan, elimination) - expected).norm(), 1e-10 * expected.norm());
}

// A chain of revolute joints costs seven operations per body and no more: the fused ones are found.
TEST(BlockKernel, TheOrderOfAbaIsFused) {
  const Tree tree(chain(10), 1);
  const BlockProgram program =
      compile_blocks(tree.system.structure, tree.aba(), BlockLayout(tree.system.structure), true);
  int operations = 0;
  for (const auto* list : {&program.forward, &program.backward}) {
    for (std::size_t i = 0; i < list->size(); i += records((*list)[i].kind)) ++operations;
  }
  EXPECT_LE(operations, 10 * 5 + 6);
}

}  // namespace
}  // namespace kinegraph::linear::block_kernel_test
