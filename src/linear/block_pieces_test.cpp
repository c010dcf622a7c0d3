#include <gtest/gtest.h>

#include <cstring>

#include "kinegraph/linear/block_program.hpp"
#include "kinegraph/linear/block_systems_test.hpp"

namespace kinegraph::linear::block_pieces_test {
namespace {

using test::BlockSystem;
using test::chain;
using test::Link;
using test::mixed_tree;
using test::Tree;
using Order = Tree::Order;

/// Chains that hang on body 0, or on the base. Links are counted chain by chain.
std::vector<Link> star(int chains, int length, bool common_root) {
  std::vector<Link> links;
  if (common_root) {
    links.emplace_back();
    links[0].axes = {0, 1, 2, 3, 4, 5};
  }
  for (int c = 0; c < chains; ++c) {
    for (int i = 0; i < length; ++i) {
      links.emplace_back();
      links.back().parent = i > 0 ? static_cast<int>(links.size()) - 2 : common_root ? 0 : -1;
      links.back().armature = i % 3 == 0 ? 0.1 : 0;
    }
  }
  return links;
}

/// The order of ABA, but from the tips of all chains inwards at once.
Order interleaved(const Tree& tree, int chains, int length, bool common_root) {
  Order order;
  for (int i = length - 1; i >= 0; --i) {
    for (int c = 0; c < chains; ++c) {
      const int body = (common_root ? 1 : 0) + c * length + i;
      for (const int column : {tree.wrench[body], tree.acceleration[body], tree.joint[body]}) order.push_back({column});
    }
  }
  if (common_root) {
    for (const int column : {tree.wrench[0], tree.acceleration[0], tree.joint[0]}) order.push_back({column});
  }
  return order;
}

/// A chain in nested dissection: both halves, then what is between them.
void dissect(const Tree& tree, int begin, int end, Order& order) {
  if (end - begin < 6) {
    for (int i = end - 1; i >= begin; --i) {
      for (const int column : {tree.wrench[i], tree.acceleration[i], tree.joint[i]}) order.push_back({column});
    }
    return;
  }
  const int middle = (begin + end) / 2;
  dissect(tree, begin, middle, order);
  dissect(tree, middle + 1, end, order);
  order.push_back({tree.wrench[middle], tree.acceleration[middle], tree.joint[middle]});
}

struct Case {
  const char* name;
  Tree tree;
  Order order;
  int pieces;  // at least
};

std::vector<Case> large_cases() {
  std::vector<Case> cases;
  const auto add = [&](const char* name, std::vector<Link> links, int pieces, auto order) {
    Tree tree(std::move(links), 7);
    Order chosen = order(tree);
    cases.push_back({name, std::move(tree), std::move(chosen), pieces});
  };
  add("two chains", star(2, 120, false), 2, [](const Tree& t) { return t.aba(); });
  add("two chains on a body", star(2, 120, true), 2, [](const Tree& t) { return t.aba(); });
  add("four chains", star(4, 100, true), 4, [](const Tree& t) { return t.aba(); });
  add("interleaved", star(3, 120, true), 3, [](const Tree& t) { return interleaved(t, 3, 120, true); });
  add("many short ones", star(60, 8, true), 4, [](const Tree& t) { return t.aba(); });
  add("a tree", mixed_tree(400, 3), 2, [](const Tree& t) { return t.aba(); });
  add("dissected chain", chain(300), 4, [](const Tree& t) {
    Order order;
    dissect(t, 0, 300, order);
    return order;
  });
  return cases;
}

/// Largest |A x − b| against the largest term.
double residual(const BlockSystem& system, const Eigen::VectorXd& x) {
  const auto columns = system.offsets(system.structure.column_size);
  std::vector<Eigen::VectorXd> rest = system.right_sides;
  double largest = 0;
  for (const auto& part : rest) largest = std::max(largest, part.lpNorm<Eigen::Infinity>());
  for (std::size_t e = 0; e < system.numbers.size(); ++e) {
    const auto& entry = system.structure.entries[e];
    const Eigen::VectorXd term = system.numbers[e] * x.segment(columns[entry.column], system.numbers[e].cols());
    largest = std::max(largest, term.lpNorm<Eigen::Infinity>());
    rest[entry.row] -= term;
  }
  double result = 0;
  for (const auto& part : rest) result = std::max(result, part.lpNorm<Eigen::Infinity>());
  return result / largest;
}

bool same_bits(const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), sizeof(double) * a.size()) == 0;
}

TEST(BlockPieces, ParallelAndSequentialRunsAgreeToTheLastBit) {
  for (const Case& c : large_cases()) {
    auto plan = std::make_shared<const BlockPlan>(c.tree.system.structure, c.order);
    EXPECT_GE(plan->pieces(), c.pieces) << c.name;
    BlockElimination parallel(plan), sequential(plan);
    sequential.set_parallel(false);
    c.tree.system.write(*plan, sequential);
    ASSERT_TRUE(sequential.run().ok) << c.name;
    const Eigen::VectorXd expected = c.tree.system.solution(*plan, sequential);
    EXPECT_LT(residual(c.tree.system, expected), 1e-9) << c.name;
    c.tree.system.write(*plan, parallel);
    for (int repetition = 0; repetition < 20; ++repetition) {
      ASSERT_TRUE(parallel.run().ok) << c.name;
      ASSERT_TRUE(same_bits(c.tree.system.solution(*plan, parallel), expected)) << c.name;
    }
  }
}

/// Runs a list, its pieces in order or from the last to the first.
void run_pieces(const BlockProgram& program, const std::vector<BlockOp>& list, const std::vector<int>& bounds,
                bool last_first, double* storage) {
  const BlockTables tables{program.index.data(), program.fronts.data(), program.pieces.data(), 1e-13};
  const auto run = [&](int begin, int end) {
    int failed = -1;
    EXPECT_EQ(block_kernel()(list.data() + begin, list.data() + end, tables, storage, &failed), 0) << failed;
  };
  const int count = static_cast<int>(bounds.size()) - 1;
  run(0, bounds.front());
  for (int i = 0; i < count; ++i) {
    const int p = last_first ? count - 1 - i : i;
    run(bounds[p], bounds[p + 1]);
  }
  run(bounds.back(), static_cast<int>(list.size()));
}

// In a fresh storage, numbers that one piece needs of another would be missing.
TEST(BlockPieces, PiecesMayRunInAnyOrder) {
  for (const Case& c : large_cases()) {
    const BlockStructure& structure = c.tree.system.structure;
    auto plan = std::make_shared<const BlockPlan>(structure, c.order);
    BlockElimination inputs(plan);
    c.tree.system.write(*plan, inputs);
    const BlockLayout layout(structure);
    for (const bool trust : {true, false}) {
      const BlockProgram program = compile_blocks(structure, c.order, layout, trust);
      std::vector<Eigen::VectorXd> found;
      for (const bool last_first : {false, true}) {
        Eigen::VectorXd storage = Eigen::VectorXd::Zero(program.storage_size);
        std::copy_n(inputs.storage(), layout.size, storage.data());
        for (const auto& [at, number] : program.constants) storage[at] = number;
        run_pieces(program, program.forward, program.forward_pieces, last_first, storage.data());
        run_pieces(program, program.backward, program.backward_pieces, last_first, storage.data());
        found.push_back(std::move(storage));
      }
      EXPECT_TRUE(same_bits(found[0], found[1])) << c.name << " " << trust;
    }
  }
}

TEST(BlockPieces, TheRestIsSmall) {
  for (const Case& c : large_cases()) {
    const BlockProgram program =
        compile_blocks(c.tree.system.structure, c.order, BlockLayout(c.tree.system.structure), true);
    const auto expect_small = [&](const std::vector<BlockOp>& list, const std::vector<int>& bounds) {
      ASSERT_GT(bounds.size(), 2u) << c.name;
      EXPECT_GT(bounds.back() - bounds.front(), 0.7 * static_cast<double>(list.size())) << c.name;
      for (std::size_t p = 0; p + 1 < bounds.size(); ++p) {
        EXPECT_LT(bounds[p + 1] - bounds[p], 0.7 * static_cast<double>(list.size())) << c.name;
      }
    };
    expect_small(program.forward, program.forward_pieces);
  }
}

TEST(BlockPieces, SmallSystemsAndSingleChainsHaveNone) {
  const auto pieces = [](const Tree& tree) { return BlockPlan(tree.system.structure, tree.aba()).pieces(); };
  EXPECT_EQ(pieces(Tree(star(4, 7, true), 1)), 1);
  EXPECT_EQ(pieces(Tree(star(2, 20, false), 1)), 1);
  EXPECT_EQ(pieces(Tree(chain(500), 1)), 1);
}

// Two of four chains are hinged at their ends: the last front comes between elimination and back-substitution.
TEST(BlockPieces, AClosedLoop) {
  Tree tree(star(4, 60, false), 5);
  tree.close(59, 119, test::adjoint(Eigen::Matrix3d::Identity(), {0.7, 0, 0}),
             test::adjoint(Eigen::Matrix3d::Identity(), {0.5, 0.2, 0}), {2});
  auto plan = std::make_shared<const BlockPlan>(tree.system.structure, tree.aba());
  EXPECT_GE(plan->pieces(), 2);
  std::vector<Eigen::VectorXd> found;
  std::vector<BlockElimination::Outcome> outcomes;
  for (const bool parallel : {false, true}) {
    BlockElimination elimination(plan);
    elimination.set_parallel(parallel);
    tree.system.write(*plan, elimination);
    outcomes.push_back(elimination.run());
    found.push_back(tree.system.solution(*plan, elimination));
  }
  ASSERT_TRUE(outcomes[0].ok);
  EXPECT_EQ(outcomes[0].rank, outcomes[1].rank);
  EXPECT_EQ(outcomes[0].inconsistency, outcomes[1].inconsistency);
  EXPECT_TRUE(same_bits(found[0], found[1]));
  EXPECT_LT(residual(tree.system, found[0]), 1e-8);
}

// Both chains have a link without inertia; the same one is named, whichever is found first.
TEST(BlockPieces, AVanishingPivotIsNamed) {
  Tree random(star(2, 120, false), 3);
  for (const int tip : {119, 239}) {
    random.links[tip].g = test::inertia(2, {0, 0, 0.4}, {0, 0, 0});
    random.links[tip].armature = 0;
  }
  const Tree tree(random.links, 4, true);
  auto plan = std::make_shared<const BlockPlan>(tree.system.structure, tree.aba());
  ASSERT_EQ(plan->pieces(), 2);
  BlockElimination elimination(plan);
  elimination.set_parallel(false);
  tree.system.write(*plan, elimination);
  const BlockElimination::Outcome expected = elimination.run();
  ASSERT_FALSE(expected.ok);
  EXPECT_TRUE(expected.column == tree.joint[119] || expected.column == tree.joint[239]);
  elimination.set_parallel(true);
  for (int repetition = 0; repetition < 20; ++repetition) {
    const BlockElimination::Outcome outcome = elimination.run();
    ASSERT_FALSE(outcome.ok);
    ASSERT_EQ(outcome.column, expected.column);
  }
}

}  // namespace
}  // namespace kinegraph::linear::block_pieces_test
